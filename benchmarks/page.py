"""Makes docs/explanation/benchmarks.md from benchmarks/results: python benchmarks/page.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PROSE = ROOT / "benchmarks" / "prose"
PAGE = ROOT / "docs/explanation/benchmarks.md"

# The files of results, as the page has them.
ORDER = (
    "windows",
    "keys",
    "storm",
    "engines",
    "curves",
    "cores",
    "memory",
    "soak",
    "profile",
    "profile_before",
    "state",
    "watermark",
    "policies",
    "substreams",
    "recovery",
    "late_log",
)

# What is said once for a file: the same in all of its records.
MACHINE = ("machine", "load", "effort", "java", "spark", "jet", "flink", "eventtide", "commit")


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(RESULTS), "utf-8")


def page(results: Path) -> str:
    """Return the page that belongs to a folder of results."""
    files = sorted(results.glob("*.json"), key=lambda file: ORDER.index(file.stem))
    return "\n".join([_prose("introduction"), *map(_section, files)])


def _prose(name: str) -> str:
    """Return what is said by hand."""
    return (PROSE / f"{name}.md").read_text("utf-8")


def _section(file: Path) -> str:
    records: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))
    said = records[0]["settings"]
    about = "; ".join(f"{name} {said[name]}" for name in MACHINE if name in said)
    lines = [f"## {file.stem}", "", _prose(file.stem), f"Measured on: {about}.", ""]
    return "\n".join([*lines, _tables(records)])


def _tables(records: list[dict[str, Any]]) -> str:
    """Return a table for each set of settings that records have."""
    shapes = dict.fromkeys(tuple(_own(record)) for record in records)
    return "\n".join(_table([r for r in records if tuple(_own(r)) == s]) for s in shapes)


def _table(records: list[dict[str, Any]]) -> str:
    same = {n: v for n, v in _own(records[0]).items() if _everywhere(n, v, records)}
    if len(records) == 1:
        same = {}
    columns = [name for name in _own(records[0]) if name not in same]
    head = [*columns, f"ours, {records[0]['unit']}", "baseline", "theirs", "ratio"]
    lines = [f"{'; '.join(f'{n}: {v}' for n, v in same.items())}", ""]
    lines += [_row(head), _row(["---"] * len(head))]
    for record in records:
        own = [record["settings"][name] for name in columns]
        figures = [_number(record["ours"]), record["baseline"], _number(record["theirs"])]
        lines.append(_row([*own, *figures, record["ratio"]]))
    return "\n".join([*lines, ""])


def _own(record: dict[str, Any]) -> dict[str, Any]:
    return {n: v for n, v in record["settings"].items() if n not in MACHINE}


def _everywhere(name: str, value: object, records: list[dict[str, Any]]) -> bool:
    return all(record["settings"][name] == value for record in records)


def _number(value: float) -> str:
    return f"{value:,}"


def _row(cells: list[Any]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
