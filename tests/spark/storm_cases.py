"""The golden cases of Storm as real queries: a bolt whose function says which rows it was given."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import eventtide as et
from eventtide import WatermarkPolicies
from eventtide.storm import Count, StormWindow, TupleWindow
from eventtide.testing import Script

from tests.spark.golden_words import OF_EVERY_CASE, unknown, unknown_of_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession

ROWS = "id string, stream string, ts timestamp"
START = datetime(2024, 1, 1, tzinfo=timezone.utc)  # where the cases have 0; any slide begins there
FOLDER = Path(os.environ.get("EVENTTIDE_GOLDEN", "tests/golden"))
SHOWN = (
    "start timestamp, end timestamp, ids array<string>, new array<string>, expired array<string>"
)

Case = dict[str, Any]


EXTENT = ({"ms": int}, {"count": int})
OUTCOME: dict[str, Any] = {
    "watermarks?": [{"step": int, "value": (int, None)}],
    "windows?": [
        {
            "step": int,
            "start": (int, None),
            "end": int,
            "ids": [str],
            "new?": [str],
            "expired?": [str],
        }
    ],
    "late?": [{"step?": int, "id": str}],
    "pending?": [str],
    "in_no_window?": [str],
}
CONFIGS: dict[str, Any] = {
    "steps": {
        "length": EXTENT,
        "slide": EXTENT,
        "lag_ms": int,
        "streams": [str],
        "time?": "event",
        "bounds?": "(start,end]",
        "scan_lag_ms?": object,
    },
    "property": (
        {"length_slide_counts": [[int]]},
        {"length_slide_seconds": [[int]], "lag_ms": int},
    ),
    "error": (
        {"length_or_slide": [int]},
        {"late_stream": str, "timestamp": None},
        {"timestamp": str},
        {"timestamp": [str]},
    ),
}
EXPECTED = {"steps": OUTCOME, "property": {"property": str}, "error": {"error": str}}
STEPS: dict[str, Any] = {
    "event": {"id": str, "stream": str, "ts": int},
    "add": {"id": str, "ts": int},
    "watermark": {"ts": int},
    "tick": {},
}


def cases(kind: str) -> list[Case]:
    """Return the cases that are played step by step, those of a property, or those of an error."""
    return [
        case
        for path in sorted(FOLDER.glob("*.json"))
        for case in json.loads(path.read_text())["cases"]
        if case.get("subject") == "storm" and kind_of(case) == kind
    ]


def kind_of(case: Case) -> str:
    """Return how a case is played."""
    expect = case.get("expect")
    words = expect if isinstance(expect, dict) else {}
    return next((name for name in ("error", "property") if name in words), "steps")


def unknown_words(case: Case) -> str | None:
    """Return what of a case is unknown here."""
    kind = kind_of(case)
    form = OF_EVERY_CASE | {
        "config": CONFIGS[kind],
        "expect": EXPECTED[kind],
        "expect_documented?": OUTCOME,
    }
    return (
        unknown("case", case, form)
        or unknown_of_steps(case, STEPS)
        or next(filter(None, map(unknown_of_step(case), expected_steps(case))), None)
    )


def expected_steps(case: Case) -> list[int]:
    """Return the steps of which something is said."""
    said = [case["expect"], case.get("expect_documented", {})]
    return [
        one["step"] for of in said for name in ("watermarks", "windows") for one in of.get(name, [])
    ]


def unknown_of_step(case: Case) -> Callable[[int], str | None]:
    """Return what says why nothing comes of a step: it is none that tells a watermark."""
    told = {n for n, step in enumerate(case["steps"]) if step["op"] in {"tick", "watermark"}}
    return lambda step: None if step in told else f"expect: step {step} tells no watermark"


@dataclass(frozen=True)
class Given:
    """A window that was given; times in milliseconds from `START`."""

    start: int | None
    end: int
    ids: frozenset[str]
    new: frozenset[str]
    expired: frozenset[str]


@dataclass
class Step:
    """What came of the steps up to one that tells a watermark."""

    number: int
    watermark: int | None = None
    windows: list[Given] = field(default_factory=list)
    late: set[str] = field(default_factory=set)


def played(spark: SparkSession, case: Case, rows_as: str = "pandas") -> Iterator[Step]:
    """Play a case: what lies between two watermarks is one micro-batch."""
    with _script(case, rows_as) as script:
        told: int | None = None
        late: set[str] = set()
        batch: list[Any] = []
        for number, step in enumerate(case["steps"]):
            if step["op"] in {"event", "add"}:
                batch.append((step["id"], step.get("stream", "s1"), at(step["ts"])))
                continue
            if batch:
                script.rows(batch)
                batch = []
            script.clock("+1s" if step["op"] == "tick" else at(step["ts"]))
            done = Step(number)
            done.windows = [_given(row) for row in script.results()]
            watermark = millis(datetime.fromisoformat(script.watermark))
            if watermark not in {told, millis(datetime(1970, 1, 1, tzinfo=timezone.utc))}:
                told = done.watermark = watermark
            all_late = {row.id for row in et.read_late(script.checkpoint, spark=spark).collect()}
            done.late, late = all_late - late, all_late
            yield done


def _script(case: Case, rows_as: str) -> Script:
    config = case["config"]
    by_clock = any(step["op"] == "watermark" for step in case["steps"])
    bolt = bolt_of(config)

    def query(df: DataFrame) -> et.WindowBuilder:
        named = {name: df.where(f"stream = '{name}'") for name in config["streams"]}
        over = bolt.over(named if len(named) > 1 else df)
        window: et.WindowBuilder = over.execute(shown, SHOWN, rows=rows_as)  # type: ignore[call-overload]
        if by_clock:  # which a case may set as it likes
            policy = WatermarkPolicies.limiting_real_time_lag("0s").throttle_by_min_step("1ms")
            window = window.event_time("ts", policy)
        return window

    first = START if by_clock else START + timedelta(milliseconds=500)
    return Script(query, ROWS, clock=first)


def bolt_of(config: dict[str, Any]) -> StormWindow:
    """Return the bolt that a case configures."""
    bolt = StormWindow().with_window(extent(config["length"]), extent(config["slide"]))
    return bolt.with_timestamp_field("ts").with_lag(f"{config['lag_ms']}ms")


def extent(of: dict[str, int]) -> Count | str:
    """Return a length or a slide as users write it."""
    return Count(of["count"]) if "count" in of else f"{of['ms']}ms"


def shown(window: TupleWindow[Any]) -> dict[str, Any]:
    """Tell which rows a window has."""
    ids = {
        name: rows["id"].to_pylist() if hasattr(rows, "schema") else list(rows["id"])
        for name, rows in {
            "ids": window.get(),
            "new": window.get_new(),
            "expired": window.get_expired(),
        }.items()
    }
    return {"start": window.start_timestamp, "end": window.end_timestamp, **ids}


def _given(row: Any) -> Given:
    assert len(set(row.ids)) == len(row.ids)
    start = None if row.start is None else millis(row.start.replace(tzinfo=timezone.utc))
    sets = (frozenset(row[name]) for name in ("ids", "new", "expired"))
    return Given(start, millis(row.end.replace(tzinfo=timezone.utc)), *sets)


def at(ms: int) -> datetime:
    """Return a time of a case as the query has it."""
    return START + timedelta(milliseconds=ms)


def millis(time: datetime) -> int:
    """Return a time of the query as the cases have it."""
    return (time - START) // timedelta(milliseconds=1)
