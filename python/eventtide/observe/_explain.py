"""The description of eventtide's operators in a plan."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from eventtide import _bridge
from eventtide._text.arguments import of_type
from eventtide.policies._base import STOCK_SPARK
from eventtide.windows._builder import WindowBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["explain", "explained"]


def explain(df: DataFrame | WindowBuilder) -> None:
    """Print a description of a plan or a window, and the behaviour of stock Spark.

    Parameters
    ----------
    df : DataFrame or WindowBuilder
        A DataFrame, preferably derived from `with_watermark` or from the `results` of a window. Or
        a window, which needs no session.

    Raises
    ------
    ArgumentTypeError
        `df` is neither a DataFrame nor a window.
    InvalidArgumentError
        A setting of the window is missing, or two of its settings contradict each other.
    SetupError
        Eventtide is not installed in the session of the DataFrame, or its version differs.

    Examples
    --------
    >>> import eventtide as et
    >>> et.explain(events)  # doctest: +SKIP
    watermark on ts
       limiting_lag_and_lull(lag=5s, max_lull=30s)
       substreams: topic, partition (Kafka's own)
       idle: never
       clock: a batch without rows when the watermark would move by 1s
    stock Spark: largest event time anywhere minus one fixed delay
    """
    if isinstance(df, WindowBuilder):
        df.explain()
        return
    of_type("df", df, DataFrame, "a Spark DataFrame or a window", "et.explain(df)")
    print(explained(_bridge.of(df).explain_json(df)))  # noqa: T201 - as DataFrame.explain does


def explained(text: str) -> str:
    """Format the JVM's explanation as text.

    Parameters
    ----------
    text : str
        JSON of this form. All values are text to print; ``policy`` is a tree, one line per rule::

            {"watermarks": [
               {"position": 0, "name": "orders", "eventTime": "ts",
                "policy": ["line", "   line"],
                "substreams": "topic, partition", "why": "Kafka's own",
                "idle": "after 1m without rows", "clock": "quiet"}],
             "windows": [
               {"position": 0, "kind": "tumbling(size=PT60S)", "bounds": "[start, end)",
                "delay": "PT0S", "results": "one row a window",
                "combining": "one buffer a window",
                "lateRule": "window_closed", "lateRows": "counted"}],
             "notes": ["line"]}

    Returns
    -------
    str
        Several lines.

    Examples
    --------
    >>> batch = '{"watermarks": [], "windows": [], "notes": ["a batch plan: rows pass through"]}'
    >>> print(explained(batch))
    no eventtide watermark in this plan
    stock Spark: largest event time anywhere minus one fixed delay
    note: a batch plan: rows pass through
    """
    return "\n".join(_lines(json.loads(text)))


def _lines(tree: dict[str, Any]) -> Iterator[str]:
    for watermark in tree["watermarks"]:
        name = watermark["name"]
        yield f"watermark{'' if name is None else f' {name}'} on {watermark['eventTime']}"
        yield from (f"   {line}" for line in watermark["policy"])
        yield f"   substreams: {watermark['substreams']} ({watermark['why']})"
        yield f"   idle: {watermark['idle']}"
        yield f"   clock: {watermark['clock']}"
    if not tree["watermarks"]:
        yield "no eventtide watermark in this plan"
    for window in tree["windows"]:
        yield f"window {window['kind']}"
        yield f"   bounds: {window['bounds']}, delay: {window['delay']}"
        yield f"   results: {window['results']}"
        yield f"   combining: {window['combining']}"
        yield f"   late rows: by {window['lateRule']}, {window['lateRows']}"
    yield f"stock Spark: {STOCK_SPARK}"
    yield from (f"note: {note}" for note in tree["notes"])
