"""Makes a late log of very many batches out of one that a query has written.

Running that many batches takes hours. Here the engine's own classes write late files, index and
ledger, so formats and folds are those of a query; only batch numbers and times of rows are made up.
The entries of Spark's offset and commit logs are copies of one batch: a reader needs their names
only, and no query can go on from such a checkpoint.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import eventtide as et
from eventtide import WatermarkPolicies
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention
from turns import wait

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pyspark.sql import SparkSession

ROWS = 50  # in a batch of the query; one of ten is late
STEP = 60_000_000  # microseconds of event time from one batch to the next
RETAIN = 100  # batches that Spark keeps by default, and may run again
FOLD_EVERY = 10  # as a query folds

START = 1_600_000_000_000
TIME = f"timestamp_millis({START}L + value * 1000L - if(value % 10 = 0, 3600000L, 0L))"
TIMES = ("ts", "_event_time", "_watermark")


@dataclass(frozen=True)
class Sample:
    """The late rows of one batch of a query.

    Attributes
    ----------
    batch : int
        Its number.
    line : dict
        What the index has of it.
    rows : list
        Its late rows, each with the numbers in its columns that differ from batch to batch.
    """

    batch: int
    line: dict[str, Any]
    rows: list[tuple[Any, dict[int, int]]]

    @property
    def times(self) -> tuple[int, int]:
        """Return the earliest and the latest event time, in microseconds."""
        times = [file["times"] for file in self.line["windows"][0]["files"]]
        return min(lowest for lowest, _ in times), max(highest for _, highest in times)


def make(spark: SparkSession, checkpoint: Path, batches: int) -> tuple[int, int]:
    """Write a log in which every batch has the late rows of a sample, each a `STEP` later.

    Returns
    -------
    tuple of int
        How many rows a batch has, and the earliest event time of batch 0 in microseconds.
    """
    last = _run(spark, checkpoint)
    sample = _sample(spark, checkpoint, last)
    totals = _LogWriter(spark, checkpoint, sample).write(batches)
    _write_ledger(spark, checkpoint, (last, batches - 1), totals)
    for log in ("offsets", "commits"):
        _repeat(checkpoint / log, last, range(max(0, batches - RETAIN), batches))
    return len(sample.rows), sample.times[0] - sample.batch * STEP


def _run(spark: SparkSession, checkpoint: Path) -> int:
    """Run a few batches, and return the number of the last one."""
    events = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", ROWS).load()
    events = events.selectExpr(f"{TIME} AS ts", "value % 7 AS device")
    window = et.window(events).event_time("ts", WatermarkPolicies.with_fixed_lag("0s"))
    results = window.key_by("device").tumbling("10s").agg(F.count("*").alias("n")).results
    writer = results.writeStream.format("noop").option("checkpointLocation", str(checkpoint))
    query = writer.start()
    try:
        wait(query, 3)
    finally:
        query.stop()
    return max(int(file.name) for file in (checkpoint / "commits").glob("[0-9]*"))


def _sample(spark: SparkSession, checkpoint: Path, batch: int) -> Sample:
    entry = checkpoint / "eventtide" / "late" / str(batch)
    line = json.loads(entry.read_text("utf-8").splitlines()[-1])
    late = et.read_late(checkpoint, spark=spark).where(f"_batch_id = {batch}")
    rows = _java(late).queryExecution().executedPlan().executeCollect()
    changing = [late.columns.index(name) for name in (*TIMES, "_batch_id")]
    return Sample(batch, line, [(row, {i: row.getLong(i) for i in changing}) for row in rows])


class _LogWriter:
    """Writes late files and index, in place of those of the query."""

    def __init__(self, spark: SparkSession, checkpoint: Path, sample: Sample) -> None:
        self._engine = _engine(spark).latelog
        self._sample = sample
        log = et.read_late(checkpoint)
        self._batch_column = log.columns.index("_batch_id")
        self._files = self._engine.LateFiles.apply(
            _java(spark), _path(spark, checkpoint / "late"), _java(log).schema()
        )
        _clear(checkpoint)
        self._index = self._engine.LateIndex(
            _path(spark, checkpoint), RETAIN, _conf(spark), FOLD_EVERY
        )
        self._index.restore(0)

    def write(self, batches: int) -> Any:  # noqa: ANN401 - py4j's
        """Write `batches` batches, and return what the index says of all together."""
        for batch in range(batches):
            line = self._line(batch, self._write_file(batch))
            entry = self._engine.LateIndexEntry.read(json.dumps(line))
            self._index.write(batch, line["at"], entry.windows())
        return self._index.totals()

    def _write_file(self, batch: int) -> dict[str, Any]:
        """Write the late rows of a batch, and return what the index says of the file."""
        file = self._files.create(batch, 0)
        later = (batch - self._sample.batch) * STEP
        for row, numbers in self._sample.rows:
            for column, number in numbers.items():
                row.setLong(column, batch if column == self._batch_column else number + later)
            file.write(row)
        times = [time + later for time in self._sample.times]
        return {"name": file.name(), "bytes": file.close(), "times": times}

    def _line(self, batch: int, file: dict[str, Any]) -> dict[str, Any]:
        """Return the line of a batch; the index adds what it knows of the batches before."""
        line = {name: value for name, value in self._sample.line.items() if name != "after"}
        [window] = line["windows"]
        return {**line, "batch": batch, "windows": [{**window, "files": [file]}]}


def _clear(checkpoint: Path) -> None:
    """Remove the late log of the query, but for what it says of its columns."""
    shutil.rmtree(checkpoint / "late")
    for file in (checkpoint / "eventtide" / "late").glob("[0-9]*"):
        _remove(file)


def _write_ledger(
    spark: SparkSession, checkpoint: Path, batches: tuple[int, int], totals: object
) -> None:
    """Write the entry of one batch as that of another, with other totals of late rows."""
    known, batch = batches
    engine = _engine(spark).checkpoint
    content = (checkpoint / "eventtide" / "ledger" / str(known)).read_bytes()
    entry = engine.LedgerEntry.read(known, content)
    fields = [getattr(entry, name)() for name in _fields(entry)]
    changed = {"batchId": batch, "late": totals}
    copy = entry.copy(*(changed.get(n, v) for n, v in zip(_fields(entry), fields, strict=True)))
    ledger = engine.BatchLedger(_path(spark, checkpoint), RETAIN, _conf(spark))
    ledger.write(copy, True)  # noqa: FBT003 - py4j knows no names


def _fields(entry: Any) -> list[str]:  # noqa: ANN401 - py4j's
    return [entry.productElementName(i) for i in range(entry.productArity())]


def _repeat(log: Path, batch: int, batches: Iterable[int]) -> None:
    """Have these batches in a log of Spark's, all as one of them is there."""
    content = (log / str(batch)).read_bytes()
    for file in log.glob("[0-9]*"):
        _remove(file)
    for each in batches:
        (log / str(each)).write_bytes(content)


def _remove(file: Path) -> None:
    """Remove a file with its checksum."""
    file.unlink()
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def _engine(spark: SparkSession) -> Any:  # noqa: ANN401 - py4j's
    return _jvm(spark).io.eventtide.spark


def _path(spark: SparkSession, path: Path) -> Any:  # noqa: ANN401 - py4j's
    return _jvm(spark).org.apache.hadoop.fs.Path(path.as_uri())


def _conf(spark: SparkSession) -> Any:  # noqa: ANN401 - py4j's
    return _java(spark).sessionState().newHadoopConf()


def _jvm(spark: Any) -> Any:  # noqa: ANN401 - py4j's
    return spark._jvm  # noqa: SLF001 - the engine's classes are there only


def _java(of: Any) -> Any:  # noqa: ANN401 - py4j's
    """Return what is in the JVM of a session or a DataFrame."""
    return getattr(of, "_jdf", None) or of._jsparkSession  # noqa: SLF001 - as above
