"""A window whose kind may be replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventtide import WindowBuilder

if TYPE_CHECKING:
    from eventtide.windows._shapes import Shape
    from typing_extensions import Self


class OfAnyKind(WindowBuilder):
    """A window whose kind may be replaced, so that a case can begin with a complete window."""

    def _of(self, shape: Shape) -> Self:  # type: ignore[override] # of any kind
        return self._with(shape=shape)
