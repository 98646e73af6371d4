"""Windows in Storm's words: what a windowed bolt does, over DataFrames.

The builder makes a window of `et.window`; the function of `StormWindow.execute` is run by Spark's
own Python workers.
"""

from eventtide.storm.bolt import StormWindow
from eventtide.storm.extents import Count
from eventtide.storm.tuple_window import TupleWindow

__all__ = ["Count", "StormWindow", "TupleWindow"]
