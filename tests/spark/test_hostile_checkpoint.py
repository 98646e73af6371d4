"""A checkpoint whose files were written by one who means harm: each error has a name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide.errors import CheckpointError, InvalidArgumentError
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.chaos.fuzz.damage import HEADER, Signed
from tests.chaos.fuzz.kept import files_of, put
from tests.spark.kept_checkpoints import BATCHES, query_of, run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KEPT = "keys-0.1.0"
LEDGER = "eventtide/ledger/4.1"
LOG = "eventtide/late/window-0.0"


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """Return a checkpoint that nothing is wrong with."""
    put(files_of(KEPT), tmp_path / "checkpoint")
    return tmp_path / "checkpoint"


def signed(checkpoint: Path, change: Callable[[bytes], bytes]) -> None:
    """Change the content of the last ledger entry, and give it the right checksum."""
    entry = (checkpoint / LEDGER).read_bytes()
    content = change(entry[HEADER:])
    (checkpoint / LEDGER).write_bytes(Signed(entry[:HEADER], content).whole(content))


def described(checkpoint: Path, **changes: str) -> None:
    """Change the description of the late log."""
    log = json.loads((checkpoint / LOG).read_text("utf-8"))
    (checkpoint / LOG).write_text(json.dumps(log | changes), "utf-8")


def continued(checkpoint: Path) -> None:
    """Continue the query."""
    run(SparkSession.active(), query_of(KEPT), BATCHES, checkpoint.parent)


def problems(checkpoint: Path) -> list[str]:
    """Return the conditions of the problems in the report on a checkpoint."""
    found = et.read_checkpoint(checkpoint).problems
    return [problem[1:].partition("]")[0] for problem in found]


@pytest.mark.parametrize("batch", [4, 5, 2**62])
def test_an_entry_that_builds_on_itself_is_refused(checkpoint: Path, batch: int) -> None:
    """Or on a later one: reading would never end."""
    after = b"\1" + batch.to_bytes(8, "big") + (1).to_bytes(4, "big")
    signed(checkpoint, lambda content: after + content[13 if content[0] else 1 :])
    assert "LEDGER_UNREADABLE" in problems(checkpoint)
    with pytest.raises(CheckpointError, match="builds on itself or on a later entry"):
        et.completeness(checkpoint)


def test_content_that_no_policy_has_written_is_refused(checkpoint: Path) -> None:
    """Its checksum is right."""
    signed(checkpoint, lambda content: content.replace(b"\0\0\0\1", b"\x7f\0\0\1"))
    assert "LEDGER_UNREADABLE" in problems(checkpoint)


@pytest.mark.parametrize("name", ["window-99999999999.0", "window-0.99999999999"])
def test_a_number_that_no_window_has_is_no_description(checkpoint: Path, name: str) -> None:
    """Such a file is not Eventtide's."""
    (checkpoint / "eventtide/late" / name).write_text("{}", "utf-8")
    assert problems(checkpoint) == []


def test_a_folder_in_the_place_of_a_file_is_refused(checkpoint: Path) -> None:
    """It is not missing, and cannot be read."""
    (checkpoint / LOG).unlink()
    (checkpoint / LOG).mkdir()
    assert "CHECKPOINT_FILE_UNREADABLE" in problems(checkpoint)
    with pytest.raises(CheckpointError, match="CHECKPOINT_FILE_UNREADABLE"):
        et.read_late(checkpoint)


@pytest.mark.parametrize("file", ["commits/4", "state/10000/0/_metadata/schema"])
def test_a_file_of_spark_that_repartitioning_reads_is_refused(checkpoint: Path, file: str) -> None:
    """It is not what Spark writes."""
    (checkpoint / file).write_bytes(b"\xff\xfe")
    with pytest.raises(CheckpointError, match=f"CHECKPOINT_FILE_UNREADABLE.*{file}"):
        et.observe.repartition(checkpoint, 2)


@pytest.mark.parametrize("changes", [{"to": ""}, {"schema": '{"type":"struct","fields":[]}'}])
def test_a_log_that_no_run_has_described_is_refused(
    checkpoint: Path, changes: dict[str, str]
) -> None:
    """A folder that is no path, or rows without the columns of a log."""
    described(checkpoint, **changes)
    with pytest.raises(CheckpointError, match="LATE_INDEX_UNREADABLE"):
        et.read_late(checkpoint)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM eventtide_late('')",
        "SELECT * FROM eventtide_completeness('')",
        "SELECT * FROM eventtide_checkpoint('')",
    ],
)
def test_sql_refuses_a_location_that_is_no_path(spark: SparkSession, statement: str) -> None:
    """Where it is empty, too."""
    with pytest.raises(InvalidArgumentError, match="LOCATION_INVALID"), et.named_errors():
        spark.sql(statement).collect()


@pytest.mark.parametrize(
    ("folder", "call"),
    [
        ("late", et.clean_late),
        ("late", et.compact_late),
        ("eventtide/readers", lambda of: et.forget_late_reader(of, "x")),
        ("eventtide/state", lambda of: et.observe.repartition(of, 2)),
        ("eventtide/runs", lambda of: et.observe.repartition(of, 2)),
        ("state", lambda of: et.observe.repartition(of, 2)),
        ("late", continued),
        ("eventtide", continued),
        ("eventtide/runs", continued),
    ],
)
def test_nothing_is_removed_through_a_link(
    checkpoint: Path, folder: str, call: Callable[[Path], object]
) -> None:
    """It might lead anywhere."""
    elsewhere = checkpoint.parent / "elsewhere"
    (checkpoint / folder).mkdir(exist_ok=True)
    (checkpoint / folder).rename(elsewhere)
    (elsewhere / "7").mkdir()
    (checkpoint / folder).symlink_to(elsewhere)
    before = sorted(elsewhere.rglob("*"))
    with pytest.raises(CheckpointError, match="CHECKPOINT_LINKED"), et.named_errors():
        call(checkpoint)
    assert sorted(elsewhere.rglob("*")) == before


@pytest.mark.parametrize("path", ["nowhere://named/checkpoint", ":", "file://named:late"])
def test_a_location_that_is_no_path_is_refused(spark: SparkSession, path: str) -> None:
    """By everything that takes one."""
    rows = spark.readStream.format("rate").load()
    window = et.window(rows).event_time("timestamp", et.WatermarkPolicies.max_event_time())
    window = window.tumbling("1m").agg(F.count("*").alias("n"))
    for call in (
        lambda of: et.read_state(of, window),
        et.read_checkpoint,
        et.read_late,
        et.completeness,
        et.clean_late,
        et.compact_late,
        lambda of: et.forget_late_reader(of, "x"),
        lambda of: et.observe.repartition(of, 2),
        lambda of: et.why(of, ("2024-01-01T00:00:00Z", "2024-01-01T00:00:10Z")),
    ):
        with pytest.raises(InvalidArgumentError, match="CHECKPOINT_LOCATION_INVALID"):
            call(path)
