"""Progress and checkpoint reports as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventtide._text.durations import in_words
from eventtide._text.shares import percent
from eventtide._text.tables import Table, tables_of
from eventtide.observe._checkpoint import CheckpointReport, WindowReport
from eventtide.observe._lab_result import Lab
from eventtide.observe._lag_curve import LagCurve, readable
from eventtide.observe._progress import InputProgress, QueryProgress, SubstreamProgress

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime, timedelta


__all__ = ["contents"]

_MOST_SUBSTREAMS = 20
_SHARES = (0.1, 0.05, 0.01, 0.005, 0.001, 0.0001, 0.0)


@tables_of.register(QueryProgress)
def _(of: QueryProgress) -> Iterator[Table]:
    """Yield the tables of `et.progress`."""
    yield Table("watermark", (), [("last batch", _batch(of.batch_id)), *_watermark(of)])
    yield from inputs(of)


def contents(of: CheckpointReport) -> Iterator[Table]:
    """Yield the tables of the contents of a checkpoint."""
    yield Table(of.root, (), list(_contents(of)))
    if of.watermark is not None:
        yield from inputs(of.watermark)
    if of.windows:
        yield windows(of.windows)


@tables_of.register(CheckpointReport)
def _(of: CheckpointReport) -> Iterator[Table]:
    """Yield the tables of `et.read_checkpoint`: the contents, then blame, problems and advice."""
    yield from contents(of)
    notes = [("blame", of.blame)] if of.blame is not None else []
    notes += [("problem", problem) for problem in of.problems]
    if of.continues is not None:
        notes.append(("continues", "yes" if of.continues else f"no: {of.refusal}"))
    notes += [("change", change) for change in of.changes]
    notes += [("advice", advice) for advice in of.advice]
    if notes:
        yield Table("notes", (), notes)


@tables_of.register(LagCurve)
def _(of: LagCurve) -> Iterator[Table]:
    """Yield the table of `et.lag_curve`: the lags for some shares of late rows."""
    shares = [share for share in _SHARES if share == 0 or share * of.rows >= 1]
    lags = [(share, readable(of.lag_for(share))) for share in shares]
    rows = [(_length(lag), percent(of.late_share(lag)), percent(share)) for share, lag in lags]
    heads = ("lag", "late rows", "wanted, at most")
    yield Table(f"{of.input}: {of.rows:,} rows", heads, rows)


@tables_of.register(Lab)
def _(of: Lab) -> Iterator[Table]:
    """Yield a table for each window of `et.lab`; a star marks the frontier."""
    best = {id(point) for point in of.frontier()}
    heads = ("policy", "late rows", "delay p50", "p90", "p99", "windows", "open", "aggregates")
    for window, points in of.by_window().items():
        rows = [
            (
                ("* " if id(one) in best else "  ") + one.policy_words,
                percent(one.late_share),
                *map(_length, (one.delay_p50, one.delay_p90, one.delay_p99)),
                f"{one.windows:,}",
                f"{one.most_open:,}",
                f"{one.most_aggregates:,}",
            )
            for one in points
        ]
        title = f"{window}: {points[0].rows:,} rows"
        yield Table(
            title,
            heads,
            rows,
            "* no other policy is as good in late rows, p50 and p90, and better in one",
        )


def inputs(of: QueryProgress) -> Iterator[Table]:
    """Yield a table of the substreams of each input, by ascending watermark."""
    for source in of.inputs:
        shown = _lowest(source)
        rows = [
            (
                one.name,
                _time(one.top),
                _time(one.watermark),
                _length(one.lag_behind_leader),
                f"{one.state} ({one.reason})",
                f"{one.rows_total:,}",
            )
            for one in shown
        ]
        caption = ""
        if source.substream_count > len(shown):
            caption = f"the {len(shown)} with the lowest watermark, of {source.substream_count:,}"
        heads = ("substream", "top", "watermark", "behind leader", "state", "rows")
        drift = source.disorder and source.disorder.drift
        caption = ". ".join(map(str, filter(None, [caption, drift])))
        label = source.name or f"input {source.position}"
        yield Table(f"{label}: {source.policy}", heads, rows, caption)


def windows(of: Iterable[WindowReport]) -> Table:
    """Return a table of the windows of a checkpoint."""
    rows = []
    for position, window in enumerate(of):
        late = ", ".join(f"{reason} {rows:,}" for reason, rows in window.late.items())
        keys = "not known" if window.open_keys is None else f"{window.open_keys:,}"
        rows.append((str(position), keys, late or "none", window.late_log or "counted only"))
    return Table("windows", ("window", "keys with open ones", "late rows", "late log"), rows)


def _lowest(source: InputProgress) -> list[SubstreamProgress]:
    lowest = sorted(source.substreams, key=lambda one: _order(one.watermark))
    return lowest[:_MOST_SUBSTREAMS]


def _watermark(of: QueryProgress) -> Iterator[tuple[str, str]]:
    yield "clock", _time(of.clock)
    held = ", held until the sources have caught up" if of.holding else ""
    yield "watermark", f"{_time(of.emitted)}, ideal {_time(of.ideal)}{held}"
    yield from _rows(of)
    if of.clock_steps:
        by = _length(of.clock_corrected_by)
        yield "clock steps", f"{of.clock_steps:,}, corrected by {by}"


def _rows(of: QueryProgress) -> Iterator[tuple[str, str]]:
    if of.on_time or of.late:
        yield "rows on time", f"{of.on_time:,}"
    if of.late:
        yield "rows late", ", ".join(f"{reason} {rows:,}" for reason, rows in of.late.items())
    if of.bad_time or of.future:
        yield "rows refused", f"{of.bad_time:,} without a time, {of.future:,} ahead"


def _contents(of: CheckpointReport) -> Iterator[tuple[str, str]]:
    left = " (one more was begun)" if of.begun > of.committed else ""
    yield "last batch", f"{_batch(of.committed)}{left}"
    yield "fingerprint", of.fingerprint
    yield from (("plan", line) for line in of.plan)
    if of.watermark is not None:
        yield from _watermark(of.watermark)
    else:
        why = "it cannot be read" if of.problems else "the version that wrote it kept no settings"
        yield "watermark", f"not known: {why}"
    yield from _late_rows(of)
    yield "late orphans", f"{of.orphans:,} files, {_bytes(of.orphan_bytes)}"
    if of.ledger_bytes is not None:
        yield "ledger", f"{of.ledger_entries:,} entries, {_bytes(of.ledger_bytes)}"
    yield "partitions", "not known" if of.partitions is None else str(of.partitions)


def _late_rows(of: CheckpointReport) -> Iterator[tuple[str, str]]:
    kept = of.late_kept
    if kept is not None:
        length = "ever" if kept.keep is None else f"{kept.keep.total_seconds() / 86400:g} days"
        yield "late rows kept", f"for {length}; from batch {kept.batch_id} of {_time(kept.time)} on"
    for reader in of.late_readers:
        read = f"up to batch {reader.batch_id}" if reader.batch_id >= 0 else "no batch yet"
        holds = kept is not None and reader.batch_id < kept.batch_id
        ends = ", and retains older rows" if holds else ""
        yield "late reader", f"{reader.id}, {reader.name}: has confirmed {read}{ends}"


def _order(time: datetime | None) -> float:
    return float("-inf") if time is None else time.timestamp()


def _batch(number: int) -> str:
    return "none" if number < 0 else str(number)


def _time(time: datetime | None) -> str:
    return "none" if time is None else f"{time.replace(tzinfo=None).isoformat(sep=' ')} UTC"


def _length(length: timedelta | None) -> str:
    return "" if length is None else in_words(round(length.total_seconds() * 1e6))


def _bytes(count: int) -> str:
    size, units = float(count), ["B", "KB", "MB", "GB", "TB"]
    while size >= 1000 and len(units) > 1:  # noqa: PLR2004 - the factor between units
        size, units = size / 1000, units[1:]
    return f"{size:,.0f} {units[0]}" if units[0] == "B" else f"{size:,.1f} {units[0]}"
