"""Chains of rows: what late rows may change of a key."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from eventtide._text.columns import backquoted
from eventtide._text.durations import micros
from eventtide.windows._comparable import comparable
from eventtide.windows._repairing import without_maximum
from eventtide.windows._unframed import Session

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from pyspark.sql import Column, DataFrame

    from eventtide.windows._builder import WindowBuilder

__all__ = ["Chains"]

_WINDOW, _KEY, _OTHER_KEY, _OTHER = "window", "_eventtide_key", "_other_key", "_other"


@dataclass(frozen=True)
class Chains:
    """The chains of a session window: the rows of a key without a gap between them.

    For a tumbling window, a chain is a window. Chains are rows with the columns ``window`` and the
    keys, as results are.

    Attributes
    ----------
    window : WindowBuilder
        The window, without a watermark.
    keys : list of str
        The columns of the keys in results.
    """

    window: WindowBuilder
    keys: list[str]

    @property
    def splits(self) -> bool:
        """Whether a chain may have several sessions, whose ends depend on the order of rows."""
        shape = self.window.settings.shape
        return isinstance(shape, Session) and shape.maximum_duration is not None

    def of(self, rows: DataFrame) -> DataFrame:
        """Return the chains of some rows."""
        counted = without_maximum(self.window).agg(F.count("*").alias("_rows"))
        return counted.over(rows).results.select(*self._columns)

    def spans(self, results: DataFrame) -> DataFrame:
        """Return the times that results cover."""
        return results.select(*self._columns)

    def is_closed(self, watermark: datetime) -> Column:
        """Return whether no row can come to a chain any more, except a late one.

        A window with final results only closes after its delay and its allowed lateness.
        """
        settings = self.window.settings
        lengths = {"delay": settings.delay, "allowed_lateness": settings.allowed_lateness}
        wait = 1 + sum(micros(name, of) for name, of in lengths.items() if of is not None)
        return F.col(_WINDOW)["end"] + F.lit(timedelta(microseconds=wait)) <= F.lit(watermark)

    def rows_of(self, rows: DataFrame, spans: DataFrame) -> DataFrame:
        """Return the rows whose key has a span."""
        named = zip(self.keys, self.window.settings.key_by, strict=True)
        values = {name: F.col(key) if isinstance(key, str) else key for name, key in named}
        keyed = rows.withColumn(_KEY, self._key(spans, values))
        keys = spans.select(self._key(spans).alias(_OTHER_KEY)).distinct()
        same = F.col(_KEY).eqNullSafe(F.col(_OTHER_KEY))
        return keyed.join(keys, same, "left_semi").drop(_KEY)

    def overlapping(self, results: DataFrame, spans: DataFrame) -> DataFrame:
        """Return the results that overlap a span of their key."""
        return self._joined(results, spans, _overlap(), "left_semi")

    def apart(self, results: DataFrame, spans: DataFrame) -> DataFrame:
        """Return the results that overlap no span of their key."""
        return self._joined(results, spans, _overlap(), "left_anti")

    def absent(self, results: DataFrame, others: DataFrame) -> DataFrame:
        """Return the results whose window and key are absent from others."""
        return self._joined(results, others, F.col(_WINDOW) == F.col(_OTHER), "left_anti")

    def merged(self, results: DataFrame) -> DataFrame:
        """Return the results that overlap, or touch, an earlier one of their key."""
        order = Window.partitionBy(_KEY).orderBy(F.col(_WINDOW)["start"], F.col(_WINDOW)["end"])
        before = order.rowsBetween(Window.unboundedPreceding, -1)
        reached = F.max(F.col(_WINDOW)["end"]).over(before)
        found = results.withColumn(_KEY, self._key(results)).withColumn(_OTHER, reached)
        return found.where(F.col(_OTHER) >= F.col(_WINDOW)["start"]).drop(_KEY, _OTHER)

    def _joined(
        self, results: DataFrame, others: DataFrame, windows: Column, how: str
    ) -> DataFrame:
        """Join results with others of the same key, by their windows."""
        other = others.select(self._key(others).alias(_OTHER_KEY), F.col(_WINDOW).alias(_OTHER))
        keyed = results.withColumn(_KEY, self._key(results))
        same = F.col(_KEY).eqNullSafe(F.col(_OTHER_KEY))
        return keyed.join(other, same & windows, how).drop(_KEY)

    def _key(self, like: DataFrame, values: dict[str, Column] | None = None) -> Column:
        """Return the key of rows as one value that can be compared."""
        parts = []
        for i, name in enumerate(self.keys):
            value = F.col(backquoted(name)) if values is None else values[name]
            parts.append(comparable(value, like.schema[name].dataType).alias(f"_{i}"))
        return F.struct(F.lit(0), *parts)

    @property
    def _columns(self) -> Sequence[str]:
        return [_WINDOW, *map(backquoted, self.keys)]


def _overlap() -> Column:
    mine, its = F.col(_WINDOW), F.col(_OTHER)
    return (mine["start"] < its["end"]) & (its["start"] < mine["end"])
