"""What the open windows of a query hold, as a DataFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventtide import _jvm
from eventtide._text.arguments import of_type
from eventtide.errors import refused
from eventtide.observe._checkpoints import checkpoint_location
from eventtide.windows._builder import WindowBuilder

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["read_state"]


def read_state(window: WindowBuilder, of: str | Path | StreamingQuery) -> DataFrame:
    """Return what the windows hold that have not closed yet.

    .. versionadded:: 0.1

    Parameters
    ----------
    window : WindowBuilder
        The window as the query has it; of several in a row the last one counts. It may be over
        other rows with the same columns.
    of : str, Path or StreamingQuery
        The query's checkpoint location, or the query itself, running or stopped.

    Returns
    -------
    DataFrame
        A row for each open window with rows, with the columns of ``window.results``: what its
        result would be if it closed after the last committed batch. Where each key has a watermark
        of its own, ``_watermark`` TIMESTAMP says that of the key, null while there is none.

    Raises
    ------
    CheckpointError
        There is no state of a window in the checkpoint, or it is that of another window.
    InvalidArgumentError
        The window gives its rows to a function.
    SetupError
        The session has no eventtide, or does not use the RocksDB state store.

    Notes
    -----
    The state is loaded from the checkpoint into places of its own, and nothing is written. Windows
    in the checkpoint are found by their sizes, keys and aggregates.

    Examples
    --------
    >>> import eventtide as et
    >>> et.read_state(counts, "/data/checkpoint").orderBy("window").show()  # doctest: +SKIP
    """
    fix = "et.read_state(counts, '/data/checkpoint')"
    of_type("window", window, WindowBuilder, "a window made with et.window", fix)
    if (execution := window.settings.execution) is not None:
        problem = "gives its rows to a function, and has no result before it is called"
        allowed, told = "a window with aggregates", "the same bolt with .agg(F.collect_list('id'))"
        raise refused("window", execution, problem, allowed=allowed, fix=told)
    return _jvm.read_state(window.results, checkpoint_location(of, fix))
