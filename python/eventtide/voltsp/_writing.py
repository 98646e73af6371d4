"""VoltSP windows to YAML; the writer needs the extra ``eventtide[yaml]``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventtide._yaml.files import extra

if TYPE_CHECKING:
    from eventtide.voltsp._definition import WindowDefinition

__all__ = ["write_window"]


def write_window(window: WindowDefinition) -> str:
    """Return the document that describes a window."""
    with extra():
        from eventtide.voltsp.document._writing import written  # noqa: PLC0415 - an extra
    return written(window)
