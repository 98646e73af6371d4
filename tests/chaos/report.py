"""The table of what the campaigns have found, in the page of guarantees."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

from tests.chaos.figures import FOLDER, ROOT, Figures

if TYPE_CHECKING:
    from pathlib import Path

    from tests.chaos.figures import Trial

PAGE = ROOT / "docs/explanation/guarantees.md"
BEGIN, END = "<!-- figures: dev/chaos table writes them -->", "<!-- end of figures -->"
CAMPAIGNS = {
    "exhaustive": "a file call that fails, halts, stalls or is interrupted",
    "random": "`kill -9` of the driver",
    "executors": "`kill -9` of an executor",
    "drivers": "two drivers on one checkpoint",
    "clocks": "a clock that is set forward or back",
    "realtime": "real-time mode: `kill -9` of the driver",
    "realtime-executors": "real-time mode: `kill -9` of an executor",
    "healing": "`kill -9` of a query and the healing of its table",
}


def upper_bound(trials: int, failures: int) -> float | None:
    """Return what the share of failures is at most, at 95 %; None where there were some.

    Of `trials` that all went well: with a greater share, as many would do so less than once in
    twenty times.
    """
    return None if failures or not trials else 1 - 0.05 ** (1 / trials)


def table(folder: Path = FOLDER) -> str:
    """Return the lines of the table, from the figures of a folder."""
    lines = [
        "| what happens | trials | kinds of query | failures | share, 95 % bound | commit |",
        "|---|---|---|---|---|---|",
    ]
    for campaign, title in CAMPAIGNS.items():
        trials = [each for each in Figures(campaign, folder).trials() if each.get("reached", True)]
        number = sum(each.get("kills", 1) for each in trials)
        failures = sum(bool(each["violations"]) for each in trials)
        bound = upper_bound(number, failures)
        share = "—" if bound is None else f"{100 * bound:.1f} %"
        kinds = len({each["kind"] for each in trials if "kind" in each})
        of = f" in {len(trials)} queries" if number > len(trials) else ""
        cells = [title, f"{number:,}{of}", f"{kinds}", f"{failures:,}", share, _commits(trials)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _commits(trials: list[Trial]) -> str:
    counted = Counter(each["commit"].rstrip("+") for each in trials)
    return ", ".join(f"`{name[:7]}`" for name, _ in counted.most_common()) or "none yet"


def with_table(text: str, lines: str) -> str:
    """Return a page with the table between its two marks."""
    before, _, rest = text.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise ValueError(f"the page has no {BEGIN} with {END} after it")
    return f"{before}{BEGIN}\n\n{lines}\n\n{END}{after}"


def main() -> int:
    """Write the table into the page."""
    PAGE.write_text(with_table(PAGE.read_text("utf-8"), table()), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
