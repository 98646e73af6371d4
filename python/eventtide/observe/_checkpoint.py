"""What a checkpoint holds, whether its query runs or not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession

from eventtide import _jvm
from eventtide._text.arguments import of_type
from eventtide.observe._checkpoints import checkpoint_location
from eventtide.observe._progress import QueryWatermark, progress_of, time_of
from eventtide.windows._builder import WindowBuilder

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path
    from typing import Any

    from pyspark.sql.streaming.query import StreamingQuery

__all__ = [
    "CheckpointReport",
    "LateKept",
    "LateReader",
    "WindowReport",
    "parse_report",
    "read_checkpoint",
]


@dataclass(frozen=True)
class WindowReport:
    """One window of a checkpoint.

    .. versionadded:: 0.1

    Attributes
    ----------
    structure : str
        Its sizes, rules, keys and aggregates, as the checkpoint has them.
    open_keys : int or None
        Keys that have open windows after the last batch; None where the checkpoint is too old.
    late_log : str or None
        The folder of its late rows; None where they are counted only.
    late : dict of str to int
        Its late rows so far, by reason.
    """

    structure: str
    open_keys: int | None
    late_log: str | None
    late: dict[str, int]


@dataclass(frozen=True)
class LateKept:
    """Which late rows a checkpoint still has.

    .. versionadded:: 0.1

    Attributes
    ----------
    batch_id : int
        The first batch whose late rows are there.
    time : datetime
        When it was run, by its own time.
    keep : timedelta or None
        For how long rows are kept, as the last run had it; None for ever.
    """

    batch_id: int
    time: datetime
    keep: timedelta | None


@dataclass(frozen=True)
class LateReader:
    """A stream over the late rows of a checkpoint, or its handler.

    .. versionadded:: 0.1

    Attributes
    ----------
    id : str
        The id of the query that reads, and the number of its source; `forget_late_reader` takes it.
    name : str
        Which query that is.
    batch_id : int
        The batch up to which it has read for certain; -1 for none.
    """

    id: str
    name: str
    batch_id: int


@dataclass(frozen=True)
class CheckpointReport:
    """What a checkpoint holds.

    .. versionadded:: 0.1

    Attributes
    ----------
    root : str
        The checkpoint location.
    committed, begun : int
        The last batch that is committed and the last that was begun; -1 for none.
    fingerprint : str
        Twelve digits that stand for `plan`: another plan has others.
    plan : tuple of str
        What the saved state depends on, a line for each input and each window.
    watermark : QueryWatermark or None
        As `progress` after the last committed batch, with no rows in ``rows``; None where the
        checkpoint is of a version that did not write it down, and no fitting plan was given.
    blame : str or None
        Who holds the watermark back, as `blame`; with the plan also which window closes next.
    windows : tuple of WindowReport
        One for each window of the plan.
    late_kept : LateKept or None
        Which late rows are still there; None without any.
    late_readers : tuple of LateReader
        Who reads the late rows as a stream, or has done so: for them they are kept.
    orphans, orphan_bytes : int
        Late files that count for nothing, which `clean_late` removes.
    ledger_entries, ledger_bytes : int or None
        What the policies' state takes; None where it cannot be read.
    settings : dict of str to str
        Spark's settings that the checkpoint fixes.
    problems : tuple of str
        What cannot be read, and why.
    advice : tuple of str
        Settings that are unwise, and what to do.
    continues : bool or None
        Whether the given plan can go on from here, as far as its watermarks and windows go: Spark
        looks at sources and other operators when it starts. None without a plan.
    refusal : str or None
        Why it cannot.
    """

    root: str
    committed: int
    begun: int
    fingerprint: str
    plan: tuple[str, ...]
    watermark: QueryWatermark | None
    blame: str | None
    windows: tuple[WindowReport, ...]
    late_kept: LateKept | None
    late_readers: tuple[LateReader, ...]
    orphans: int
    orphan_bytes: int
    ledger_entries: int | None
    ledger_bytes: int | None
    settings: dict[str, str]
    problems: tuple[str, ...]
    advice: tuple[str, ...]
    continues: bool | None
    refusal: str | None


def read_checkpoint(
    spark: SparkSession,
    of: str | Path | StreamingQuery,
    *,
    plan: DataFrame | WindowBuilder | None = None,
) -> CheckpointReport:
    """Return what a checkpoint holds; nothing is written, and its query may run.

    .. versionadded:: 0.1

    Parameters
    ----------
    spark : SparkSession
        The session to read in; it need not be the one of the query.
    of : str, Path or StreamingQuery
        The query's checkpoint location, or the query itself, running or stopped.
    plan : DataFrame or WindowBuilder, optional
        What shall be started with this checkpoint, to be told whether it can.

    Returns
    -------
    CheckpointReport
        As of the last committed batch.

    Raises
    ------
    CheckpointError
        There is no checkpoint, or it is of a query without an eventtide watermark.
    SetupError
        The session has no eventtide, or not this version of it.

    Examples
    --------
    >>> import eventtide as et
    >>> et.read_checkpoint(spark, "/data/checkpoint").blame  # doctest: +SKIP
    "'sensor-7' holds the watermark at 2026-01-01 12:00:00 UTC, 14m behind 'sensor-1', since ..."
    """
    fix = "et.read_checkpoint(spark, '/data/checkpoint')"
    if not _jvm.is_connect(spark):
        of_type("spark", spark, SparkSession, "a SparkSession", fix)
    wanted = plan.results if isinstance(plan, WindowBuilder) else plan
    if wanted is not None:
        of_type("plan", wanted, DataFrame, "a Spark DataFrame or a window", f"{fix[:-1]}, plan=df)")
    return parse_report(_jvm.checkpoint_json(spark, checkpoint_location(of, fix), wanted))


def parse_report(text: str) -> CheckpointReport:
    """Read the report that the JVM writes; the file ``tests/border/checkpoint.json`` is one."""
    tree = json.loads(text)
    watermark = tree.get("watermark")
    return CheckpointReport(
        root=tree["root"],
        committed=tree["committed"],
        begun=tree["begun"],
        fingerprint=tree["fingerprint"],
        plan=tuple(tree["plan"]),
        watermark=None if watermark is None else progress_of(watermark),
        blame=tree.get("blame"),
        windows=tuple(map(_window, tree["windows"])),
        late_kept=_kept(tree["lateKept"]),
        late_readers=tuple(map(_reader, tree["lateReaders"])),
        orphans=tree["orphans"],
        orphan_bytes=tree["orphanBytes"],
        ledger_entries=tree.get("ledgerEntries"),
        ledger_bytes=tree.get("ledgerBytes"),
        settings=tree["settings"],
        problems=tuple(tree["problems"]),
        advice=tuple(tree["advice"]),
        continues=tree.get("continues"),
        refusal=tree.get("refusal"),
    )


def _kept(tree: dict[str, Any] | None) -> LateKept | None:
    if tree is None:
        return None
    keep = tree.get("forMicros")
    length = None if keep is None else timedelta(microseconds=keep)
    return LateKept(tree["from"], time_of(tree["clock"]), length)


def _reader(tree: dict[str, Any]) -> LateReader:
    return LateReader(tree["id"], tree["name"], tree["batchId"])


def _window(tree: dict[str, Any]) -> WindowReport:
    return WindowReport(tree["structure"], tree.get("openKeys"), tree.get("lateLog"), tree["late"])
