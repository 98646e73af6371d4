"""Writes docs/reference/yaml.md from the schema of YAML documents: dev/tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.pages import ROOT
from tests.settings_page import rows
from tests.yaml_schema import schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PAGE = ROOT / "docs/reference/yaml.md"
BEGIN = """\
# YAML

<!-- Written by dev/tables. -->

`et.from_yaml` reads a window from text, and `to_yaml` of a window writes it. `over` adds the rows.
The extra is `pip install 'eventtide[yaml]'`.

> [!WARNING]
> Expressions in a document are code. Spark evaluates the SQL text of aggregates and conditions,
> and SQL has functions such as `reflect`, which calls methods of Java classes. `late_to` names a
> folder that the query writes to. Never load a document from a source that you do not trust.

The YAML itself is read by a safe loader, which creates no objects. A document imports no Python
modules: functions and policies in Python cannot be written in it. A policy with `from_jar: true` is
a class in a jar of the session.

A document has the methods of the window as its keys. A method with several arguments has them below
it by their names. Aggregates are SQL text:

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

`results` is then `window.over(events).results`. A policy alone is read by `et.policies.from_yaml`
and written by its `to_yaml`. `et.voltsp.from_yaml` reads a window in the words of VoltSP; see
[VoltSP](voltsp.md). Columns that are expressions cannot be written. An error names the line:

```python
>>> et.from_yaml("tumbling: 10 sek")
Traceback (most recent call last):
eventtide.errors.InvalidDurationError: line 1, tumbling: '10 sek' has the unknown unit 'sek'...
```

Editors check a document while you write it, by the JSON schema that the package has as
`eventtide/_yaml/schema.json`. The tables below are its content.

## Keys

A key with arguments below it, such as `.every`, takes them as a mapping. The argument that is
required alone may also be the value of the key itself.
"""
POLICIES = """
## Policies

A policy is a mapping with a `name` and the parameters of that policy. All but a policy in a jar may
have `decorators`, a list. A parameter in brackets has a default. [Watermark policies](policies.md)
explains each.
"""
DECORATORS = """
## Decorators
"""


KINDS = {
    "duration": "a duration",
    "duration of 1 ms or more, or a column": "a duration",
    "instant": "a time of ISO 8601",
    "positive duration, or never": "a duration, or `never`",
    "size": "a duration, or calendar text",
}
LENGTHS = {
    row["doc"]: KINDS[row["type"]]
    for row in rows()
    if row["type"] in KINDS and row.get("kinds") != ["storm"]
}


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), "utf-8")


def page() -> str:
    """Return the page."""
    whole = schema()
    of = whole["$defs"]
    lines = [BEGIN, *keys(whole["properties"])]
    lines += [POLICIES, *rules(of["policy"]), DECORATORS, *rules(of["decorator"])]
    return "\n".join(lines) + "\n"


def keys(properties: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the table of keys, each with its arguments below it."""
    yield "| key | value | |\n|---|---|---|"
    for name, of in properties.items():
        forms = of.get("anyOf", [of])
        below = [form for form in forms if is_names(form)]
        plain = [form for form in forms if not is_names(form)]
        if plain:
            about = next((form["description"] for form in plain if "description" in form), "")
            whole = {"anyOf": plain} if len(plain) > 1 else plain[0]
            yield row(name, text_of(whole), of.get("description", about))
        else:
            yield row(name, "a mapping", of.get("description", ""))
        for form in below:
            for argument, value in form["properties"].items():
                yield row(f".{argument}", text_of(value), value.get("description", ""))


def is_names(form: dict[str, Any]) -> bool:
    """Whether a value is a mapping of arguments by their names."""
    return "properties" in form and form.get("additionalProperties") is False


def row(name: str, value: str, about: str) -> str:
    """Return a line of a table."""
    return f"| `{name}` | {value} | {about} |"


def rules(of: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the table of policies or decorators."""
    yield "| name | parameters |\n|---|---|"
    for form in of["anyOf"]:
        parameters = form["properties"]
        name = parameters.get("name", {}).get("const", "NAME")
        needed = form["required"]
        shown = (
            f"`{key}`: {text_of(value)}" if key in needed else f"[`{key}`: {text_of(value)}]"
            for key, value in parameters.items()
            if key not in {"name", "decorators"}
        )
        yield f"| `{name}` | {', '.join(shown)} |"


def text_of(value: dict[str, Any]) -> str:
    """Return words for what a schema allows."""
    for key, words in WORDS.items():
        if key in value:
            return words(value)
    kind = {
        "string": "text",
        "integer": "a whole number",
        "number": "a number",
        "boolean": "`true` or `false`",
    }
    return LENGTHS.get(value.get("description", ""), kind[value["type"]])


def either(value: dict[str, Any]) -> str:
    """Return words for alternatives; the last one is often a list of the others."""
    *others, last = value["anyOf"]
    words = " or ".join(map(text_of, others))
    if last.get("type") == "array" and text_of(last["items"]) == words:
        return f"{words}, or a list"
    return f"{words} or {text_of(last)}"


WORDS: dict[str, Callable[[dict[str, Any]], str]] = {
    "$ref": lambda value: f"a {value['$ref'].rpartition('/')[2]}",
    "const": lambda value: f"`{value['const']}`".lower(),
    "enum": lambda value: ", ".join(f"`{one}`" for one in value["enum"]),
    "anyOf": either,
    "items": lambda value: f"a list, each {text_of(value['items'])}",
    "properties": lambda value: ", ".join(f"`{{{name}: ...}}`" for name in value["properties"]),
    "additionalProperties": lambda value: f"names, each {text_of(value['additionalProperties'])}",
}


if __name__ == "__main__":
    main()
