"""One run of a query in a folder, in which a fault may happen to one of its file calls."""

from __future__ import annotations

import re
import time
import uuid
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from threading import Thread
from typing import TYPE_CHECKING, Any

import eventtide as et
from eventtide.errors import InvalidArgumentError
from pyspark import InheritableThread
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.chaos import kinds
from tests.chaos.follower import Follower
from tests.chaos.results import keep
from tests.chaos.session import suit

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

MARK = "chaos: "  # in the text of each failure that is a fault's own
CAUSE = " <- "  # between an error and its cause
BUGS = re.compile(
    r"(java\.\w+\.)?(NullPointer|ClassCast|\w*IndexOutOfBounds|NoSuchElement)Exception"
    r"|scala\.MatchError"
)
STALL_MS = 100
BUCKET = "chaos"  # of the checkpoints in an object store
LAST_OF_HISTORY = 2


@dataclass(frozen=True)
class Fault:
    """What happens, and at which step: `halt` at the 2nd `before rename checkpoint/commits/N`.

    Attributes
    ----------
    name : str
        ``halt``, ``throw``, ``stall``, ``interrupt``, ``stale`` or ``none``.
    step : str
        Operation and kind of file, with the side.
    occurrence : int
        From 1.
    storage : str
        ``renames``, ``last_wins`` or ``object_store``.
    phase : str
        ``first``; ``restart``, of a run after one that was halted between ledger and commit; or
        ``from 0.1.0``, the same after one of that version.
    """

    name: str = "none"
    step: str = ""
    occurrence: int = 1
    storage: str = "renames"
    phase: str = "first"


@dataclass
class Ended:
    """How a run came to its end.

    Attributes
    ----------
    error : str or None
        What ended it before the end of its streams.
    named : bool
        Whether the error has a name, or is the fault itself.
    reached : bool
        Whether the fault happened.
    steps : dict of str to int
        How often each step was made.
    """

    error: str | None = None
    named: bool = True
    reached: bool = False
    steps: dict[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return asdict(self)


class Run:
    """A run of a kind of query over what is in a folder.

    Parameters
    ----------
    spark : SparkSession
        From `session`.
    folder : Path
        Of the trial: streams, checkpoint and results.
    kind : str
        One of `KINDS`.
    seed : int
        Of the streams.
    fault : Fault
        What shall happen.
    scheme : str
        Of the checkpoint's file system: "chaos", where faults happen, "file" or "s3a".
    """

    def __init__(  # noqa: PLR0913 - a trial has that many parts
        self,
        spark: SparkSession,
        folder: Path,
        kind: str,
        seed: int,
        fault: Fault | None = None,
        *,
        scheme: str = "chaos",
    ) -> None:
        self.name = f"r{uuid.uuid4().hex[:10]}"
        self._spark, self._folder, self._kind, self._seed = spark, folder, kind, seed
        self.fault = fault or Fault()
        faults: Any = spark._jvm
        self._faults = faults.io.eventtide.chaos.Faults
        self.files = self._faults.run(self.name)
        self.files.setUp(str(folder), self.fault.storage)
        self.files.plan(self.fault.name, self.fault.step, self.fault.occurrence)
        self._faults.alias(folder.name, self.name)
        self._root = f"{scheme}://{ {'chaos': self.name, 's3a': BUCKET}.get(scheme, '') }"
        self.query: StreamingQuery | None = None
        self._follower = Follower(spark, folder, self.name) if kinds.KINDS[kind].follows else None
        self._failed: Exception | None = None
        self._starts = InheritableThread(target=self._start, daemon=True)

    def start(self) -> None:
        """Begin; a failure is kept for the end. A fault may happen before there is a query."""
        self._starts.start()

    def _start(self) -> None:
        kind = kinds.KINDS[self._kind]
        suit(self._spark, kind)
        sources = kind.sources(self._folder, self._seed)
        inputs = [kinds.read(self._spark, file, kind.history) for file in sources]
        window, results = kind.make(inputs, self._folder)
        writer = results.writeStream.foreachBatch(self._take).trigger(availableNow=True)
        place = f"{self._root}{self._folder}/checkpoint"
        writer = writer.option("checkpointLocation", place)
        try:
            with et.named_errors():
                if window and kind.history and not self._has_begun_stream():
                    history = kinds.history(self._spark, sources[0], kind.history)
                    self.query = et.backfill(window, history, writer)
                    self.query.awaitTermination()
                    if self.fault.name == "interrupt" and self.files.awaitReached(0):
                        return  # the user has stopped it, and starts it again later
                drain = kind.drains
                self.query = et.start(window, writer, drain=drain) if window else writer.start()
        except Exception as error:  # noqa: BLE001 - it is judged at the end
            self._failed = error

    def _has_begun_stream(self) -> bool:
        begun = (file.name for file in (self._folder / "checkpoint/offsets").glob("[0-9]*"))
        return max(map(int, begun), default=-1) > LAST_OF_HISTORY

    def wait(self, *, until_reached: bool = False) -> bool:
        """Wait for the end, or until the fault has happened; True if the run is over."""
        while self._starts.is_alive() or (self.query is not None and self.query.isActive):
            if self._follower is not None:
                self._follower.follow()
            reached = self.files.awaitReached(20)
            if reached and until_reached:
                return False
            if reached:
                time.sleep(0.01)
        return True

    def finish(self) -> Ended:
        """Let the fault happen as its name says, wait for the end and say how it came."""
        if self.fault.name in {"stall", "interrupt"} and not self.wait(until_reached=True):
            stopped = Thread(target=self._stop)
            if self.fault.name == "interrupt":
                stopped.start()
            self.files.awaitReleased(STALL_MS)
            self.files.release()
            if stopped.ident:
                stopped.join()
        return self.end()

    def end(self) -> Ended:
        """Wait for the end and say how it came."""
        self.wait()
        error = self._error()
        if self._follower is not None:
            error = self._followed(self._follower, error)
        steps = dict[str, int]()
        for line in self.files.steps().splitlines():
            number, _, step = line.partition(" ")
            steps[step] = int(number)
        reached = self.files.awaitReached(0)
        self._faults.end(self.name)
        self.query = None  # which the JVM's proxy of `_take` would keep for ever, and it that proxy
        return Ended(error, is_named(error), reached, steps)

    @staticmethod
    def _followed(follower: Follower, error: str | None) -> str | None:
        """Return the error, or what the follower of a query without one has failed with."""
        try:
            if error is None:
                follower.finish()
            else:
                follower.stop()
        except Exception as failed:  # noqa: BLE001 - it is judged
            return error or said(failed)
        return error

    def _stop(self) -> None:
        with suppress(Exception):
            self._starts.join(STALL_MS / 1000)
            if self.query is not None:
                self.query.stop()

    def _error(self) -> str | None:
        error = self._failed
        if error is None and self.query is not None:
            try:
                with et.named_errors():
                    self.query.awaitTermination()
            except Exception as raised:  # noqa: BLE001 - it is judged
                error = raised
        return None if error is None else said(error)

    def _take(self, rows: DataFrame, batch: int) -> None:
        taken = [row[0] for row in rows.select(F.to_json(F.struct("*"))).collect()]
        if self.files.isHalted():
            raise OSError(f"{MARK} the run has been halted")
        keep(self._folder, self.name, batch, taken)


def halted(storage: str) -> Fault:
    """Return the halt, in the middle of a stream, that a restart follows."""
    name = "N" if storage == "object_store" else ".N.U.tmp"
    return Fault("halt", f"before create checkpoint/commits/{name}", 5, storage)


def said(error: Exception) -> str:
    """Return an error with its causes in the JVM, shortened."""
    if isinstance(error, et.EventtideError):
        return f"{type(error).__name__} [{getattr(error, 'condition', '')}] {error}"[:600]
    java = getattr(error, "_origin", None) or getattr(error, "java_exception", None)
    causes = [f"{type(error).__name__}: {error}"[:1500]]
    cause: Any = getattr(error, "_cause", None)
    while cause is not None and len(causes) < 8:
        causes.append(str(cause)[:800])
        cause = getattr(cause, "_cause", None)
    while java is not None and len(causes) < 12:
        causes.append(str(java.toString())[:800])
        java = java.getCause()
    return CAUSE.join(causes)


def is_named(error: str | None) -> bool:
    """Tell whether an error is eventtide's own, or is the fault, or has a condition of Spark's.

    A fault of the program has no name, whatever condition Spark puts around it.
    """
    if error is None or MARK in error:
        return True
    if BUGS.match(error.rpartition(CAUSE)[2]):
        return False
    if error.split(" ", 1)[0].endswith("Error"):
        return True
    conditions = re.findall(r"\[([A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)*)\]", error)
    return any(c != "STREAM_FAILED" and not c.startswith("INTERNAL_ERROR") for c in conditions)


def doctor(spark: SparkSession, folder: Path) -> dict[str, Any]:
    """Return what eventtide says of the checkpoint of a trial."""
    java: Any = spark._jvm
    java.io.eventtide.chaos.Faults.alias(folder.name, "doctor")
    try:
        report = et.read_checkpoint(f"chaos://doctor{folder}/checkpoint")
    except et.EventtideError as error:
        return {"problems": [str(error)], "late": None, "on_time": None, "refused": 0}
    mark = report.watermark
    alone = len(report.windows) == 1  # otherwise results have windows of several
    late = dict[str, int]()
    for window in report.windows:
        for reason, rows in window.late.items():
            late[reason] = late.get(reason, 0) + rows
    return {
        "problems": list(report.problems),
        "late": late,
        "on_time": None if mark is None else mark.on_time,
        "refused": 0 if mark is None else mark.bad_time + mark.future,
        "complete": complete(f"chaos://doctor{folder}/checkpoint") if alone else None,
    }


def complete(checkpoint: str) -> list[tuple[str, int]] | None:
    """Return the closed windows of a checkpoint with their rows; None if they are not counted."""
    try:
        closed = et.completeness(checkpoint).where("rows > 0")
    except InvalidArgumentError:  # of kinds that it does not close by the watermark of the query
        return None
    return [(row[0], row[1]) for row in closed.select(F.to_json("window"), "rows").collect()]
