"""Every kind of window with each pair of settings: accepted and refused alike in each language."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies, WindowTrigger
from eventtide.errors import InvalidArgumentError

from tests.unit.fakes import column
from tests.unit.test_border import read

if TYPE_CHECKING:
    from tests.unit.fakes import FakeFrame

PAIRS = read("window_pairs.json")
CLOCK = "processing_time()"


def is_refused(frame: FakeFrame, kind: str, *settings: str) -> bool:
    """Return whether a window with these settings is refused."""
    time = "" if CLOCK in settings else ".event_time('ts', policy)"
    written = f"et.window(frame){time}.key_by('device').{'.'.join((kind, *settings))}"
    policy = WatermarkPolicies.with_fixed_lag("5s")
    names: dict[str, Any] = {
        "et": et,
        "frame": frame,
        "policy": policy,
        "every": WindowTrigger.every,
    }
    window = eval(written, names).agg(column("count(1)"))  # noqa: S307
    try:
        _ = window.results
    except InvalidArgumentError:
        return True
    return False


def verdicts(frame: FakeFrame, kind: str) -> dict[str, list[Any]]:
    """Return the settings that are refused alone, and the pairs whose verdict does not follow."""
    alone = [one for one in PAIRS["settings"] if is_refused(frame, kind, one)]
    pairs = [
        pair for pair in combinations(PAIRS["settings"], 2) if len(set(map(method, pair))) == 2
    ]
    refused = [pair for pair in pairs if is_refused(frame, kind, *pair)]
    expected = [pair for pair in pairs if set(pair) & set(alone)]
    return {
        "alone": alone,
        "together": [list(pair) for pair in refused if pair not in expected],
        "allowed": [list(pair) for pair in expected if pair not in refused],
    }


def method(setting: str) -> str:
    """Return the method of a setting; a second call replaces the first."""
    return setting.partition("(")[0]


@pytest.mark.parametrize("kind", PAIRS["kinds"])
@pytest.mark.usefixtures("columns", "door")
def test_pairs_of_settings_are_refused_as_the_border_says(frame: FakeFrame, kind: str) -> None:
    """The JVM gives the same verdicts, for the options and for the arguments of SQL."""
    assert verdicts(frame, kind) == PAIRS["verdicts"][kind]
