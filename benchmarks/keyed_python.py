"""The tumbling windows of `keyed` as a user of PySpark would write them; its workers import this.

The watermark of a key is its highest event time, so no more than one window is open after a batch.
A row is late when its window had closed before the batch. All in milliseconds.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.stateful_processor import (
        ExpiredTimerInfo,
        StatefulProcessorHandle,
        TimerValues,
    )

SIZE = 60_000

WINDOW = "watermark BIGINT, start BIGINT, n BIGINT, total DOUBLE, most DOUBLE"
WITH_TIMER = f"sign BIGINT, has_timer BOOLEAN, {WINDOW}"
RESULT = "start BIGINT, end BIGINT, key INT, n BIGINT, total DOUBLE, most DOUBLE"
COLUMNS = ["start", "end", "key", "n", "total", "most"]

Result = tuple[Any, ...]


def by_group_state(events: DataFrame, idle_millis: int) -> DataFrame:
    """Return the results of applyInPandasWithState."""
    update = partial(_with_state, idle_millis)
    results = _by_key(events).applyInPandasWithState(
        update, RESULT, WINDOW, "append", "ProcessingTimeTimeout"
    )
    return _windows(results)


def by_pandas_processor(events: DataFrame, idle_millis: int) -> DataFrame:
    """Return the results of transformWithStateInPandas."""
    processor = PandasProcessor(idle_millis)
    results = _by_key(events).transformWithStateInPandas(
        processor, RESULT, "append", "ProcessingTime"
    )
    return _windows(results)


def by_row_processor(events: DataFrame, idle_millis: int) -> DataFrame:
    """Return the results of transformWithState, which has rows in place of pandas."""
    processor = RowProcessor(idle_millis)
    results = _by_key(events).transformWithState(processor, RESULT, "append", "ProcessingTime")
    return _windows(results)


def _by_key(events: DataFrame) -> Any:  # noqa: ANN401 - PySpark does not export its type
    return events.selectExpr("key", "value", "unix_millis(ts) AS millis").groupBy("key")


def _windows(results: DataFrame) -> DataFrame:
    bounds = "timestamp_millis(start) AS start, timestamp_millis(end) AS end"
    return results.selectExpr(f"struct({bounds}) AS window", *COLUMNS[2:])


def _with_state(
    idle_millis: int,
    key: tuple[Any, ...],
    batches: Iterable[pd.DataFrame],
    state: Any,  # noqa: ANN401 - PySpark's
) -> Iterator[pd.DataFrame]:
    known = KeyWindow(state.get if state.exists else None)
    if state.hasTimedOut:
        closed = known.close_open(key[0])
    else:
        closed = known.take(key[0], _of_pandas(batches))
        state.setTimeoutDuration(idle_millis)
    state.update(known.saved())
    if closed:
        yield pd.DataFrame(closed, columns=COLUMNS)


def _of_pandas(batches: Iterable[pd.DataFrame]) -> Iterator[tuple[int, float]]:
    """Return the times and values: few rows of a key are taken faster one by one than by pandas."""
    for batch in batches:
        yield from zip(batch["millis"].tolist(), batch["value"].tolist(), strict=True)


class RowProcessor(StatefulProcessor):
    """Takes the rows of a key, and gives what they close.

    A key has one timer, which looks when there was a row last and is set again if that is not long
    ago: to move it with each batch would be a write and a deletion more.
    """

    def __init__(self, idle_millis: int) -> None:
        """Close all windows of a key after so long without a row."""
        self._idle = idle_millis

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state."""
        self._handle = handle
        self._state = handle.getValueState("key", WITH_TIMER)

    def handleInputRows(  # noqa: N802 - PySpark's name
        self,
        key: Any,  # noqa: ANN401 - PySpark's
        rows: Iterator[Any],
        timerValues: TimerValues,  # noqa: N803 - PySpark's
    ) -> Iterator[Any]:
        """Take the rows of a batch."""
        _, has_timer, known = self._known()
        closed = known.take(key[0], self._events(rows))
        now = timerValues.getCurrentProcessingTimeInMs()
        if not has_timer:
            self._handle.registerTimer(now + self._idle)
        self._state.update((now, True, *known.saved()))
        return self._results(closed)

    def handleExpiredTimer(  # noqa: N802 - PySpark's name
        self,
        key: Any,  # noqa: ANN401 - PySpark's
        timerValues: TimerValues,  # noqa: N803 - PySpark's
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: ARG002, N803 - PySpark's
    ) -> Iterator[Any]:
        """Close what a silent key holds."""
        sign, _, known = self._known()
        silent_at = sign + self._idle
        if silent_at > timerValues.getCurrentProcessingTimeInMs():
            self._handle.registerTimer(silent_at)
            return iter(())
        closed = known.close_open(key[0])
        self._state.update((sign, False, *known.saved()))
        return self._results(closed)

    def close(self) -> None:
        """Have nothing to close."""

    def _known(self) -> tuple[int, bool, KeyWindow]:
        sign, has_timer, *window = self._state.get() or (0, False)
        return sign, has_timer, KeyWindow(window)

    def _events(self, rows: Iterator[Any]) -> Iterable[tuple[int, float]]:
        return ((row.millis, row.value) for row in rows)

    def _results(self, closed: list[Result]) -> Iterator[Any]:
        return (Row(**dict(zip(COLUMNS, result, strict=True))) for result in closed)


class PandasProcessor(RowProcessor):
    """The same with pandas."""

    def _events(self, rows: Iterator[Any]) -> Iterable[tuple[int, float]]:
        return _of_pandas(rows)

    def _results(self, closed: list[Result]) -> Iterator[Any]:
        return iter([pd.DataFrame(closed, columns=COLUMNS)] if closed else [])


class KeyWindow:
    """The open window of a key, and its watermark: count, sum and maximum by the window's start."""

    def __init__(self, saved: Sequence[Any] | None) -> None:
        """Begin a key, or go on with what was saved."""
        watermark, start, *window = saved or (-SIZE, None)
        self._watermark: int = watermark
        self._open: dict[int, list[Any]] = {} if start is None else {start: window}

    def take(self, key: int, events: Iterable[tuple[int, float]]) -> list[Result]:
        """Add the rows of a batch, and return the windows that they close."""
        newest = self._watermark
        for millis, value in events:
            newest = max(newest, millis)
            start = millis - millis % SIZE
            if start + SIZE > self._watermark:
                self._add(start, value)
        self._watermark = newest
        closed = sorted(start for start in self._open if start + SIZE <= newest)
        return [self._result(key, start) for start in closed]

    def _add(self, start: int, value: float) -> None:
        window = self._open.get(start)
        if window is None:
            self._open[start] = [1, value, value]
        else:
            window[0] += 1
            window[1] += value
            window[2] = max(window[2], value)

    def close_open(self, key: int) -> list[Result]:
        """Return the window that is open, which no longer is."""
        return [self._result(key, start) for start in list(self._open)]

    def _result(self, key: int, start: int) -> Result:
        return (start, start + SIZE, key, *self._open.pop(start))

    def saved(self) -> tuple[Any, ...]:
        """Return the value of `WINDOW`, between two batches."""
        if not self._open:
            return (self._watermark, None, None, None, None)
        [(start, window)] = self._open.items()
        return (self._watermark, start, *window)
