"""The laws of a policy in Python, as a test kit."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

from eventtide._text.arguments import count, of_type
from eventtide._text.durations import micros
from eventtide.policies import PythonPolicy
from eventtide.policies._python import answer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventtide._text.durations import Duration

__all__ = ["check_policy"]

_NOW = 1_700_000_000_000_000  # microseconds since the epoch


def check_policy(
    policy: PythonPolicy, *, histories: int = 200, seed: int = 1, unit: Duration = "1s"
) -> None:
    """Play random batches to a custom policy, and check the laws of every policy.

    The policy is called as in a query: with the state as JSON, and on a new object each time.

    Parameters
    ----------
    policy : PythonPolicy
        The policy with its parameters.
    histories : int
        The number of sequences of batches. They get longer, up to 30 batches.
    seed : int
        The same seed gives the same sequences.
    unit : str or timedelta
        Rows are up to 60 units apart, and so are batches. Choose it by the policy's parameters: for
        a lag of some seconds, use a second.

    Raises
    ------
    InvalidArgumentError
        An argument is not valid.
    AssertionError
        The policy breaks a law: it raises an exception, returns a value that cannot be used or
        saved, or moves its watermark back. Or it stores state in the object, so that substreams or
        restarts change its watermarks. The message has the batches.

    Examples
    --------
    >>> from datetime import timedelta
    >>> class Lag(PythonPolicy):
    ...     '''Stay behind the highest time.'''
    ...
    ...     lag: timedelta
    ...
    ...     def advance(self, times, state):
    ...         return times.highest - self.lag, None
    >>> check_policy(Lag(timedelta(seconds=5)))
    Traceback (most recent call last):
    AssertionError: Lag(lag=datetime.timedelta(seconds=5)) moved its watermark back, ...
    """
    of_type("policy", policy, PythonPolicy, "a PythonPolicy", "policy=MyPolicy()")
    count("histories", histories, "200")
    step = micros("unit", unit, positive=True)
    for i in range(histories):
        random = Random(seed * 1_000_003 + i)  # noqa: S311 - no secret
        one, other = (_history(random, 1 + i * 30 // histories, step) for _ in range(2))
        alone = list(_played(policy, one))
        together = _Substream(policy), _Substream(policy)
        for n, batch in enumerate(one):
            watermark = together[0].advance(batch)
            if watermark != alone[n]:
                raise AssertionError(
                    f"{policy!r} stores state in the object: with another substream its watermark"
                    f" is {watermark}, alone it is {alone[n]}, after the batches {one[: n + 1]}."
                )
            if n < len(other):
                together[1].advance(other[n])


class _Substream:
    """The state of a policy for one substream, which advances as in the JVM."""

    def __init__(self, policy: PythonPolicy) -> None:
        self._policy = policy
        self._parameters = policy.parameters()["parameters"]
        self._state = "null"
        self._seen: list[dict[str, int]] = []

    def advance(self, batch: dict[str, int]) -> int | None:
        self._seen.append(batch)
        asked = {"policy": self._policy.name, "parameters": self._parameters, "state": self._state}
        answered: dict[str, Any] = json.loads(answer(json.dumps(asked | batch)))
        if "problem" in answered:
            problem = answered["problem"]
            raise AssertionError(f"{self._policy!r}: {problem}, after the batches {self._seen}.")
        self._state = answered["state"]
        watermark: int | None = answered["watermark"]
        return watermark


def _played(policy: PythonPolicy, batches: list[dict[str, int]]) -> Iterator[int | None]:
    """Yield the watermarks, and check that none is below the previous watermark."""
    substream, last = _Substream(policy), None
    for n, batch in enumerate(batches):
        watermark = substream.advance(batch)
        if watermark is not None:
            if last is not None and watermark < last:
                raise AssertionError(
                    f"{policy!r} moved its watermark back, from {last} to {watermark} (microseconds"
                    f" since the epoch), after the batches {batches[: n + 1]}."
                )
            last = watermark
        yield watermark


def _history(random: Random, length: int, unit: int) -> list[dict[str, int]]:
    clock, batches = _NOW, []
    for _ in range(random.randint(1, length)):
        clock += unit * random.choice([0, 1, 2, 3, 60])
        times = [clock + unit * random.randint(-60, 30) for _ in range(random.randint(1, 4))]
        batches.append({"highest": max(times), "lowest": min(times), "clock": clock})
    return batches
