"""A script that runs a window as a query and in the kernel only, and compares the results."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention
from pyspark.sql.types import IntegerType, LongType, StructField, StructType

from eventtide._session_kind import is_connect
from eventtide._text.schemas import row_type
from eventtide._text.times import micros_since_epoch, time_of
from eventtide.errors import unready
from eventtide.observe._late import read_late
from eventtide.testing._difference import difference
from eventtide.testing._script import Script
from eventtide.testing._values import RowLike, moment, readable_row, storable
from eventtide.windows._sql import columns
from eventtide.windows._unframed import Counted

if TYPE_CHECKING:
    from datetime import datetime
    from types import TracebackType

    from typing_extensions import Self

    from eventtide.windows import WindowBuilder

__all__ = ["KernelScript", "WindowOf"]

WindowOf: TypeAlias = Callable[[DataFrame], "WindowBuilder"]
"""Creates the window under test from the scripted stream."""

_NUMBER = "_number"
"""The column that identifies rows."""


class KernelScript:
    """Runs one script twice, as a real query and in the kernel only, and compares the results.

    After each step both must have the same results and the same late rows. The kernel identifies
    rows by their numbers only; a batch query aggregates the rows of its windows. So a difference is
    caused by the Spark module: plans, exchanges, state, timers.

    Parameters
    ----------
    window : callable
        A function of the scripted stream that returns the window.
    schema : str
        The schema of the stream as Spark DDL: ``"ts timestamp, user string"``.
    clock : str or datetime
        The time of the clock at the start; a time without a zone is in UTC.
    session : SparkSession, optional
        The session; by default the active session.

    Raises
    ------
    AssertionError
        A step has different results; the message lists the rows that only one of the two runs has.
    UnsupportedPlanError
        The window has a condition for its results, or no policy.
    SetupError
        The session is a client of Spark Connect.

    Examples
    --------
    >>> with KernelScript(by_user, "ts timestamp, user string") as script:  # doctest: +SKIP
    ...     script.rows([("2024-01-01 00:00:07", "ann")])
    ...     script.clock("+1m")
    """

    def __init__(
        self,
        window: WindowOf,
        schema: str,
        *,
        clock: str | datetime = "2024-01-01 00:00:00",
        session: SparkSession | None = None,
    ) -> None:
        self._spark = session or SparkSession.active()
        if is_connect(self._spark):
            raise unready(
                "KernelScript calls the JVM of the session, which a client of Spark Connect cannot"
                " reach.",
                "Use a classic session, or Script.",
            )
        from eventtide import _jvm  # noqa: PLC0415 - a client of Spark Connect has no py4j

        self._jvm = _jvm
        self._schema = row_type(schema)
        self._window = window
        self._script = Script(
            lambda events: window(events).results, schema, clock=clock, session=self._spark
        )
        self._kernel = self._jvm.kernel_run(self._script.result)
        self._rows: list[tuple[Any, ...]] = []  # all rows, each with its number as the last value
        self._late = 0

    def rows(self, *batches: Sequence[RowLike], partitions: int = 1) -> Self:
        """Add rows to both runs, each argument as a separate micro-batch; see `Script.rows`."""
        for batch in batches:
            self._script.rows(batch, partitions=partitions)
            self._compare(*self._batch(batch))
        return self

    def clock(self, to: str | datetime) -> Self:
        """Set or advance the clock of both runs; see `Script.clock`."""
        self._script.clock(to)
        self._compare(json.loads(self._kernel.tick(self._now()))["results"], [])
        return self

    def restart(self, *, clock: str | datetime | None = None) -> Self:
        """Restart the query from its checkpoint; the kernel continues without a restart.

        Parameters
        ----------
        clock : str or datetime, optional
            The time of the clock at the restart, as for `clock`.
        """
        self._script.restart(clock=clock)
        self._compare(json.loads(self._kernel.tick(self._now()))["results"], [])
        return self

    def _now(self) -> int:
        return micros_since_epoch(moment(self._script.now))

    def _batch(self, batch: Sequence[RowLike]) -> tuple[list[Any], list[int]]:
        """Return the kernel's results for a batch, and the numbers of the late rows."""
        first = len(self._rows)
        self._rows += [(*storable(row, self._schema), first + n) for n, row in enumerate(batch)]
        window = self._window(self._frame(self._rows[first:]))
        scope = window.settings.watermark_scope
        key = _name(window.settings.key_by)
        group = _name(() if scope is None else scope.columns)
        judged = window.df.select(
            _NUMBER, key, group, self._time(window), self._gap(window)
        ).collect()
        needed = [] if isinstance(window.settings.shape, Counted) else [3]
        needed += [] if window.settings.row_gap is None else [4]
        late = [row[0] for row in judged if any(row[column] is None for column in needed)]
        taken = sorted((row for row in judged if row[0] not in late), key=lambda row: row[0])
        answer = json.loads(self._kernel.batch(self._now(), [tuple(row) for row in taken]))
        return answer["results"], late + answer["late"]

    def _time(self, window: WindowBuilder) -> Column:
        time = window.settings.event_time
        if window.settings.processing_time or time is None:
            return F.lit(self._now())
        return F.unix_micros(time.column)

    def _gap(self, window: WindowBuilder) -> Column:
        """Return the gap of each row in microseconds, null if all rows have one gap."""
        gap = window.settings.row_gap
        return F.lit(None).cast("long") if gap is None else self._jvm.gap_micros(window.df, gap)

    def _frame(self, rows: list[tuple[Any, ...]]) -> DataFrame:
        schema = StructType([*self._schema.fields, StructField(_NUMBER, IntegerType())])
        return self._jvm.local_rows(self._spark, rows, schema)

    def _compare(self, panes: list[dict[str, Any]], late: list[int]) -> None:
        schema = self._script.result.schema
        wanted = [readable_row(row, schema, collected=True) for row in self._results(panes)]
        got = [readable_row(row, schema, collected=True) for row in self._script.results()]
        faults = difference(wanted, got)
        rows = [readable_row(self._rows[number][:-1], self._schema) for number in late]
        faults += [f"late, {fault}" for fault in difference(rows, self._newly_late())]
        if faults:
            where = f"at {self._script.now}, the kernel's as expected:"
            raise AssertionError("\n".join([where, *faults]))

    def _results(self, panes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the kernel's results as rows of the query's result."""
        window = self._window(self._frame(self._rows))
        schema = self._script.result.schema
        keys = schema.names[1 : 1 + len(window.settings.key_by)]
        named = zip(window.settings.key_by, keys, strict=True)
        firsts = [F.first(key).alias(name) for key, name in named]
        full = [(n, row) for n, pane in enumerate(panes) for row in pane["rows"]]
        empty = [(n, pane["of"]) for n, pane in enumerate(panes) if not pane["rows"]]
        aggregates = columns(window.settings.agg)
        nothing = window.df.limit(0).agg(*aggregates)
        values = [*self._grouped(window, full, *firsts, *aggregates)]
        values += [
            {**keys_of, **row.asDict()}
            for keys_of in self._grouped(window, empty, *firsts)
            for row in nothing.collect()
        ]
        for row in values:
            pane = panes[row.pop("_pane")]
            said = {
                "window": _bounds(pane, schema),
                "pane_index": pane["index"],
                "pane_timing": pane["timing"],
                "is_last": pane["last"],
                "trigger": pane["trigger"],
            }
            yield {**{name: said[name] for name in said if name in schema.names}, **row}

    def _grouped(
        self, window: WindowBuilder, pairs: list[tuple[int, int]], *aggregates: Column
    ) -> list[dict[str, Any]]:
        """Aggregate the rows of each pane; a pair is a pane and a row, by their numbers."""
        if not pairs:
            return []
        chosen = self._jvm.local_rows(self._spark, pairs, row_type(f"_pane int, {_NUMBER} int"))
        grouped = window.df.join(chosen, _NUMBER).groupBy("_pane")
        one = F.lit(1).alias("_one")  # there may be no aggregates
        return [
            {name: value for name, value in row.asDict().items() if name != "_one"}
            for row in grouped.agg(one, *aggregates).collect()
        ]

    def _newly_late(self) -> list[dict[str, Any]]:
        """Return the input rows that the last step has added to the late log."""
        rows = read_late(self._script.checkpoint, spark=self._spark).orderBy("_batch_id")
        found = rows.select(*self._schema.names).collect()
        before, self._late = self._late, len(found)
        return [readable_row(row, self._schema, collected=True) for row in found[before:]]

    def __enter__(self) -> Self:
        """Return the script, whose query is running."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the query and remove its checkpoint."""
        self.close()

    def close(self) -> None:
        """Stop the query, release its rows and remove its checkpoint."""
        self._script.close()


def _name(columns: Iterable[str | Column]) -> Column:
    """Return a text that is equal for rows with equal values in these columns."""
    return F.to_json(F.struct(F.lit(0), *columns), {"ignoreNullFields": "false"})


def _bounds(pane: dict[str, Any], schema: StructType) -> dict[str, Any]:
    """Return the bounds of a result's window: times, or row numbers."""
    kind = schema["window"].dataType
    if isinstance(kind, StructType) and kind["start"].dataType == LongType():
        return {"start": pane["start"], "end": pane["end"]}
    return {name: time_of(pane[name]) for name in ("start", "end")}
