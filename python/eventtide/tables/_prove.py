"""The proof that a table of results equals a batch query over all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from eventtide._text.columns import backquoted
from eventtide._text.tables import Table, Tabular, tables_of
from eventtide.tables._target import target
from eventtide.windows._comparable import comparable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, Row, SparkSession

    from eventtide.observe._location import QueryOrPath
    from eventtide.tables._target import Source, Target
    from eventtide.windows._builder import WindowBuilder

__all__ = ["Proof", "prove"]

_FIX = "et.prove(counts, query, source='lake.rows', table='lake.counts')"
_MOST_SHOWN = 20
_NAMES = ("equal", "different", "missing", "extra")


@dataclass(frozen=True)
class Proof(Tabular):
    """The comparison of a table with a batch query; it prints as tables.

    Attributes
    ----------
    table : str
        The name of the table.
    equal, different, missing, extra : int
        The numbers of results, for each window and key: equal in both; with other values; in the
        batch query only; in the table only.
    differences : DataFrame
        The results that are not equal: ``difference``, ``window``, ``key``, ``written`` and
        ``expected``.
    """

    table: str
    equal: int
    different: int
    missing: int
    extra: int
    differences: DataFrame

    def __bool__(self) -> bool:
        """Return whether the table equals the batch query."""
        return not (self.different or self.missing or self.extra)


def prove(
    window: WindowBuilder,
    query: QueryOrPath,
    *,
    source: Source,
    table: str,
    spark: SparkSession | None = None,
) -> Proof:
    """Compare a table of results with the results of a batch query over all rows.

    Parameters
    ----------
    window, query, source, table, spark
        As for `heal`.

    Returns
    -------
    Proof
        The numbers of equal and of different results, of the windows that the query has closed. It
        is true if all are equal. If keys have their own watermark, of the windows that have a
        result or a late row.

    Raises
    ------
    InvalidArgumentError, CheckpointError
        As for `heal`.

    Examples
    --------
    >>> import eventtide as et
    >>> print(et.prove(counts, query, source="lake.rows", table="lake.counts"))  # doctest: +SKIP
    lake.counts
      equal      8,734
      different  0
      missing    0
      extra      0
    """
    session, found = target(window, query, source=source, table=table, spark=spark, fix=_FIX)
    is_closed = _closed(session, found)  # before the rows are listed: all of these are among them
    expected = found.results(found.rows(session))
    written, expected = (is_closed(of) for of in (found.written(session, expected), expected))
    compared = _compared(written, expected, found.keys).localCheckpoint()
    found_rows = compared.groupBy("difference").count().collect()
    counts = {row["difference"]: row["count"] for row in found_rows}
    return Proof(
        table,
        equal=counts.get("equal", 0),
        different=counts.get("different", 0),
        missing=counts.get("missing", 0),
        extra=counts.get("extra", 0),
        differences=compared.where("difference <> 'equal'"),
    )


def _closed(session: SparkSession, of: Target) -> Callable[[DataFrame], DataFrame]:
    """Return what leaves out the results that the query may still write, or extend."""
    if of.is_by_key:
        return _known_of_keys(session, of)
    if not of.is_session:
        end = F.lit(of.closed_up_to(session))
        return lambda results: results.where(F.col("window.end") <= end)
    chains, closed_by = of.chains(session), of.closed_by(session)
    if closed_by is None:
        return lambda results: results.limit(0)
    still = chains.of(of.rows(session)).where(~chains.is_closed(closed_by)).localCheckpoint()
    return lambda results: chains.apart(results.where(chains.is_closed(closed_by)), still)


def _known_of_keys(session: SparkSession, of: Target) -> Callable[[DataFrame], DataFrame]:
    """Return what leaves out windows that no result and no late row says to have closed."""
    chains = of.chains(session)
    written = of.written(session, of.results(of.rows(session)))
    known = chains.spans(written).union(chains.of(of.late(session.read))).localCheckpoint()
    return lambda results: chains.overlapping(results, known)


def _compared(written: DataFrame, expected: DataFrame, keys: int) -> DataFrame:
    """Return the results of both sides for each window and key, and how they differ."""
    sides = [_side(written, "written", keys), _side(expected, "expected", keys)]
    together = sides[0].unionByName(sides[1], allowMissingColumns=True)
    one = (
        F.first(name, ignorenulls=True).alias(name)
        for side in ("written", "expected")
        for name in (side, f"{side}_values")
    )
    rows = F.count("written").alias("rows")  # a table may have a result twice
    grouped = together.groupBy("window", "key").agg(*one, rows)
    is_same = F.col("written_values").eqNullSafe(F.col("expected_values")) & (F.col("rows") == 1)
    difference = (
        F.when(F.col("written").isNull(), "missing")
        .when(F.col("expected").isNull(), "extra")
        .when(is_same, "equal")
        .otherwise("different")
    )
    return grouped.select(difference.alias("difference"), "window", "key", "written", "expected")


def _side(rows: DataFrame, side: str, keys: int) -> DataFrame:
    fields = rows.schema.fields
    values = [comparable(F.col(backquoted(f.name)), f.dataType) for f in fields]
    parts = [value.alias(f"_{i}") for i, value in enumerate(values)]
    whole = F.struct(*(F.col(backquoted(field.name)) for field in fields))
    key = F.struct(F.lit(0), *parts[1 : 1 + keys]).alias("key")
    return rows.select("window", key, whole.alias(side), F.struct(*parts).alias(f"{side}_values"))


@tables_of.register(Proof)
def _(of: Proof) -> Iterator[Table]:
    """Yield the tables of `et.prove`: the numbers, and some differences."""
    yield Table(of.table, (), [(name, f"{getattr(of, name):,}") for name in _NAMES])
    if not of:
        shown = of.differences.orderBy("window").limit(_MOST_SHOWN).collect()
        rows = [
            (
                row["difference"],
                f"{row['window'].start} to {row['window'].end}",
                _shown(row["written"]),
                _shown(row["expected"]),
            )
            for row in shown
        ]
        yield Table("differences", ("difference", "window", "written", "expected"), rows)


def _shown(result: Row | None) -> str:
    """Return a result without its window as text, nothing for one that is not there."""
    values = {} if result is None else result.asDict()
    return ", ".join(f"{name}={value}" for name, value in values.items() if name != "window")
