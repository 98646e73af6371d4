"""Storm's windowed bolt over DataFrames, with Storm's names.

The builder creates a window of `et.window`. Spark's Python workers call the function of
`StormWindow.execute`.
"""

from eventtide._worker.tuple_window import TupleWindow
from eventtide.storm._bolt import StormWindow
from eventtide.storm._extents import Count

__all__ = ["Count", "StormWindow", "TupleWindow"]
