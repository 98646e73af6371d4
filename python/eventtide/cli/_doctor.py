"""The output of a checkpoint report on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

import eventtide as et
from eventtide._jvm import JVM_ERRORS
from eventtide.observe._tables import contents

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import SparkSession
    from rich.console import Console

    from eventtide._text import tables
    from eventtide.observe import CheckpointReport

__all__ = ["open_windows", "show"]


def show(report: CheckpointReport, console: Console) -> None:
    """Print a report: the contents, then the problems, then the advice."""
    for table in contents(report):
        console.print(_shown(table))
    if report.blame is not None:
        console.print(report.blame, markup=False, highlight=False, soft_wrap=True)
    _sentences(console, "[bold red]Problem:[/]", report.problems)
    if report.continues is not None:
        answer = "[green]yes[/]" if report.continues else "[bold red]no[/]"
        console.print(f"Can the given plan go on from here: {answer}")
        _sentences(console, " ", [report.refusal] if report.refusal else report.changes)
    _sentences(console, "[yellow]Advice:[/]", report.advice)


def open_windows(window: et.WindowBuilder, report: CheckpointReport, spark: SparkSession) -> str:
    """Return the number of open windows, or a text if a running query has removed the state."""
    try:
        with et.named_errors():
            return f"{et.read_state(report.root, window).count():,}"
    except (et.EventtideError, *JVM_ERRORS):
        if et.read_checkpoint(report.root, spark=spark).committed == report.committed:
            raise
        return "not counted, as the query has gone on and the state is not there any more"


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
