"""Writes docs/reference/cli.md from the commands: dev/tables."""

from __future__ import annotations

import inspect
import textwrap
from typing import TYPE_CHECKING, NamedTuple, get_args, get_type_hints

from eventtide.cli._commands import app
from typer.models import ArgumentInfo

from tests.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from typer.models import CommandInfo, OptionInfo

PAGE = ROOT / "docs/reference/cli.md"
BEGIN = """\
# Command line

<!-- Written by dev/tables. -->

`pip install 'eventtide[cli]'` adds the command `eventtide`, also as `python -m eventtide.cli`. It
looks after the checkpoints of queries, and starts a Spark session in its own process. [The
doctor](../how-to/operate.md#the-doctor) explains when to use each command.

| exit code | meaning |
|---|---|
| 0 | the command has done its work |
| 1 | the checkpoint cannot be read, or the plan does not fit |
| 2 | an option is wrong, a plan cannot be loaded, or a package is missing |

`--plan module:name` imports the module, which runs its code.
"""


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), "utf-8")


def page() -> str:
    """Return the page."""
    return "\n".join([BEGIN, *general(), *map(section, app.registered_commands)])


def general() -> Iterator[str]:
    """Yield the options of `eventtide` itself, if it has any."""
    registered = app.registered_callback
    callback = registered.callback if registered else None
    if callback is not None:
        yield "\n".join(["## Options", "", *table(callback), ""])


def section(command: CommandInfo) -> str:
    """Return the section of a command."""
    function = command.callback
    assert function is not None
    name = command.name or function.__name__
    usage = " ".join(["eventtide", name, *(usage_of(one) for one in parameters(function))])
    text = inspect.getdoc(function) or ""
    return "\n".join([f"## {name}", "", *fenced(usage), "", text, "", *table(function), ""])


def fenced(usage: str) -> Iterator[str]:
    """Yield the lines of a call as code, folded."""
    lines = textwrap.wrap(usage, 90, break_on_hyphens=False, break_long_words=False)
    for i, line in enumerate(lines):
        yield "    " + "  " * bool(i) + line + " \\" * (i + 1 < len(lines))


class Parameter(NamedTuple):
    """An argument or an option, as the page shows it."""

    names: list[str]
    value: str
    help: str
    required: bool
    several: bool


def parameters(function: Callable[..., object]) -> Iterator[Parameter]:
    """Yield the arguments and options of a command."""
    hints = get_type_hints(function, include_extras=True)
    for name, one in inspect.signature(function).parameters.items():
        kind, info = get_args(hints[name])[:2]
        if isinstance(info, ArgumentInfo):
            yield Parameter([name.upper()], "", str(info.help), True, False)  # noqa: FBT003
            continue
        several = "list" in str(kind)
        value = "" if kind is bool else " N" if kind is int else " TEXT"
        names = [*declared(info)] or [f"--{name.replace('_', '-')}"]
        required = one.default is inspect.Parameter.empty
        yield Parameter(names, value, str(info.help), required, several)


def declared(info: OptionInfo) -> Iterator[str]:
    """Yield the names that an option is given. Typer takes the first one for a default."""
    if isinstance(info.default, str) and info.default.startswith("-"):
        yield info.default
    yield from info.param_decls or ()


def usage_of(one: Parameter) -> str:
    """Return how a parameter is written in a call, in brackets where it may be left out."""
    text = one.names[0] + one.value
    return text if one.required else f"[{text}]" + "..." * one.several


def table(function: Callable[..., object]) -> Iterator[str]:
    """Yield the lines of the table of a command's parameters."""
    yield "| | |\n|---|---|"
    for one in parameters(function):
        names = ", ".join(f"`{name}{one.value}`" for name in one.names)
        more = " May be given several times." if one.several else ""
        yield f"| {names} | {one.help}{more} |"


if __name__ == "__main__":
    main()
