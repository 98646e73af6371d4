"""Panes: results before a window closes, on time, and after; and that each says what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies, WindowTrigger
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.any_kind import OfAnyKind
from tests.spark.queries import EVENTS, at
from tests.spark.test_windows import flat

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

LAG = WatermarkPolicies.with_fixed_lag("2s")


def paned(
    write: Callable[[et.WindowBuilder], et.WindowBuilder],
) -> Callable[[DataFrame], DataFrame]:
    """Count by key in windows of ten seconds: end, key, n, index, timing, last, trigger."""

    def query(events: DataFrame) -> DataFrame:
        window = OfAnyKind(events).event_time("ts", LAG).key_by("key").tumbling("10s")
        return flat(write(window).agg(F.count("*").alias("n")).results).drop("start")

    return query


@pytest.mark.smoke
def test_rows_after_the_end_give_the_window_again() -> None:
    """Until the lateness is over; then they are late."""
    query = paned(lambda window: window.allowed_lateness("10s").emit(late_updates=True))
    with Script(query, EVENTS) as script:
        script.rows([(at(1), "a"), (at(13), "a")]).expect(
            results=[(10, "a", 1, 0, "on_time", False, "at_window_end")]
        )
        script.rows([(at(2), "a"), (at(3), "a")]).expect(
            results=[(10, "a", 3, 1, "late", False, "at_window_end")]
        )
        script.rows([(at(4), "b")]).expect(
            results=[(10, "b", 1, 0, "late", False, "at_window_end")]
        )
        script.rows([(at(5), "a"), (at(22), "a")]).expect(
            results=[
                (10, "a", 4, 2, "late", False, "at_window_end"),
                (20, "a", 1, 0, "on_time", False, "at_window_end"),
            ]
        )
        script.rows([(at(6), "a")]).expect(results=[])


def test_discarding_panes_have_only_what_is_new() -> None:
    """Their sum is the whole."""
    query = paned(
        lambda window: window.allowed_lateness("10s").emit(discarding=True, late_updates=True)
    )
    with Script(query, EVENTS) as script:
        script.rows([(at(1), "a"), (at(13), "a")]).expect(
            results=[(10, "a", 1, 0, "on_time", False, "at_window_end")]
        )
        script.rows([(at(2), "a"), (at(3), "a")]).expect(
            results=[(10, "a", 2, 1, "late", False, "at_window_end")]
        )


def test_every_so_many_rows_of_a_key_give_a_pane() -> None:
    """Counted by key; the last pane comes when the window closes."""
    query = paned(lambda window: window.emit(WindowTrigger.every_rows(2)))
    with Script(query, EVENTS) as script:
        script.rows([(at(1), "a"), (at(2), "b")]).expect(results=[])
        script.rows([(at(3), "a")]).expect(results=[(10, "a", 2, 0, "early", False, "every_rows")])
        script.rows([(at(4), "a")]).expect(results=[])
        script.rows([(at(12), "c")]).expect(
            results=[
                (10, "a", 3, 1, "on_time", True, "every_rows"),
                (10, "b", 1, 0, "on_time", True, "every_rows"),
            ]
        )


def test_a_session_gives_panes_while_it_grows() -> None:
    """With the bounds that it has by then; two that become one give on as one."""
    full = WindowTrigger.when("n >= 2")
    query = paned(lambda window: window.session("4s").emit(full, "at_window_end"))
    with Script(query, EVENTS) as script:
        script.rows([(at(1), "a"), (at(5), "a")]).expect(results=[])
        script.rows([(at(6), "a")]).expect(results=[(10, "a", 2, 0, "early", False, "when")])
        script.rows([(at(3), "a")]).expect(results=[(10, "a", 4, 1, "early", False, "when")])
        script.rows([(at(20), "b")]).expect(
            results=[(10, "a", 4, 2, "on_time", True, "at_window_end")]
        )


def test_the_clock_gives_panes_without_new_rows() -> None:
    """Ten seconds after a row that no pane has shown."""
    query = paned(lambda window: window.emit(WindowTrigger.every("10s"), "at_window_end"))
    with Script(query, EVENTS) as script:
        script.rows([(at(1), "a")]).expect(results=[])
        script.clock("+5s").rows([(at(2), "a"), (at(2), "b")]).expect(results=[])
        script.clock("+5s").expect(results=[(10, "a", 2, 0, "early", False, "every")])
        script.clock("+5s").expect(results=[(10, "b", 1, 0, "early", False, "every")])
        script.clock("+60s").expect(results=[])
        script.rows([(at(12), "c")]).expect(
            results=[
                (10, "a", 2, 1, "on_time", True, "at_window_end"),
                (10, "b", 1, 1, "on_time", True, "at_window_end"),
            ]
        )


def test_a_condition_on_the_results_gives_panes() -> None:
    """Whenever they change and meet it."""
    query = paned(lambda window: window.emit(WindowTrigger.when(F.col("n") > 1)))
    with Script(query, EVENTS) as script:
        script.rows([(at(1), "a"), (at(2), "b")]).expect(results=[])
        script.rows([(at(3), "a")]).expect(results=[(10, "a", 2, 0, "early", False, "when")])
        script.rows([(at(4), "b"), (at(5), "b")]).expect(
            results=[(10, "b", 3, 0, "early", False, "when")]
        )


def test_panes_are_no_input_of_another_operator() -> None:
    """It would count a window's panes as rows of their own."""

    def query(events: DataFrame) -> DataFrame:
        window = et.window(events).event_time("ts", LAG).tumbling("10s")
        window = window.emit(WindowTrigger.every_rows(2))
        counts = window.agg(F.count("*").alias("n")).results
        return et.window(counts).tumbling("30s").agg(F.max("n").alias("most")).results

    with pytest.raises(et.errors.UnsupportedPlanError, match="A window with triggers"):
        Script(query, EVENTS)


def test_a_condition_is_on_results_not_on_keys() -> None:
    """A key is refused where the window is made."""
    query = paned(lambda window: window.emit(WindowTrigger.when("key = 'a' and n > 1")))
    with pytest.raises(et.errors.UnknownColumnError, match="key is a key"):
        Script(query, EVENTS)
