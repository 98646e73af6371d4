"""The golden cases of VoltSP as real queries: those of one configuration are keys of one query."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import eventtide as et
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from eventtide.voltsp import TimeConfig, TimeSource, WatermarkStrategy, Windows
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.golden_words import OF_EVERY_CASE, unknown, unknown_of_steps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventtide.testing._values import RowLike
    from eventtide.voltsp import VoltSPWindow
    from pyspark.sql import DataFrame, SparkSession

ROWS = "id string, key string, ts timestamp"
PANE = {"key": str, "start": int, "end": int, "ids": [str], "reason?": "idle"}
EXPECTED = [
    {  # a query says nothing of watermarks of keys, and what is open nobody sees
        "step": int,
        "watermark?": (int, None),
        "effective?": (int, None),
        "watermarks?": dict,
        "open?": [PANE],
        "emitted?": [PANE],
        "late?": [str],
    }
]
IN_ORDER = {"bounds?": "[start,end)"}
CASE = OF_EVERY_CASE | {
    "config": {
        "window": (
            {"type": "tumbling", "span_ms": int, **IN_ORDER},
            {"type": "sliding", "span_ms": int, "slide_ms": int, **IN_ORDER},
            {
                "type": "session",
                "gap_ms": int,
                "max_duration_ms?": int,
                "bounds?": "[first,last+gap)",
            },
            {"type": "tumbling_count", "max_events": int, "bounds?": object},
        ),
        "time_config": {
            "time_source": ("EVENT_TIME", "PROCESSING_TIME"),
            "watermark_strategy?": ("MIN_EVENT_TIME", "MAX_EVENT_TIME"),
            "delay_window_close_ms?": int,
            "lateness_rule?": ("window_closed", "behind_watermark", "frame_closed"),
            "idle_timeout_ms?": int,
            "idle_timeout_clock?": ("EVENT_TIME", "PROCESSING_TIME"),
        },
    },
    "expect": EXPECTED,
    "expect_alternative?": {"late_events_count_in_min?": EXPECTED},
    "published_effective?": object,
}
ROW = {"id": str, "key": str, "ts?": int, "arrival?": int}
STEPS = {"batch": {"events": [ROW]}, "heartbeat": {"now": int}}
START = datetime(2024, 1, 1, tzinfo=timezone.utc)  # where the cases have 0; any window begins there
FOLDER = Path(os.environ.get("EVENTTIDE_GOLDEN", "tests/golden"))

Emitted = tuple[str, int, int, tuple[str, ...], str]
"""The key, where the window starts and ends, its rows, and why it was emitted if not by its end."""


@dataclass
class Group:
    """Cases with one configuration."""

    config: dict[str, Any]
    cases: list[dict[str, Any]] = field(default_factory=list)

    def __str__(self) -> str:
        """Return the name of its first case."""
        more = len(self.cases) - 1
        return f"{self.cases[0]['id']}-and-{more}-more" if more else f"{self.cases[0]['id']}"


def all_cases() -> list[dict[str, Any]]:
    """Return all cases."""
    cases = [
        case
        for path in sorted(FOLDER.glob("*.json"))
        for case in json.loads(path.read_text())["cases"]
    ]
    return [case for case in cases if case.get("subject") == "voltsp"]


def unknown_words(case: dict[str, Any]) -> str | None:
    """Return what of a case is unknown here."""
    known = unknown("case", case, CASE) or unknown_of_steps(case, STEPS)
    if known is not None:
        return known
    all_expected = [case["expect"], *case.get("expect_alternative", {}).values()]
    steps = {one["step"] for expected in all_expected for one in expected}
    gone = sorted(steps - set(range(len(case["steps"]))))
    return f"expect: no step {gone[0]}" if gone else None


def waiting() -> list[dict[str, Any]]:
    """Return the cases of which something is unknown here."""
    return [case for case in all_cases() if unknown_words(case) is not None]


def groups() -> list[Group]:
    """Return the known cases; those with a clock, or with time over all keys, are alone."""
    found: dict[str, Group] = {}
    for case in (one for one in all_cases() if unknown_words(one) is None):
        times = case["config"]["time_config"]
        alone = "idle_timeout_ms" in times or times["time_source"] == "PROCESSING_TIME"
        same = json.dumps(case["config"], sort_keys=True) + (case["id"] if alone else "")
        found.setdefault(same, Group(case["config"])).cases.append(case)
    return list(found.values())


def shared() -> list[Group]:
    """Return the cases of event time that have one key and no clock: they can do without a key."""
    return [
        Group(group.config, [case])
        for group in groups()
        for case in group.cases
        if group.config["window"]["type"] in ("tumbling", "sliding")
        and group.config["time_config"]["time_source"] == "EVENT_TIME"
        and "idle_timeout_ms" not in group.config["time_config"]
        and len({event["key"] for step in case["steps"] for event in step["events"]}) == 1
    ]


OF_ALL = "MIN_EVENT_TIME_OF_ALL"
"""Stands for the reading by which late rows count for the lowest event time."""


def readings() -> list[Group]:
    """Return the cases of which the page can be read in another way, by that way."""
    found = []
    for group in groups():
        for case in group.cases:
            for reading, expect in case.get("expect_alternative", {}).items():
                assert reading == "late_events_count_in_min"
                times = group.config["time_config"] | {"watermark_strategy": OF_ALL}
                config = group.config | {"time_config": times}
                found.append(Group(config, [case | {"expect": expect}]))
    return found


def window_of(config: dict[str, Any], *, keyed: bool = True) -> VoltSPWindow:
    """Return the window of a configuration, in the words of the page."""
    window, times = config["window"], config["time_config"]
    kind = window["type"]
    named = {
        "tumbling": Windows.tumbling_time_window,
        "sliding": Windows.sliding_time_window,
        "session": Windows.session_window,
        "tumbling_count": Windows.tumbling_count_window,
        "sliding_count": Windows.sliding_count_window,
    }
    built = named[kind]()
    if keyed:
        built = built.with_key_extractor("key")
    if "span_ms" in window:
        built = built.with_window_span(timedelta(milliseconds=window["span_ms"]))
    if "slide_ms" in window:
        built = built.with_slide(timedelta(milliseconds=window["slide_ms"]))
    if "max_events" in window:
        built = built.with_window_span(window["max_events"])
    if "max_duration_ms" in window:
        built = built.with_maximum_duration(timedelta(milliseconds=window["max_duration_ms"]))
    ids = F.sort_array(F.collect_list("id")).alias("ids")
    return built.with_time_config(time_config(kind, window, times)).with_aggregate_definition(
        lambda a: a.agg(ids)
    )


def time_config(kind: str, window: dict[str, Any], times: dict[str, Any]) -> TimeConfig:
    """Return the time of a configuration; what is not said is not set."""
    idle = window.get("gap_ms", times.get("idle_timeout_ms"))
    timeout = None if idle is None else timedelta(milliseconds=idle)
    if times["time_source"] == "PROCESSING_TIME":
        return TimeConfig(idle_timeout=timeout, heartbeat="100ms" if timeout else None)
    by_rows = "count" in kind
    strategy = times.get("watermark_strategy")
    of_all = strategy == OF_ALL
    return TimeConfig(
        event_time_extractor="ts",
        watermark_strategy=None if of_all or by_rows else WatermarkStrategy[str(strategy)],
        policy=WatermarkPolicies.min_event_time_of_all() if of_all else None,
        delay_window_close=None
        if by_rows
        else timedelta(milliseconds=times["delay_window_close_ms"]),
        late_rule=None if by_rows else times["lateness_rule"],
        idle_timeout=timeout,
        idle_timeout_clock=TimeSource[times["idle_timeout_clock"]]
        if "idle_timeout_clock" in times
        else None,
        heartbeat="100ms" if timeout else None,
    )


@dataclass
class Step:
    """What came out of a step, by case."""

    emitted: dict[str, set[Emitted]]
    late: dict[str, set[str]]


def played(spark: SparkSession, group: Group, *, keyed: bool = True) -> Iterator[Step]:
    """Run the query of a group, a micro-batch a step; names of rows begin with that of the case."""
    window = window_of(group.config, keyed=keyed)

    def query(rows: DataFrame) -> DataFrame:
        results = window.over(rows).results
        if not keyed:  # the key of its rows, which is one
            case = group.cases[0]
            key = next(event["key"] for step in case["steps"] for event in step["events"])
            results = results.withColumn("key", F.lit(f"{case['id']}/{key}"))
        timing = F.col("pane_timing") if "pane_timing" in results.columns else F.lit("on_time")
        return results.select("key", "window.start", "window.end", "ids", timing.alias("timing"))

    seen: set[str] = set()
    with Script(query, ROWS, clock=START, session=spark) as script:
        for number in range(max(len(case["steps"]) for case in group.cases)):
            play(script, group, number)
            late = late_ids(spark, script.checkpoint) - seen
            seen |= late
            yield Step(by_case(map(emitted, script.results())), by_case(map(named, late)))


def play(script: Script, group: Group, number: int) -> None:
    """Let all cases take a step."""
    rows: list[RowLike] = []
    clock: list[int] = []
    for case in group.cases:
        step: dict[str, Any] = dict(enumerate(case["steps"])).get(number, {})
        clock += [step["now"]] if "now" in step else []
        for event in step.get("events", []):
            clock += [event["arrival"]] if "arrival" in event else []
            time = at(event.get("ts", 0))
            rows.append((f"{case['id']}/{event['id']}", f"{case['id']}/{event['key']}", time))
    if clock:
        script.clock(max(at(max(clock)), now(script)))
    if rows:
        script.rows(rows)


def now(script: Script) -> datetime:
    """Return what the clock shows."""
    return datetime.fromisoformat(script.now).replace(tzinfo=timezone.utc)


def at(ms: int) -> datetime:
    """Return the time of a number in a case."""
    return START + timedelta(milliseconds=ms)


def late_ids(spark: SparkSession, checkpoint: str) -> set[str]:
    """Return the rows that are in the late log."""
    return {row.id for row in et.read_late(checkpoint, spark=spark).select("id").collect()}


def emitted(row: Any) -> tuple[str, Emitted]:
    """Return a result in the terms of the cases, with the name of its case."""
    case, _, key = row.key.partition("/")
    ids = tuple(one.partition("/")[2] for one in row.ids)
    reason = "idle" if row.timing == "idle" else ""
    return case, (key, ms_of(row.start), ms_of(row.end), ids, reason)


def ms_of(bound: Any) -> int:
    """Return the bound of a window as the cases have it: of rows, their number."""
    if isinstance(bound, int):
        return bound
    passed: timedelta = bound.replace(tzinfo=timezone.utc) - START
    return passed // timedelta(milliseconds=1)


def named(row: str) -> tuple[str, str]:
    """Return the name of a case, and that of a row in it."""
    case, _, name = row.partition("/")
    return case, name


def by_case(found: Any) -> dict[str, set[Any]]:
    """Return what was found by the names of the cases."""
    sorted_: dict[str, set[Any]] = defaultdict(set)
    for case, one in found:
        sorted_[case].add(one)
    return sorted_
