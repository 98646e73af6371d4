"""Windows in VoltSP's words: what its page on time and watermarks shows, over a DataFrame.

The builder makes a window of `et.window` and adds nothing to it, so both do the same.
"""

from eventtide.voltsp.aggregates import AggregateDefinition
from eventtide.voltsp.choices import TimeSource, WatermarkStrategy
from eventtide.voltsp.text import from_yaml
from eventtide.voltsp.time_config import TimeConfig
from eventtide.voltsp.window import VoltSPWindow
from eventtide.voltsp.windows import Windows

__all__ = [
    "AggregateDefinition",
    "TimeConfig",
    "TimeSource",
    "VoltSPWindow",
    "WatermarkStrategy",
    "Windows",
    "from_yaml",
]
