"""Writes docs/reference/errors.md from the error classes and the catalogue: dev/tables."""

from __future__ import annotations

import json
import re
import textwrap
from typing import TYPE_CHECKING

from eventtide.errors import BY_NAME, InvalidArgumentError, LateHandlerError

from tests.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from eventtide import EventtideError

PAGE = ROOT / "docs/reference/errors.md"
CATALOGUE = ROOT / "jvm/spark/src/main/resources/io/eventtide/spark/errors.json"
BEGIN = """\
# Errors

<!-- Written by dev/tables. -->

Every error of Eventtide is an `EventtideError`. Its message has the problem, the value, the allowed
values and the next step:

> `lag='10 sek' has the unknown unit 'sek'. Allowed: the units w, d, h, m, s, ms or us. Try:
> lag='10 sec'.`

The parts are fields of the error: `condition`, `argument`, `value`, `problem`, `allowed`, `fix`,
and `parameters` for an error of the JVM. A field is None where an error has no such part.

```python
>>> try:
...     WatermarkPolicies.with_fixed_lag("10 sek")
... except et.EventtideError as error:
...     print(error.condition, error.argument, error.fix)
INVALID_DURATION lag lag='10 sec'
```

A query runs in a separate thread, so Spark reports its errors as a `StreamingQueryException`. A
query that `et.start` has started, and a block of `et.named_errors`, raise the classes below.

## Classes

They are in `eventtide.errors`. Each also inherits from the matching built-in exception.
"""
CONDITIONS = """
## Conditions

All conditions in alphabetical order, each with the class that Python raises. A word in angle
brackets stands for a value. In a published package, a message ends with the address of its section
on this page.
"""


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), "utf-8")


def page() -> str:
    """Return the page."""
    catalogue = json.loads(CATALOGUE.read_text("utf-8"))
    return "\n".join([BEGIN, *classes(), CONDITIONS, "\n".join(conditions(catalogue))])


def classes() -> Iterator[str]:
    """Yield the lines of the table of classes."""
    yield "| class | also a | condition | |\n|---|---|---|---|"
    for name, error in BY_NAME.items():
        at = str(error.condition).lower()
        condition = f"[`{error.condition}`](#{at})" if error.condition else ""
        first = str(error.__doc__).partition("\n")[0].replace("``", "`")
        yield f"| `{name}` | {parents(error)} | {condition} | {first} |"


def parents(error: type[EventtideError]) -> str:
    """Return the names of the classes above an error."""
    return ", ".join(f"`{parent.__name__}`" for parent in error.__bases__)


def conditions(catalogue: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yield a section for each condition: those of the classes, and those of the JVM."""
    of_classes = {error.condition: error for error in BY_NAME.values() if error.condition}
    for name in sorted({*of_classes, *catalogue}):
        yield f"### {name}\n"
        if name in of_classes:
            yield wrapped(f"`{of_classes[name].__name__}`: {about(of_classes[name])}")
            in_jvm = "In the JVM: "
        else:
            in_jvm = f"`{catalogue[name]['python']}`: "
        if name in catalogue:
            yield wrapped(in_jvm + catalogue[name]["problem"])
            yield wrapped(f"**What to do:** {catalogue[name]['fix']}")
        else:
            yield wrapped(f"**What to do:** {to_do(of_classes[name])}")


def about(error: type[EventtideError]) -> str:
    """Return the docstring of a class as one paragraph of Markdown."""
    return " ".join(str(error.__doc__).split()).replace("``", "`")


def to_do(error: type[EventtideError]) -> str:
    """Return the next step for an error that only Python raises."""
    if issubclass(error, InvalidArgumentError):
        return "The message has the value, the allowed values and the next step."
    if issubclass(error, LateHandlerError):
        return "Correct the handler and restart the query, which makes the call again."
    return "The message has the next step, often as code to paste."


def wrapped(text: str) -> str:
    """Return a paragraph, in which names of parameters are text and not HTML."""
    return textwrap.fill(re.sub(r"<(?=\w)", r"\<", text), 100, break_on_hyphens=False) + "\n"


if __name__ == "__main__":
    main()
