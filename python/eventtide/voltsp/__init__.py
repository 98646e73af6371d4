"""VoltSP's windows over a DataFrame, with the names of its page on time and watermarks.

The builder creates a window of `et.window` with the same behaviour.
"""

from eventtide.voltsp._aggregates import AggregateDefinition
from eventtide.voltsp._choices import TimeSource, WatermarkStrategy
from eventtide.voltsp._reading import from_yaml
from eventtide.voltsp._time_config import TimeConfig
from eventtide.voltsp._window import VoltSPWindow
from eventtide.voltsp._windows import Windows

__all__ = [
    "AggregateDefinition",
    "TimeConfig",
    "TimeSource",
    "VoltSPWindow",
    "WatermarkStrategy",
    "Windows",
    "from_yaml",
]
