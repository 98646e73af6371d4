"""The expected share of a window, as a column of results."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from eventtide._text.arguments import of_type

__all__ = ["expected_share"]

_FUNCTION = "eventtide_expected_share"


def expected_share(window: str | Column = "window") -> Column:
    """Return the share of the rows of a window that have come, as expected when it closes.

    Parameters
    ----------
    window : str or Column
        The window column of results.

    Returns
    -------
    Column
        A DOUBLE from 0 to 1. Null for the first windows, while nothing is known of the disorder of
        rows, and if ``spark.eventtide.lagCurve.rows`` or ``spark.eventtide.completeness.windows``
        is 0. For a batch it is 1.

    Raises
    ------
    ArgumentTypeError
        `window` is not a column.
    InvalidArgumentError
        At the start of the query: the column is not the window of results, or its windows are not
        closed by the watermark of the query, in micro-batches: sessions, counts, windows with a
        watermark for each key, and windows with triggers have no expected share.

    Notes
    -----
    The estimate assumes that the rows are spread evenly over the window and come as much out of
    order as the recent rows, by the same histogram as `lag_curve`. What became of earlier windows
    corrects it, by histogram binning (Zadrozny and Elkan, 2001). It is the same for all keys of a
    window. The benchmarks show how well it is calibrated.

    Examples
    --------
    >>> import eventtide as et
    >>> results = counts.results.withColumn("share", et.expected_share())  # doctest: +SKIP
    >>> query = counts.start(results.writeStream.format("console"))  # doctest: +SKIP
    """
    fix = "et.expected_share('window')"
    of_type("window", window, (str, Column), "a column name or a Column", fix)
    return F.call_function(_FUNCTION, window)
