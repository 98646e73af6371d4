"""Makes docs/explanation/benchmarks.md, and its charts, from benchmarks/results.

Run it as ``python benchmarks/page.py``. The text of a section is in `benchmarks/prose`: what stands
behind a line ``---`` is folded, with the tables.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from charts import CHARTS, all_charts

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PROSE = ROOT / "benchmarks" / "prose"
PAGE = ROOT / "docs/explanation/benchmarks.md"
PICTURES = ROOT / "docs/img"

# The files of results, as the page has them.
ORDER = (
    "windows",
    "latency",
    "load",
    "floor",
    "keys",
    "storm",
    "engines",
    "curves",
    "cores",
    "memory",
    "soak",
    "profile",
    "state",
    "large_state",
    "watermark",
    "policies",
    "targets",
    "shares",
    "lab",
    "substreams",
    "recovery",
    "late_log",
    "connect",
)

# What is said once for a file: the same in all of its records.
MACHINE = ("machine", "load", "effort", "java", "spark", "jet", "flink", "eventtide", "commit")


def main() -> None:
    """Write the page and its pictures."""
    for name, svg in all_charts().items():
        (PICTURES / name).write_text(svg, "utf-8")
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
    about = {name: said[name] for name in MACHINE if name in said}
    shown, _, method = _prose(file.stem).strip().partition("\n---\n")
    return "\n".join(
        [
            f"## {file.stem.replace('_', ' ').capitalize()}",
            "",
            *_picture(file.stem, shown),
            shown.strip(),
            "",
            '<details markdown="1">',
            "<summary>Method and tables</summary>",
            "",
            *([method.strip(), ""] if method else []),
            f"Raw figures: [{file.name}](../../benchmarks/results/{file.name}).",
            "",
            *_pairs("measured on", about),
            _tables(records),
            "</details>",
            "",
        ]
    )


def _picture(name: str, shown: str) -> list[str]:
    """Return the line of the chart, if there is one, with the first sentence in place of it."""
    sentence = " ".join(shown.replace("`", "").split()).partition(". ")[0]
    return [f"![{sentence}](../img/bench-{name}.svg)", ""] if name in CHARTS else []


def _tables(records: list[dict[str, Any]]) -> str:
    """Return a table for each set of settings that records have."""
    shapes = dict.fromkeys(tuple(_own(record)) for record in records)
    return "\n".join(_table([r for r in records if tuple(_own(r)) == s]) for s in shapes)


def _table(records: list[dict[str, Any]]) -> str:
    same = {n: v for n, v in _own(records[0]).items() if _everywhere(n, v, records)}
    if len(records) == 1:
        same = {}
    columns = [name for name in _own(records[0]) if name not in same]
    units = dict.fromkeys(record["unit"] for record in records)
    if len(units) == 1:
        head = [*columns, f"Eventtide, {next(iter(units))}", "baseline", "baseline's", "ratio"]
    else:
        head = [*columns, "unit", "Eventtide", "baseline", "baseline's", "ratio"]
    lines = _pairs("in all rows below", same) if same else []
    lines += [_row(head), _row(["---"] * len(head))]
    for record in records:
        own = [record["settings"][name] for name in columns]
        own += [record["unit"]] if len(units) > 1 else []
        figures = [_number(record["ours"]), record["baseline"], _number(record["theirs"])]
        lines.append(_row([*own, *figures, record["ratio"]]))
    return "\n".join([*lines, ""])


def _pairs(title: str, values: dict[str, Any]) -> list[str]:
    """Return a table with a row for each name and its value."""
    rows = [_row([name, value]) for name, value in values.items()]
    return [_row([title, ""]), _row(["---", "---"]), *rows, ""]


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
