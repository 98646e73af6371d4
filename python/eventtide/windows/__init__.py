"""Windows of eventtide's own: what `et.window` describes, from the rows to the results.

The package is not named after the function, since both would be ``eventtide.window``.
"""

from eventtide.windows.builder import WindowBuilder, window
from eventtide.windows.handlers import LateContext
from eventtide.windows.repairing import repair
from eventtide.windows.starting import start
from eventtide.windows.triggers import WindowTrigger

__all__ = ["LateContext", "WindowBuilder", "WindowTrigger", "repair", "start", "window"]
