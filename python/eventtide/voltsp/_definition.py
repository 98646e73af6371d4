"""The settings of a VoltSP window, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from eventtide.voltsp._aggregates import AggregateDefinition
from eventtide.voltsp._time_config import TimeConfig
from eventtide.windows._habits import Hinting

if TYPE_CHECKING:
    from pyspark.sql import Column

    from eventtide._text.durations import Duration
    from eventtide.voltsp._kinds import WindowKind
    from eventtide.windows._handlers import LateHandler
    from eventtide.windows._profiles import LateAction
    from eventtide.windows._sizes import Size
    from eventtide.windows._triggers import WindowTrigger
    from eventtide.windows._unframed import Touching

__all__ = ["WindowDefinition"]


@dataclass(frozen=True, eq=False, repr=False)
class WindowDefinition(Hinting):
    """The settings of a window; None if a setting is not set."""

    _results: ClassVar[str] = ".over(df).results"

    kind: WindowKind
    window_span: Size | int | None = None
    slide: Size | int | None = None
    key_extractor: tuple[str | Column, ...] = ()
    time_config: TimeConfig = field(default_factory=TimeConfig)
    aggregate_definition: AggregateDefinition = field(default_factory=AggregateDefinition)
    exception_handler: LateHandler | None = None
    maximum_duration: Duration | None = None
    touching: Touching | None = None
    late: LateAction | None = None
    late_to: str | None = None
    triggers: tuple[WindowTrigger, ...] = ()
