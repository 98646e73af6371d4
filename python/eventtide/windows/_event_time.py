"""The event time of a window and, if the window defines one, its watermark."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING

from eventtide._text.columns import substream_parts
from eventtide._watermark import watermark_options
from eventtide.errors import refused

if TYPE_CHECKING:
    from pyspark.sql import Column

    from eventtide._text.columns import Substream
    from eventtide._text.durations import Duration
    from eventtide._watermark import OnRestart, SubstreamTtl
    from eventtide.policies import PolicyOrRules

__all__ = ["PROCESSING_TIME", "EventTime"]

PROCESSING_TIME = "_processing_time"
"""The column that is added for windows by processing time."""


@dataclass(frozen=True, eq=False, repr=False)
class EventTime:
    """The arguments of `WindowBuilder.event_time`, as the user wrote them.

    Raises
    ------
    InvalidArgumentError
        An argument is invalid, or requires a policy and there is no policy.
    """

    column: str
    policy: PolicyOrRules | None = None
    substream: Substream | None = None
    substream_idle_timeout: Duration | None = None
    expected: int | Iterable[str] | None = None
    max_substreams: int | None = None
    substream_ttl: SubstreamTtl | None = None
    max_clock_step: Duration | None = None
    on_restart: OnRestart | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        """Check the arguments early, so that the traceback shows the line of the caller."""
        if isinstance(self.expected, Iterable) and not isinstance(
            self.expected, (str, list, tuple)
        ):
            object.__setattr__(self, "expected", list(self.expected))  # read more than once
        _, *options = self.written()
        if self.watermark is None and options:
            name, value = options[0]
            problem, allowed = "belongs to a policy, and there is none", f"{name} with a policy"
            fix = "policy=WatermarkPolicies.with_fixed_lag('5s')"
            raise refused(name, value, problem, allowed=allowed, fix=fix)
        _ = self.parts

    @cached_property
    def watermark(self) -> dict[str, str] | None:
        """The watermark options for the JVM. None if there is no policy."""
        if self.policy is None:
            return None
        return watermark_options(
            self.policy,
            substream_idle_timeout=self.substream_idle_timeout,
            expected=self.expected,
            max_substreams=self.max_substreams,
            substream_ttl=self.substream_ttl,
            max_clock_step=self.max_clock_step,
            on_restart=self.on_restart,
            name=self.name,
        )

    @cached_property
    def parts(self) -> list[str | Column]:
        """The columns that identify a substream."""
        return substream_parts(self.substream)

    def __repr__(self) -> str:
        """Return the method call with these arguments."""
        (_, column), *others = self.written()
        arguments = [repr(column), *(f"{name}={value!r}" for name, value in others)]
        return f"event_time({', '.join(arguments)})"

    def written(self) -> list[tuple[str, object]]:
        """Return the arguments that differ from their defaults."""
        values = [(field, getattr(self, field.name)) for field in fields(self)]
        # By type first, because comparing a Column returns another Column.
        return [
            (field.name, value)
            for field, value in values
            if type(value) is not type(field.default) or value != field.default
        ]
