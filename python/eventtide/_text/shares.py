"""Shares of rows: text such as ``"0.1%"``, or a number from 0 to 1."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TypeAlias

from eventtide.errors import ArgumentTypeError, refused

__all__ = ["MILLION", "Share", "millionths", "percent"]

Share: TypeAlias = str | float
"""A share of rows: ``"0.1%"`` or ``0.001``."""

MILLION = 1_000_000

_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,12})?)\s*%")
_ALLOWED = "a share from 0% to 100%, such as '0.1%' or 0.001, in steps of 0.0001%"


def millionths(name: str, value: Share) -> int:
    """Return a share in millionths, exactly.

    Parameters
    ----------
    name : str
        The name of the argument, for the error.
    value : str or float
        Text with a percent sign, or a number from 0 to 1.

    Returns
    -------
    int
        From 0 to a million.

    Raises
    ------
    InvalidArgumentError
        The value is not a share, or has a part below a millionth.

    Examples
    --------
    >>> millionths("late", "0.1%"), millionths("late", 0.01)
    (1000, 10000)
    >>> millionths("late", 5)
    Traceback (most recent call last):
    eventtide.errors.InvalidArgumentError: late=5 is above 1. Allowed: a share from 0% to 100%, ...
    """
    fix = f"{name}='0.1%'"
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        problem = f"has type {type(value).__name__}"
        raise refused(name, value, problem, allowed=_ALLOWED, fix=fix, error=ArgumentTypeError)
    share = _share(value)
    if share is None:
        problem = "cannot be read as a share"
    elif share < 0:
        problem = "is negative"
    elif share > 1:
        problem = "is above 1" if isinstance(value, (int, float)) else "is above 100%"
    elif (share * MILLION).denominator != 1:
        problem = "is finer than a millionth"
    else:
        return int(share * MILLION)
    raise refused(name, value, problem, allowed=_ALLOWED, fix=fix)


def _share(value: Share) -> Fraction | None:
    if isinstance(value, str):
        found = _PERCENT.fullmatch(value.strip())
        return Fraction(found[1]) / 100 if found else None
    if isinstance(value, int):  # may be too large for a float
        return Fraction(value)
    try:
        return Fraction(repr(float(value)))
    except ValueError:  # nan or inf
        return None


def percent(share: float) -> str:
    """Return a share as text, in steps of a millionth.

    Examples
    --------
    >>> percent(0.001), percent(0.012345), percent(0.5), percent(0)
    ('0.1%', '1.2345%', '50%', '0%')
    """
    return f"{100 * share:.4f}".rstrip("0").rstrip(".") + "%"
