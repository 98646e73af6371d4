"""VoltSP windows to YAML; the writer needs the extra ``eventtide[yaml]``."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from eventtide.errors import unready

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventtide.voltsp._definition import WindowDefinition

__all__ = ["extra", "write_window"]


def write_window(window: WindowDefinition) -> str:
    """Return the document that describes a window."""
    with extra():
        from eventtide.voltsp.document._writing import written  # noqa: PLC0415 - an extra
    return written(window)


@contextmanager
def extra() -> Iterator[None]:
    """Convert an import error of a package of the extra to an error that names the extra."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if missing.name not in {"pydantic", "yaml"}:
            raise
        problem = f"YAML needs {missing.name}, which is not installed."
        raise unready(problem, "Try: pip install 'eventtide[yaml]'.") from None
