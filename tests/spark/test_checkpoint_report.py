"""What a checkpoint holds, read while its query runs and after."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from itertools import count, takewhile
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies, _bridge
from eventtide.errors import CheckpointError
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.pages import ROOT
from tests.spark.checkpoints import files, set_back
from tests.spark.queries import EVENTS, at, counts, stock

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LAG = WatermarkPolicies.with_fixed_lag("2s")
ROWS = [(at(1), "a"), (at(3), "a"), (at(25), "b"), (at(24), "a"), (at(26), "c")]


def windowed(events: DataFrame, **size: str) -> et.WindowBuilder:
    """Count by key over ten seconds."""
    window = et.window(events).event_time("ts", LAG, substream="key", substream_idle_timeout="1h")
    return window.key_by("key").tumbling(**(size or {"size": "10s"})).agg(F.count("*").alias("n"))


def query(events: DataFrame) -> DataFrame:
    """Return the results of those windows."""
    return windowed(events).results


def written(checkpoint: str) -> dict[str, bytes]:
    """Return all files of a checkpoint, but what a running query may change by itself."""
    files = [path for path in Path(checkpoint).rglob("*") if path.is_file()]
    return {str(path): path.read_bytes() for path in files if "state" not in path.parts}


@pytest.mark.smoke
def test_a_running_query_shows_all_of_it_and_nothing_is_written() -> None:
    """Policies, watermark, substreams, open keys, late rows by reason; by path and by query."""
    with Script(query, EVENTS) as script:
        script.rows(ROWS).rows([(at(2), "a"), (None, "c")])
        before = written(script.checkpoint)
        report = et.read_checkpoint(script.checkpoint)
        assert et.read_checkpoint(script.streaming_query) == report
        assert written(script.checkpoint) == before
        running = et.progress(script.streaming_query)
        blame = et.blame(script.streaming_query)
    assert report.committed == report.begun == running.batch_id
    assert report.plan[0] == "input 0: policy=with_fixed_lag, substream=key"
    assert report.plan[1].startswith("window 0: kind=tumbling, size=10s, ")
    assert report.watermark is not None
    assert (report.watermark.emitted, report.watermark.ideal) == (running.emitted, running.ideal)
    assert report.watermark.late == running.late == {"bad_time": 1, "window_closed": 1}
    assert report.watermark.on_time == running.on_time == len(ROWS)
    [source], [shown] = running.inputs, report.watermark.inputs
    assert [(one.name, one.top, one.rows_total) for one in shown.substreams] == [
        (one.name, one.top, one.rows_total) for one in source.substreams
    ]
    assert report.blame is not None
    assert blame.startswith(report.blame)  # a query knows too which window closes next
    [window] = report.windows
    assert (window.open_keys, window.late) == (3, {"bad_time": 1, "window_closed": 1})
    assert window.late_log is not None
    assert window.late_log.endswith("/late")
    assert report.settings["spark.sql.shuffle.partitions"] == "2"
    assert report.ledger_entries
    assert report.ledger_bytes
    assert (report.problems, report.continues, report.refusal) == ((), None, None)
    [advice] = report.advice
    assert advice.startswith("16.7 % of the rows came too late")


def test_blame_says_which_window_closes_next_where_the_plan_is_known() -> None:
    """The checkpoint alone has numbers."""
    with Script(query, EVENTS) as script:
        script.rows(ROWS)
        report = et.read_checkpoint(script.checkpoint, plan=script.result)
    assert (report.blame or "").endswith(
        " Next to close is window [2024-01-01 00:00:20, 2024-01-01 00:00:30) UTC, when the "
        "watermark reaches 2024-01-01 00:00:30 UTC."
    )


def test_blame_does_not_accuse_by_a_watermark_that_closes_no_window() -> None:
    """Each key has one of its own, which the checkpoint says by itself."""

    def by_key(events: DataFrame) -> et.WindowBuilder:
        window = et.window(events).event_time("ts", LAG).watermark_scope("key")
        return window.key_by("key").tumbling("10s").agg(F.count("*").alias("n"))

    with Script(by_key, EVENTS) as script:
        script.rows(ROWS)
        blame = et.read_checkpoint(script.checkpoint).blame
    expected = "Each key has its own watermark; the watermark of the query closes no window."
    assert blame == expected


def test_a_plan_that_can_go_on_and_one_that_cannot(spark: SparkSession) -> None:
    """Lags may change, any size may not; a window is a plan too."""
    with Script(query, EVENTS) as script:
        script.rows(ROWS)
        stream = script.result
        events = spark.readStream.schema(EVENTS).json(script.checkpoint)
        same = et.read_checkpoint(script.checkpoint, plan=windowed(events))
        other = et.read_checkpoint(script.checkpoint, plan=windowed(events, size="15s"))
        itself = et.read_checkpoint(script.checkpoint, plan=stream)
        said = _bridge.of(spark).checkpoint_json(
            spark, script.checkpoint, windowed(events, size="15s").results
        )
    assert (same.continues, same.refusal) == (itself.continues, itself.refusal) == (True, None)
    border = json.loads((ROOT / "tests/border/checkpoint.json").read_text("utf-8"))
    assert json.loads(said).keys() == border.keys()
    assert other.continues is False
    assert other.refusal is not None
    assert ": size: 10s in the checkpoint, 15s in this query. " in other.refusal
    assert other.watermark == same.watermark  # a plan that does not fit changes nothing


def test_a_plan_whose_late_rows_are_others_or_go_elsewhere_cannot_go_on(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A column with another type, and another folder; a column more is no reason."""
    kept = f"{tmp_path}/kept"
    with Script(lambda rows: windowed(rows).late_to(kept).results, f"{EVENTS}, n int") as script:
        script.rows([(*row, 1) for row in ROWS])

        def refusal(columns: str, folder: str = kept) -> str:
            rows = spark.readStream.schema(f"{EVENTS}, {columns}").json(script.checkpoint)
            plan = windowed(rows).late_to(folder)
            report = et.read_checkpoint(script.checkpoint, plan=plan)
            assert report.continues == (report.refusal is None)
            return report.refusal or ""

        assert refusal("n int") == refusal("n int, m int") == ""
        assert "[LATE_LOG_CHANGED]" in refusal("n string")
        assert f"{tmp_path}/other" in refusal("n int", f"{tmp_path}/other")


def test_a_query_that_commits_all_the_time_is_read_beside_it(spark: SparkSession) -> None:
    """What is read is of one moment, each later than that before; some of the rows are late."""
    spark.conf.set("spark.sql.streaming.minBatchesToRetain", "2")  # so that each batch removes one
    batches = ([(at(second), "a"), (at(second - 90), "a")] for second in count(120, 60))
    enough = Event()
    reports: list[et.observe.CheckpointReport] = []
    with Script(query, EVENTS) as script, ThreadPoolExecutor(1) as thread:
        script.rows([(at(1), "a")])
        until = takewhile(lambda _: not enough.is_set(), batches)
        feeding = thread.submit(lambda: [script.rows(batch) for batch in until])
        while len({report.committed for report in reports}) < 8 and not feeding.done():
            reports.append(et.read_checkpoint(script.checkpoint))
        enough.set()
        feeding.result()
    assert [report.problems for report in reports if report.problems] == []
    assert len({report.committed for report in reports}) == 8
    seen = [(of.committed, of.windows[0].late.get("window_closed", 0)) for of in reports]
    assert seen == sorted(seen)
    assert seen[0][1] < seen[-1][1]


def test_a_batch_that_was_begun_and_not_committed_is_told() -> None:
    """As after a kill."""
    with Script(query, EVENTS) as script:
        script.rows(ROWS)
        script.stop()
        checkpoint = Path(script.checkpoint)
        last = max(files(checkpoint, "commits").values())
        set_back(checkpoint, last, ())
        report = et.read_checkpoint(checkpoint)
    assert (report.committed, report.begun) == (last - 1, last)
    assert report.problems == ()


def test_orphans_are_found_and_cleaned() -> None:
    """A file of a committed batch that no index names; what counts stays."""
    with Script(query, EVENTS) as script:
        script.rows(ROWS).rows([(at(2), "a")])
        [late] = Path(script.checkpoint, "late").glob("*.parquet")
        batch, partition, _ = late.name.split("-", 2)
        orphan = late.with_name(f"{batch}-{partition}-0123456789ab.c000.snappy.parquet")
        orphan.write_bytes(b"left")
        report = et.read_checkpoint(script.checkpoint)
        assert (report.orphans, report.orphan_bytes) == (1, 4)
        assert any("clean-late" in advice for advice in report.advice)
        for dry_run in (True, False):
            [found] = et.clean_late(script.checkpoint, dry_run=dry_run)
            assert found.endswith(orphan.name)
            assert orphan.exists() == dry_run
        assert et.clean_late(script.streaming_query) == []
        assert et.read_late(script.checkpoint).count() == 1


def test_what_cannot_be_read_is_a_problem_and_the_rest_is_shown() -> None:
    """A ledger that is damaged; nobody knows then which part of the rows was late."""
    with Script(query, EVENTS) as script:
        script.rows(ROWS).rows([(at(2), "a")])
        script.stop()
        for entry in Path(script.checkpoint, "eventtide", "ledger").iterdir():
            entry.unlink()
        report = et.read_checkpoint(script.checkpoint)
    assert report.watermark is None
    [problem] = report.problems
    assert "[LEDGER_GAP]" in problem
    assert report.windows[0].late == {"window_closed": 1}
    assert not any("too late" in advice for advice in report.advice)
    assert report.windows[0].open_keys is None
    assert report.fingerprint


def test_settings_that_are_unwise_are_told(spark: SparkSession) -> None:
    """Substreams without an idle timeout, a watermark that no clock moves, many partitions."""
    spark.conf.set("spark.sql.shuffle.partitions", "100")
    with Script(counts(LAG, substream="key"), EVENTS) as script:
        script.rows([(at(1), "a")])
        advice = et.read_checkpoint(script.checkpoint).advice
    for part in ("no idle timeout", "advances only with rows", "100 partitions", "RocksDB"):
        assert any(part in sentence for sentence in advice) == (part != "RocksDB")


def test_no_checkpoint_is_refused(tmp_path: Path) -> None:
    """An empty folder, and one of a query without an Eventtide watermark."""
    with pytest.raises(CheckpointError, match="CHECKPOINT_EMPTY"):
        et.read_checkpoint(tmp_path)
    with Script(stock("2 seconds"), EVENTS) as script:
        script.rows([(at(1), "a")])
        with pytest.raises(CheckpointError, match="CHECKPOINT_WITHOUT_EVENTTIDE"):
            et.read_checkpoint(script.checkpoint)
