"""Policies from YAML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventtide._yaml.files import content, extra

if TYPE_CHECKING:
    from pathlib import Path

    from eventtide.policies._base import WatermarkPolicy

__all__ = ["from_yaml"]


def from_yaml(text: str | Path) -> WatermarkPolicy:
    """Read a policy from a YAML document, as `WatermarkPolicy.to_yaml` writes it.

    Parameters
    ----------
    text : str or Path
        The document, or its file: a Path, or text that ends in ``.yaml`` or ``.yml``. It has the
        ``name`` of the policy, its parameters and, as a list, its ``decorators``. ``min_of`` and
        ``max_of`` list their policies under ``of``, and ``by_substream`` has ``rules``. A policy of
        a jar has ``from_jar: true``.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError, InvalidDurationError
        The first error, with its line and its key.
    SetupError
        The extra ``eventtide[yaml]`` is not installed.

    Examples
    --------
    >>> from eventtide.policies import from_yaml
    >>> from_yaml("{name: with_fixed_lag, lag: 5s, decorators: [{name: emit_every, interval: 1s}]}")
    WatermarkPolicies.with_fixed_lag(lag='5s').emit_every('1s')
    """
    with extra():
        from eventtide.policies._document import read  # noqa: PLC0415 - an extra
    return read(content(text, "et.policies.from_yaml"))
