"""Spark Connect: messages for Eventtide's plugin on a server, which goes on after each."""

from __future__ import annotations

import atexit
import json
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import eventtide as et
from eventtide import WatermarkPolicies
from eventtide._connect.plans import TYPE_URL
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention
from pyspark.sql.connect import proto
from pyspark.sql.connect.dataframe import DataFrame
from pyspark.sql.connect.plan import LogicalPlan

from tests.chaos.figures import ROOT
from tests.chaos.fuzz.damage import BYTES
from tests.chaos.fuzz.judge import Check, Violation
from tests.chaos.fuzz.kept import files_of, put
from tests.chaos.fuzz.sessions import EVENTS
from tests.chaos.fuzz.values import NAMED, TEXTS, changed, damaged
from tests.chaos.session import SETTINGS
from tests.spark.server import WITH_EVENTTIDE, Server

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pyspark.sql.streaming.query import StreamingQuery

    from tests.chaos.fuzz.canaries import Canaries

KEPT = "keys-0.1.0"
CHECKPOINT, QUERY, RUN = "@checkpoint@", "@query@", "@run@"  # marks in options
HISTORY = "timestamp_seconds(id) AS ts", "'a' AS device", "'b' AS kind", "id AS v"
LAG = {"watermark.policy": "with_fixed_lag", "watermark.lag": "PT5S"}
SERVER = {
    **SETTINGS,
    **WITH_EVENTTIDE,
    "spark.jars": "",
    "spark.eventtide.connect.allowFileChanges": "true",
}
QUESTIONS: dict[str, dict[str, str]] = {
    "version": {},
    "error": {"condition": "LEDGER_VERSION", "parameters": '{"batch": "1"}'},
    "sql_of": {"written": "count(*)"},
    "explain": {},
    "late_nodes": {},
    "checkpoint": {"checkpoint": CHECKPOINT},
    "clean_late": {"checkpoint": CHECKPOINT, "dry_run": "false", "late_to": f'["{NAMED}"]'},
    "compact_late": {"checkpoint": CHECKPOINT, "late_to": "[]"},
    "forget_late_reader": {"checkpoint": CHECKPOINT, "reader": "x"},
    "why": {"checkpoint": CHECKPOINT, "question": '{"window": "0", "start": "0", "end": "1"}'},
    "repartition": {"checkpoint": CHECKPOINT, "partitions": "2"},
    "read_state": {"checkpoint": CHECKPOINT},
    "start": {"drain": "true", "followed": "true"},
    "backfill": {"history": "history"},
    "script": {"schema": '"integer"'},
    "scripted": {"scripted": "1", "call": "stop"},
    "scripted_results": {"scripted": "1"},
}
ABOUT = "progress", "blame", "failure", "checkpoint_of", "await_late_log", "follow_late"
QUERIES = (QUERY, RUN), (f"{UUID(int=0)}", f"{UUID(int=1)}")
"""The ids of a query that runs, and of one that does not."""


class Bytes(LogicalPlan):
    """A relation of a plugin with any bytes."""

    def __init__(self, url: str, value: bytes) -> None:
        super().__init__(None)
        self._url, self._value = url, value

    def plan(self, _: Any) -> proto.Relation:
        """Return the message."""
        relation = self._create_proto_relation()
        relation.extension.type_url = self._url
        relation.extension.value = self._value
        return relation


class Message(NamedTuple):
    """A message.

    Attributes
    ----------
    options : str
        Of the request, as JSON.
    lists : list
        Lists of columns: pairs of a name and the names of columns.
    depth : int
        How many relations are below it: none, the events, or more of itself.
    cut : tuple of int, int and bytes
        Which bytes are replaced, counted from the end, and by what.
    """

    options: str
    lists: list[Any]
    depth: int
    cut: tuple[int, int, bytes]
    url: str


WHOLE = 0, 0, b""
LISTS = [
    ["aggregates", ["count", "most"]],
    ["keys", ["device", "upper"]],
    ["substream", ["device"]],
]
MORE = "gap", "scope", "when", "column", "nothing"


# By their names; a column is made by a session.
COLUMNS: Mapping[str, Callable[[], Any]] = {
    "count": lambda: F.count("*").alias("n"),
    "most": lambda: F.max("v").alias("most"),
    "device": lambda: F.col("device"),
    "upper": lambda: F.upper("kind"),
    "ts": lambda: F.col("ts"),
    "star": lambda: F.col("*"),
    "null": lambda: F.lit(None),
    "text": lambda: F.lit("5s"),
    "nothing": lambda: F.col("nothing"),
    "same": lambda: F.sum("v").alias("n"),
    "broken": lambda: F.expr("sum("),
    "function": lambda: F.expr("transform(array(v), x -> x)"),
    "over": lambda: F.expr("sum(v) OVER (ORDER BY ts)"),
    "query": lambda: F.expr("(SELECT max(v) FROM history)"),
    "rows": lambda: F.expr("explode(array(1))"),
}


@cache
def requests() -> list[tuple[dict[str, str], list[Any]]]:
    """Return the options and the lists of requests that are valid."""
    window = {"request": "window", "event_time": "ts"} | LAG
    cases = json.loads((ROOT / "tests/border/window_options.json").read_text("utf-8"))
    policies = json.loads((ROOT / "tests/border/options.json").read_text("utf-8"))
    found = [(window | case["options"], LISTS) for case in cases]
    for case in policies:
        policy = {f"watermark.{name}": value for name, value in case["options"].items()}
        found.append(({"request": "with_watermark", "event_time": "ts"} | policy, LISTS[2:]))
    lists: list[Any] = [["column", ["count"]]]
    for name, (query, run) in product(ABOUT, QUERIES):
        found.append(({"request": name, "query": query, "run": run, "window": "0"}, lists))
    return found + [({"request": name} | of, lists) for name, of in QUESTIONS.items()]


@st.composite
def messages(draw: st.DrawFn) -> Message:
    """Return a message in which something is wrong."""
    options, lists = draw(st.sampled_from(requests()))
    wrong = draw(st.sampled_from(["options", "options", "lists", "text", "depth", "bytes", "url"]))
    text = json.dumps(draw(changed(options)) if wrong in {"options", "text"} else options)
    if wrong == "text":
        text = draw(damaged(text, st.sampled_from(TEXTS)))
    names = st.sampled_from([*COLUMNS, *MORE])
    cut = st.tuples(st.integers(0, 300), st.integers(0, 9), BYTES)
    return Message(
        text,
        draw(changed(lists, names)) if wrong == "lists" else lists,
        draw(st.sampled_from([0, 2, 50, 1000] if wrong == "depth" else [1])),
        draw(cut) if wrong == "bytes" else WHOLE,
        draw(st.sampled_from(["", "eventtide.io/request.v2"])) if wrong == "url" else TYPE_URL,
    )


class Requests:
    """A server and its client, which sends messages."""

    def __init__(self, canaries: Canaries) -> None:
        self._put = canaries.put
        self._checkpoint = canaries.given / "checkpoint"
        server = Server(canaries.given / "server", SERVER)
        atexit.register(server.kill)
        self._spark: Any = SparkSession.builder.remote(server.url).getOrCreate()
        self._events: Any = self._spark.readStream.format("rate").load().selectExpr(*EVENTS)
        self._columns: dict[str, Any] = {name: make() for name, make in COLUMNS.items()}
        self._spark.range(9).selectExpr(*HISTORY).createOrReplaceTempView("history")
        query = self._started(canaries.given / "running")
        self._marks = {CHECKPOINT: f"{self._checkpoint}", QUERY: query.id, RUN: query.runId}

    def _started(self, checkpoint: Path) -> StreamingQuery:
        """Start a query that runs until the server ends."""
        window = et.window(self._events).event_time("ts", WatermarkPolicies.with_fixed_lag("5s"))
        window = window.key_by("device").tumbling("10s").agg(F.count("*").alias("n"))
        writer = window.results.writeStream.format("noop")
        return et.start(window, writer.option("checkpointLocation", f"{checkpoint}"))

    def use(self, given: Message) -> None:
        """Send a message; the server goes on."""
        put(files_of(KEPT), self._checkpoint)
        try:
            with et.named_errors():
                self._rows(given.url, self._value(given)).schema.simpleString()
        finally:
            self._check()

    def _check(self) -> None:
        """Ask something that any server answers."""
        try:
            version = Message('{"request": "version"}', [], 0, WHOLE, TYPE_URL)
            self._rows(TYPE_URL, self._value(version)).collect()
        except Exception as error:
            raise Violation(f"the server answers no longer: {error}") from error

    def _rows(self, url: str, value: bytes) -> DataFrame:
        return DataFrame(Bytes(url, value), self._spark)

    def _value(self, given: Message) -> bytes:
        message = proto.Project()
        text = self._put(given.options)
        for mark, what in self._marks.items():
            text = text.replace(mark, what)
        message.expressions.add().literal.string = text
        for each in given.lists if isinstance(given.lists, list) else []:
            self._add(message, each)
        value = b""
        for level in range(max(given.depth, 1)):
            if level:
                message.input.extension.type_url = given.url
                message.input.extension.value = value
            elif given.depth:
                message.input.CopyFrom(self._events._plan.plan(self._spark.client))
            value = message.SerializeToString()
        first, number, by = given.cut
        at = max(len(value) - first - number, 0)
        return value if given.cut == WHOLE else value[:at] + by + value[at + number :]

    def _add(self, message: proto.Project, listed: Any) -> None:
        name, names = (listed[0], listed[-1]) if isinstance(listed, list) and listed else ("", [])
        function = message.expressions.add().unresolved_function
        function.function_name = f"{name}"
        for column in names if isinstance(names, list) else [names]:
            made = self._columns.get(f"{column}", F.lit(None))
            function.arguments.append(made.to_plan(self._spark.client))


def may_read(given: Message, name: str) -> bool:
    """Return whether a message has the path of a canary: the server reads what clients name."""
    return "named" in given.options and name.startswith("named")


def checks(canaries: Canaries) -> list[Check]:
    """Return the only check."""
    return [Check(messages(), Requests(canaries).use, 1000, may_read)]
