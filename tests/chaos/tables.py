"""The tables of what the campaigns have found."""

from __future__ import annotations

from collections import Counter
from math import floor, log10
from operator import itemgetter
from statistics import linear_regression, quantiles
from typing import TYPE_CHECKING

from tests.chaos.figures import FOLDER, Figures, size
from tests.chaos.kinds import COMPARED, KINDS, OURS
from tests.chaos.soak.victim import PART_S

if TYPE_CHECKING:
    from pathlib import Path

    from tests.chaos.figures import Trial

CAMPAIGNS = {
    "exhaustive": "a file call that fails, halts, stalls or is interrupted",
    "upgrades": "the same in the first batch on a kept checkpoint",
    "random": "`kill -9` of the driver",
    "executors": "`kill -9` of an executor",
    "drivers": "two drivers on one checkpoint",
    "clocks": "a clock that is set forward or back",
    "realtime": "real-time mode: `kill -9` of the driver",
    "realtime-executors": "real-time mode: `kill -9` of an executor",
    "healing": "`kill -9` of a query and the healing of its table",
    "connect": "Spark Connect: `kill -9` of the client or the server",
    "pipelines": "pipelines: `kill -9` of a run or of the server",
    "s3": "checkpoint on S3: `kill -9` of the driver in a request",
    "s3-drivers": "checkpoint on S3: two drivers",
    "kafka": "`kill -9` of the driver, of Kafka's broker, or of both",
    "fuzz-yaml": "hostile YAML",
    "fuzz-sql": "hostile SQL",
    "fuzz-connect": "hostile requests over Spark Connect",
    "fuzz-checkpoints": "hostile checkpoints",
}
FUZZED = tuple(name for name in CAMPAIGNS if name.startswith("fuzz-"))
IN_SHORT = {
    "file calls that fail, halt, stall or are interrupted": ("exhaustive", "upgrades"),
    "`kill -9` of drivers, executors, clients, servers and brokers": (
        *("random", "executors", "realtime", "realtime-executors", "healing"),
        *("connect", "pipelines", "s3", "kafka"),
    ),
    "two drivers on one checkpoint": ("drivers", "s3-drivers"),
    "a clock that is set forward or back": ("clocks",),
    "hostile YAML, SQL, requests and checkpoints": FUZZED,
}
"""The lines of the README, and the campaigns of each."""
FAULTS = {
    "halt": "the process dies in it",
    "throw": "it fails, or takes effect and reports an error",
    "interrupt": "the query is stopped in it",
    "stall": "it takes long",
    "stale": "a listing shows what is gone",
}
OF_KINDS = {
    "exhaustive": "faults",
    "upgrades": "faults after an upgrade",
    "random": "drivers killed",
    "executors": "executors killed",
    "drivers": "two drivers",
    "connect": "kills over Connect",
    "s3": "kills on S3",
    "s3-drivers": "two drivers on S3",
}
"""The campaigns whose queries are of `KINDS`."""
STOCK = [name for name in KINDS if name not in OURS]
RECOVERIES = {
    "tumbling and sliding windows": [name for name in COMPARED if name in OURS],
    "the same on stock Spark": STOCK,
}
GROWS = {
    "p50_ms": ("a batch, p50", "ms"),
    "p99_ms": ("a batch, p99", "ms"),
    "recovery": ("the first batch after a `kill -9`", "s"),
    "heap_mib": ("heap after a collection", "MiB"),
    "resident_mib": ("resident memory", "MiB"),
    "threads": ("threads", ""),
    "descriptors": ("open files", ""),
    "ledger_mib": ("ledger", "MiB"),
    "index_mib": ("index of late rows", "MiB"),
    "checkpoint_mib": ("checkpoint", "MiB"),
}
"""What may grow in hours, by its name in the figures."""
SETTLED = 2  # parts, after which sizes do not depend on how long the query has run
FEWEST = 100  # restarts, of which the slowest is the p99
JUDGED = "failures", "share, 95 % bound"


def upper_bound(trials: int, failures: int) -> float | None:
    """Return what the share of failures is at most, at 95 %; None where there were some.

    Of `trials` that all went well: with a greater share, as many would do so less than once in
    twenty times.
    """
    return None if failures or not trials else 1 - 0.05 ** (1 / trials)


def full(folder: Path = FOLDER) -> str:
    """Return the tables of the page of guarantees, from the figures of a folder."""
    made = {name: happened(name, folder) for name in CAMPAIGNS}
    parts = [
        _campaigns(made),
        _sparks(folder),
        _faults(made["exhaustive"]),
        _kinds(made),
        recovery(folder),
        soak(folder),
    ]
    return "\n\n".join(part for part in parts if part)


def short(folder: Path = FOLDER) -> str:
    """Return the table of the README."""
    lines = [_head("what happened to queries", "trials", *JUDGED)]
    for title, names in IN_SHORT.items():
        of = [each for name in names for each in happened(name, folder)]
        lines.append(_line(title, f"{count(of):,}", *_judged(of)))
    return "\n".join(lines)


def happened(campaign: str, folder: Path) -> list[Trial]:
    """Return the trials of a campaign in which something happened to a query."""
    return [each for each in Figures(campaign, folder).trials() if each.get("reached", True)]


def _campaigns(made: dict[str, list[Trial]]) -> str:
    lines = [_head("what happens", "trials", "kinds of query", *JUDGED, "hours", "commit")]
    for campaign, trials in made.items():
        number, kinds = count(trials), len({each["kind"] for each in trials})
        one, many = ("round", "rounds") if campaign in FUZZED else ("query", "queries")
        made_in = f" in {len(trials)} {one if len(trials) == 1 else many}"
        of = made_in if number > len(trials) else ""
        hours = f"{sum(each['seconds'] for each in trials) / 3600:.1f}"
        about = CAMPAIGNS[campaign], f"{number:,}{of}", f"{kinds}"
        lines.append(_line(*about, *_judged(trials), hours, _commits(trials)))
    return "\n".join(lines)


def _sparks(folder: Path) -> str:
    folders = [folder, *(each for each in sorted(folder.glob("4.*")))]
    names = [name for name in CAMPAIGNS if name not in FUZZED]  # whose inputs may start no Spark
    of = [each for one in folders for name in names for each in happened(name, one)]
    lines = [_head("Spark", "trials", *JUDGED)]
    for spark in sorted({each["spark"] for each in of}, reverse=True):
        on = [each for each in of if each["spark"] == spark]
        lines.append(_line(spark, f"{count(on):,}", *_judged(on)))
    return "\n".join(lines)


def _faults(trials: list[Trial]) -> str:
    lines = [_head("fault of a file call", "trials", *JUDGED)]
    for fault, title in FAULTS.items():
        of = [each for each in trials if each["fault"] == fault]
        lines.append(_line(title, f"{count(of):,}", *_judged(of)))
    return "\n".join(lines)


def _kinds(made: dict[str, list[Trial]]) -> str:
    lines = [_head("kind of query", *OF_KINDS.values(), *JUDGED)]
    for kind in OURS:
        of = [[each for each in made[name] if each["kind"] == kind] for name in OF_KINDS]
        judged = _judged([each for trials in of for each in trials])
        lines.append(_line(kind, *(f"{count(trials):,}" for trials in of), *judged))
    return "\n".join(lines)


def recovery(folder: Path) -> str:
    """Return how long queries took after a kill to commit a batch; nothing of too few kills."""
    trials = Figures("recovery", folder).trials()
    lines = [_head("the first batch after a `kill -9`", "restarts", "p50", "p99")]
    for title, of in RECOVERIES.items():
        took = [one for each in trials if each["kind"] in of for one in each.get("recoveries", [])]
        if len(took) >= FEWEST:
            at = quantiles(took, n=100, method="inclusive")
            lines.append(_line(title, f"{len(took):,}", f"{at[49]:.1f} s", f"{at[98]:.1f} s"))
    return "\n".join(lines) if len(lines) > 1 else ""


def soak(folder: Path) -> str:
    """Return what a query of two hours had at the ends of its parts; nothing of too few parts."""
    trials = sorted(Figures("soak", folder).trials(), key=itemgetter("seed"))
    parts = [each for each in trials if each["commit"] == trials[0]["commit"]]
    if len(parts) < SETTLED + 2:
        return ""
    hours = [(each["seed"] + 1) * PART_S / 3600 for each in parts[SETTLED:]]
    lines = [_head(f"of {len(parts)} parts", "first", "third", "last", "slope in an hour")]
    for name, (title, unit) in GROWS.items():
        had = [each[name] for each in parts]
        slope = linear_regression(hours, had[SETTLED:]).slope
        shown = (f"{_digits(value)} {unit}".strip() for value in (had[0], had[SETTLED], had[-1]))
        lines.append(_line(title, *shown, f"{_digits(slope, sign='+')} {unit}".strip()))
    return "\n".join(lines)


def _digits(value: float, *, sign: str = "") -> str:
    """Return a number with about three digits, and no exponent."""
    return f"{value:{sign},.0f}" if abs(value) >= 100 else f"{value:{sign}.3g}"


def count(trials: list[Trial]) -> int:
    """Return how many kills or inputs there were, or trials where nothing was killed."""
    return sum(map(size, trials))


def _judged(trials: list[Trial]) -> tuple[str, str]:
    failures = sum(bool(each["violations"]) for each in trials)
    bound = upper_bound(count(trials), failures)
    if bound is None:
        return f"{failures:,}", "—"
    digits = max(1, -floor(log10(100 * bound)))  # a bound of 0.0 % would say too much
    return f"{failures:,}", f"{100 * bound:.{digits}f} %"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _head(*cells: str) -> str:
    return f"{_line(*cells)}\n|{'---|' * len(cells)}"


def _commits(trials: list[Trial]) -> str:
    counted = Counter(each["commit"].rstrip("+") for each in trials)
    return ", ".join(f"`{name[:7]}`" for name, _ in counted.most_common()) or "none yet"
