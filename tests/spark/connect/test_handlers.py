"""Late-row handlers of a client: they run in a Python worker of the server."""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import _bridge
from eventtide.errors import LateHandlerError
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.late_handler.calls import Feed, started, tens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventtide import LateContext
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter


class Written:
    """A handler that writes a line for each call, and fails for batches with a key."""

    def __init__(self, path: Path, fails_for: str = "") -> None:
        self._path, self._fails_for = str(path), fails_for

    def __call__(self, rows: DataFrame, context: LateContext) -> None:
        """Write the keys of the batch, and what the context tells."""
        keys = "".join(sorted(row["key"] for row in rows.select("key").collect()))
        reasons = dict(context.reasons)
        with Path(self._path).open("a", encoding="utf-8") as file:
            file.write(f"{keys} {context.batch_id} {reasons} {context.query.id}\n")
        if set(keys) & set(self._fails_for):
            raise OSError(keys)

    @property
    def keys(self) -> list[str]:
        """The keys of each call."""
        path = Path(self._path)
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [line.split()[0] for line in lines]


@pytest.fixture
def feed(spark: SparkSession) -> Iterator[Feed]:
    """Return a stream whose first batches make all rows late that follow."""
    feed = Feed(spark)
    feed.add(100, 101)
    yield feed
    feed.close()


def written(window: et.WindowBuilder, folder: Path) -> DataStreamWriter:
    """Return a writer with a checkpoint, the same each time."""
    writer = window.results.writeStream.format("noop")
    return writer.option("checkpointLocation", str(folder / "checkpoint"))


@pytest.mark.smoke
def test_each_batch_with_late_rows_is_one_call(feed: Feed, tmp_path: Path) -> None:
    """Over restarts, too: no completed call is repeated."""
    calls = Written(tmp_path / "calls")
    window = tens(feed.events).on_late(calls)
    for batch in "ab", "c":
        feed.add(batch)
        with started(window, written(window, tmp_path)) as query:
            query.processAllAvailable()
            assert query.isActive
    assert calls.keys == ["ab", "c"]
    [first, _] = (tmp_path / "calls").read_text(encoding="utf-8").splitlines()
    assert first == f"ab 2 {{'window_closed': 2}} {query.id}"
    assert query.awaitTermination(1) is True
    assert query.exception() is None


def test_a_handler_may_stop_the_query(feed: Feed, tmp_path: Path) -> None:
    """By its context, which has the query and not a copy of its session."""

    def handle(_: DataFrame, context: LateContext) -> None:
        assert context.query.isActive
        context.query.stop()

    feed.add("a")
    window = tens(feed.events).on_late(handle)
    query = et.start(window, written(window, tmp_path))
    assert query.awaitTermination(100) is True
    assert query.exception() is None


def test_a_handler_that_fails_stops_the_query(feed: Feed, tmp_path: Path) -> None:
    """A caller that waits gets the error; a restart begins with the batch that was not handled."""
    calls = Written(tmp_path / "calls", fails_for="b")
    feed.add("a", "b", "c")
    window = tens(feed.events).on_late(calls)
    query = et.start(window, written(window, tmp_path))
    with pytest.raises(LateHandlerError, match=r"for batch 3 .*OSError\('b'\).*on_error"):
        query.awaitTermination()
    assert calls.keys == ["a", "b"]
    assert not query.isActive
    with pytest.raises(LateHandlerError):
        query.processAllAvailable()
    window = tens(feed.events).on_late(Written(tmp_path / "calls"))
    with started(window, written(window, tmp_path)) as query:
        query.processAllAvailable()
    assert calls.keys == ["a", "b", "b", "c"]


def test_the_errors_of_a_handler_may_be_logged(feed: Feed, tmp_path: Path) -> None:
    """By the server; the query and the calls go on."""
    calls = Written(tmp_path / "calls", fails_for="a")
    feed.add("a", "b")
    window = tens(feed.events).on_late(calls, on_error="log")
    with started(window, written(window, tmp_path)) as query:
        query.processAllAvailable()
        assert query.isActive
    assert calls.keys == ["a", "b"]


@pytest.mark.parametrize("temporary", [False, True])
def test_what_is_available_now_has_all_its_calls(
    spark: SparkSession, feed: Feed, tmp_path: Path, *, temporary: bool
) -> None:
    """When the query is over; a checkpoint that Spark has made is there until then."""
    calls = Written(tmp_path / "calls")
    feed.add("a", "b")
    window = tens(feed.events).on_late(calls)
    plain = window.results.writeStream.format("noop")
    writer = plain if temporary else written(window, tmp_path)
    query = et.start(window, writer.trigger(availableNow=True), drain=True)
    checkpoint = Path(_bridge.of(query).checkpoint_of(query).removeprefix("file:"))
    query.awaitTermination()
    assert calls.keys == ["a", "b"]
    assert spark.streams.active == []
    assert checkpoint.exists() != temporary


def test_a_writer_that_calls_no_handler_is_refused(feed: Feed, tmp_path: Path) -> None:
    """Before the query starts."""
    writer = written(tens(feed.events).on_late(print), tmp_path)
    with pytest.raises(et.errors.UnsupportedPlanError) as error, et.named_errors():
        writer.start()
    assert error.value.condition == "HANDLER_NOT_CALLED"


def test_a_handler_that_cannot_be_sent_is_refused(
    spark: SparkSession, feed: Feed, tmp_path: Path
) -> None:
    """Before the query starts."""
    lock = Lock()

    def handle(_: DataFrame, __: LateContext) -> None:
        lock.acquire()

    window = tens(feed.events).on_late(handle)
    with pytest.raises(et.errors.InvalidArgumentError, match=r"cannot be pickled.*lock"):
        et.start(window, written(window, tmp_path))
    assert spark.streams.active == []


def test_two_windows_with_a_handler_each_are_refused(feed: Feed, tmp_path: Path) -> None:
    """Only one of them would be called."""
    below = tens(feed.events).on_late(print)
    above = et.window(below.results).event_time("window").tumbling("20s")
    above = above.agg(F.count("*").alias("windows")).on_late(print)
    with pytest.raises(et.errors.UnsupportedPlanError, match="2 windows with a handler"):
        et.start(above, written(above, tmp_path))
