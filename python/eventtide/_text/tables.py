"""Results as tables, for a terminal and for a notebook."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from functools import singledispatch
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Table", "Tabular", "tables_of"]


@dataclass(frozen=True)
class Table:
    """A table of text; without heads it has pairs of a name and a value.

    Examples
    --------
    >>> print(Table("windows", ("window", "late"), [("0", "12"), ("10", "3")]).text())
    windows
      window  late
      0       12
      10      3
    """

    title: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    caption: str = ""

    def text(self) -> str:
        """Return the table in aligned columns."""
        lines = [*([self.heads] if self.heads else []), *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown = [
            "  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
            for line in lines
        ]
        parts = [self.title, *(line.rstrip() for line in shown), f"  {self.caption}".rstrip()]
        return "\n".join(part for part in parts if part)

    def html(self) -> str:
        """Return the table as HTML."""
        head = "".join(f"<th>{escape(cell)}</th>" for cell in self.heads)
        rows = [
            "".join(f'<td style="text-align:left">{escape(cell)}</td>' for cell in row)
            for row in self.rows
        ]
        body = "".join(f"<tr>{row}</tr>" for row in ([head] if head else []) + rows)
        caption = f"<p>{escape(self.caption)}</p>" if self.caption else ""
        return f"<p><b>{escape(self.title)}</b></p><table>{body}</table>{caption}"


@singledispatch
def tables_of(value: object) -> Iterator[Table]:
    """Yield the tables that show a value; each type registers its own function."""
    raise NotImplementedError(type(value).__name__)


class Tabular:
    """A dataclass that prints as tables, in a notebook too, and can be converted to a dict."""

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain dicts, lists and values."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}  # type: ignore[arg-type] # a dataclass

    def __str__(self) -> str:
        """Return the tables as text."""
        return "\n".join(table.text() for table in tables_of(self))

    def _repr_html_(self) -> str:
        """Return the tables as HTML, which notebooks show."""
        return "".join(table.html() for table in tables_of(self))


def _plain(value: Any) -> Any:  # noqa: ANN401 - any field
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else value
