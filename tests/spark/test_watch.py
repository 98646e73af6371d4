"""`et.watch` in a terminal and in a notebook."""

from __future__ import annotations

import io
import threading
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.errors import ArgumentTypeError, InvalidDurationError
from eventtide.observe import _watch
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import at

if TYPE_CHECKING:
    from eventtide.windows import WindowBuilder
    from pyspark.sql import DataFrame

EVENTS = "ts timestamp, user string"


def counts(events: DataFrame) -> WindowBuilder:
    """Return windows of ten seconds over the substreams in `user`."""
    lag = WatermarkPolicies.with_fixed_lag("5s")
    timed = et.window(events).event_time("ts", lag, substream="user")
    return timed.tumbling("10s").agg(F.count("*").alias("n"))


def test_the_two_lines_have_the_figures_and_what_holds_the_watermark() -> None:
    """Rows on time and late, two substreams, and the text of `blame`."""
    with Script(counts, EVENTS) as script:
        script.rows([(at(40), "a"), (at(30), "b")], [(at(40), "a")], [(at(3), "a")])
        line = str(_watch.glance_at(script.streaming_query))
        page = _watch.glance_at(script.streaming_query)._repr_html_()
    figures, held = line.split("\n")
    assert "  watermark 2024-01-01 00:00:25 UTC  lag 15s  " in figures
    assert figures.endswith("  late 1 (25%)")
    assert held.startswith("'b' holds the watermark at 2024-01-01 00:00:25 UTC")
    assert "&#x27;b&#x27; holds" in page


def test_before_the_first_row_there_is_no_watermark() -> None:
    """The line says so."""
    with Script(counts, EVENTS) as script:
        assert "no watermark yet" in str(_watch.glance_at(script.streaming_query))


def test_a_terminal_shows_a_query_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look is written in place of the one before."""
    rich = pytest.importorskip("rich.console")
    written = io.StringIO()
    console = rich.Console(file=written, force_terminal=True, width=200)
    monkeypatch.setattr("rich.live.get_console", lambda: console)
    with Script(counts, EVENTS) as script:
        script.rows([(at(40), "a")])
        seen = threading.Event()
        look = _watch.glance_at

        def glance_at(query: object) -> _watch.Glance:
            seen.set()
            return look(query)  # type: ignore[arg-type] # the query of the script

        monkeypatch.setattr(_watch, "glance_at", glance_at)
        query = script.streaming_query
        watching = threading.Thread(target=et.watch, args=(query,), kwargs={"every": "10ms"})
        watching.start()
        assert seen.wait(30)
        script.rows([(at(50), "a")])
        script.stop()
        watching.join(30)
        assert not watching.is_alive()
    assert "watermark 2024-01-01 00:00:35 UTC" in written.getvalue()
    assert "watermark 2024-01-01 00:00:45 UTC" in written.getvalue()


def test_what_is_no_query_is_refused() -> None:
    """A checkpoint location does not run."""
    with pytest.raises(ArgumentTypeError, match="query='/data/checkpoint' has type str"):
        et.watch("/data/checkpoint")  # type: ignore[arg-type]


def test_the_time_between_two_looks_is_above_zero() -> None:
    """Checked before the query is asked."""
    with Script(counts, EVENTS) as script, pytest.raises(InvalidDurationError, match="every"):
        et.watch(script.streaming_query, every="0s")
