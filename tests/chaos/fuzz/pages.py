"""Parts of documents in YAML that are valid, and pieces of text to put into them."""

from __future__ import annotations

from typing import Any

from tests.chaos.fuzz.values import PATHS

AGGREGATES = {"builder": [{"type": "count"}, {"type": "sum", "column": "v", "as": "total"}]}
VOLTSP: list[dict[str, Any]] = [
    {
        "version": 1,
        "name": "hourly",
        "emitter": {
            "sliding-time-window": {
                "windowSpan": "1m",
                "slideBy": "10s",
                "keyExtractor": ["device", "upper(kind)"],
                "timeConfig": {
                    "eventTimeExtractor": "ts",
                    "watermarkStrategy": "MAX_EVENT_TIME",
                    "delayWindowClose": "5s",
                    "idleTimeout": "5m",
                    "idleTimeoutClock": "EVENT_TIME",
                    "scope": ["device"],
                    "lateRule": "behind_watermark",
                    "heartbeat": "2s",
                    "keyTtl": "2h",
                },
                "aggregateDefinition": AGGREGATES,
                "triggers": [{"trigger": "atWindowEnd"}, {"trigger": {"every": "10s"}}],
                "late": "log",
                "lateTo": PATHS[0],
            }
        },
    },
    {
        "session-window": {
            "timeConfig": {"eventTimeExtractor": "ts", "idleTimeout": "5m", "scope": "global"},
            "aggregateDefinition": AGGREGATES,
            "maximumDuration": "1h",
            "touching": "merge",
        }
    },
    {"sliding-count-window": {"windowSpan": 9, "slideBy": 3, "aggregateDefinition": AGGREGATES}},
]
AGG = {"agg": {"n": "count(*)", "most": "max(v) FILTER (WHERE v > 0)"}, "late_to": PATHS[0]}
EVENT_TIME = {
    "column": "ts",
    "policy": {
        "name": "max_of",
        "of": [
            {"name": "with_fixed_lag", "lag": "5s"},
            {"name": "by_substream", "rules": {"a*": {"name": "storm", "lag": "5s"}}},
        ],
        "decorators": [{"name": "throttle_by_frame", "size": "10s"}],
    },
    "substream": "device",
    "expected": ["north", "south"],
}
PIECES = (
    *"""\
&a
*a
<<: *a
{
}
[
]
!!int ''
!!float ''
!!bool x
!!timestamp x
!!binary é
!!null x
!!set x
!!omap x
!!pairs x
!!map x
!!seq x
!!str
!!python/object:os.system x
!x
"\\x
"\\ud800"
1:99:99
0b_
0x_
0o8
.inf
-.nan
2024-13-01
0001-01-01 00:00:00+23:59
0001-01-01 00:00:00+99:99
#
'
.yaml""".splitlines(),
    *("- ", "? ", ": ", "|\n", ">-\n", "---\n", "...\n", "%YAML 9.9\n", "%TAG ! x:\n"),
    *("\t", "\0", "\x07", "\ufeff", "\r", "1" * 5000, "[" * 3000, "{a: " * 3000, "- " * 3000),
    *("\0.yaml", "a/" * 3000 + ".yaml", f"{PATHS[1]}.yml"),
    "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
)
