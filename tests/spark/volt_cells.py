"""The cells of a table of docs/reference/voltsp.md, from what a query has done step by step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from eventtide._text.durations import micros

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.spark.volt_scenarios import Scenario, Step

Table: TypeAlias = list[dict[str, str]]
"""Lines of cells, by the names of their columns."""

NONE = "-"


@dataclass(frozen=True)
class Window:
    """A window with its rows, as it came out or as it is held."""

    number: int
    rows: tuple[str, ...]
    is_out: bool
    timing: str = "on_time"
    pane: int = 0


@dataclass
class Seen:
    """What there was to see of a scenario after a step."""

    windows: list[Window] = field(default_factory=list)
    watermark: float | None = None  # in seconds


def table(scenario: Scenario, after: list[Seen], late: set[str]) -> Table:
    """Return the table of a scenario, without the columns in which there would be nothing."""
    lines, batch = [], 0
    for step, seen in zip(scenario.steps, after, strict=False):  # others may have more
        batch += bool(step.rows)
        number = {"Batch": str(batch) if step.rows else NONE}
        lines.append(number | line(scenario, step, seen, late))
    has_late = any(cells["Late"] != NONE for cells in lines)
    kept = {
        "Clock": scenario.has_clock,
        "Effective": scenario.time.delay_window_close is not None,
        "Late": has_late,
    }
    return [{name: text for name, text in one.items() if kept.get(name, True)} for one in lines]


def line(scenario: Scenario, step: Step, seen: Seen, late: set[str]) -> dict[str, str]:
    """Return the cells of a step."""
    windows = sorted(seen.windows, key=lambda window: (window.number, not window.is_out))
    arrival = [row.name for each in scenario.steps for row in each.rows]
    delay = micros("delay", scenario.time.delay_window_close or "0s") / 1e6
    return {
        "Clock": NONE if step.clock is None else f"{step.clock}s",
        "Rows": step.text or NONE,
        "Processed": joined(aggregate(window, arrival) for window in windows),
        "Is emitted": joined(emitted(window) for window in windows),
        "Watermark": seconds(seen.watermark),
        "Effective": seconds(None if seen.watermark is None else seen.watermark - delay),
        "Late": ", ".join(row.name for row in step.rows if row.name in late) or NONE,
    }


def joined(texts: Iterable[str]) -> str:
    """Return the lines of a cell."""
    return "<br>".join(texts) or NONE


def aggregate(window: Window, arrival: list[str]) -> str:
    """Return a window as the page has it, its rows in the order in which they came."""
    return f"{window.number} ({', '.join(sorted(window.rows, key=arrival.index))})"


def emitted(window: Window) -> str:
    """Return whether a window came out, and what is unusual about it."""
    unusual = ", idle" * (window.timing == "idle") + f", pane {window.pane}" * (window.pane > 0)
    return f"Yes{unusual}" if window.is_out else "No"


def seconds(time: float | None) -> str:
    """Return a time as the page has it."""
    return NONE if time is None else f"{time:g}s"
