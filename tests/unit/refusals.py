"""What an error that refuses something has to say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from eventtide import EventtideError

if TYPE_CHECKING:
    from collections.abc import Callable

_SAID = re.compile(
    r"(?P<problem>.*?) Allowed: (?P<allowed>.*)\. Try: (?P<fix>.*)\.", flags=re.DOTALL
)


def assert_refused(
    call: Callable[[], object], error: type[EventtideError], problem: str, allowed: str, fix: str
) -> None:
    """Check the class, how the problem begins, and what is in what is allowed and what to try."""
    with pytest.raises(EventtideError) as raised:
        call()
    assert type(raised.value) is error
    said = _SAID.fullmatch(str(raised.value))
    assert said is not None
    assert said["problem"].startswith(problem)
    assert allowed in said["allowed"]
    assert fix in said["fix"]
    assert raised.value.allowed == said["allowed"]
    assert raised.value.fix == said["fix"]
    assert str(raised.value.problem) in said["problem"]
