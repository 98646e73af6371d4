"""Reports on a checkpoint, whether its query runs or not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession

from eventtide import _bridge
from eventtide._text.arguments import of_type
from eventtide._text.tables import Tabular
from eventtide._text.times import time_of
from eventtide.observe._location import QueryOrPath, located
from eventtide.observe._progress import QueryProgress, progress_of
from eventtide.windows._builder import WindowBuilder

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any


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

    Attributes
    ----------
    structure : str
        The sizes, rules, keys and aggregates of the window in the checkpoint.
    open_keys : int or None
        The number of keys with open windows after the last batch; None if the checkpoint is too
        old.
    late_log : str or None
        The folder of the window's late rows; None if they are only counted.
    late : dict of str to int
        The total number of late rows of the window, by reason.
    closed_up_to : datetime or None
        The end up to which its windows have closed: no later result is of a window that ends by
        then. None before the first has closed, or if its rows are not counted: see `completeness`.
    """

    structure: str
    open_keys: int | None
    late_log: str | None
    late: dict[str, int]
    closed_up_to: datetime | None = None


@dataclass(frozen=True)
class LateKept:
    """The range of late rows that a checkpoint retains.

    Attributes
    ----------
    batch_id : int
        The first batch whose late rows are retained.
    time : datetime
        The batch time of that batch.
    keep : timedelta or None
        The retention in the last run; None if rows are retained forever.
    """

    batch_id: int
    time: datetime
    keep: timedelta | None


@dataclass(frozen=True)
class LateReader:
    """A reader of the late rows of a checkpoint: a stream, or the handler.

    Attributes
    ----------
    id : str
        The id of the reading query and the number of its source, for `forget_late_reader`.
    name : str
        The name of the reading query.
    batch_id : int
        The last batch that the reader is known to have read; -1 for none.
    """

    id: str
    name: str
    batch_id: int


@dataclass(frozen=True)
class CheckpointReport(Tabular):
    """The contents of a checkpoint; it prints as tables.

    Attributes
    ----------
    root : str
        The checkpoint location.
    committed, begun : int
        The last committed batch and the last started batch; -1 for none.
    closed_by : datetime or None
        The watermark by which the last committed batch closed windows; None if it had none.
    fingerprint : str
        A hash of `plan` with twelve digits.
    plan : tuple of str
        The properties that the saved state depends on, one line for each input and each window.
    watermark : QueryProgress or None
        As `progress` after the last committed batch, with no rows in ``rows``. None if the version
        of the checkpoint did not store it and no matching plan was given.
    blame : str or None
        The cause of the watermark's delay, as in `blame`. With a plan, also the next window to
        close.
    windows : tuple of WindowReport
        One report for each window of the plan.
    late_kept : LateKept or None
        The retained late rows; None without any.
    late_readers : tuple of LateReader
        The streams that read the late rows or have read them. Late rows are retained for them.
    orphans, orphan_bytes : int
        The number and the size of unreferenced late files, which `clean_late` removes.
    ledger_entries, ledger_bytes : int or None
        The size of the policies' state; None if it cannot be read.
    partitions : int or None
        The number of partitions of the state; None if it is not known. After `repartition`, the
        number for windows with keys.
    settings : dict of str to str
        The Spark settings that the checkpoint fixes.
    problems : tuple of str
        The parts that cannot be read, with the reason.
    advice : tuple of str
        Unfavourable settings, with a recommendation.
    continues : bool or None
        Whether the given plan can continue from this checkpoint. Only watermarks and windows are
        checked: Spark checks sources and other operators when it starts. None without a plan.
    refusal : str or None
        The reason why it cannot continue.
    changes : tuple of str
        The changes if the plan continues, one line for each aggregate that begins empty or is
        dropped.
    """

    root: str
    committed: int
    begun: int
    closed_by: datetime | None
    fingerprint: str
    plan: tuple[str, ...]
    watermark: QueryProgress | None
    blame: str | None
    windows: tuple[WindowReport, ...]
    late_kept: LateKept | None
    late_readers: tuple[LateReader, ...]
    orphans: int
    orphan_bytes: int
    ledger_entries: int | None
    ledger_bytes: int | None
    partitions: int | None
    settings: dict[str, str]
    problems: tuple[str, ...]
    advice: tuple[str, ...]
    continues: bool | None
    refusal: str | None
    changes: tuple[str, ...]


def read_checkpoint(
    query: QueryOrPath,
    *,
    plan: DataFrame | WindowBuilder | None = None,
    spark: SparkSession | None = None,
) -> CheckpointReport:
    """Return the contents of a checkpoint; nothing is written, and its query may be running.

    Parameters
    ----------
    query : StreamingQuery, str or Path
        The query, running or stopped, or its checkpoint location.
    plan : DataFrame or WindowBuilder, optional
        A plan to check for compatibility with this checkpoint.
    spark : SparkSession, optional
        The session to read with. By default the session of the query, or the active session.

    Returns
    -------
    CheckpointReport
        As of the last committed batch.

    Raises
    ------
    CheckpointError
        There is no checkpoint, or it belongs to a query without an eventtide watermark.
    SetupError
        Eventtide is not installed in the session, or its version differs.

    Examples
    --------
    >>> import eventtide as et
    >>> et.read_checkpoint("/data/checkpoint").blame  # doctest: +SKIP
    "'sensor-7' holds the watermark at 2026-01-01 12:00:00 UTC, 14m behind 'sensor-1', last ..."
    """
    fix = "et.read_checkpoint('/data/checkpoint')"
    session, checkpoint = located(query, spark, fix)
    wanted = plan.results if isinstance(plan, WindowBuilder) else plan
    if wanted is not None:
        of_type("plan", wanted, DataFrame, "a Spark DataFrame or a window", f"{fix[:-1]}, plan=df)")
    bridge = _bridge.of(session, *([] if wanted is None else [wanted]))
    return parse_report(bridge.checkpoint_json(session, checkpoint, wanted))


def parse_report(text: str) -> CheckpointReport:
    """Parse the JVM's report; the file ``tests/border/checkpoint.json`` is an example."""
    tree = json.loads(text)
    watermark = tree.get("watermark")
    return CheckpointReport(
        root=tree["root"],
        committed=tree["committed"],
        begun=tree["begun"],
        closed_by=None if tree.get("closedBy") is None else time_of(tree["closedBy"]),
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
        partitions=tree.get("partitions"),
        settings=tree["settings"],
        problems=tuple(tree["problems"]),
        advice=tuple(tree["advice"]),
        continues=tree.get("continues"),
        refusal=tree.get("refusal"),
        changes=tuple(tree["changes"]),
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
    closed = tree.get("closedUpTo")
    return WindowReport(
        tree["structure"],
        tree.get("openKeys"),
        tree.get("lateLog"),
        tree["late"],
        None if closed is None else time_of(closed),
    )
