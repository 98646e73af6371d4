"""The benchmark of the load knows the right results, and the rates that an engine holds."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SECOND = 1_000_000_000


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the module of windows, with three keys."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    module = importlib.import_module("load_windows")
    monkeypatch.setattr(module, "KEYS", 3)
    return module


@pytest.fixture
def phases(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the module of phases."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("load_phase")


def test_rows_are_noted_by_window(load: Any) -> None:
    """A window has the numbers of its rows, and the time of its first one."""
    sent = load.Spans()
    sent.add(19, range(4), 190)
    sent.add(20, range(4, 5), 200)
    sent.add(29, range(5, 9), 290)
    assert sent.windows == {1: load.Span(0, 4, 190), 2: load.Span(4, 9, 200)}


@pytest.mark.parametrize(("begin", "end"), [(0, 0), (0, 3), (2, 9), (1, 2), (4, 6)])
def test_keys_take_turns(begin: int, end: int, load: Any) -> None:
    """The rows of each key follow from the numbers of the rows."""
    span = load.Span(begin, end, 0)
    expected = np.bincount([row % 3 for row in range(begin, end)], minlength=3)
    assert span.counts().tolist() == expected.tolist()
    assert span.results == np.count_nonzero(expected)


def test_right_results_are_not_wrong(load: Any) -> None:
    """They may come in parts."""
    arrived = _arrived(load, [[(0, 2), (2, 3)], [(1, 2)]])
    closed = {7: load.Span(2, 9, 0)}
    assert load.complete(closed, {7: arrived})
    assert not load.wrong(closed, {7: arrived})


@pytest.mark.parametrize(
    ("results", "problem"),
    [
        ([], "3 keys are wrong, 7 rows are lost"),
        ([[(0, 2), (1, 2), (2, 2)]], "1 keys are wrong, 1 rows are lost"),
        ([[(0, 1), (0, 1), (1, 2), (2, 3)]], "1 keys are wrong, 0 rows are lost"),
    ],
)
def test_wrong_results_are_counted(
    results: list[list[tuple[int, int]]], problem: str, load: Any
) -> None:
    """One is missing, has another count, or comes in two."""
    [said] = load.wrong({7: load.Span(2, 9, 0)}, {7: _arrived(load, results)})
    assert said == f"window 7: {problem}"
    [said] = load.wrong({}, {7: _arrived(load, [[(0, 2)]])})
    assert said == "window 7: 1 keys are wrong, -2 rows are lost"


@pytest.mark.parametrize(
    ("lags", "late", "held"),
    [
        ([3, 3, 3], 0, True),
        ([3, 4, 3], 0, True),
        ([3, 4, 5], 0, False),
        ([3, 11, 3], 0, False),
        ([3, 3, 3], 1, False),
    ],
)
def test_a_rate_is_held_while_the_lag_is_short_and_flat(
    lags: list[int], late: float, held: bool, load: Any, phases: Any
) -> None:
    """And while the sender keeps its rate. In time is each rate without a long lag."""
    found = _phase(lags, late, load, phases)
    assert found.held == held
    assert found.in_time == (max(lags) < 10 and not late)
    assert (found.first_lag.p50, found.last_lag.p50) == (1000 * lags[0], 1000 * lags[-1])


def test_a_phase_has_its_first_and_its_last_minute(load: Any, phases: Any) -> None:
    """Of memory it has the median, and of rows without results the most."""
    found = _phase([3, 3, 3], 0, load, phases)
    assert (found.first_memory, found.last_memory) == (10, 40)
    assert (found.first_backlog, found.last_backlog) == (200, 500)
    assert found.cores == 0.5
    assert found.rows == 13


def test_a_rate_above_what_the_broker_takes_is_not_what_was_sent(load: Any, phases: Any) -> None:
    """The sender has taken longer then."""
    found = _phase([3, 3, 3], 0.13, load, phases)
    assert (found.rows, found.rate) == (13, 100)
    assert found.sent_rate == 50
    assert _phase([3, 3, 3], -0.01, load, phases).sent_rate == 100


class SlowProducer:
    """A broker that takes some rows at a time."""

    MOST, TAKEN = 30, 7

    def __init__(self, _: Any) -> None:
        self.waiting = 0

    def __len__(self) -> int:
        """Return how many rows wait."""
        return self.waiting

    def list_topics(self, *_: Any) -> None:
        """Do nothing, as there is no broker."""

    def poll(self, _: float) -> None:
        """Take rows."""
        self.waiting -= min(self.waiting, self.TAKEN)

    def produce_batch(self, _: str, values: list[Any], **__: Any) -> int:
        """Return how many rows there is room for."""
        accepted = min(len(values), self.MOST - self.waiting)
        self.waiting += accepted
        return accepted

    def flush(self, _: float) -> int:
        """Take all rows."""
        self.waiting = 0
        return 0


def test_the_sender_sends_no_more_than_the_broker_takes(
    load: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although all of its rows are due."""
    module = importlib.import_module("latency_load")
    monkeypatch.setattr(module, "Producer", SlowProducer)
    monkeypatch.setattr(module, "MOST_QUEUED", 20)
    spans = load.Spans()
    module.send(module.Load("", "rows", 3, 1000, 1, 0, -10 * SECOND), spans)
    assert sum(span.end - span.begin for span in spans.windows.values()) == 1000
    assert spans.late > 9


@pytest.mark.parametrize(
    ("script", "held"),
    [
        ([(20, True, True)], 20),
        ([(20, True, False), (20, True, True)], 20),
        ([(20, True, False), (20, True, False), (10, True, True)], 10),
        ([(20, False, False), (10, True, True)], 10),
        ([(20, False, False), (10, False, False)], None),
    ],
)
def test_a_rate_has_another_try_if_its_lag_has_only_risen(
    script: list[tuple[int, bool, bool]], held: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rate with a long lag has none; then the next lower one is tried."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    module = importlib.import_module("load_run")
    run = module.Run.__new__(module.Run)
    run._engine = SimpleNamespace(name="an engine")
    steps = iter(script)

    def at(rate: int, *_: Any) -> Any:
        expected, in_time, flat = next(steps)
        assert rate == expected
        return SimpleNamespace(rate=rate, in_time=in_time, held=flat)

    monkeypatch.setattr(run, "_at", at)
    if held is None:
        with pytest.raises(RuntimeError, match="does not hold 10 rows/s"):
            run._hold((10, 20), 1, None)
    else:
        assert run._hold((10, 20), 1, None).rate == held
    assert not [*steps]


def _arrived(load: Any, chunks: Sequence[Sequence[tuple[int, int]]]) -> Any:
    arrived = load.Arrived()
    for chunk in chunks:
        keys, rows = np.array(chunk).T
        arrived.add(keys, rows, 0)
    return arrived


def _phase(lags: list[int], late: float, load: Any, phases: Any) -> Any:
    """Return a phase of windows with three rows, and of samples each minute.

    A last window, with a short lag, is closed after all of the others were sent.
    """
    spans, arrived = load.Spans(late=late), {}
    lags = [*lags, 1]
    for number, lag in enumerate(lags):
        spans.windows[number] = load.Span(3 * number, 3 * number + 3, 0)
        arrived[number] = load.Arrived(number=3, chunks=[(lag * SECOND, 3)])
    spans.windows[len(lags)] = load.Span(3 * len(lags), 3 * len(lags) + 1, 0)
    samples = [
        phases.Sample(60 * minute, importlib.import_module("process_group").Usage(*usage), backlog)
        for minute, usage, backlog in [
            (0, (0, 10), 200),
            (1, (10, 10), 100),
            (2, (60, 40), 300),
            (3, (90, 40), 500),
        ]
    ]
    return phases.phase(100, spans, arrived, samples, 0.0)
