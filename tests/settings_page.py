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

The keys of a document are the methods of the window. Several arguments of a method are below it, by
their names. Aggregates are SQL text. **Expressions in a document are code:** read documents only
from sources that you trust. `over` adds the rows:

```python
>>> text = '''
... event_time:
...   column: ts
...   policy:
...     name: with_fixed_lag
...     lag: 5s
...     decorators: [{name: throttle_by_frame, size: 10s}]
...   substream: device
... key_by: [site, device]
... sliding: {size: 1m, every: 10s}
... emit: [at_window_end, {every: 30s}]
... agg: {n: count(*), total: sum(amount)}
... '''
>>> window = et.from_yaml(text)
>>> window.settings.shape
sliding('1m', every='10s')
>>> et.from_yaml(window.to_yaml()).to_yaml() == window.to_yaml()
True
```

The results are `window.over(events).results`. `et.policies.from_yaml` reads a policy alone, and its
`to_yaml` writes it. `et.voltsp.from_yaml` reads a window with VoltSP's keys; see
[VoltSP](voltsp.md). All three need the extra, `pip install 'eventtide[yaml]'`. Functions, policies
in Python and columns that are expressions cannot be written. An error names the line:

```python
>>> et.from_yaml("tumbling: 10 sek")
Traceback (most recent call last):
eventtide.errors.InvalidDurationError: line 1, tumbling: '10 sek' has the unknown unit 'sek'...
```

Editors can check a document by the JSON schema in the package, `eventtide/_yaml/schema.json`.
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
    if of == "session":
        yield "| key | value | default | |\n|---|---|---|---|"
    else:
        yield "| setting | value | default | | in the session |\n|---|---|---|---|---|"
    for row in rows():
        if row["of"] != of or row.get("kinds") == ["storm"]:
            continue
        value, default = value_of(row), row["default"] or ""
        if of == "session":
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
