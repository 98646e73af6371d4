"""A checkpoint that has lost something is refused at the start, by name, and left as it is."""

from __future__ import annotations

import re
from shutil import copytree, rmtree
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import StreamingQueryException

from tests.spark.kept_checkpoints import BATCHES, run
from tests.spark.window_runs import WITHOUT_CODE, settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

WRITTEN = 8
LEDGER, LATE, PLAN = "eventtide/ledger", "eventtide/late", "eventtide/plan"


@pytest.fixture(scope="module")
def written(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a checkpoint in which rows were late."""
    folder = tmp_path_factory.mktemp("written")
    with settings(spark, WITHOUT_CODE):
        run(spark, "keys", BATCHES[:WRITTEN], folder)
    return folder


def entries(folder: Path) -> list[Path]:
    """Return the files of batches in a folder, the last batch last."""
    found = {file: re.fullmatch(r"(-?\d+)(\.\d+)?", file.name) for file in folder.iterdir()}
    return sorted((file for file, name in found.items() if name), key=lambda file: float(file.name))


def put(file: Path, content: bytes) -> None:
    """Write a file anew, of which Hadoop knows no checksum."""
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    file.write_bytes(content)


def without_last_entry(checkpoint: Path) -> None:
    """Lose the tail of the index."""
    entries(checkpoint / LATE)[-1].unlink()


def without_entries(checkpoint: Path) -> None:
    """Lose the index, and keep the columns of the log."""
    for entry in entries(checkpoint / LATE):
        entry.unlink()


def without_index(checkpoint: Path) -> None:
    """Lose the index and all."""
    rmtree(checkpoint / LATE)


def with_another_bit(checkpoint: Path) -> None:
    """Change a number of the last ledger entry by a little."""
    entry = entries(checkpoint / LEDGER)[-1]
    content = bytearray(entry.read_bytes())
    content[len(content) // 2] ^= 1
    put(entry, bytes(content))


def with_a_plan_of_one_line(checkpoint: Path) -> None:
    """Lose all of the plan but its version."""
    put(checkpoint / PLAN, b"v2")


def without_offsets(checkpoint: Path) -> None:
    """Lose what was read."""
    rmtree(checkpoint / "offsets")


def with_empty_offsets(checkpoint: Path) -> None:
    """Lose what was read, and keep its folder."""
    for file in (checkpoint / "offsets").iterdir():
        file.unlink()


def tree(checkpoint: Path) -> dict[str, bytes]:
    """Return what is in a checkpoint."""
    files = (file for file in checkpoint.rglob("*") if file.is_file())
    return {str(file.relative_to(checkpoint)): file.read_bytes() for file in files}


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        (without_last_entry, "LATE_INDEX_UNBALANCED"),
        (without_entries, "LATE_INDEX_UNBALANCED"),
        (without_index, "LATE_INDEX_UNBALANCED"),
        (with_another_bit, "LEDGER_UNREADABLE"),
        (with_a_plan_of_one_line, "PLAN_UNREADABLE"),
        (without_offsets, "CHECKPOINT_WITHOUT_OFFSETS"),
        (with_empty_offsets, "CHECKPOINT_WITHOUT_OFFSETS"),
    ],
)
def test_damage_is_named_before_anything_is_written(
    spark: SparkSession,
    tmp_path: Path,
    written: Path,
    damage: Callable[[Path], None],
    error: str,
) -> None:
    """Going on would make rows late, or lose late ones, without a word."""
    checkpoint = tmp_path / "checkpoint"
    copytree(written / "checkpoint", checkpoint)
    damage(checkpoint)
    before = tree(checkpoint)
    with settings(spark, WITHOUT_CODE), pytest.raises(StreamingQueryException, match=error):
        run(spark, "keys", BATCHES, tmp_path)
    assert tree(checkpoint) == before


def test_what_a_first_batch_left_is_no_damage(spark: SparkSession, tmp_path: Path) -> None:
    """A driver was killed as it wrote its first offsets: the next one begins."""
    offsets = tmp_path / "checkpoint" / "offsets"
    offsets.mkdir(parents=True)
    (offsets / ".0.0f6f4a0e-0001-4a3e-8c22-2380226b09a5.tmp").touch()
    with settings(spark, WITHOUT_CODE):
        run(spark, "keys", BATCHES[:1], tmp_path)
    assert (offsets / "0").exists()
