"""Cases of the wider field that are about windows and keys, as real queries: a micro-batch a step.

In FC38 a row is late by the batch right before it. Spark judges rows by the watermark before that
one, unless a batch without rows came between; the profile of VoltSP runs such a batch.
"""

from __future__ import annotations

import json
import os
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark import golden_words
from tests.spark.golden_words import OF_EVERY_CASE, unknown
from tests.spark.window_runs import WITHOUT_CODE, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from eventtide import WindowBuilder
    from pyspark.sql import Column, DataFrame, SparkSession

OURS = Path("tests/golden")
FOLDER = Path(os.environ.get("EVENTTIDE_GOLDEN", OURS))
FILE = FOLDER / "field.json"
CASES = (
    {case.get("id"): case for case in json.loads(FILE.read_text())["cases"]}
    if FILE.exists()
    else {}
)
START = datetime(2023, 12, 31, 5, 20, tzinfo=timezone.utc)
"""Where the cases have 0: all of their windows begin there, too. Their unit is a second."""
AHEAD = timedelta(days=30)  # of the watermark that a case has beside its rows
ROWS = "key string, ts timestamp, value int"
CARRIER = "carries the watermark"  # the key of rows that stand for a watermark

RESULT = {"key": str, "value": int, "window": [int]}
OUTCOMES = [(RESULT, {"late": {"key": str, "ts": int}})]
SAID = {
    "expect?": OUTCOMES,
    "expect_by_variant?": {"scope=key?": OUTCOMES, "scope=partition?": OUTCOMES},
}
STEPS = {
    "event": {"key": str, "ts": int, "value": int, **SAID},
    "watermark": {"at": int, **SAID},
    "clock": {"to": int, **SAID},
    "snapshot_restore": SAID,
}
GAPS = "key1 -> 3000; key2 -> 1000 when value==10 else 2000"
BY_TIME = {"time?": ("event", "processing")}
CASE = OF_EVERY_CASE | {
    "profile": ("flink", "kafka", "quix"),
    "config": {
        "window": (
            {"kind": "tumbling", "size": int, **BY_TIME},
            {"kind": "sliding", "size": int, "slide": int, **BY_TIME},
            {"kind": "session", "gap": int, "touching_merges?": True},
            {"kind": "session_dynamic", "gap": GAPS, "touching_merges?": True},
        ),
        "lateness?": int,
        "accumulation?": ("accumulating", "discarding"),
        "grace?": int,
        "trigger?": ("event_time", "processing_time"),
        "time?": "stream time of the partition",
        "emit?": "on_window_close",
        "agg?": ("count", "sum"),
        "variants?": [("scope=key", "scope=partition")],
    },
    "final?": {  # how late rows were, a query does not say
        "dropped": int,
        "max_lateness?": object,
        "avg_lateness?": object,
        "kept_windows": [[int]],
    },
}
"""What is known here; the kernel plays all other cases of the field, or says why they wait."""

PLAYED = [
    ("FC20", ""),
    ("FC22", ""),
    ("FC26", ""),
    ("FC27", ""),
    ("FC28", ""),
    ("FC29", ""),
    ("FC31", ""),
    ("FC34", ""),
    ("FC35", ""),
    ("FC47", "scope=key"),
    ("FC47", "scope=partition"),
]


@pytest.mark.parametrize(("name", "variant"), PLAYED, ids=lambda part: part or "as it is")
def test_a_query_does_what_the_case_says(
    spark: SparkSession, golden: Callable[[str], None], name: str, variant: str
) -> None:
    """What each step gives, late rows too, and what is open at the end."""
    case = case_of(name, golden)
    compared = 0
    with (
        settings(spark, WITHOUT_CODE),
        Script(lambda rows: query(rows, case, variant), ROWS, clock=START, session=spark) as script,
    ):
        for number, (step, given) in enumerate(played(script, case)):
            expected = step.get("expect_by_variant", {}).get(variant, step.get("expect"))
            if expected is not None:
                compared += 1
                assert (number, given) == (number, sorted(map(outcome, expected)))
    assert compared > 0


def test_a_query_keeps_and_drops_what_the_case_says(
    spark: SparkSession, golden: Callable[[str], None]
) -> None:
    """Where nothing closes: what is late, and what is open at the end."""
    case = case_of("FC38", golden)

    def made(rows: DataFrame) -> WindowBuilder:
        return window(rows, case, "").profile("voltsp")

    with (
        settings(spark, WITHOUT_CODE),
        Script(lambda rows: made(rows).results, ROWS, clock=START, session=spark) as script,
    ):
        for step in case["steps"]:
            play(script, step)
        assert script.results() == []
        held = et.read_state(script.checkpoint, made(spark.createDataFrame([], ROWS)))
        kept = [[units(row.window.start), units(row.window.end)] for row in held.collect()]
        final = case["final"]
        assert (len(late_rows(script)), kept) == (final["dropped"], final["kept_windows"])


def case_of(name: str, golden: Callable[[str], None]) -> dict[str, Any]:
    """Return a case; it waits where it has unknown words, or a folder that is not ours lacks it."""
    if name not in CASES and FOLDER != OURS:
        pytest.skip(f"{name} waits: it is not in {FILE}")
    golden_words.play(golden, CASES[name], unknown_words(CASES[name]))
    return dict(CASES[name])


def unknown_words(case: dict[str, Any]) -> str | None:
    """Return what of a case is unknown here."""
    return unknown("case", case, CASE) or golden_words.unknown_of_steps(case, STEPS)


def window(rows: DataFrame, case: dict[str, Any], variant: str) -> WindowBuilder:
    """Return the window of a case."""
    config = case["config"]
    shape = config["window"]
    builder = et.window(rows).key_by("key")
    if shape.get("time") == "processing":
        builder = builder.processing_time()
    elif case["profile"] == "flink":
        builder = builder.event_time("ts", WatermarkPolicies.with_fixed_lag(AHEAD))
    else:
        builder = builder.event_time("ts", WatermarkPolicies.max_event_time())
    if variant == "scope=key":
        builder = builder.watermark_scope("key")
    if case["profile"] == "flink":
        builder = builder.profile("flink")
    if config.get("lateness"):
        discards = config.get("accumulation") == "discarding"
        builder = builder.allowed_lateness(length(config["lateness"]))
        builder = builder.emit(discarding=discards, late_updates=True)
    if config.get("grace"):
        builder = builder.delay(length(config["grace"]))
    if shape["kind"] == "session":
        builder = builder.session(length(shape["gap"]))
    elif shape["kind"] == "session_dynamic":
        builder = builder.session(gap_of_row())
    elif shape["kind"] == "sliding":
        builder = builder.sliding(length(shape["size"]), every=length(shape["slide"]))
    else:
        builder = builder.tumbling(length(shape["size"]))
    total = F.count("*") if config.get("agg") == "count" else F.sum("value")
    return builder.agg(total.alias("value"))


def gap_of_row() -> Column:
    """Return the gap that `GAPS` words."""
    first, ten = F.col("key") == "key1", F.col("value") == 10
    return F.when(first, "3000 seconds").when(ten, "1000 seconds").otherwise("2000 seconds")


def query(rows: DataFrame, case: dict[str, Any], variant: str) -> DataFrame:
    """Return its results."""
    return window(rows, case, variant).results.select("key", "window", "value")


def played(script: Script, case: dict[str, Any]) -> Iterator[tuple[dict[str, Any], list[Any]]]:
    """Run the steps of a case; yield each with what it gave."""
    seen = 0
    for step in case["steps"]:
        play(script, step)
        results = [
            ("window", row["key"], units(row.window.start), units(row.window.end), row.value)
            for row in script.results()
            if row["key"] != CARRIER
        ]
        late = late_rows(script)
        results += late[seen:]
        seen = len(late)
        yield step, sorted(results)


def play(script: Script, step: dict[str, Any]) -> None:
    """Run one step; a watermark comes with a row of its own, and Flink closes at one less."""
    if step["op"] == "event":
        script.rows([(step["key"], moment(step["ts"]), step["value"])])
    elif step["op"] == "watermark":
        script.rows([(CARRIER, moment(step["at"] + 1) + AHEAD, 0)])
    elif step["op"] == "clock":
        script.clock(moment(step["to"]))
    else:  # snapshot_restore
        script.stop().restart()


def late_rows(script: Script) -> list[Any]:
    """Return the late rows so far, batch by batch."""
    log = et.read_late(script.checkpoint).orderBy("_batch_id")
    return [("late", row["key"], units(row.ts)) for row in log.collect()]


def outcome(expected: dict[str, Any]) -> Any:
    """Return what a case expects as a query's outcomes are shown."""
    if "late" in expected:
        return ("late", expected["late"]["key"], expected["late"]["ts"])
    start, end = expected["window"]
    return ("window", expected["key"], start, end, expected["value"])


def length(units: int) -> timedelta:
    """Return a length of a case."""
    return timedelta(seconds=units)


def moment(units: int) -> datetime:
    """Return a time of a case."""
    return START + length(units)


def units(time: datetime) -> int:
    """Return a time as a case has it; rows that are collected are in UTC, without saying so."""
    return (time.replace(tzinfo=timezone.utc) - START) // length(1)
