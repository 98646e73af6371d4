"""The state of the open windows of a query, as a DataFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventtide import _bridge
from eventtide._text.arguments import of_type
from eventtide.errors import refused
from eventtide.observe._location import QueryOrPath, located
from eventtide.windows._builder import WindowBuilder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["read_state"]


def read_state(query: QueryOrPath, window: WindowBuilder) -> DataFrame:
    """Return the current results of the open windows of a query.

    Parameters
    ----------
    query : StreamingQuery, str or Path
        The query, running or stopped, or its checkpoint location.
    window : WindowBuilder
        The window of the query; of several chained windows, the last window. It may be over other
        rows with the same columns.

    Returns
    -------
    DataFrame
        A row for each open window with rows, with the columns of ``window.results``. It is the
        result that the window would have if it closed after the last committed batch. If each key
        has its own watermark, ``_watermark`` TIMESTAMP is the watermark of the key, null while
        unknown.

    Raises
    ------
    CheckpointError
        The checkpoint has no window state, or the state of another window.
    InvalidArgumentError
        The window passes its rows to a function.
    SetupError
        Eventtide is not installed in the session, or the state store is not RocksDB.

    Notes
    -----
    The state is loaded from the checkpoint into separate stores, and nothing is written to the
    checkpoint. Windows in the checkpoint are matched by their sizes, keys and aggregates.

    Examples
    --------
    >>> import eventtide as et
    >>> et.read_state("/data/checkpoint", counts).orderBy("window").show()  # doctest: +SKIP
    """
    fix = "et.read_state('/data/checkpoint', counts)"
    of_type("window", window, WindowBuilder, "a window made with et.window", fix)
    if (execution := window.settings.execution) is not None:
        problem = "passes its rows to a function, and has no result before the call"
        allowed, told = "a window with aggregates", "the same bolt with .agg(F.collect_list('id'))"
        raise refused("window", execution, problem, allowed=allowed, fix=told)
    _, checkpoint = located(query, window.df.sparkSession, fix)
    return _bridge.of(window.results).read_state(window.results, checkpoint)
