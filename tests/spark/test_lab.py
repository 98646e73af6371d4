"""The lab: what policies would have done with recorded rows is what queries do."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.errors import (
    ArgumentTypeError,
    ColumnTypeError,
    InvalidArgumentError,
    UnknownColumnError,
    UnsupportedPlanError,
)
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import at
from tests.spark.window_runs import scripted, settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from eventtide.windows import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

    from tests.spark.kafka import Broker

SCHEMA = "ts timestamp, seen timestamp, device string"
SECOND = timedelta(seconds=1)
TENS = et.window().key_by("device").tumbling("10s")
TIMES: dict[str, Any] = {"event_time": "ts", "arrival": "seen", "every": "5s"}

# event time and arrival in seconds: the row of 3 comes when the window up to 10 has closed
ROWS = [(1, 1, "a"), (4, 3, "b"), (11, 12, "a"), (3, 13, "b"), (3, 21, "a"), (25, 26, "a")]


def recorded(spark: SparkSession) -> DataFrame:
    """Return the recorded rows, in no order."""
    rows = [(at(time), at(seen), device) for time, seen, device in reversed(ROWS)]
    text = spark.createDataFrame(rows, "ts string, seen string, device string")
    return text.select(F.col("ts").cast("timestamp"), F.col("seen").cast("timestamp"), "device")


def test_a_lab_by_hand(spark: SparkSession) -> None:
    """Each figure of a point, for no lag and for one that loses nothing."""
    lags = [WatermarkPolicies.with_fixed_lag(lag) for lag in ("0s", "20s")]
    lab = et.lab(recorded(spark), policies=lags, windows=[TENS], **TIMES)
    none, long = lab.points
    # The trigger of 15 reads 11, so that 0 to 10 closes; 3, which comes at 21, is late.
    assert (none.rows, none.late, none.refused, none.windows) == (6, 1, 0, 2)
    assert (none.delay_p50, none.delay_p99) == (5 * SECOND, 10 * SECOND)
    assert (none.open_at_end, none.most_open, none.most_aggregates) == (1, 2, 3)
    assert (long.late, long.windows, long.open_at_end, long.delay_p50) == (0, 0, 3, None)
    assert none.late_share == pytest.approx(1 / 6)
    assert none.code == "et.WatermarkPolicies.with_fixed_lag(lag='0s')"
    assert "key_by('device').tumbling('10s'): 6 rows" in str(lab)
    assert "* with_fixed_lag(lag='0s')" in str(lab)


def test_windows_have_the_defaults_of_the_session(spark: SparkSession) -> None:
    """As in a query; the points have the windows as they were given."""
    lags = [WatermarkPolicies.with_fixed_lag("0s")]
    given = et.lab(recorded(spark), policies=lags, windows=[TENS.delay("5s")], **TIMES).points[0]
    with settings(spark, {"spark.eventtide.delay": "5s"}):
        (point,) = et.lab(recorded(spark), policies=lags, windows=[TENS], **TIMES).points
    assert replace(given, window=TENS) == point
    assert point.late == 0


@pytest.mark.parametrize("lag", ["0s", "7s"])
def test_the_lab_equals_a_query(spark: SparkSession, lag: str) -> None:
    """The rows of each trigger, as a script."""
    policy = WatermarkPolicies.with_fixed_lag(lag)
    (point,) = et.lab(recorded(spark), policies=[policy], windows=[TENS], **TIMES).points

    def query(rows: DataFrame) -> WindowBuilder:
        return TENS.event_time("ts", policy).agg(F.count("*").alias("n")).over(rows)

    delays: dict[datetime, int] = {}
    with Script(query, SCHEMA, clock=at(0)) as script:
        for trigger in range(5, 35, 5):
            script.clock("+5s")
            script.rows(
                [
                    (at(time), at(seen), device)
                    for time, seen, device in ROWS
                    if trigger - 5 <= seen < trigger
                ]
            )
            closed = {row["window"].end for row in script.results()}
            delays |= dict.fromkeys(closed, trigger)
        late = sum(et.progress(script.streaming_query).late.values())
    assert (point.late, point.windows) == (late, len(delays))


def test_a_range_of_a_topic(spark: SparkSession, broker: Broker, topic: str) -> None:
    """The broker's time is the arrival, and a partition is a substream."""
    now = datetime.now(timezone.utc)
    times = [(n % 2, (now - n * SECOND).isoformat()) for n in range(40)]
    broker.send_all(topic, times)
    offsets = f'{{"{topic}": {{"0": 5, "1": 10}}}}'
    rows = broker.batch(spark, topic, startingOffsets=offsets).select(
        F.col("value").cast("string").cast("timestamp").alias("ts"), "timestamp", "partition"
    )
    lab = et.lab(rows, event_time="ts", arrival="timestamp", substream="partition")
    assert {point.rows for point in lab.points} == {25}
    assert lab.points[-1].late == 0


def test_the_archive_and_the_late_rows_of_a_query(spark: SparkSession, tmp_path: Path) -> None:
    """Together they are all rows, so the lab says of them what it says of all."""

    def query(rows: DataFrame) -> WindowBuilder:
        timed = TENS.event_time("ts", WatermarkPolicies.max_event_time())
        return timed.agg(F.collect_list(F.struct(*rows.columns)).alias("rows")).over(rows)

    archive = f"{tmp_path}/archive"
    with scripted(spark, [[(at(t), at(seen), device)] for t, seen, device in ROWS], SCHEMA) as rows:
        window = query(rows)
        writer = window.results.select(F.inline("rows")).writeStream.format("parquet")
        writer = writer.option("path", archive).trigger(availableNow=True)
        writer = writer.option("checkpointLocation", f"{tmp_path}/checkpoint")
        et.start(window, writer, drain=True).awaitTermination()
    on_time = spark.read.parquet(archive)
    late = et.read_late(f"{tmp_path}/checkpoint").select(*on_time.columns)
    assert late.count() == 1
    lab = et.lab(on_time.unionByName(late), windows=[TENS], **TIMES)
    assert str(lab) == str(et.lab(recorded(spark), windows=[TENS], **TIMES))


def test_fixed_lags_by_default(spark: SparkSession) -> None:
    """Up to the first one that loses no row, and the choice among them."""
    lab = et.lab(recorded(spark), windows=[TENS], **TIMES)
    codes = [f"et.WatermarkPolicies.with_fixed_lag(lag='{lag}')" for lag in ("0s", "1s", "2s")]
    assert [point.code for point in lab.points] == codes
    assert [point.late > 0 for point in lab.points] == [True] * (len(lab.points) - 1) + [False]
    best = lab.frontier()
    assert [point.late for point in best] == sorted({point.late for point in best}, reverse=True)
    assert lab.choose(late="50%") is best[0]
    with pytest.raises(InvalidArgumentError, match=r"late=.0%. is met by no policy of the lab"):
        et.lab(recorded(spark), policies=[best[0].policy], windows=[TENS], **TIMES).choose(
            late="0%"
        )


def test_several_windows(spark: SparkSession) -> None:
    """Have their own points, and no choice across them."""
    windows = [TENS, et.window().sliding("20s", every="5s"), et.window().cumulate("20s", step="5s")]
    policy = WatermarkPolicies.limiting_lag_and_lull("5s", "10s").throttle_by_frame("5s")
    lab = et.lab(recorded(spark), policies=[policy], windows=windows, substream="device", **TIMES)
    assert [point.window for point in lab.points] == windows
    assert lab.points[1].most_open > lab.points[0].most_open
    with pytest.raises(InvalidArgumentError, match="several windows"):
        lab.choose(late="1%")


def test_a_chart(spark: SparkSession) -> None:
    """It has the points, and marks those of the frontier."""
    pytest.importorskip("altair")
    chart = et.lab(recorded(spark), windows=[TENS], **TIMES).plot().to_dict()
    values = chart["data"]["values"]
    assert {"with_fixed_lag"} == {value["kind"] for value in values}
    assert any(value["best"] for value in values)


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"arrival": "arrived"}, UnknownColumnError, "arrival='arrived'"),
        ({"event_time": "device"}, ColumnTypeError, "device"),
        ({"policies": []}, InvalidArgumentError, "policies=.. is empty"),
        ({"policies": WatermarkPolicies.with_fixed_lag("1s")}, InvalidArgumentError, "not a list"),
        ({"policies": ["5s"]}, ArgumentTypeError, "with_fixed_lag"),
        ({"windows": []}, InvalidArgumentError, "windows=.. is empty"),
        ({"windows": TENS}, InvalidArgumentError, "not a list"),
        ({"windows": ["1h"]}, ArgumentTypeError, "windows.0."),
        ({"windows": 5}, InvalidArgumentError, "windows=5 is not a list"),
        ({"policies": 5}, InvalidArgumentError, "policies=5 is not a list"),
        ({"windows": [et.window()]}, InvalidArgumentError, "has no kind"),
        ({"windows": [TENS.origin("2024-01-01")]}, InvalidArgumentError, "has no time zone"),
        ({"windows": [et.window().session("5s")]}, InvalidArgumentError, "LAB_WINDOW"),
        ({"windows": [TENS.watermark_scope("key")]}, InvalidArgumentError, "LAB_WINDOW"),
        (
            {"policies": [WatermarkPolicies.with_fixed_lag("1s").guard_future("1h")]},
            InvalidArgumentError,
            "LAB_POLICY",
        ),
        ({"every": "0s"}, InvalidArgumentError, "every"),
    ],
)
def test_refusals(
    spark: SparkSession, changes: dict[str, Any], error: type[Exception], words: str
) -> None:
    """Before any row is read."""
    with pytest.raises(error, match=words):
        et.lab(recorded(spark), **{**TIMES, **changes})


def test_a_stream_is_refused(spark: SparkSession) -> None:
    """A lab needs recorded rows."""
    stream = spark.readStream.format("rate").load()
    rows = stream.select(F.col("timestamp").alias("ts"), F.col("timestamp").alias("seen"))
    with pytest.raises(UnsupportedPlanError, match="LAB_STREAM"):
        et.lab(rows, **TIMES)


def test_the_command(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table, JSON, and the line for a query."""
    testing = pytest.importorskip("typer.testing")
    from eventtide.cli import _commands, _lab  # noqa: PLC0415 - an extra

    @contextmanager
    def session(*_: object) -> Iterator[SparkSession]:
        yield spark

    monkeypatch.setattr(_lab, "session", session)
    files = str(tmp_path / "rows.parquet")
    recorded(spark).write.parquet(files)
    times = ["--event-time", "ts", "--arrival", "seen", "--every", "5s", "--window", "10s"]

    def run(*more: str) -> str:
        done = testing.CliRunner().invoke(_commands.app, ["lab", files, *times, *more])
        assert done.exit_code == 0, done.output
        return str(done.stdout)

    assert "* with_fixed_lag(lag='0s')" in run("--key", "device")
    assert run("--late", "20%") == "et.WatermarkPolicies.with_fixed_lag(lag='0s')\n"
    lull = "{name: limiting_lag_and_lull, lag: 5s, max_lull: 10s}"
    (point,) = json.loads(run("--json", "--policy", lull, "--substream", "device"))
    assert (point["rows"], point["policy"][:42]) == (
        6,
        "WatermarkPolicies.limiting_lag_and_lull(la",
    )
