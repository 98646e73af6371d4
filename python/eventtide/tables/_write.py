"""Writers of results that say up to when they are complete."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from eventtide import _bridge
from eventtide._session_kind import is_connect
from eventtide._text.arguments import choice, of_type
from eventtide._text.times import time_of
from eventtide.errors import refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

__all__ = ["complete_writer"]

Format = Literal["delta", "iceberg", "parquet", "orc", "json"]

_FORMATS = ("delta", "iceberg", "parquet", "orc", "json")
_FIX = "complete_writer('delta', '/data/counts')"
_UNTIL, _BATCH, _QUERY = "complete_until", "batch", "query"


def complete_writer(format: Format, target: str) -> Callable[[DataFrame, int], None]:  # noqa: A002 - PySpark's name
    """Return a function for `foreachBatch` that writes results and up to when they are complete.

    Parameters
    ----------
    format : {"delta", "iceberg", "parquet", "orc", "json"}
        The format.
    target : str
        A folder; for ``"iceberg"`` the name of a table.

    Returns
    -------
    callable
        Writes each batch once, also if it is replayed after a kill. With each batch it writes the
        end up to which all windows are complete:

        - ``"delta"``: as ``complete_until`` in the JSON of the commit's ``userMetadata``.
        - ``"iceberg"``: in the properties of the snapshot, under ``eventtide.complete_until``.
        - files: each batch is in ``target/query=<id>/batch=<number>``. The folder
          ``target/_complete/<end>`` exists once all windows that end by then are written.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        An argument is not valid.

    Notes
    -----
    The query must have one window that its watermark closes: tumbling, sliding or cumulative,
    without triggers. Otherwise results are written without an end. The ledger in the checkpoint is
    the truth: see `completeness`. Commits of other jobs, such as a compaction, have no end: read
    the last one that has it. Over Spark Connect, the function is refused when it is called.

    Examples
    --------
    >>> writer = counts.results.writeStream.foreachBatch(
    ...     complete_writer("delta", "/data/counts")
    ... )  # doctest: +SKIP
    """
    choice("format", format, _FORMATS)
    of_type("target", target, str, "a folder, or the name of a table", _FIX)
    return _Writer(format, target)


@dataclass(frozen=True)
class _Writer:
    format: str
    target: str

    def __call__(self, results: DataFrame, batch_id: int) -> None:
        """Write a batch."""
        spark = results.sparkSession
        if is_connect(spark):
            problem, allowed = "is a session of Spark Connect", "a classic session"
            raise refused("spark", spark, problem, allowed=allowed, fix="et.completeness")
        micros = _bridge.of(spark).complete_up_to(spark)
        until = None if micros is None else time_of(micros).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        query = str(spark.sparkContext.getLocalProperty("sql.streaming.queryId"))
        note = {_QUERY: query, _BATCH: str(batch_id), **({} if until is None else {_UNTIL: until})}
        if self.format == "delta":
            self._into_delta(results, note)
        elif self.format == "iceberg":
            self._into_iceberg(results, note)
        else:
            self._into_files(results, note)

    def _into_delta(self, results: DataFrame, note: dict[str, str]) -> None:
        """Append; Delta itself skips a batch that it has."""
        writer = results.write.format("delta").mode("append")
        writer = writer.option("txnAppId", note[_QUERY]).option("txnVersion", note[_BATCH])
        writer.option("userMetadata", json.dumps(note)).save(self.target)

    def _into_iceberg(self, results: DataFrame, note: dict[str, str]) -> None:
        """Append, unless a snapshot says that the table has the batch."""
        spark = results.sparkSession
        exists = spark.catalog.tableExists(self.target)
        if exists and self._has_batch(results, note):
            return
        writer = results.writeTo(self.target).using("iceberg")
        for name, value in note.items():
            writer = writer.option(f"snapshot-property.eventtide.{name}", value)
        if exists:
            writer.append()
        else:
            writer.create()

    def _has_batch(self, results: DataFrame, note: dict[str, str]) -> bool:
        summary = F.col("summary")
        snapshots = results.sparkSession.table(f"{self.target}.snapshots")
        own = snapshots.where(summary[f"eventtide.{_QUERY}"] == note[_QUERY])
        last = own.select(F.max(summary[f"eventtide.{_BATCH}"].cast("long"))).first()
        return last is not None and last[0] is not None and last[0] >= int(note[_BATCH])

    def _into_files(self, results: DataFrame, note: dict[str, str]) -> None:
        """Write the folder of the batch, unless it is whole, then create that of the end."""
        folder = f"{self.target}/{_QUERY}={note[_QUERY]}/{_BATCH}={note[_BATCH]}"
        spark = results.sparkSession
        if not _bridge.of(spark).has_file(spark, f"{folder}/_SUCCESS"):
            results.write.mode("overwrite").format(self.format).save(folder)
        if (until := note.get(_UNTIL)) is not None:
            marker = spark.range(1).select(F.lit(json.dumps(note)).alias("value"))
            name = until.replace(":", "-")
            marker.coalesce(1).write.mode("overwrite").text(f"{self.target}/_complete/{name}")
