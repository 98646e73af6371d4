"""The boundary rules of windows, and the profiles, which are named sets of rules."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "LATE_ACTIONS",
    "LATE_RULES",
    "PROFILES",
    "SESSION_LATE_RULES",
    "SESSION_PROFILES",
    "Boundaries",
    "LateAction",
    "LateRule",
    "Profile",
]

Profile: TypeAlias = Literal["eventtide", "jet", "storm", "voltsp", "spark", "flink"]
"""The system whose boundary rules a window follows."""

LateRule: TypeAlias = Literal["behind_watermark", "frame_closed", "window_closed"]
"""The rule by which a row is late."""

LateAction: TypeAlias = Literal["log", "count", "fail"]
"""The action for a late row."""

LATE_RULES: Mapping[str, str] = MappingProxyType(
    {
        "behind_watermark": "its time is below the watermark",
        "frame_closed": "its frame is closed",
        "window_closed": "all of its windows are closed",
    }
)
SESSION_LATE_RULES: Mapping[str, str] = MappingProxyType(
    {
        "behind_watermark": LATE_RULES["behind_watermark"],
        "frame_closed": "the session that it would form alone is closed",
        "window_closed": "its session is closed",
    }
)
LATE_ACTIONS: Mapping[LateAction, str] = MappingProxyType(
    {
        "log": "are counted and kept in the late log",
        "count": "are counted",
        "fail": "stop the query",
    }
)


@dataclass(frozen=True)
class Boundaries:
    """The rules of one profile, as text for `explain`; `late` may be a `LateRule`."""

    bounds: str
    closes: str
    late: str


_FROM_START = "start <= time < end"

PROFILES: Mapping[Profile, Boundaries] = MappingProxyType(
    {
        "eventtide": Boundaries(_FROM_START, "watermark >= end", "window_closed"),
        "jet": Boundaries(_FROM_START, "watermark >= end", "frame_closed"),
        "storm": Boundaries("start < time <= end", "watermark > end", "behind_watermark"),
        "voltsp": Boundaries(_FROM_START, "watermark >= end", "window_closed"),
        "spark": Boundaries(
            _FROM_START, "watermark >= end", "all of its windows were closed by the batch before"
        ),
        "flink": Boundaries(
            _FROM_START, "watermark >= end (Flink's own is 1 ms less)", "window_closed"
        ),
    }
)
"""The rules of each profile. A rule that is set by its own method takes precedence."""

SESSION_PROFILES: Mapping[Profile, Boundaries] = MappingProxyType(
    {
        **PROFILES,
        "jet": Boundaries(_FROM_START, "watermark > end", "behind_watermark"),
        "spark": Boundaries(_FROM_START, "watermark >= end", "frame_closed"),
        "storm": PROFILES["eventtide"],
    }
)
"""The rules of each profile for sessions."""
