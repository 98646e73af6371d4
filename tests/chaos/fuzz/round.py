"""A round of a target in a process of its own: ``... TARGET SEED FOLDER --seconds S --trials N``.

It leaves in the folder how many inputs there were and what was wrong, and during the use of each
input that input. If one takes too long, the process ends.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import sys
import time
from contextlib import suppress
from importlib import import_module
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Flaky
from hypothesis.strategies import DrawFn, composite

from tests.chaos.fuzz.canaries import Canaries
from tests.chaos.fuzz.judge import Check, Violation, judge

if TYPE_CHECKING:
    from collections.abc import Callable

FOUND, INPUT = "found.json", "input.txt"
PATIENCE = 120  # seconds that the use of an input may take, on a machine that has more to do
SMALLER_S = 60  # seconds to make an input smaller that is wrong
QUIET = settings(
    deadline=None,
    database=None,
    derandomize=False,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
)


class Over(BaseException):
    """The time of a round is over, which ends Hypothesis at once."""


class Round:
    """The inputs of a seed, up to a number of them or a time.

    Parameters
    ----------
    folder : Path
        Of the round.
    seed : int
        Of the inputs.
    until : float
        On the monotonic clock.
    most : int
        Inputs.

    Attributes
    ----------
    trials : int
        The inputs until now, without those by which one that is wrong was made smaller.
    """

    def __init__(self, folder: Path, seed: int, until: float, most: int) -> None:
        self.trials = 0
        self._seed, self._until, self._most = seed, until, most
        self._input = folder / INPUT
        self._canaries = Canaries(folder / "files")

    def run(self, checks: Callable[[Canaries], list[Check]]) -> list[str]:
        """Use inputs of all checks in turn; return what is wrong with the first that is."""
        for part, check in enumerate(cycle(checks(self._canaries))):
            left = self._most - self.trials
            if left <= 0 or time.monotonic() > self._until:
                return []
            if wrong := self._part(check, part, min(left, check.examples)):
                return [wrong]
        return []

    def _part(self, check: Check, part: int, examples: int) -> str | None:
        wrong = dict[str, Violation]()
        until = self._until

        @composite
        def inputs(draw: DrawFn) -> Any:
            if time.monotonic() > until:  # here, as Hypothesis may refuse an input before its use
                raise Over
            return draw(check.inputs)

        @seed(self._seed * 1_000_003 + part)
        @settings(QUIET, max_examples=examples)
        @given(inputs())
        def use(value: Any) -> None:
            nonlocal until
            self.trials += not wrong
            try:
                self._use(check, value)
            except Violation as found:
                until = until if wrong else time.monotonic() + SMALLER_S
                wrong[repr(value)] = found
                raise

        with suppress(Violation, Flaky, Over):
            use()
        smallest = min(reversed(wrong), key=len, default=None)  # of equal ones the last
        return None if smallest is None else f"{smallest} {wrong[smallest]}"

    def _use(self, check: Check, value: Any) -> None:
        self._input.write_text(f"{value!r}", "utf-8", "backslashreplace")
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        try:
            judge(check, value, self._canaries)
        finally:
            faulthandler.cancel_dump_traceback_later()


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser("round", description=__doc__)
    parser.add_argument("target")
    parser.add_argument("seed", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--trials", type=int, required=True)
    options = parser.parse_args()
    checks = import_module(f"tests.chaos.fuzz.{options.target}").checks
    of = Round(options.folder, options.seed, time.monotonic() + options.seconds, options.trials)
    violations = of.run(checks)
    found = {"trials": of.trials, "violations": violations}
    (options.folder / FOUND).write_text(json.dumps(found), "utf-8")


if __name__ == "__main__":
    main()
    sys.exit()
