"""Maintenance of a late log: clean-up, compaction, and removal of readers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from eventtide import _bridge
from eventtide._text.arguments import of_type
from eventtide.observe._location import QueryOrPath, located

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession


__all__ = ["LateCompaction", "clean_late", "compact_late", "forget_late_reader"]


@dataclass(frozen=True)
class LateCompaction:
    """The result of `compact_late`.

    Attributes
    ----------
    batches : int
        The number of batches whose late rows were compacted.
    files_before, files_after : int
        The number of files of these rows before and after.
    """

    batches: int
    files_before: int
    files_after: int


def clean_late(
    query: QueryOrPath,
    *,
    late_to: str | Path | Sequence[str | Path] = (),
    dry_run: bool = False,
    spark: SparkSession | None = None,
) -> list[str]:
    """Remove unreferenced late files, and return their paths.

    Parameters
    ----------
    query : StreamingQuery, str or Path
        The query, running or stopped, or its checkpoint location.
    late_to : str, Path or sequence of them
        The folders of the query's ``late_to`` outside the checkpoint. Without this argument nothing
        is deleted there.
    dry_run : bool
        Whether to return the paths without removing the files.
    spark : SparkSession, optional
        The session to read with. By default the session of the query, or the active session.

    Returns
    -------
    list of str
        The paths of files of failed or duplicate task attempts. They are not in the index, so no
        reader reads them. Files of an uncommitted batch are kept.

    Raises
    ------
    CheckpointError
        A part of the late log is missing, so the referenced files are unknown. Or the log is in a
        folder outside the checkpoint that is not in `late_to`. Nothing is deleted.
    ArgumentTypeError
        `late_to` is not a path.
    SetupError
        Eventtide is not installed in the session, or its version differs.

    Examples
    --------
    >>> import eventtide as et
    >>> et.clean_late("/data/checkpoint", dry_run=True)  # doctest: +SKIP
    ['file:/data/checkpoint/late/17-0-5d2c0a9be1f3.c000.snappy.parquet']
    """
    fix = "et.clean_late('/data/checkpoint')"
    session, checkpoint = located(query, spark, fix)
    folders = _folders(late_to, fix)
    return _bridge.of(session).clean_late(session, checkpoint, folders, dry_run=dry_run)


def compact_late(
    query: QueryOrPath,
    *,
    late_to: str | Path | Sequence[str | Path] = (),
    spark: SparkSession | None = None,
) -> LateCompaction:
    """Compact the late rows of old batches into few large files, and remove replaced files.

    Parameters
    ----------
    query : StreamingQuery, str or Path
        The query, running or stopped, or its checkpoint location.
    late_to : str, Path or sequence of them
        The folders of the query's ``late_to`` outside the checkpoint, as for `clean_late`.
    spark : SparkSession, optional
        The session to read with. By default the session of the query, or the active session.

    Returns
    -------
    LateCompaction
        The number of compacted batches, and of files before and after.

    Raises
    ------
    CheckpointError
        As for `clean_late`, or the rows of a batch do not match the index. Its files are kept.
    ArgumentTypeError
        `late_to` is not a path.
    SetupError
        Eventtide is not installed in the session, or its version differs.

    Notes
    -----
    Batch and stream readers see each row exactly once at any time, even if this call is killed: the
    new files become visible with the index file that references them. Each step compacts a thousand
    batch numbers, and only batches that Spark cannot replay. Replaced files are kept, because a
    reader may still use them; the next call or `clean_late` removes them. Call this periodically,
    and not concurrently.

    Examples
    --------
    >>> import eventtide as et
    >>> et.compact_late("/data/checkpoint")  # doctest: +SKIP
    LateCompaction(batches=20000, files_before=20000, files_after=20)
    """
    fix = "et.compact_late('/data/checkpoint')"
    session, checkpoint = located(query, spark, fix)
    folders = _folders(late_to, fix)
    return LateCompaction(*_bridge.of(session).compact_late(session, checkpoint, folders))


def forget_late_reader(
    query: QueryOrPath, reader: str, *, spark: SparkSession | None = None
) -> None:
    """Remove a reader of a late log, so that no late rows are retained for it.

    Parameters
    ----------
    query : StreamingQuery, str or Path
        The query, running or stopped, or its checkpoint location.
    reader : str
        The reader's id, as in ``read_checkpoint(...).late_readers`` and ``eventtide doctor``.
    spark : SparkSession, optional
        The session to read with. By default the session of the query, or the active session.

    Raises
    ------
    ArgumentTypeError
        `reader` is not text.
    InvalidArgumentError
        The checkpoint has no such reader; the error lists its readers.
    SetupError
        Eventtide is not installed in the session, or its version differs.

    Notes
    -----
    Late rows that a stream over ``eventtide-late`` or a handler has not read are retained
    regardless of their age. This holds even while the reader is stopped, because its query may be
    restarted. Call this function if it will not be restarted. A reader that is restarted is
    registered again. Its query fails with a named error if rows that it had not read are purged.

    Examples
    --------
    >>> import eventtide as et
    >>> reader = "0b2c7f2e-9a55-4b0e-8f0a-6a1f6f9a2d11-0"
    >>> et.forget_late_reader("/data/checkpoint", reader)  # doctest: +SKIP
    """
    fix = "et.forget_late_reader('/data/checkpoint', reader)"
    session, checkpoint = located(query, spark, fix)
    of_type("reader", reader, str, "the id of a reader, as eventtide doctor shows it", fix)
    _bridge.of(session).forget_late_reader(session, checkpoint, reader)


def _folders(late_to: str | Path | Sequence[str | Path], fix: str) -> list[str]:
    """Return the folders as text."""
    folders = list(late_to) if isinstance(late_to, (list, tuple)) else [late_to]
    for folder in folders:
        allowed = "the path of a folder, or several"
        of_type("late_to", folder, (str, Path), allowed, f"{fix[:-1]}, late_to='/data/late')")
    return [str(folder) for folder in folders]
