"""The text of a plan, without what differs from one analysis to the next."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PLAN = re.compile(r"== Optimized Logical Plan ==\n(.*?)\n\n?==", re.DOTALL)
_EXPRESSION_ID = re.compile(r"#\d+L?")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_OBJECT = re.compile(r"@[0-9a-f]+\b")


def optimized(df: DataFrame) -> str:
    """Return the optimized plan that `explain` prints, with its ids numbered in their order."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        df.explain(extended=True)
    found = _PLAN.search(printed.getvalue())
    assert found, printed.getvalue()
    text = found[1]
    for ids in (_EXPRESSION_ID, _UUID, _OBJECT):
        known: dict[str, str] = {}
        text = ids.sub(lambda one, known=known: known.setdefault(one[0], f"#{len(known)}"), text)
    return text
