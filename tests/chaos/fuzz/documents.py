"""YAML: documents of windows and policies, read without Spark, and put over rows."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import eventtide as et
import yaml
from eventtide import WatermarkPolicies
from hypothesis import strategies as st

from tests.chaos.figures import ROOT
from tests.chaos.fuzz.judge import Check, Violation
from tests.chaos.fuzz.pages import AGG, EVENT_TIME, PIECES, VOLTSP
from tests.chaos.fuzz.sessions import stream
from tests.chaos.fuzz.values import changed, damaged, mostly

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.chaos.fuzz.canaries import Canaries

BORDER = ROOT / "tests/border"
READERS: Mapping[str, Callable[[str], Any]] = {
    "window": et.from_yaml,
    "policy": et.policies.from_yaml,
    "voltsp": et.voltsp.from_yaml,
}


class Text(NamedTuple):
    """A document, and the reader that it is for."""

    reader: str
    text: str


def _written(name: str, prefix: str) -> list[Any]:
    """Return the documents of what a file of the border has written, where they have text."""
    cases, found = json.loads((BORDER / name).read_text("utf-8")), list[Any]()
    for case in cases:
        names = {"et": et, "WatermarkPolicies": WatermarkPolicies}
        with suppress(et.EventtideError, NameError):  # a function or a column has none
            made = eval(prefix + case["written"], names)  # noqa: S307 - our own
            found.append(yaml.safe_load(made.to_yaml()))
    return found


def _valid() -> dict[str, list[Any]]:
    windows = _written("window_options.json", "et.window().")
    over = [{"event_time": "ts", **AGG, **window} for window in windows]
    timed = [{**window, "event_time": EVENT_TIME} for window in over[::8]]
    return {"window": over + timed, "policy": _written("options.json", ""), "voltsp": VOLTSP}


def texts() -> st.SearchStrategy[Text]:
    """Return documents: plain data that was changed, text that was damaged, or any text."""
    valid = [(reader, data) for reader, of in _valid().items() for data in of]
    data = st.sampled_from(valid).flatmap(lambda of: st.tuples(st.just(of[0]), changed(of[1])))
    dumped = data.map(lambda of: Text(of[0], dump(of[1])))
    broken = st.sampled_from(valid).flatmap(
        lambda of: damaged(dump(of[1]), st.sampled_from(PIECES)).map(partial(Text, of[0]))
    )
    anything = st.builds(Text, st.sampled_from([*READERS]), st.text())
    return mostly(st.one_of(dumped, broken), anything)


def dump(data: Any) -> str:
    """Return data as YAML, in one line if it is too deep for PyYAML."""
    try:
        return yaml.dump(data, sort_keys=False, allow_unicode=True)
    except RecursionError:
        return f"{data}"


class Reading:
    """Documents of which each is read, written and read again; and put over rows."""

    def __init__(self, canaries: Canaries) -> None:
        self._put = canaries.put

    def read(self, given: Text) -> Any:
        """Return what a document says, which is the same once it was written."""
        of = READERS[given.reader]
        said = of(self._put(given.text))
        written = said.to_yaml()
        if repr(of(written)) != repr(said):
            raise Violation(f"was read as {said!r}, written as {written!r}")
        return said

    def over(self, given: Text) -> None:
        """Put a window over the rows of a stream."""
        said = READERS[given.reader](self._put(given.text))
        if given.reader == "policy":
            with et.named_errors():
                et.with_watermark(stream(), "ts", said).schema.simpleString()
        else:
            with et.named_errors():
                said.over(stream()).results.schema.simpleString()


def checks(canaries: Canaries) -> list[Check]:
    """Return the checks: most documents are read only, which is quick."""
    reading, inputs = Reading(canaries), texts()
    return [Check(inputs, reading.read, 1000), Check(inputs, reading.over, 200)]
