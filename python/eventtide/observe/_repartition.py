"""Change of the number of partitions of a checkpoint's state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventtide import _jvm
from eventtide._text.arguments import count
from eventtide.observe._location import QueryOrPath, located

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["repartition"]


def repartition(query: QueryOrPath, partitions: int, *, spark: SparkSession | None = None) -> int:
    """Change the number of partitions of the state of a stopped query's windows.

    Parameters
    ----------
    query : StreamingQuery, str or Path
        The stopped query or its checkpoint location.
    partitions : int
        The new number of partitions, one or more. About one per core of the executors is best.
    spark : SparkSession, optional
        The session that rewrites the state. By default that of the query, or the active session.

    Returns
    -------
    int
        The number of partitions before.

    Raises
    ------
    CheckpointError
        The query is running in this session, or has an unfinished batch; the checkpoint has no
        window state, or that number of partitions already; or Spark is 4.1. Nothing is changed.
    InvalidArgumentError
        `partitions` is not positive.
    ArgumentTypeError
        `partitions` is not an integer.
    SetupError
        Eventtide is not installed in the session, or its version differs.

    Notes
    -----
    The same query continues from the checkpoint, with the same results, late rows and watermarks.
    The state of the last committed batch is written beside the old state, and becomes valid with a
    single file. If the call fails or is killed before that, the checkpoint is as it was. The old
    state is then removed. A window without keys keeps its one partition. The state of Spark's own
    operators stays in the partitions that the query began with.

    A run of the query on another driver ends before its next batch, with `CheckpointError`.

    Examples
    --------
    >>> import eventtide as et
    >>> et.observe.repartition("/data/checkpoint", 16)  # doctest: +SKIP
    200
    """
    wanted = int(count("partitions", partitions, "16"))
    session, checkpoint = located(query, spark, "et.observe.repartition('/data/checkpoint', 16)")
    return _jvm.repartition(session, checkpoint, wanted)
