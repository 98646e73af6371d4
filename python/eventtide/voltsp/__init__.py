"""Windows in VoltSP's words: what its page on time and watermarks shows, over a DataFrame.

The builder makes a window of `et.window` and adds nothing to it, so both do the same.
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
