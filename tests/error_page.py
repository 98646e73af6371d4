"""Writes docs/reference/errors.md from the error classes and the catalogue: dev/tables."""

from __future__ import annotations

import json
import re
import textwrap
from typing import TYPE_CHECKING

from eventtide.errors import BY_NAME

from tests.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from eventtide import EventtideError

PAGE = ROOT / "docs/reference/errors.md"
CATALOGUE = ROOT / "jvm/spark/src/main/resources/io/eventtide/spark/errors.json"
BEGIN = """\
# Errors

<!-- Written by dev/tables. -->

Every error of Eventtide is an `EventtideError`. Its message says what is wrong, with the value,
what is allowed and what to try:

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

A query runs in a thread of its own, so Spark reports its errors as a `StreamingQueryException`. A
query that `et.start` has started, and a block of `et.named_errors`, raise the classes below.

## Classes

They are in `eventtide.errors`. Each is also the builtin class that fits.
"""
CONDITIONS = """
## Conditions

The errors of the JVM, in alphabetical order. A word in angle brackets stands for a value.
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
        condition = f"`{error.condition}`" if error.condition else ""
        about = str(error.__doc__).partition("\n")[0].replace("``", "`")
        yield f"| `{name}` | {parents(error)} | {condition} | {about} |"


def parents(error: type[EventtideError]) -> str:
    """Return the names of the classes above an error."""
    return ", ".join(f"`{parent.__name__}`" for parent in error.__bases__)


def conditions(catalogue: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yield a section for each condition."""
    for name, error in catalogue.items():
        yield f"### {name}\n"
        yield wrapped(f"`{error['python']}`: {error['problem']}")
        yield wrapped(f"**What to do:** {error['fix']}")


def wrapped(text: str) -> str:
    """Return a paragraph, in which names of parameters are text and not HTML."""
    return textwrap.fill(re.sub(r"<(?=\w)", r"\<", text), 100, break_on_hyphens=False) + "\n"


if __name__ == "__main__":
    main()
