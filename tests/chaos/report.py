"""The table of what the campaigns have found, in the page of guarantees."""

from __future__ import annotations

import sys
from collections import Counter
from statistics import quantiles
from typing import TYPE_CHECKING

from tests.chaos.figures import FOLDER, ROOT, Figures
from tests.chaos.kinds import COMPARED, KINDS, OURS

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
    "connect": "Spark Connect: `kill -9` of the client or the server",
    "pipelines": "pipelines: `kill -9` of a run or of the server",
    "s3": "checkpoint on S3: `kill -9` of the driver in a request",
    "s3-drivers": "checkpoint on S3: two drivers",
    "kafka": "`kill -9` of the driver, of Kafka's broker, or of both",
}
FAULTS = {
    "halt": "the process dies in it",
    "throw": "it fails, or takes effect and reports an error",
    "interrupt": "the query is stopped in it",
    "stall": "it takes long",
    "stale": "a listing shows what is gone",
}
OF_KINDS = {
    "exhaustive": "faults",
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
FEWEST = 100  # restarts, of which the slowest is the p99
JUDGED = "failures", "share, 95 % bound"


def upper_bound(trials: int, failures: int) -> float | None:
    """Return what the share of failures is at most, at 95 %; None where there were some.

    Of `trials` that all went well: with a greater share, as many would do so less than once in
    twenty times.
    """
    return None if failures or not trials else 1 - 0.05 ** (1 / trials)


def table(folder: Path = FOLDER) -> str:
    """Return the tables, from the figures of a folder."""
    made = {name: happened(name, folder) for name in CAMPAIGNS}
    parts = [_campaigns(made), _faults(made["exhaustive"]), _kinds(made), recovery(folder)]
    return "\n\n".join(part for part in parts if part)


def happened(campaign: str, folder: Path) -> list[Trial]:
    """Return the trials of a campaign in which something happened to a query."""
    return [each for each in Figures(campaign, folder).trials() if each.get("reached", True)]


def _campaigns(made: dict[str, list[Trial]]) -> str:
    lines = [_head("what happens", "trials", "kinds of query", *JUDGED, "hours", "commit")]
    for campaign, trials in made.items():
        number, kinds = count(trials), len({each["kind"] for each in trials})
        queries = "1 query" if len(trials) == 1 else f"{len(trials)} queries"
        of = f" in {queries}" if number > len(trials) else ""
        hours = f"{sum(each['seconds'] for each in trials) / 3600:.1f}"
        about = CAMPAIGNS[campaign], f"{number:,}{of}", f"{kinds}"
        lines.append(_line(*about, *_judged(trials), hours, _commits(trials)))
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


def count(trials: list[Trial]) -> int:
    """Return how many kills there were, or trials where nothing was killed."""
    return sum(each.get("kills", 1) for each in trials)


def _judged(trials: list[Trial]) -> tuple[str, str]:
    failures = sum(bool(each["violations"]) for each in trials)
    bound = upper_bound(count(trials), failures)
    return f"{failures:,}", "—" if bound is None else f"{100 * bound:.1f} %"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _head(*cells: str) -> str:
    return f"{_line(*cells)}\n|{'---|' * len(cells)}"


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
