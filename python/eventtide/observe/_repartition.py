"""Change of the number of partitions of a checkpoint's state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventtide import _bridge
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
        The session that rewrites the state. By default the session of the query, or the active
        session.

    Returns
    -------
    int
        The number of partitions before.

    Raises
    ------
    CheckpointError
        The query is running in this session, or has an unfinished batch. Or the checkpoint has no
        window state, or already has that number of partitions. Or Spark is 4.1. Nothing is changed.
    InvalidArgumentError
        `partitions` is not positive.
    ArgumentTypeError
        `partitions` is not an integer.
    SetupError
        Eventtide is not installed in the session, or its version differs.

    Notes
    -----
    The same query continues from the checkpoint, with the same results, late rows and watermarks.
    The state of the last committed batch is written to a new folder, and becomes valid with a
    single file. Then the old state is removed. If the call fails or is killed before that file, the
    checkpoint is unchanged. A window without keys keeps its one partition. The state of Spark's
    operators keeps the initial partitions of the query.

    A run of the query on another driver ends before its next batch, with `CheckpointError`.

    Examples
    --------
    >>> import eventtide as et
    >>> et.observe.repartition("/data/checkpoint", 16)  # doctest: +SKIP
    200
    """
    wanted = int(count("partitions", partitions, "16"))
    session, checkpoint = located(query, spark, "et.observe.repartition('/data/checkpoint', 16)")
    return _bridge.of(session).repartition(session, checkpoint, wanted)
