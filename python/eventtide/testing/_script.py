"""A script: the input of a query, the time of its clock, and the expected results."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias

from pyspark.sql import DataFrame, Row, SparkSession

from eventtide import _bridge
from eventtide._text.arguments import count
from eventtide._text.durations import micros
from eventtide._text.schemas import row_type
from eventtide._text.times import micros_since_epoch, time_of
from eventtide.errors import refused
from eventtide.testing._difference import difference
from eventtide.testing._values import RowLike, moment, readable_row, storable, time_text
from eventtide.windows import WindowBuilder

if TYPE_CHECKING:
    from types import TracebackType

    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.types import StructType
    from typing_extensions import Self

Query: TypeAlias = Callable[[DataFrame], DataFrame | WindowBuilder]
"""Creates the streaming query under test from the scripted stream."""


class Script:
    """Runs a real streaming query, step by step, with a scripted source and a scripted clock.

    Each step waits until the query has no more work. Nothing sleeps, and the script controls the
    query's time: batch timestamps, lulls and idle timeouts follow the script's clock.

    Parameters
    ----------
    query : callable
        A function of the scripted stream that returns the DataFrame to run, or a window to run for
        its results.
    schema : str or StructType
        The schema of the stream, as a type or as Spark DDL: ``"ts timestamp, user string"``.
    clock : str or datetime
        The time of the clock at the start; a time without a zone is in UTC.
    output_mode : str, optional
        ``"append"``, ``"update"`` or ``"complete"``. By default ``"append"``, in real-time mode
        ``"update"``.
    real_time : bool
        Whether the query runs in real-time mode, which needs Spark 4.3 and the settings of
        ``et.configure(..., real_time=True)``. Each step is then a batch whose rows come one by one,
        from one partition. One such script can be open at a time.
    checkpoint : str, optional
        The checkpoint folder to continue from. The first rows of the script must then be the rows
        that the checkpoint's query has read. By default a temporary folder, which is removed with
        the script.
    session : SparkSession, optional
        The session; by default the active session.

    Raises
    ------
    InvalidArgumentError
        The schema is not a row schema, or a step after `stop` needs a running query.
    AssertionError
        The results differ from the rows of `expect`; the message lists missing and unexpected rows.

    Examples
    --------
    >>> with Script(counts, "ts timestamp") as script:  # doctest: +SKIP
    ...     script.rows([("2024-01-01 00:00:07",)]).expect(results=[])
    ...     script.clock("+1m").expect(watermark="2024-01-01 00:00:32")
    """

    def __init__(  # noqa: PLR0913 - keywords, most with defaults
        self,
        query: Query,
        schema: str | StructType,
        *,
        clock: str | datetime = "2024-01-01 00:00:00",
        output_mode: str | None = None,
        real_time: bool = False,
        checkpoint: str | None = None,
        session: SparkSession | None = None,
    ) -> None:
        self._spark = session or SparkSession.active()
        self._schema = row_type(schema, "schema='ts timestamp, user string'")
        self._source = _bridge.of(self._spark).script(self._spark, self._schema)
        made = query(self._source.stream())
        self._result = made.results if isinstance(made, WindowBuilder) else made
        start_ms = micros_since_epoch(moment(clock)) // 1000
        # A state upload may still be running after the query was stopped.
        self._folder = tempfile.TemporaryDirectory(
            prefix="eventtide-script-", ignore_cleanup_errors=True
        )
        self._checkpoint = checkpoint or self._folder.name
        self._stopped = False
        with ExitStack() as undone:
            undone.callback(self._release)
            self._run = _bridge.of(self._spark).scripted_query(
                self._result,
                output_mode or ("update" if real_time else "append"),
                self._checkpoint,
                start_ms,
                real_time=real_time,
            )
            undone.callback(self._end)
            self._run.start(available_now=False)
            self._run.await_idle()
            undone.pop_all()

    @property
    def checkpoint(self) -> str:
        """The folder of the query's checkpoint."""
        return self._checkpoint

    @property
    def result(self) -> DataFrame:
        """The result of the query, as a streaming DataFrame."""
        return self._result

    @property
    def streaming_query(self) -> StreamingQuery:
        """The current run, for `et.progress` and the like."""
        return self._run.query()

    @property
    def last_batch(self) -> int:
        """The id of the last batch of the current run, from 0; -1 before the first batch."""
        return self._run.last_batch_id()

    def rows(self, *batches: Sequence[RowLike], partitions: int = 1) -> Self:
        """Add rows to the source, each argument as a separate micro-batch, and run the query.

        Parameters
        ----------
        batches
            Rows as dicts or tuples. Times are text or datetimes; times without a zone are in UTC.
        partitions : int
            The number of partitions of each batch. Rows are assigned to partitions round-robin.

        Raises
        ------
        InvalidArgumentError
            A row has other columns, or the number of partitions is below 1.
        ArgumentTypeError
            `partitions` is not a whole number.
        PySparkTypeError, PySparkValueError
            Spark rejects a value that its column cannot hold. Spark may raise other errors too.
        """
        self.waiting(*batches, partitions=partitions)
        self._settle("rows")
        return self

    def waiting(self, *batches: Sequence[RowLike], partitions: int = 1) -> Self:
        """Add rows to the source without waiting for the query, which may be stopped."""
        made = [[storable(row, self._schema) for row in batch] for batch in batches]
        self._source.add(*made, partitions=int(count("partitions", partitions)))
        return self

    def clock(self, to: str | datetime, *, jumps: bool = False) -> Self:
        """Set the clock to a time, or move it by a duration: ``"+5s"``, ``"-1m"``.

        Parameters
        ----------
        to : str or datetime
            The new time of the clock, or the duration.
        jumps : bool
            Whether this is a clock step: the clock changes although no time elapses.
        """
        now_ms = micros_since_epoch(self._time(to)) // 1000
        if jumps:
            self._run.jump_clock_ms(now_ms)
        else:
            self._run.set_clock_ms(now_ms)
        self._settle("clock")
        return self

    def _settle(self, step: str) -> None:
        if self._stopped:
            raise refused(
                "step",
                step,
                "needs a running query, and this one was stopped",
                allowed="waiting(...) and restart(...) after stop()",
                fix="script.stop().waiting([...]).restart(clock='+1h')",
            )
        self._run.await_idle()

    def stop(self) -> Self:
        """Stop the query; `restart` continues from its checkpoint."""
        self._run.stop()
        self._stopped = True
        return self

    def restart(
        self,
        *,
        clock: str | datetime | None = None,
        available_now: bool = False,
        drain: bool = False,
    ) -> Self:
        """Stop the query if it runs, and restart it from its checkpoint.

        Parameters
        ----------
        clock : str or datetime, optional
            The time of the clock at the restart, as for `clock`.
        available_now : bool
            Whether to read all available rows and end, as ``trigger(availableNow=True)``.
        drain : bool
            Whether to also close every window after the last row, as ``et.start(..., drain=True)``.
        """
        self._run.stop()
        if clock is not None:
            self._run.set_clock_ms(micros_since_epoch(self._time(clock)) // 1000)
        if drain:
            self._run.drain()
        else:
            self._run.start(available_now=available_now)
        self._stopped = available_now or drain
        if self._stopped:
            with _bridge.named_errors():
                self._run.query().awaitTermination()
        else:
            self._run.await_idle()
        return self

    def results(self) -> list[Row]:
        """Return the result rows since the last call of `results` or `expect`."""
        return self._run.new_results().collect()

    def expect(
        self,
        results: Sequence[RowLike] | None = None,
        *,
        late: int | None = None,
        watermark: str | datetime | None = None,
    ) -> Self:
        """Compare the results since the last `expect`; omitted arguments are not compared.

        Parameters
        ----------
        results : list of rows, optional
            All result rows since then, in any order.
        late : int, optional
            The number of late rows in Spark's progress since then: the late rows of a window of
            `et.window`, or the rows dropped by Spark operators.
        watermark : str or datetime, optional
            The watermark for the next batch.

        Raises
        ------
        AssertionError
            The message lists the differences, one per line.
        """
        faults = []
        schema = self._result.schema
        got = [readable_row(row, schema, collected=True) for row in self.results()]
        dropped = self._run.newly_dropped()
        if results is not None:
            wanted = [readable_row(row, schema) for row in results]
            faults += difference(wanted, got)
        if late is not None and late != dropped:
            faults.append(f"late: expected {late}, got {dropped}")
        if watermark is not None and time_text(watermark) != self.watermark:
            faults.append(f"watermark: expected {time_text(watermark)}, got {self.watermark}")
        if faults:
            raise AssertionError("\n".join([f"at {self.now}:", *faults]))
        return self

    @property
    def watermark(self) -> str:
        """The watermark for the next batch, as text in UTC; 1970 while there is no watermark."""
        return time_text(time_of(self._run.watermark_ms() * 1000))

    @property
    def now(self) -> str:
        """The time of the clock, as text in UTC."""
        return time_text(time_of(self._run.now_ms() * 1000))

    def _time(self, to: str | datetime) -> datetime:
        if isinstance(to, str) and to[:1] in {"+", "-"}:
            step = timedelta(microseconds=micros("clock", to[1:]))
            return moment(self.now) + (step if to[0] == "+" else -step)
        return moment(to)

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
        self._end()
        self._release()

    def _end(self) -> None:
        self._run.stop()
        self._run.close()

    def _release(self) -> None:
        self._source.close()
        self._folder.cleanup()
