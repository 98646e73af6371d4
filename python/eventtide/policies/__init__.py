"""Watermark policies: immutable values that compute watermarks and can be printed and compared.

`WatermarkPolicies` holds the constructors. The classes are for ``isinstance`` and for type
annotations. A new policy is a small class in a module `_by_*.py`, one line in
`WatermarkPolicies` and one registration in the kernel.
"""

from eventtide.policies._base import WatermarkPolicy
from eventtide.policies._by_clock import (
    LimitingLagAndDelay,
    LimitingLagAndLull,
    LimitingRealTimeLag,
    LimitingTimestampAndWallClockLag,
    WithIngestionTime,
)
from eventtide.policies._by_rows import (
    MaxEventTime,
    MinEventTime,
    MinEventTimeOfAll,
    Storm,
    WatermarkFrom,
    WithFixedLag,
)
from eventtide.policies._by_substream import BySubstream, PolicyOrRules
from eventtide.policies._by_target import WithLateTarget
from eventtide.policies._combined import MaxOf, MinOf
from eventtide.policies._decorators import (
    Decorator,
    EmitEvery,
    GuardFuture,
    ThrottleByFrame,
    ThrottleByMinStep,
)
from eventtide.policies._from_jar import FromJar
from eventtide.policies._namespaces import PunctuationPolicies, WatermarkPolicies
from eventtide.policies._python import BatchTimes, PythonPolicy
from eventtide.policies._reading import from_yaml

__all__ = [
    "BatchTimes",
    "BySubstream",
    "Decorator",
    "EmitEvery",
    "FromJar",
    "GuardFuture",
    "LimitingLagAndDelay",
    "LimitingLagAndLull",
    "LimitingRealTimeLag",
    "LimitingTimestampAndWallClockLag",
    "MaxEventTime",
    "MaxOf",
    "MinEventTime",
    "MinEventTimeOfAll",
    "MinOf",
    "PolicyOrRules",
    "PunctuationPolicies",
    "PythonPolicy",
    "Storm",
    "ThrottleByFrame",
    "ThrottleByMinStep",
    "WatermarkFrom",
    "WatermarkPolicies",
    "WatermarkPolicy",
    "WithFixedLag",
    "WithIngestionTime",
    "WithLateTarget",
    "from_yaml",
]
