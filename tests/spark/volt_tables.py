"""Makes the tables of docs/reference/voltsp.md by real queries; each scenario is one key."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import eventtide as et
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.volt_cells import Seen, Table, Window, table
from tests.spark.volt_scenarios import SCENARIOS, SPAN, Row, Scenario
from tests.spark.window_runs import WITHOUT_CODE, settings

if TYPE_CHECKING:
    from eventtide import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

ROWS = "id string, key string, ts timestamp"
START = datetime(2024, 1, 1, tzinfo=timezone.utc)  # where the scenarios have 0
QUICK: dict[str, str | int] = {**WITHOUT_CODE, "spark.sql.shuffle.partitions": 1}


def tables(spark: SparkSession) -> dict[str, Table]:
    """Return the table of each scenario."""
    made: dict[str, Table] = {}
    with settings(spark, QUICK):
        for group in groups():
            made |= played(spark, group)
    return made


def groups() -> list[list[Scenario]]:
    """Return the scenarios that can be keys of one query; those with a clock are alone."""
    found: dict[str, list[Scenario]] = {}
    for scenario in SCENARIOS:
        window = scenario.name if scenario.has_clock else repr(scenario.time)
        found.setdefault(window, []).append(scenario)
    return list(found.values())


def played(spark: SparkSession, group: list[Scenario]) -> dict[str, Table]:
    """Run the query of a group, a micro-batch a step, and return what it has done."""
    windows: list[WindowBuilder] = []

    def query(rows: DataFrame) -> DataFrame:
        windows.append(group[0].over(rows))
        return flat(windows[0].results)

    after: list[dict[str, Seen]] = []
    with Script(query, ROWS, clock=START, session=spark) as script:
        for number in range(max(len(scenario.steps) for scenario in group)):
            play(script, group, number)
            after.append(look(script, windows[0], group))
        late = et.read_late(script.checkpoint).select("key", "id").collect()
    return {
        scenario.name: table(
            scenario,
            [seen[scenario.name] for seen in after],
            {row.id for row in late if row.key == scenario.name},
        )
        for scenario in group
    }


def play(script: Script, group: list[Scenario], number: int) -> None:
    """Let all scenarios take the step of that number, if they have one."""
    rows = []
    for scenario in group:
        for step in scenario.steps[number : number + 1]:
            if step.clock is not None:
                script.clock(at(step.clock))
            rows += [stored(scenario, row) for row in step.rows]
    if rows:
        script.rows(rows)


def stored(scenario: Scenario, row: Row) -> tuple[str, str, datetime]:
    """Return a row for the query, whose key is the scenario."""
    key = f"beside {scenario.name}" if row.is_others else scenario.name
    return row.name, key, at(row.seconds)


def at(seconds: int) -> datetime:
    """Return the time of a number in a scenario."""
    return START + timedelta(seconds=seconds)


def look(script: Script, window: WindowBuilder, group: list[Scenario]) -> dict[str, Seen]:
    """Return what came out in a step and what is held after it, by scenario."""
    seen = {scenario.name: Seen() for scenario in group}
    out, held = script.results(), flat(et.read_state(script.checkpoint, window)).collect()
    for rows, is_out in ((out, True), (held, False)):
        for row in (row for row in rows if row.key in seen):
            own = seen[row.key]
            own.windows.append(Window(row.number, tuple(row.ids), is_out, row.timing, row.pane))
            own.watermark = own.watermark if is_out else row.watermark
    if not group[0].is_of_event_time:
        shown = datetime.fromisoformat(script.watermark).replace(tzinfo=timezone.utc)
        seen[group[0].name].watermark = (shown - START).total_seconds()
    return seen


def flat(windows: DataFrame) -> DataFrame:
    """Return windows with their number and their rows, and seconds where there are times."""
    given = set(windows.columns)
    started = F.unix_seconds("window.start") - int(START.timestamp())
    watermark = F.unix_millis("_watermark") / 1000 - int(START.timestamp())
    return windows.select(
        "key",
        (started / SPAN + 1).cast("int").alias("number"),
        "ids",
        (F.col("pane_timing") if "pane_timing" in given else F.lit("on_time")).alias("timing"),
        (F.col("pane_index") if "pane_index" in given else F.lit(0)).alias("pane"),
        (watermark if "_watermark" in given else F.lit(None)).alias("watermark"),
    )
