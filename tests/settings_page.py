"""Writes docs/reference/settings.md anew from the table of settings: dev/tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = ROOT / "docs/reference/settings.md"
TABLE = ROOT / "jvm/spark/src/main/resources/io/eventtide/spark/settings.json"
BEGIN = """\
# Settings

<!-- Written by dev/tables. -->

The settings of watermarks and windows, in Python, in YAML and as defaults of a session. The
docstrings have more: `help(et.with_watermark)`, `help(et.WindowBuilder.late_rule)`.

## Defaults of a session

A setting with a key in the last column can have a default in the session. The default applies to
windows that have the setting and do not set it. Durations are in Spark's format (`90s`, `5m`, `1d`)
or ISO 8601 (`PT90S`). An invalid value, or an unknown key, is an error when a query is built.

```
spark.eventtide.lateRetention 90d
spark.eventtide.substreamIdleTimeout 5m
```

A default is read when the window or the watermark is built. A restarted query uses the defaults of
its new session. If state depends on a changed default, such as `delay`, the checkpoint is refused,
as for a changed query. `explain()` shows a window with the defaults of its session.

## YAML

[YAML](yaml.md) has the keys of a document.
"""
GROUPS = {
    "watermark": (
        "Watermarks",
        """\
The arguments of `et.with_watermark`, `et.watermark` and `event_time`. [Policies](policies.md) has
the parameters of policies.""",
    ),
    "window": (
        "Windows",
        """\
The methods of `et.window` and their arguments. [Storm](storm.md) has those of Storm's windows.""",
    ),
    "session": ("Queries", "Settings of a session for its running queries."),
    "server": ("Servers", "Settings of a Spark Connect server, from its start."),
}


def rows() -> list[dict[str, Any]]:
    """Return the rows of the table."""
    return json.loads(TABLE.read_text("utf-8"))  # type: ignore[no-any-return] # of objects


def session_key(option: str) -> str:
    """Return the key of the session's default of an option."""
    first, *others = option.split("_")
    return "spark.eventtide." + first + "".join(map(str.capitalize, others))


def page() -> str:
    """Return the page."""
    parts = [BEGIN]
    for of, (title, about) in GROUPS.items():
        parts.append(f"## {title}\n\n{about}\n")
        parts.append("\n".join(table(of)) + "\n")
    return "\n".join(parts)


def table(of: str) -> Iterator[str]:
    """Yield the lines of the table of a group."""
    if of in {"session", "server"}:
        yield "| key | value | default | |\n|---|---|---|---|"
    else:
        yield "| setting | value | default | | in the session |\n|---|---|---|---|---|"
    for row in rows():
        if row["of"] != of or row.get("kinds") == ["storm"]:
            continue
        value, default = value_of(row), row["default"] or ""
        if of in {"session", "server"}:
            yield f"| `{session_key(row['option'])}` | {value} | {default} | {row['doc']} |"
        else:
            key = f"`{session_key(row['option'])}`" if row.get("session") else ""
            yield f"| {name_of(row)} | {value} | {default} | {row['doc']} | {key} |"


def name_of(row: dict[str, Any]) -> str:
    """Return how a setting is written: an argument, or a method with its argument."""
    if row["of"] == "watermark":
        return f"`{row['python'][0].partition('.')[2]}`"
    calls = []
    for name in dict.fromkeys(row["python"]):
        method, _, argument = name.partition(".")
        calls.append(f"`{method}({argument})`")
    return ", ".join(calls)


def value_of(row: dict[str, Any]) -> str:
    """Return the type of a setting and its limits."""
    if "choices" in row:
        words = ", ".join(f"`{choice}`" for choice in row["choices"])
        return words + (" or columns" if "columns" in row["type"] else "")
    least = row.get("least")
    if isinstance(least, int):
        return f"{row['type']}, {least} or more"
    return str(row["type"]) + LIMITS.get(least, "")


LIMITS = {
    None: "",
    "PT0.000001S": " above zero",
    "PT0.001S": ", 1 ms or more",
    "PT0.1S": ", 100 ms or more",
    "PT0S": ", zero or more",
}

if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
