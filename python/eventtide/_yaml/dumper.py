"""Plain data as YAML text."""

from __future__ import annotations

from typing import Any

import yaml

__all__ = ["Dumper"]


class Dumper(yaml.SafeDumper):
    """Writes text and numbers of subclasses, such as those of NumPy, as plain ones."""


def _represent(kind: type, represent: Any) -> None:  # noqa: ANN401 - a method of PyYAML
    Dumper.add_multi_representer(kind, lambda dumper, data: represent(dumper, kind(data)))


_represent(str, Dumper.represent_str)
_represent(int, Dumper.represent_int)
_represent(float, Dumper.represent_float)
