"""The output of a checkpoint report on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

import eventtide as et
from eventtide._jvm import JVM_ERRORS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from pyspark.sql import SparkSession
    from rich.console import Console

    from eventtide.observe._checkpoint import CheckpointReport
    from eventtide.observe._progress import InputWatermark

__all__ = ["open_windows", "show"]

_MOST_SUBSTREAMS = 20


def show(report: CheckpointReport, console: Console) -> None:
    """Print a report: the contents, then the problems, then the advice."""
    console.print(f"[bold]{escape(report.root)}[/]", highlight=False, soft_wrap=True)
    console.print(_facts(report))
    if report.watermark is not None:
        for source in report.watermark.inputs:
            console.print(_substreams(source))
    if report.windows:
        console.print(_windows(report))
    if report.blame is not None:
        console.print(report.blame, markup=False, highlight=False, soft_wrap=True)
    _sentences(console, "[bold red]Problem:[/]", report.problems)
    if report.continues is not None:
        answer = "[green]yes[/]" if report.continues else "[bold red]no[/]"
        console.print(f"Can the given plan go on from here: {answer}")
        _sentences(console, " ", [report.refusal] if report.refusal else [])
    _sentences(console, "[yellow]Advice:[/]", report.advice)


def open_windows(window: et.WindowBuilder, report: et.CheckpointReport, spark: SparkSession) -> str:
    """Return the number of open windows, or a text if a running query has removed the state."""
    try:
        with et.named_errors():
            return f"{et.read_state(window, report.root).count():,}"
    except (et.EventtideError, *JVM_ERRORS):
        if et.read_checkpoint(spark, report.root).committed == report.committed:
            raise
        return "not counted, as the query has gone on and the state is not there any more"


def _sentences(console: Console, label: str, sentences: Iterable[str]) -> None:
    for sentence in sentences:
        console.print(f"{label} {escape(sentence)}", highlight=False, soft_wrap=True)


def _facts(report: CheckpointReport) -> Table:
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in _lines(report):
        table.add_row(name, escape(value))
    return table


def _lines(report: CheckpointReport) -> Iterable[tuple[str, str]]:
    left = " (one more was begun)" if report.begun > report.committed else ""
    yield "last batch", f"{_or_none(report.committed)}{left}"
    yield "fingerprint", report.fingerprint
    yield from (("plan", line) for line in report.plan)
    if report.watermark is None:
        why = (
            "it cannot be read" if report.problems else "the version that wrote it kept no settings"
        )
        yield "watermark", f"not known: {why}"
    else:
        yield (
            "watermark",
            f"{_time(report.watermark.emitted)}, ideal {_time(report.watermark.ideal)}",
        )
        if report.windows:  # not counted for Spark operators
            yield "rows on time", f"{report.watermark.on_time:,}"
        if report.watermark.bad_time or report.watermark.future:
            refused = f"{report.watermark.bad_time:,} without a time"
            yield "rows refused", f"{refused}, {report.watermark.future:,} ahead"
    yield from _late_rows(report)
    yield "late orphans", f"{report.orphans:,} files, {_bytes(report.orphan_bytes)}"
    if report.ledger_bytes is not None:
        yield "ledger", f"{report.ledger_entries:,} entries, {_bytes(report.ledger_bytes)}"
    yield "partitions", report.settings.get("spark.sql.shuffle.partitions", "not known")


def _late_rows(report: CheckpointReport) -> Iterable[tuple[str, str]]:
    kept = report.late_kept
    if kept is not None:
        length = "ever" if kept.keep is None else f"{kept.keep.total_seconds() / 86400:g} days"
        yield "late rows kept", f"for {length}; from batch {kept.batch_id} of {_time(kept.time)} on"
    for reader in report.late_readers:
        read = f"up to batch {reader.batch_id}" if reader.batch_id >= 0 else "nothing yet"
        holds = kept is not None and reader.batch_id < kept.batch_id
        ends = ", and holds back older rows" if holds else ""
        yield "late reader", f"{reader.id}, {reader.name}: has read {read}{ends}"


def _substreams(source: InputWatermark) -> Table:
    table = Table(title=f"input {source.position}: {escape(source.policy)}", title_justify="left")
    for name in ("substream", "top", "watermark", "state", "rows"):
        table.add_column(name, justify="right" if name == "rows" else "left")
    lowest = sorted(source.substreams, key=lambda one: _order(one.watermark))
    for one in lowest[:_MOST_SUBSTREAMS]:
        state = f"{one.state} ({one.reason})"
        row = (escape(one.name), _time(one.top), _time(one.watermark), state, f"{one.rows_total:,}")
        table.add_row(*row)
    if len(lowest) > _MOST_SUBSTREAMS:
        table.caption = f"the {_MOST_SUBSTREAMS} with the lowest watermark, of {len(lowest):,}"
    return table


def _windows(report: CheckpointReport) -> Table:
    table = Table(title="windows", title_justify="left")
    for name in ("window", "keys with open ones", "late rows", "late log"):
        table.add_column(name, overflow="fold")
    for position, window in enumerate(report.windows):
        late = ", ".join(f"{reason} {rows:,}" for reason, rows in window.late.items())
        keys = "not known" if window.open_keys is None else f"{window.open_keys:,}"
        log = escape(window.late_log or "counted only")
        table.add_row(f"{position}", keys, late or "none", log)
    return table


def _order(time: datetime | None) -> float:
    return float("-inf") if time is None else time.timestamp()


def _or_none(batch: int) -> str:
    return "none" if batch < 0 else str(batch)


def _time(time: datetime | None) -> str:
    return "none" if time is None else f"{time.replace(tzinfo=None).isoformat(sep=' ')} UTC"


def _bytes(count: int) -> str:
    size, units = float(count), ["B", "KB", "MB", "GB", "TB"]
    while size >= 1000 and len(units) > 1:  # noqa: PLR2004 - the factor between units
        size, units = size / 1000, units[1:]
    return f"{size:,.0f} {units[0]}" if units[0] == "B" else f"{size:,.1f} {units[0]}"
