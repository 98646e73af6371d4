"""The output of a checkpoint report on a terminal."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

import eventtide as et
from eventtide._jvm import JVM_ERRORS
from eventtide._text.durations import in_words
from eventtide.observe._tables import contents

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import SparkSession
    from rich.console import Console

    from eventtide._text import tables
    from eventtide.observe import CheckpointReport

__all__ = ["as_json", "open_windows", "show"]


def show(report: CheckpointReport, console: Console, count: int | str | None = None) -> None:
    """Print a report: the contents, the problems, the advice, and the number of open windows."""
    for table in contents(report):
        console.print(_shown(table))
    if report.blame is not None:
        console.print(report.blame, markup=False, highlight=False, soft_wrap=True)
    _sentences(console, "[bold red]Problem:[/]", report.problems)
    if report.continues is not None:
        answer = "[green]yes[/]" if report.continues else "[bold red]no[/]"
        console.print(f"Can the given plan continue from here: {answer}")
        _sentences(console, " ", [report.refusal] if report.refusal else report.changes)
    _sentences(console, "[yellow]Advice:[/]", report.advice)
    if report.watermark is not None:
        page = f"Charts of the last batches: eventtide timeline {report.root}"
        console.print(page, markup=False, highlight=False, soft_wrap=True)
    if count is not None:
        shown = f"{count:,}" if isinstance(count, int) else count
        console.print(f"Open windows: {shown}", highlight=False)


def as_json(report: CheckpointReport, count: int | str | None = None) -> str:
    """Return a report as JSON; times are ISO 8601, durations are as in the tables."""
    counted = {"open_windows": count if isinstance(count, int) else None}
    return json.dumps({**report.to_dict(), **counted}, indent=2, default=_as_text)


def _as_text(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return in_words(value // timedelta(microseconds=1))
    raise TypeError(f"{value!r} has no form in JSON")


def open_windows(
    window: et.WindowBuilder, report: CheckpointReport, spark: SparkSession
) -> int | str:
    """Return the number of open windows, or a text if a running query has removed the state."""
    try:
        with et.named_errors():
            return et.read_state(report.root, window).count()
    except (et.EventtideError, *JVM_ERRORS):
        if et.read_checkpoint(report.root, spark=spark).committed == report.committed:
            raise
        return "not counted, because the query has continued and the state no longer exists"


def _shown(table: tables.Table) -> Table:
    shown = Table(title=escape(table.title), title_justify="left", show_header=bool(table.heads))
    for head in table.heads or ("", ""):
        shown.add_column(head, overflow="fold")
    for row in table.rows:
        shown.add_row(*map(escape, row))
    shown.caption = table.caption or None
    return shown


def _sentences(console: Console, label: str, sentences: Iterable[str]) -> None:
    for sentence in sentences:
        console.print(f"{label} {escape(sentence)}", highlight=False, soft_wrap=True)
