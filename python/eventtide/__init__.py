"""Event-time watermark policies for Apache Spark.

    import eventtide as et
    from eventtide import WatermarkPolicies

    spark = et.configure(SparkSession.builder).getOrCreate()
    events = et.with_watermark(events, "ts", WatermarkPolicies.with_fixed_lag("5s"))

Stock Spark has one rule for its watermark: the largest event time anywhere minus one fixed delay.
Here a policy computes it, one instance for each substream, and everything else stays Spark's own.
"""

from eventtide._jvm import named_errors
from eventtide._session import configure, jar_path
from eventtide._text.durations import Duration
from eventtide._version import SUPPORTED_SPARK, __version__
from eventtide._watermark import with_ingestion_time, with_watermark
from eventtide.errors import (
    ArgumentTypeError,
    CheckpointError,
    ClockError,
    ColumnTypeError,
    DuplicateWatermarkError,
    EventtideError,
    InvalidArgumentError,
    InvalidDurationError,
    LateHandlerError,
    RefusedDataError,
    SetupError,
    UnknownColumnError,
    UnsupportedPlanError,
    UnsupportedSparkError,
)
from eventtide.observe._blame import blame
from eventtide.observe._checkpoint import (
    CheckpointReport,
    LateKept,
    LateReader,
    WindowReport,
    read_checkpoint,
)
from eventtide.observe._explain import explain
from eventtide.observe._late import read_late
from eventtide.observe._late_files import (
    LateCompaction,
    clean_late,
    compact_late,
    forget_late_reader,
)
from eventtide.observe._progress import (
    InputWatermark,
    QueryWatermark,
    SubstreamProgress,
    progress,
)
from eventtide.observe._state import read_state
from eventtide.policies import PunctuationPolicies, WatermarkPolicies, WatermarkPolicy
from eventtide.storm import Count, StormWindow, TupleWindow
from eventtide.voltsp import TimeConfig, TimeSource, WatermarkStrategy, Windows, from_yaml
from eventtide.windows import LateContext, WindowBuilder, WindowTrigger, repair, start, window

__all__ = [
    "SUPPORTED_SPARK",
    "ArgumentTypeError",
    "CheckpointError",
    "CheckpointReport",
    "ClockError",
    "ColumnTypeError",
    "Count",
    "DuplicateWatermarkError",
    "Duration",
    "EventtideError",
    "InputWatermark",
    "InvalidArgumentError",
    "InvalidDurationError",
    "LateCompaction",
    "LateContext",
    "LateHandlerError",
    "LateKept",
    "LateReader",
    "PunctuationPolicies",
    "QueryWatermark",
    "RefusedDataError",
    "SetupError",
    "StormWindow",
    "SubstreamProgress",
    "TimeConfig",
    "TimeSource",
    "TupleWindow",
    "UnknownColumnError",
    "UnsupportedPlanError",
    "UnsupportedSparkError",
    "WatermarkPolicies",
    "WatermarkPolicy",
    "WatermarkStrategy",
    "WindowBuilder",
    "WindowReport",
    "WindowTrigger",
    "Windows",
    "__version__",
    "blame",
    "clean_late",
    "compact_late",
    "configure",
    "explain",
    "forget_late_reader",
    "from_yaml",
    "jar_path",
    "named_errors",
    "progress",
    "read_checkpoint",
    "read_late",
    "read_state",
    "repair",
    "start",
    "window",
    "with_ingestion_time",
    "with_watermark",
]
