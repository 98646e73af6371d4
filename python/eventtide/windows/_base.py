"""The base class of the window builder: the settings and the input rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from eventtide import _bridge
from eventtide._text.arguments import of_type
from eventtide._text.columns import check_column
from eventtide._text.durations import to_iso
from eventtide.errors import refused
from eventtide.windows._habits import Hinting
from eventtide.windows._settings import Settings

if TYPE_CHECKING:
    from typing_extensions import Self

    from eventtide._text.durations import Duration

__all__ = ["Described"]


@dataclass(frozen=True, eq=False, repr=False)
class Described(Hinting, ABC):
    """The settings of a window, and its input rows, if it has any."""

    _df: DataFrame | None = None
    settings: Settings = field(default_factory=Settings)

    def __post_init__(self) -> None:
        """Reject an argument that is not a DataFrame, and unknown column names."""
        if self._df is None:
            return
        of_type("df", self._df, DataFrame, "a Spark DataFrame", "et.window(df)")
        columns = _bridge.columns(self._df)
        for name, column in self.settings.columns():
            words = ("key", "global") if name == "watermark_scope" else ()
            check_column(name, column, columns, words)

    @property
    def df(self) -> DataFrame:
        """The input rows; a window without rows raises `InvalidArgumentError`.

        Examples
        --------
        >>> import eventtide as et
        >>> et.window().df
        Traceback (most recent call last):
        eventtide.errors.InvalidArgumentError: window has no rows. Allowed: a DataFrame...
        """
        if self._df is None:
            raise refused("window", None, "has no rows", allowed="a DataFrame", fix=".over(df)")
        return self._df

    @cached_property
    @abstractmethod
    def results(self) -> DataFrame:
        """The result of the window."""

    def __repr__(self) -> str:
        """Return the method calls that create this window."""
        rows = "" if self._df is None else "df"
        return ".".join([f"et.window({rows})", *self.settings.calls()])

    def _length(self, name: str, value: Duration) -> Self:
        to_iso(name, value)
        return self._with(**{name: value})

    def _with(self, **changes: object) -> Self:
        return replace(self, settings=replace(self.settings, **changes))  # type: ignore[arg-type]
