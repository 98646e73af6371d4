"""Watermarks on a DataFrame: the arguments are checked here and then passed to the JVM."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Final, Literal, TypeAlias, get_args

from pyspark.sql import Column, DataFrame

from eventtide import _bridge
from eventtide._request import Request
from eventtide._text.arguments import choice, count, of_type
from eventtide._text.columns import Substream, check_column, column_name, listed, substream_parts
from eventtide._text.durations import Duration, micros, to_iso
from eventtide.errors import ArgumentTypeError, InvalidDurationError, refused
from eventtide.policies import (
    BySubstream,
    PolicyOrRules,
    WatermarkPolicies,
    WatermarkPolicy,
    WithIngestionTime,
)

__all__ = [
    "OnRestart",
    "SubstreamTtl",
    "watermark",
    "watermark_options",
    "with_ingestion_time",
    "with_watermark",
]

OnRestart: TypeAlias = Literal["hold_until_caught_up", "resume"]
"""Whether the clock may advance the watermark before a restarted query has read its backlog."""

SubstreamTtl: TypeAlias = Duration | Literal["never"]
"""The time after which an idle substream is purged."""

_NEVER: Final = "never"


def with_watermark(  # noqa: PLR0913 - the last seven are keywords with a default each
    df: DataFrame,
    event_time: str | Column,
    policy: PolicyOrRules,
    *,
    substream: Substream | None = None,
    substream_idle_timeout: Duration | None = None,
    expected: int | Iterable[str] | None = None,
    max_substreams: int | None = None,
    substream_ttl: SubstreamTtl | None = None,
    max_clock_step: Duration | None = None,
    on_restart: OnRestart | None = None,
    name: str | None = None,
) -> DataFrame:
    """Add a watermark to a DataFrame, which a policy computes for each substream.

    Parameters
    ----------
    df : DataFrame
        A streaming DataFrame without a watermark, or a batch DataFrame, which is returned
        unchanged.
    event_time : str or Column
        The event time: a column of type TIMESTAMP or TIMESTAMP_NTZ, by its name or as a Column
        that names it, such as ``F.col("ts")``.
    policy : WatermarkPolicy, or mapping of str to WatermarkPolicy
        From `WatermarkPolicies`. A mapping has a policy for some substreams, by their names, and
        ends with ``"*"`` for all others; see `BySubstream`.
    substream : str, Column, or list of them, optional
        The columns that identify a substream. By default these are Kafka's topic and partition;
        every other source is one substream.
    substream_idle_timeout : str or timedelta, optional
        Positive. Without rows for this processing time, a substream is idle: until its next row it
        does not delay the watermark. By default a substream is never idle.
    expected : int or list of str, optional
        The number of substreams or their names, at least one. Expected substreams without a row
        delay the watermark. By default a substream does not exist before its first row.
    max_substreams : int, optional
        At least one, by default 100 000. More substreams stop the query, to protect the driver.
        From 80 % of the limit on, the log, `progress` and the doctor estimate when the limit will
        be reached.
    substream_ttl : str, timedelta or "never", optional
        At least `substream_idle_timeout`, which it requires. An idle substream is purged when this
        time has passed since its last row, or up to a sixteenth later. If it has rows again, it is
        a new substream. By default 7 days with an idle timeout. By default Kafka partitions never
        expire; they are purged when they no longer exist.
    max_clock_step : str or timedelta, optional
        Positive. The largest accepted step of the machine's clock. After a larger forward step, a
        query whose policy follows the clock ends with `ClockError` before it writes anything; any
        other query logs a warning. By default the session's ``spark.eventtide.maxClockStep``, 5
        minutes unless set.
    on_restart : {"hold_until_caught_up", "resume"}, optional
        Whether a clock-driven watermark waits after a restart until the sources have no backlog. By
        default it waits, so that no row is late only because the query was down.
    name : str, optional
        A name of the input for `blame`, `progress` and `explain`, such as ``"orders"``. By default
        inputs have numbers. It may change at a restart.

    Returns
    -------
    DataFrame
        The same columns and types. A nested event-time field is added as the last column, under its
        name, because Spark supports watermarks on top-level columns only. The watermark is the
        lowest over the substreams that are not idle. All Spark operators that use a watermark use
        this watermark.

    Raises
    ------
    ArgumentTypeError, InvalidArgumentError, InvalidDurationError, UnknownColumnError
        An argument is not valid; nothing was started.
    ColumnTypeError
        The event time is not a timestamp.
    DuplicateWatermarkError
        The DataFrame has a watermark already.
    SetupError
        Eventtide is not installed in the session, or its version differs.

    Notes
    -----
    If the session has a default for an omitted argument, such as
    ``spark.eventtide.substreamIdleTimeout``, the default applies.

    A watermark W means that no more rows with a time below W are expected. It is monotonic and
    survives a restart. Null event times never stop a query: they are counted as ``badTime``.
    Nested fields (``"meta.ts"``) and metadata columns (``"_metadata..."``) are resolved by Spark.
    A window accepts a nested event time without an extra column: ``event_time("meta.ts", policy)``.

    Examples
    --------
    >>> import eventtide as et
    >>> lull = et.WatermarkPolicies.limiting_lag_and_lull(lag="5s", max_lull="30s")
    >>> events = et.with_watermark(  # doctest: +SKIP
    ...     events,
    ...     "ts",
    ...     lull.throttle_by_frame("1s"),
    ...     substream="device",
    ...     substream_idle_timeout="1m",
    ... )
    >>> events.groupBy(F.window("ts", "1 minute")).count()  # doctest: +SKIP
    """
    _check_frame(df)
    return watermark(
        event_time,
        policy,
        substream=substream,
        substream_idle_timeout=substream_idle_timeout,
        expected=expected,
        max_substreams=max_substreams,
        substream_ttl=substream_ttl,
        max_clock_step=max_clock_step,
        on_restart=on_restart,
        name=name,
    )(df)


def watermark(  # noqa: PLR0913 - as with_watermark
    event_time: str | Column,
    policy: PolicyOrRules,
    *,
    substream: Substream | None = None,
    substream_idle_timeout: Duration | None = None,
    expected: int | Iterable[str] | None = None,
    max_substreams: int | None = None,
    substream_ttl: SubstreamTtl | None = None,
    max_clock_step: Duration | None = None,
    on_restart: OnRestart | None = None,
    name: str | None = None,
) -> Callable[[DataFrame], DataFrame]:
    """Return the function that adds a watermark to a DataFrame, for ``DataFrame.transform``.

    Parameters
    ----------
    event_time, policy, substream, substream_idle_timeout, expected, max_substreams,
    substream_ttl, max_clock_step, on_restart, name
        As for `with_watermark`.

    Returns
    -------
    callable
        A function from a DataFrame to the DataFrame of `with_watermark`.

    Raises
    ------
    ArgumentTypeError, InvalidArgumentError, InvalidDurationError
        An argument is not valid. Errors about the DataFrame are raised by the returned function.

    Examples
    --------
    >>> import eventtide as et
    >>> lag = et.WatermarkPolicies.with_fixed_lag("5s")
    >>> events.transform(et.watermark("ts", lag, substream="device"))  # doctest: +SKIP
    """
    column_name("event_time", event_time, None)
    options = watermark_options(
        policy,
        substream_idle_timeout=substream_idle_timeout,
        expected=expected,
        max_substreams=max_substreams,
        substream_ttl=substream_ttl,
        max_clock_step=max_clock_step,
        on_restart=on_restart,
        name=name,
    )
    parts = substream_parts(substream)

    def add(df: DataFrame) -> DataFrame:
        _check_frame(df)
        columns = _bridge.columns(df)
        time = column_name("event_time", event_time, columns)
        check_column("event_time", time, columns)
        for part in parts:
            check_column("substream", part, columns)
        lists = {"substream": parts}
        request = Request.of("with_watermark", {"event_time": time}, options, lists)
        return _bridge.of(df).requested(df, request)

    return add


def watermark_options(  # noqa: PLR0913 - as with_watermark
    policy: PolicyOrRules,
    *,
    substream_idle_timeout: Duration | None,
    expected: int | Iterable[str] | None,
    max_substreams: int | None,
    substream_ttl: SubstreamTtl | None,
    max_clock_step: Duration | None,
    on_restart: OnRestart | None,
    name: str | None,
) -> dict[str, str]:
    """Return the checked arguments of `with_watermark` as the flat option map for the JVM."""
    policy = chosen(policy)
    return {
        **policy.to_options(),
        **_idle_option(substream_idle_timeout),
        **_expected_options(expected),
        **_most_option(max_substreams),
        **_ttl_option(substream_ttl),
        **_step_option(max_clock_step),
        **_restart_option(on_restart),
        **_name_option(name),
    }


def with_ingestion_time(
    df: DataFrame, into: str = "ingested_at", *, policy: WithIngestionTime | None = None
) -> DataFrame:
    """Add the ingestion time as a column, with a watermark for which no row is ever late.

    Parameters
    ----------
    df : DataFrame
        A streaming DataFrame without a watermark, or a batch DataFrame.
    into : str
        The name of the new column.
    policy : WithIngestionTime, optional
        ``WatermarkPolicies.with_ingestion_time()``, optionally with decorators that throttle it.
        By default without decorators.

    Returns
    -------
    DataFrame
        The columns of `df` and, as the last column, `into`: TIMESTAMP, never null, the same for
        all rows of a batch, and monotonic, even if the clock goes back.

    Raises
    ------
    ArgumentTypeError, InvalidArgumentError
        An argument is not valid, or `df` already has a column of that name.
    DuplicateWatermarkError
        The DataFrame has a watermark already.
    SetupError
        Eventtide is not installed in the session, or its version differs.

    Notes
    -----
    The time is the time of the batch in Spark's offset log, so a batch that is replayed after a
    crash has the same time. Source: Jet, ``withIngestionTimestamps``.

    Examples
    --------
    >>> import eventtide as et
    >>> per_second = et.WatermarkPolicies.with_ingestion_time().throttle_by_frame("1s")
    >>> et.with_ingestion_time(events, policy=per_second)  # doctest: +SKIP
    """
    _check_frame(df)
    of_type("into", into, str, "a name for the new column", "into='ingested_at'")
    if policy is None:
        policy = WithIngestionTime()
    of_type("policy", policy, WithIngestionTime, *_INGESTION_POLICY)
    columns = _bridge.columns(df) or []
    if into.lower() in {column.lower() for column in columns}:
        problem, fix = "is already a column", f"into='{into}_2'"
        allowed = f"a name other than {listed(columns)}"
        raise refused("into", into, problem, allowed=allowed, fix=fix)
    request = Request.of("with_ingestion_time", {"into": into}, policy.to_options())
    return _bridge.of(df).requested(df, request)


_POLICY = (
    "a WatermarkPolicy, or a mapping from substreams to policies",
    "policy=WatermarkPolicies.with_fixed_lag('5s')",
)
_INGESTION_POLICY = (
    "the ingestion-time policy, decorated or not",
    "policy=WatermarkPolicies.with_ingestion_time().throttle_by_frame('1s')",
)


def chosen(policy: PolicyOrRules) -> WatermarkPolicy:
    """Return a policy, also for a mapping by substream; reject other values, such as a duration."""
    if isinstance(policy, WatermarkPolicy):
        return policy
    if isinstance(policy, Mapping):
        return BySubstream(policy)
    allowed, fix = _POLICY
    name = getattr(policy, "name" if isinstance(policy, type) else "__name__", "")
    if isinstance(name, str) and name in vars(WatermarkPolicies) and callable(policy):
        fix, problem = f"policy=WatermarkPolicies.{name}(...)", "is not called"
        raise refused("policy", policy, problem, allowed=allowed, fix=fix, error=ArgumentTypeError)
    if isinstance(policy, (str, timedelta)):
        with suppress(InvalidDurationError):
            micros("lag", policy)
            fix = f"policy=WatermarkPolicies.with_fixed_lag({policy!r})"
    problem = f"has type {type(policy).__name__}"
    raise refused("policy", policy, problem, allowed=allowed, fix=fix, error=ArgumentTypeError)


def _check_frame(df: object) -> None:
    of_type("df", df, DataFrame, "a Spark DataFrame", "et.with_watermark(df, 'ts', policy)")


def _name_option(name: str | None) -> dict[str, str]:
    if name is None:
        return {}
    of_type("name", name, str, "a name of the input", "name='orders'")
    return {"name": name}


def _most_option(most: int | None) -> dict[str, str]:
    return {} if most is None else {"max_substreams": count("max_substreams", most, "100_000")}


def _restart_option(mode: OnRestart | None) -> dict[str, str]:
    if mode is None:
        return {}
    return {"on_restart": choice("on_restart", mode, get_args(OnRestart))}


def _idle_option(timeout: Duration | None) -> dict[str, str]:
    if timeout is None:
        return {}
    return {"substream_idle_timeout": to_iso("substream_idle_timeout", timeout, positive=True)}


def _ttl_option(ttl: SubstreamTtl | None) -> dict[str, str]:
    if ttl is None:
        return {}
    if ttl == _NEVER:
        return {"substream_ttl": _NEVER}
    return {"substream_ttl": to_iso("substream_ttl", ttl, positive=True)}


def _step_option(step: Duration | None) -> dict[str, str]:
    if step is None:
        return {}
    return {"max_clock_step": to_iso("max_clock_step", step, positive=True)}


def _expected_options(expected: int | Iterable[str] | None) -> dict[str, str]:
    """Return the option ``expected`` for a count, or ``expected.<i>`` for names."""
    if expected is None:
        return {}
    if isinstance(expected, int):
        return {"expected": count("expected", expected)}
    allowed, fix = "a count, or a list of different names", "expected=['north', 'south']"
    if isinstance(expected, str) or not isinstance(expected, Iterable):
        problem = "is one name, not a list" if isinstance(expected, str) else "is not a list"
        raise refused(
            "expected", expected, problem, allowed=allowed, fix=fix, error=ArgumentTypeError
        )
    names = list(expected)
    for i, name in enumerate(names):
        of_type(f"expected[{i}]", name, str, allowed, fix)
    if not names or len(set(names)) < len(names):
        problem = "has a name twice" if names else "is empty"
        raise refused("expected", names, problem, allowed=allowed, fix=fix)
    return {f"expected.{i}": name for i, name in enumerate(names)}
