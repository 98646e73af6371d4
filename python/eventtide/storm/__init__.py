"""Windows in Storm's words: what a windowed bolt does, over DataFrames.

The builder makes a window of `et.window`; the function of `StormWindow.execute` is run by Spark's
own Python workers.
"""

from eventtide._worker.tuple_window import TupleWindow
from eventtide.storm._bolt import StormWindow
from eventtide.storm._extents import Count

__all__ = ["Count", "StormWindow", "TupleWindow"]
