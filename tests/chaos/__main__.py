"""``python -m tests.chaos CAMPAIGN [N] [--seed SEED]``, which `dev/chaos` calls."""

from __future__ import annotations

import argparse
import sys
import time
from importlib import import_module
from pathlib import Path
from random import Random

from tests.chaos import policy_jar
from tests.chaos.figures import FOLDER, Figures, Limits
from tests.chaos.kinds import COMPARED, KINDS, OURS
from tests.chaos.tables import OF_KINDS

CAMPAIGNS = {
    "exhaustive": "exhaustive",
    "upgrades": "exhaustive",
    "random": "kills",
    "recovery": "kills",
    "executors": "kills",
    "drivers": "drivers",
    "clocks": "clocks",
    "realtime": "realtime",
    "realtime-executors": "realtime",
    "healing": "healing",
    "connect": "remote",
    "kafka": "brokers",
    "pipelines": "pipelines",
    "s3": "s3.campaign",
    "s3-drivers": "s3.drivers",
    "soak": "soak.campaign",
    "fuzz-yaml": "fuzz.campaign",
    "fuzz-sql": "fuzz.campaign",
    "fuzz-connect": "fuzz.campaign",
    "fuzz-checkpoints": "fuzz.campaign",
}
"""The campaigns, and the module of each."""


def main() -> int:
    """Run a campaign, keep its figures and say what failed."""
    parser = argparse.ArgumentParser("dev/chaos", description=__doc__)
    parser.add_argument("campaign", choices=CAMPAIGNS)
    parser.add_argument("trials", type=int, nargs="?", help="at most; all that is left by default")
    parser.add_argument("--seed", type=int, default=7)
    some = parser.add_mutually_exclusive_group()
    some.add_argument("--kinds", type=int, default=99, help="at most, chosen by the seed")
    some.add_argument("--kind", choices=KINDS, action="append", help="of queries; may be repeated")
    parser.add_argument("--workers", type=int, default=1, help="trials at once, where they can be")
    parser.add_argument("--seconds", type=float, default=1e9, help="no new trial after so long")
    parser.add_argument("--figures", type=Path, default=FOLDER, help="the folder that keeps them")
    options = parser.parse_args()
    if options.kind and options.campaign not in OF_KINDS:
        parser.error(f"--kind is for the campaigns {', '.join(OF_KINDS)}")
    if not set(options.kind or OURS) <= set(OURS):
        parser.error("stock Spark is for the campaign recovery")
    run = import_module(f"tests.chaos.{CAMPAIGNS[options.campaign]}").command
    limits = Limits(
        kinds_of(options),
        options.seed,
        options.trials,
        time.monotonic() + options.seconds,
        options.workers,
    )
    if options.campaign in OF_KINDS and policy_jar.KIND in limits.kinds:
        policy_jar.make()
    figures = Figures(options.campaign, options.figures)
    with figures.alone():
        failed = run(options.campaign, figures, limits)
    for trial in failed:
        say(f"{trial}")
    say(f"{figures.added} trials, {len(failed)} of them with a violation; {figures.file}")
    return 1 if failed else 0


def kinds_of(options: argparse.Namespace) -> list[str]:
    """Return the kinds of queries that the command line asks for."""
    if options.campaign == "recovery":
        return list(COMPARED)
    named: list[str] = options.kind or chosen(options.kinds, options.seed)
    return named


def chosen(number: int, seed: int) -> list[str]:
    """Return `number` of our kinds of queries, in the order of their definition."""
    some = Random(seed).sample(OURS, min(number, len(OURS)))  # noqa: S311 - test data
    return [kind for kind in OURS if kind in some]


def say(text: str) -> None:
    """Print a line at once: a run takes long."""
    print(text, flush=True)  # noqa: T201 - a command


if __name__ == "__main__":
    sys.exit(main())
