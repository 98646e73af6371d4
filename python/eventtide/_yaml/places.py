"""Places in a document, and errors that name them."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from eventtide.errors import EventtideError, InvalidArgumentError, short

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["Lines", "Path", "placed", "placing", "refused_at", "shown"]

Path: TypeAlias = tuple[str | int, ...]
"""The keys and positions that lead to a value."""

Lines: TypeAlias = "Mapping[Path, int]"
"""The line of each value's key, from 1."""


@contextmanager
def placing(place: Callable[[EventtideError], EventtideError]) -> Iterator[None]:
    """Replace an error of the block by an error that names its place, unless it already does."""
    try:
        yield
    except EventtideError as error:
        if error.line is not None:
            raise
        raise place(error) from None


def placed(error: EventtideError, path: Path, lines: Lines) -> EventtideError:
    """Return an error of the same class with the place of its argument in a document.

    An argument is a key of its name below `path`. Without such a key, the place is `path`, unless
    the error is about the missing key.
    """
    below = (*path, error.argument) if error.argument else path
    missing = error.value is None and path[-1:] != below[-1:]
    where = below if below in lines or missing else path
    known = next(where[:n] for n in range(len(where), -1, -1) if where[:n] in lines)
    problem, allowed, fix = error.problem or "", error.allowed or "", _as_yaml(error.fix or "")
    if where == path and path and fix.startswith(begin := f"{error.argument}: "):
        fix = f"{path[-1]}: {fix.removeprefix(begin)}"
    line, kind = lines[known], type(error)
    return refused_at(
        line, shown(where), error.value, problem, allowed=allowed, fix=fix, error=kind
    )


def _as_yaml(fix: str) -> str:
    """Return Python calls and keyword arguments as keys with their values.

    Examples
    --------
    >>> _as_yaml(".tumbling('1m')"), _as_yaml("every='6s' or every='10s'")
    ("tumbling: '1m'", "every: '6s' or every: '10s'")
    """
    fix = re.sub(r"WatermarkPolicies\.(\w+)\('(\w+)'\)", r"{name: \1, lag: \2}", fix)
    fix = re.sub(r"WindowTrigger\.(\w+)\('(\w+)'\)", r"{\1: \2}", fix).replace("WindowTrigger.", "")
    fix = re.sub(r"^\.\w+\((\w+=.+)\)$", r"\1", fix)
    fix = re.sub(r"^\.(\w+)\((.+)\)$", r"\1: \2", fix)
    return re.sub(r"(\w+)=('[^']*'|\w+)", r"\1: \2", fix)


def refused_at(  # noqa: PLR0913 - as errors.refused
    line: int,
    key: str,
    value: object,
    problem: str,
    *,
    allowed: str,
    fix: str,
    error: type[EventtideError] = InvalidArgumentError,
    text: str | None = None,
) -> EventtideError:
    """Return the error about a place in a document, as `errors.refused`; None is not shown.

    The key is a path, as of `shown`, or empty. Its last name is the argument. `text` is the value
    as the message shows it.

    Examples
    --------
    >>> print(refused_at(2, "a.name", 7, "has type int", allowed="text", fix="quotes"))
    line 2, a.name: 7 has type int. Allowed: text. Try: quotes.
    """
    place = f"line {line}, {key}" if key else f"line {line}"
    value_text = "" if value is None else f"{short(value) if text is None else text} "
    made = error(f"{place}: {value_text}{problem}. Allowed: {allowed}. Try: {fix}.")
    made.argument = key.rpartition(".")[2].partition("[")[0] or None
    made.value, made.problem, made.allowed, made.fix = value, problem, allowed, fix
    made.line = line
    return made


def shown(path: Path) -> str:
    """Return a path as text.

    Examples
    --------
    >>> shown(("emit", "triggers", 0, "every"))
    'emit.triggers[0].every'
    """
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).removeprefix(".")
