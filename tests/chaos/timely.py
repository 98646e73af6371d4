"""The windows that are disturbed in real-time mode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import eventtide as et
from eventtide import WatermarkPolicies
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.chaos import expected, streams

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventtide import WindowBuilder
    from pyspark.sql import DataFrame

LAG = WatermarkPolicies.with_fixed_lag("3s")
LATEST = WatermarkPolicies.max_event_time()
LONGEST_LATE = int(streams.LATE_BY) + 1  # seconds


@dataclass(frozen=True)
class Timely:
    """A window and its rules.

    Attributes
    ----------
    make : callable
        Makes the window.
    rules : callable
        Makes what computes the same from the rows alone.
    changes_mode : bool
        Whether some of its runs are in micro-batches, which have the same results for windows with
        `max_rows_per_batch(1)`.
    closes_at_once : bool
        Whether a batch gives all results that its rows give. The watermark of a query closes
        windows in the next batch only.
    """

    make: Callable[[DataFrame], WindowBuilder]
    rules: Callable[[], expected.Rules]
    changes_mode: bool = True
    closes_at_once: bool = True


def _by_key(events: DataFrame) -> WindowBuilder:
    return _window(events).watermark_scope("key").max_rows_per_batch(1)


def _window(events: DataFrame) -> WindowBuilder:
    ids = F.sort_array(F.collect_list("id")).alias("ids")
    return et.window(events).key_by("user", "site").agg(F.count("*").alias("n"), ids)


def _tumbling(events: DataFrame) -> WindowBuilder:
    return _by_key(events).event_time("ts", LATEST).tumbling("10s").delay("3s")


def _panes(events: DataFrame) -> WindowBuilder:
    threes = et.WindowTrigger.every_rows(3)
    return _by_key(events).event_time("ts", LAG).tumbling("20s").emit("at_window_end", threes)


def _sessions(events: DataFrame) -> WindowBuilder:
    return _by_key(events).event_time("ts", LAG).session("6s").key_idle_timeout("1h")


def _counts(events: DataFrame) -> WindowBuilder:
    return _by_key(events).event_time("ts", LATEST).by_count(5, every=2)


def _groups(events: DataFrame) -> WindowBuilder:
    return _window(events).watermark_scope("site").event_time("ts", LATEST).tumbling("10s")


# The lag covers the disorder, and the rows of a site come from one partition of Kafka. So no row is
# late, in any run.
def _query(events: DataFrame) -> WindowBuilder:
    lag = WatermarkPolicies.with_fixed_lag(f"{LONGEST_LATE}s")
    window = _window(events).event_time("ts", lag, substream="site", expected=["0", "1"])
    return window.tumbling("10s")


KINDS: dict[str, Timely] = {
    "tumbling": Timely(_tumbling, lambda: expected.Tumbling(10, delay=3)),
    "panes": Timely(_panes, lambda: expected.Panes(20, lag=3, every=3)),
    "sessions": Timely(_sessions, lambda: expected.Sessions(6, lag=3)),
    "counts": Timely(_counts, lambda: expected.Counts(5, every=2)),
    "groups": Timely(_groups, lambda: expected.Tumbling(10, scope="site"), changes_mode=False),
    "query": Timely(
        _query,
        lambda: expected.Tumbling(10, lag=LONGEST_LATE, scope="query"),
        closes_at_once=False,
    ),
}
