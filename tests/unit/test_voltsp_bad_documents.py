"""What is refused of a document as a whole, and of keys that stand in the wrong place."""

from __future__ import annotations

from typing import Any

import eventtide as et
import pytest
from eventtide import EventtideError
from eventtide.errors import ArgumentTypeError, InvalidArgumentError

from tests.unit.fakes import FakeFrame

pytestmark = pytest.mark.usefixtures("columns")

FRAME = FakeFrame("ts", "device", "Amount")
T, A = ArgumentTypeError, InvalidArgumentError
COUNT = "aggregateDefinition: {builder: [{type: count}]}"
DELAYED = "eventTimeExtractor: ts, delayWindowClose: 5s"


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", A, "^text='' is empty"),
        (7, T, "^text=7 has type int"),
        ("nowhere.yaml", A, "^text='nowhere.yaml' cannot be read: .*No such file"),
        ("\0.yaml", A, r"^text='\\x00.yaml' cannot be read: embedded null"),
        ("version: 1", A, r"^line 1: has no window\. Allowed: one window, tumbling-time-window"),
        ("- a\n- b", T, "^line 1: .'a', 'b'. has type list"),
        ("a: 1\n---\nb: 2", A, "^line 2: cannot be read as YAML"),
        ("a: &x [1]\nb: *x", A, "^line 2: an alias is not followed"),
        ("a: " + "[" * 100_000, A, "^line 1: cannot be read as YAML"),
        ("a: \0", A, "^line 1: cannot be read as YAML"),
        ("session-window: 5", T, "^line 1, session-window: 5 has type int. Allowed: a mapping"),
        (
            f"session-window:\n  {COUNT}",
            A,
            "^line 1, timeConfig.idleTimeout: is missing: .*gap of a session-window",
        ),
        (
            "tumbling-count-window:\n  windowSpan: 9\n  aggregateDefinition: {builder: []}",
            A,
            "^line 3, aggregateDefinition: is missing.*one aggregate or more",
        ),
        (
            f"tumbling-count-window:\n  windowSpan: 9\n  {COUNT}\n  timeConfig: {{{DELAYED}}}",
            A,
            "^line 4, timeConfig.delayWindowClose: '5s' applies to time, and a tumbling-count",
        ),
    ],
    ids=lambda case: str(case)[:20],
)
def test_a_text_that_is_no_such_document_is_refused(
    text: Any, error: type[EventtideError], message: str
) -> None:
    """With the same three parts."""
    with pytest.raises(error, match=message) as caught:
        et.voltsp.from_yaml(text).over(FRAME)
    assert type(caught.value) is error
    assert " Allowed: " in str(caught.value)
    assert " Try: " in str(caught.value)


NESTED = """\
tumbling-time-window:
  windowSpan: 1h
  aggregateDefinition:
    builder:
    - type: count
  triggers:
  - trigger: atWindowEnd
"""


@pytest.mark.parametrize(
    ("after", "stray", "place"),
    [
        ("  windowSpan: 1h", "  emitter: x", "line 3, emitter"),
        (
            "    - type: count",
            "      builder: x",
            r"line 6, aggregateDefinition.builder\[0\].builder",
        ),
        ("  - trigger: atWindowEnd", "    triggers: x", r"line 8, triggers\[0\].triggers"),
    ],
)
def test_a_key_that_is_known_elsewhere_is_told_where_it_stands(
    after: str, stray: str, place: str
) -> None:
    """Not where it would be right."""
    with pytest.raises(et.errors.InvalidArgumentError, match=f"^{place}: "):
        et.voltsp.from_yaml(NESTED.replace(after, f"{after}\n{stray}"))


def test_a_key_of_the_time_config_is_told_where_it_belongs() -> None:
    """A level further down."""
    text = NESTED.replace("  windowSpan: 1h", "  windowSpan: 1h\n  idleTimeout: 5m")
    wanted = "^line 3, idleTimeout: is not allowed here.* Try: idleTimeout below timeConfig"
    with pytest.raises(et.errors.InvalidArgumentError, match=wanted):
        et.voltsp.from_yaml(text)
