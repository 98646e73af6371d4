"""The difference of two lists of rows, as text."""

from __future__ import annotations

from collections import Counter
from typing import Any


def difference(expected: list[dict[str, Any]], got: list[dict[str, Any]]) -> list[str]:
    """Return a line for each missing row and for each unexpected row.

    The order of rows is ignored; the number of equal rows is compared.

    Examples
    --------
    >>> difference([{"n": 1}, {"n": 2}], [{"n": 2}, {"n": 2}])
    ['missing:    n=1', 'unexpected: n=2']
    """
    wanted, found = _counted(expected), _counted(got)
    missing = [f"missing:    {row}" for row in (wanted - found).elements()]
    unexpected = [f"unexpected: {row}" for row in (found - wanted).elements()]
    return missing + unexpected


def _counted(rows: list[dict[str, Any]]) -> Counter[str]:
    return Counter(sorted(_line(row) for row in rows))


def _line(row: dict[str, Any]) -> str:
    return ", ".join(f"{name}={_value(value)}" for name, value in row.items())


def _value(value: Any) -> str:  # noqa: ANN401 - any value a row can hold
    if isinstance(value, dict):
        return f"({_line(value)})"
    return repr(value) if not isinstance(value, str) else value
