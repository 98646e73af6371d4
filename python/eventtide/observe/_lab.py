"""The lab: what policies would have done with recorded rows."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from eventtide import _bridge
from eventtide._request import Request
from eventtide._text.arguments import of_type
from eventtide._text.columns import Substream, check_column, column_name, substream_parts
from eventtide._text.durations import Duration, to_iso
from eventtide._watermark import SubstreamTtl, chosen, watermark_options
from eventtide.errors import refused
from eventtide.observe._lab_progress import shown_progress
from eventtide.observe._lab_result import Lab, LabPoint
from eventtide.policies import PolicyOrRules, WatermarkPolicies, WatermarkPolicy
from eventtide.windows import WindowBuilder, window
from eventtide.windows._checks import check_shape
from eventtide.windows._defaults import with_session_defaults

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, Row

__all__ = ["lab"]

_FIX = "et.lab(rows, event_time='ts', arrival='seen', windows=[et.window().tumbling('1h')])"

# The fixed lags of a lab without policies, as people write them.
_LAGS = (
    *("0s", "1s", "2s", "5s", "10s", "20s", "30s", "1m", "2m", "5m", "10m", "20m", "30m"),
    *("1h", "2h", "3h", "6h", "12h", "1d", "2d", "3d", "7d", "14d", "30d"),
)


def lab(  # noqa: PLR0913 - keywords, most with defaults
    rows: DataFrame,
    *,
    event_time: str | Column,
    arrival: str | Column,
    policies: Iterable[PolicyOrRules] | None = None,
    windows: Iterable[WindowBuilder] | None = None,
    substream: Substream | None = None,
    substream_idle_timeout: Duration | None = None,
    substream_ttl: SubstreamTtl | None = None,
    every: Duration = "10s",
    progress: bool = True,
) -> Lab:
    """Try policies on recorded rows: the late rows that each costs, and the delay of its results.

    Parameters
    ----------
    rows : DataFrame
        A batch of recorded rows, in any order.
    event_time : str or Column
        The event time: a column of type TIMESTAMP or TIMESTAMP_NTZ.
    arrival : str or Column
        The time at which a query would have read the row, of the same types: the ``timestamp`` of a
        Kafka record, the time of a file, a column that an ingestion job has added.
    policies : list of WatermarkPolicy, optional
        The policies to try; a mapping is one by substream. By default fixed lags from none to 30
        days, up to the first one that loses no row.
    windows : list of WindowBuilder, optional
        Tumbling, sliding or cumulative windows without rows, which the watermark of the query
        closes. Their keys count for the state. The defaults of the session apply to them. By
        default ``et.window().tumbling("1m")``.
    substream, substream_idle_timeout, substream_ttl
        As for `with_watermark`, for all policies. Without `substream`, all rows are one.
    every : str or timedelta
        The time from one trigger of the query to the next, a millisecond or more. A trigger takes
        all rows that have arrived before it.
    progress : bool
        Whether to show a bar, in a terminal and in a notebook, if Rich is installed.

    Returns
    -------
    Lab
        A point for each window and policy.

    Raises
    ------
    ArgumentTypeError, InvalidArgumentError, InvalidDurationError, UnknownColumnError
        An argument is not valid; no row was read.
    ColumnTypeError
        The event time or the arrival is not a timestamp.
    UnsupportedPlanError
        `rows` is a stream.
    SetupError
        Eventtide is not installed in the session, or its version differs.

    Notes
    -----
    Spark counts the rows by trigger, substream and frame in one pass for each window. One task then
    replays the counts under all policies with the code of the query, so the result is that of a
    query that always has caught up, whose clock is the arrival time. Its memory does not depend on
    the number of rows. The late rows and the delays are exact. A policy in Python, one that
    follows marks, and ``guard_future`` are refused.

    Examples
    --------
    >>> import eventtide as et
    >>> lab = et.lab(  # doctest: +SKIP
    ...     spark.read.parquet("clicks"),
    ...     event_time="ts",
    ...     arrival="received_at",
    ...     windows=[et.window().key_by("user").tumbling("1h")],
    ... )
    >>> print(lab)  # doctest: +SKIP
    >>> lab.choose(late="0.1%").code  # doctest: +SKIP
    "et.WatermarkPolicies.with_fixed_lag(lag='5m')"
    """
    of_type("rows", rows, DataFrame, "a Spark DataFrame", _FIX)
    columns = _bridge.columns(rows)
    times = {
        name: column_name(name, column, columns)
        for name, column in (("event_time", event_time), ("arrival", arrival))
    }
    for name, column in times.items():
        check_column(name, column, columns)
    parts = substream_parts(substream)
    for part in parts:
        check_column("substream", part, columns)
    tried = _policies(policies)
    shared = {
        "substream_idle_timeout": substream_idle_timeout,
        "substream_ttl": substream_ttl,
        **dict.fromkeys(("expected", "max_substreams", "max_clock_step", "on_restart", "name")),
    }
    each = [watermark_options(policy, **shared) for policy in tried]  # type: ignore[arg-type]
    options = {
        **times,
        "every": to_iso("every", every, positive=True),
        **{f"policies.{i}.{name}": text for i, of in enumerate(each) for name, text in of.items()},
    }
    shapes = _windows(windows)
    asked = [_replayed(rows, one, i, options, parts) for i, one in enumerate(shapes)]
    found = reduce(DataFrame.unionAll, asked)
    with shown_progress(rows.sparkSession, show=progress), _bridge.named_errors():
        made = sorted(found.collect(), key=lambda row: (row["window"], row["policy"]))
    points = [_point(row, tried[row["policy"]], shapes[row["window"]]) for row in made]
    return Lab(tuple(points if policies is not None else _needed(points)))


def _policies(policies: Iterable[PolicyOrRules] | None) -> list[WatermarkPolicy]:
    if policies is None:
        return [WatermarkPolicies.with_fixed_lag(lag) for lag in _LAGS]
    allowed = "a list of one policy or more"
    fix = "policies=[et.WatermarkPolicies.with_fixed_lag('5s')]"
    if isinstance(policies, (str, WatermarkPolicy)) or not isinstance(policies, Iterable):
        raise refused("policies", policies, "is not a list", allowed=allowed, fix=fix)
    found = [chosen(policy) for policy in policies]
    if not found:
        raise refused("policies", found, "is empty", allowed=allowed, fix=fix)
    return found


def _windows(windows: Iterable[WindowBuilder] | None) -> list[WindowBuilder]:
    if windows is None:
        return [window().tumbling("1m")]
    allowed, fix = "a list of one window or more", "windows=[et.window().tumbling('1h')]"
    if isinstance(windows, WindowBuilder) or not isinstance(windows, Iterable):
        raise refused("windows", windows, "is not a list", allowed=allowed, fix=fix)
    found = list(windows)
    for i, one in enumerate(found):
        of_type(f"windows[{i}]", one, WindowBuilder, allowed, fix)
        check_shape(one.settings)
    if not found:
        raise refused("windows", found, "is empty", allowed=allowed, fix=fix)
    return found


def _replayed(
    rows: DataFrame,
    one: WindowBuilder,
    position: int,
    options: dict[str, str],
    parts: Sequence[str | Column],
) -> DataFrame:
    settings = with_session_defaults(one.settings, rows.sparkSession)
    lists = {"substream": parts, "keys": settings.key_by}
    request = Request.of("lab", {**settings.to_options(), **options}, None, lists)
    found = _bridge.of(rows).requested(rows, request)
    return found.withColumn("window", F.lit(position))


def _point(row: Row, policy: WatermarkPolicy, of: WindowBuilder) -> LabPoint:
    def delay(name: str) -> timedelta | None:
        micros = row[f"delay_{name}"]
        return None if micros is None else timedelta(microseconds=micros)

    return LabPoint(
        policy,
        of,
        rows=row["rows"],
        late=row["late"],
        refused=row["refused"],
        windows=row["windows"],
        delay_p50=delay("p50"),
        delay_p90=delay("p90"),
        delay_p99=delay("p99"),
        open_at_end=row["open"],
        most_open=row["most_open"],
        most_aggregates=row["most_keys"] if of.settings.key_by else row["most_frames"],
    )


def _needed(points: Sequence[LabPoint]) -> list[LabPoint]:
    """Return the fixed lags of each window up to the first one that loses no row."""
    needed: list[LabPoint] = []
    for point in points:
        before = needed[-1] if needed else None
        if before is None or before.window is not point.window or before.late:
            needed.append(point)
    return needed
