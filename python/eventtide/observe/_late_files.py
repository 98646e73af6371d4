"""The files of a late log: those that count no more go, small ones become large, readers go."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from eventtide import _jvm
from eventtide._text.arguments import of_type
from eventtide.observe._checkpoints import checkpoint_location

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["LateCompaction", "clean_late", "compact_late", "forget_late_reader"]


@dataclass(frozen=True)
class LateCompaction:
    """What `compact_late` has done.

    .. versionadded:: 0.1

    Attributes
    ----------
    batches : int
        Batches of the query whose late rows are in other files now.
    files_before, files_after : int
        In how many files these rows were, and are.
    """

    batches: int
    files_before: int
    files_after: int


def clean_late(
    spark: SparkSession,
    of: str | Path | StreamingQuery,
    *,
    late_to: str | Path | Sequence[str | Path] = (),
    dry_run: bool = False,
) -> list[str]:
    """Remove late files that count for nothing, and return which they were.

    .. versionadded:: 0.1

    Parameters
    ----------
    spark : SparkSession
        The session to work in; it need not be the one of the query.
    of : str, Path or StreamingQuery
        The query's checkpoint location, or the query itself, running or stopped.
    late_to : str, Path or sequence of them
        The folders outside the checkpoint that the query's ``late_to`` names. Without them nothing
        is deleted there.
    dry_run : bool
        Whether to leave them.

    Returns
    -------
    list of str
        The paths of files that tasks wrote which failed or came second. No reader sees them: what
        counts is in the index. Those of a batch that is not committed are left alone.

    Raises
    ------
    CheckpointError
        The late log has lost a part, so that what counts is not known, or it is in a folder outside
        the checkpoint that `late_to` does not name. Nothing is deleted then.
    ArgumentTypeError
        `late_to` is no path.
    SetupError
        The session has no eventtide, or not this version of it.

    Examples
    --------
    >>> import eventtide as et
    >>> et.clean_late(spark, "/data/checkpoint", dry_run=True)  # doctest: +SKIP
    ['file:/data/checkpoint/late/17-0-5d2c0a9be1f3.c000.snappy.parquet']
    """
    checkpoint, confirmed = _files(spark, of, late_to, "et.clean_late(spark, '/data/checkpoint')")
    return _jvm.clean_late(spark, checkpoint, confirmed, dry_run=dry_run)


def compact_late(
    spark: SparkSession,
    of: str | Path | StreamingQuery,
    *,
    late_to: str | Path | Sequence[str | Path] = (),
) -> LateCompaction:
    """Put the late rows of old batches into few large files, and remove what was replaced before.

    .. versionadded:: 0.1

    Parameters
    ----------
    spark : SparkSession
        The session to work in; it need not be the one of the query.
    of : str, Path or StreamingQuery
        The query's checkpoint location, or the query itself, running or stopped.
    late_to : str, Path or sequence of them
        The folders outside the checkpoint that the query's ``late_to`` names, as for `clean_late`.

    Returns
    -------
    LateCompaction
        Of how many batches so many files have become fewer.

    Raises
    ------
    CheckpointError
        As `clean_late`, or a batch has other rows than the index says. Its files are left then.
    ArgumentTypeError
        `late_to` is no path.
    SetupError
        The session has no eventtide, or not this version of it.

    Notes
    -----
    Each row is there once at any time, for tables and streams, also when this is killed: the new
    files count with the index file that names them. A thousand batch numbers are done at a time,
    and only batches that Spark cannot run again. The files that were replaced stay, since somebody
    may be reading them: the next call removes them, or `clean_late`. Run it from time to time, and
    one at a time.

    Examples
    --------
    >>> import eventtide as et
    >>> et.compact_late(spark, "/data/checkpoint")  # doctest: +SKIP
    LateCompaction(batches=20000, files_before=20000, files_after=20)
    """
    where = _files(spark, of, late_to, "et.compact_late(spark, '/data/checkpoint')")
    return LateCompaction(*_jvm.compact_late(spark, *where))


def forget_late_reader(spark: SparkSession, of: str | Path | StreamingQuery, reader: str) -> None:
    """Let a late log wait no longer for a stream that reads it.

    .. versionadded:: 0.1

    Parameters
    ----------
    spark : SparkSession
        The session to work in; it need not be the one of the query.
    of : str, Path or StreamingQuery
        The checkpoint location of the query with the late log, or the query itself.
    reader : str
        As ``read_checkpoint(...).late_readers`` and ``eventtide doctor`` name it.

    Raises
    ------
    ArgumentTypeError
        `reader` is no text.
    InvalidArgumentError
        The checkpoint knows no such reader; the error lists those that it knows.
    SetupError
        The session has no eventtide, or not this version of it.

    Notes
    -----
    What a stream over ``eventtide-late`` or a handler has not read is kept however old it is, also
    while nobody runs it: its query may come back. Say so when it will not. One that comes back is
    known again, and refused by name if rows that it had not read are gone.

    Examples
    --------
    >>> import eventtide as et
    >>> reader = "0b2c7f2e-9a55-4b0e-8f0a-6a1f6f9a2d11-0"
    >>> et.forget_late_reader(spark, "/data/checkpoint", reader)  # doctest: +SKIP
    """
    fix = "et.forget_late_reader(spark, '/data/checkpoint', reader)"
    _session(spark, fix)
    of_type("reader", reader, str, "the id of a reader, as eventtide doctor shows it", fix)
    _jvm.forget_late_reader(spark, checkpoint_location(of, fix), reader)


def _session(spark: SparkSession, fix: str) -> None:
    if not _jvm.is_connect(spark):
        of_type("spark", spark, SparkSession, "a SparkSession", fix)


def _files(
    spark: SparkSession,
    of: str | Path | StreamingQuery,
    late_to: str | Path | Sequence[str | Path],
    fix: str,
) -> tuple[str, list[str]]:
    """Return the checkpoint whose late files change, and the folders outside where they may."""
    _session(spark, fix)
    confirmed = _folders(late_to, fix)
    return checkpoint_location(of, fix), confirmed


def _folders(late_to: str | Path | Sequence[str | Path], fix: str) -> list[str]:
    """Return the folders as text."""
    folders = list(late_to) if isinstance(late_to, (list, tuple)) else [late_to]
    for folder in folders:
        allowed = "the path of a folder, or several"
        of_type("late_to", folder, (str, Path), allowed, f"{fix[:-1]}, late_to='/data/late')")
    return [str(folder) for folder in folders]
