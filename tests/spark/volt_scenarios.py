"""The scenarios of docs/reference/voltsp.md: a window of VoltSP's each, and what comes in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eventtide import WatermarkPolicies
from eventtide.voltsp import TimeConfig, Windows
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

if TYPE_CHECKING:
    from eventtide import WindowBuilder
    from pyspark.sql import DataFrame

SPAN = 10  # seconds of a window

THE_DATA = """
       | e1 2s, e2 5s
       | e4 12s
       | e3 8s
       | e5 25s
"""
MORE_EVENTS = """
       | e1 2s, e2 5s
       | e4 12s, e6 9s
       | e3 8s
       | e5 25s
"""
AT_A_GLANCE = """
       | e1 2s, e2 4s, e3 9s
       | e4 5s, e5 8s, e6 15s
"""


@dataclass(frozen=True)
class Row:
    """A row, its event time in seconds; those of another key are only there to move time."""

    name: str
    seconds: int
    is_others: bool = False


@dataclass(frozen=True)
class Step:
    """What the clock is set to, in seconds, and the rows of a batch; either may be missing."""

    clock: int | None
    rows: list[Row]
    text: str


@dataclass(frozen=True)
class Scenario:
    """A window, and what comes in: a line for each step, ``clock | rows``."""

    name: str
    time: TimeConfig
    script: str
    key_ttl: str | None = None

    @property
    def steps(self) -> list[Step]:
        """What happens, one after the other."""
        return [_step(line) for line in self.script.strip().splitlines()]

    @property
    def has_clock(self) -> bool:
        """Whether what the clock shows makes a difference."""
        return any(step.clock is not None for step in self.steps)

    @property
    def is_of_event_time(self) -> bool:
        """Whether each key has a watermark of its own."""
        return self.time.event_time_extractor is not None

    def over(self, rows: DataFrame) -> WindowBuilder:
        """Return the window over rows, with the ids of those that it has."""
        ids = F.collect_list("id").alias("ids")
        window = (
            Windows.tumbling_time_window()
            .with_window_span(f"{SPAN}s")
            .with_key_extractor("key")
            .with_time_config(self.time)
            .with_aggregate_definition(lambda builder: builder.agg(ids))
            .over(rows)
        )
        return window if self.key_ttl is None else window.key_ttl(self.key_ttl)


def _step(line: str) -> Step:
    clock, text = (part.strip() for part in line.split("|"))
    rows = [
        Row(name, int(seconds), bool(other))
        for other, name, seconds in re.findall(r"(another key: )?(\w+) (\d+)s", text)
    ]
    return Step(int(clock[:-1]) if clock else None, rows, text)


MIN = TimeConfig("ts", "MIN_EVENT_TIME")
MAX = TimeConfig("ts", "MAX_EVENT_TIME")
MIN_STRICT = MIN.with_late_rule("behind_watermark")
MAX_STRICT = MAX.with_late_rule("behind_watermark")
IDLE = MAX.with_delay_window_close("3s").with_idle_timeout("5m").with_heartbeat("1s")
LULL = WatermarkPolicies.limiting_lag_and_lull("5s", max_lull="10s")

SCENARIOS = [
    Scenario(
        "scenario-0",
        TimeConfig(),
        """
    7s | e1 2s, e2 5s
    8s | e4 12s
    9s | e3 8s
   10s | e5 25s
   20s |
    """,
    ),
    Scenario("scenario-1", MIN, THE_DATA),
    Scenario("scenario-2", MIN.with_delay_window_close("5s"), THE_DATA),
    Scenario("scenario-3-max", MAX, MORE_EVENTS),
    Scenario("scenario-3-min", MIN, MORE_EVENTS),
    Scenario("scenario-3-max-delay", MAX.with_delay_window_close("3s"), MORE_EVENTS),
    Scenario(
        "scenario-4-wall",
        IDLE,
        """
    7s | e1 2s, e2 5s
    8s | e4 12s, e6 9s
    9s | e3 8s
  308s |
  309s |
  310s | e7 9s
  311s | e5 25s
    """,
    ),
    Scenario(
        "scenario-4-event",
        IDLE.with_idle_timeout_clock("EVENT_TIME"),
        """
    7s | e1 2s, e2 5s
    8s | e4 12s, e6 9s
    9s | e3 8s
  309s |
  310s | another key: o1 311s
  311s | another key: o2 312s
    """,
    ),
    Scenario("glance-min", MIN_STRICT, AT_A_GLANCE + " | e_late 3s"),
    Scenario("glance-max", MAX_STRICT, AT_A_GLANCE),
    Scenario(
        "visual-processing",
        TimeConfig(),
        """
    3s | e1 2s
    5s | e2 4s
    9s | e4 15s
   10s |
   13s | e3 8s
   20s |
    """,
    ),
    Scenario(
        "visual-event",
        MIN,
        """
       | e1 2s
       | e2 4s
       | e4 15s, e3 8s
    """,
    ),
    Scenario(
        "visual-event-rows",
        MIN,
        """
       | e1 2s
       | e2 4s
       | e4 15s
       | e3 8s
    """,
    ),
    Scenario("strict", MIN_STRICT, MORE_EVENTS),
    Scenario(
        "forgotten",
        MAX.with_idle_timeout("1m").with_heartbeat("1s"),
        """
    0s | e1 12s
   60s |
   70s | e2 3s
  720s |
  730s | e3 3s
    """,
        key_ttl="10m",
    ),
    Scenario(
        "future",
        MIN,
        """
       | e1 1s, far 1000s
       | e2 11s
       | e3 1010s
    """,
    ),
    Scenario(
        "lull",
        TimeConfig("ts", policy=LULL),
        """
    0s | e1 2s, e2 12s
   12s |
   13s |
   23s |
    """,
    ),
]
