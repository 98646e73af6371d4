"""Twenty typical mistakes of PySpark's users, and marks for what they are told.

A message gets a mark for each of: what is wrong, the value, what is allowed, what to try. A name
that does not exist has no value, and what is allowed is what it should be.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.errors import refused

from tests.unit.fakes import FakeFrame, column

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS: Any = FakeFrame("ts", "device", "site", "amount")
LAG = WatermarkPolicies.with_fixed_lag("5s")
COUNTS: Any = et.window(ROWS).event_time("ts", LAG).tumbling("1m").agg(column("count(1)"))
ANY: Any = et  # what a type checker would find is not the question here

# The mistake, and what has to be in the advice.
MISTAKES: list[tuple[str, Callable[[], object], str]] = [
    ("lag=10", lambda: ANY.WatermarkPolicies.with_fixed_lag(10), "lag='10s'"),
    ("lag='10 sek'", lambda: WatermarkPolicies.with_fixed_lag("10 sek"), "10 sec"),
    ("lag='1 month'", lambda: WatermarkPolicies.with_fixed_lag("1 month"), "30d"),
    ("a column misspelt", lambda: et.with_watermark(ROWS, "tss", LAG), "event_time='ts'"),
    (
        "withWatermark's delay as the policy",
        lambda: ANY.with_watermark(ROWS, "ts", "10 seconds"),
        "with_fixed_lag('10 seconds')",
    ),
    (
        "a policy that is not called",
        lambda: ANY.with_watermark(ROWS, "ts", WatermarkPolicies.with_fixed_lag),
        "with_fixed_lag(",
    ),
    ("aggregates as PySpark's dict", lambda: COUNTS.agg({"amount": "max"}), "F.max('amount')"),
    ("an aggregate by its name", lambda: COUNTS.agg("count"), "F.count('*')"),
    ("no kind of window", lambda: et.window(ROWS).agg(column("n")).results, ".tumbling('1m')"),
    ("no aggregate", lambda: et.window(ROWS).tumbling("1m").results, ".agg(F.count('*')"),
    ("a second kind", lambda: COUNTS.sliding("2m", "1m"), "remove .tumbling('1m')"),
    ("watermark_scope('keys')", lambda: COUNTS.watermark_scope("keys"), "'key'"),
    ("a slide that does not fit", lambda: et.window(ROWS).sliding("1m", "7s"), "every='6s'"),
    ("a window as a DataFrame", lambda: COUNTS.writeStream, ".results.writeStream"),
    ("PySpark's groupBy", lambda: COUNTS.groupBy("device"), ".key_by"),
    ("a policy's name of elsewhere", lambda: ANY.WatermarkPolicies.fixed_lag("5s"), "with_fixed"),
    ("VoltSP's name of elsewhere", lambda: ANY.voltsp.Windows.tumbling, "tumbling_time_window"),
    ("a class in its module", lambda: ANY.StormWindow, "eventtide.storm.StormWindow"),
    ("a length without a unit", lambda: ANY.storm.StormWindow().with_window(20, 5), "Count(20)"),
    ("triggers twice", lambda: COUNTS.emit("every"), "every('10s')"),
]


def told(mistake: Callable[[], object]) -> Exception:
    """Return the error of a mistake."""
    with pytest.raises((et.EventtideError, AttributeError)) as caught:
        mistake()
    return caught.value


def marks(error: Exception, advice: str) -> int:
    """Return 0 to 4, for what a reader of the text is told."""
    said, _, tried = str(error).partition("Try: ")
    said, _, allowed = said.partition("Allowed: ")
    written = getattr(error, "value", None) or getattr(error, "name", None)
    told = (
        re.search(r" (is|has|needs|cannot)\b", said),
        written is not None and repr(written)[:20] in said,
        allowed or (isinstance(error, AttributeError) and tried),
        advice in tried,
    )
    return sum(map(bool, told))


@pytest.mark.parametrize(("_", "mistake", "advice"), MISTAKES, ids=[one[0] for one in MISTAKES])
def test_a_typical_mistake_is_answered(_: str, mistake: Callable[[], object], advice: str) -> None:
    """With the line to write in its place."""
    error = told(mistake)
    assert advice in str(error).partition("Try: ")[2]
    assert marks(error, advice) >= 3


@pytest.mark.parametrize(
    ("error", "mark"),
    [
        (KeyError("lag"), 0),
        (TypeError("int has no unit"), 1),
        (AttributeError("a window has no 'groupBy'", name="groupBy"), 2),
        (AttributeError("a window has no 'groupBy'. Try: .agg", name="groupBy"), 3),
        (AttributeError("a window has no 'groupBy'. Try: .key_by", name="groupBy"), 4),
        (refused("agg", None, "is missing", allowed="aggregates", fix=".key_by"), 3),
        (refused("lag", 5, "is a number", allowed="text", fix="another"), 3),
    ],
)
def test_a_poor_message_gets_poor_marks(error: Exception, mark: int) -> None:
    """What a bare Python error gets, and what is missing in a better one."""
    assert marks(error, "key_by") == mark


def test_twenty_mistakes_get_good_marks() -> None:
    """On average at least 3.5 of 4."""
    assert len(MISTAKES) == 20
    given = [marks(told(mistake), advice) for _, mistake, advice in MISTAKES]
    assert sum(given) / len(given) >= 3.5
