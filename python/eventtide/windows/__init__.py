"""Eventtide windows: the builder that `et.window` returns, from input rows to results.

The package is not named after the function, because both would be ``eventtide.window``.
"""

from eventtide._worker.late_calls import LateContext
from eventtide.windows._backfilling import backfill
from eventtide.windows._builder import WindowBuilder, window
from eventtide.windows._reading import from_yaml
from eventtide.windows._repairing import repair
from eventtide.windows._share import expected_share
from eventtide.windows._starting import start
from eventtide.windows._triggers import WindowTrigger

__all__ = [
    "LateContext",
    "WindowBuilder",
    "WindowTrigger",
    "backfill",
    "expected_share",
    "from_yaml",
    "repair",
    "start",
    "window",
]
