"""The base class of the window builder: the input rows and the settings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from eventtide._text.arguments import of_type
from eventtide._text.columns import check_column
from eventtide._text.durations import to_iso
from eventtide.windows._settings import Settings

if TYPE_CHECKING:
    from typing_extensions import Self

    from eventtide._text.durations import Duration

__all__ = ["Described"]


@dataclass(frozen=True, eq=False, repr=False)
class Described(ABC):
    """Input rows and the settings of a window over them."""

    df: DataFrame
    settings: Settings = field(default_factory=Settings)

    def __post_init__(self) -> None:
        """Reject an argument that is not a DataFrame, and column names that it does not have."""
        of_type("df", self.df, DataFrame, "a Spark DataFrame", "et.window(df)")
        columns = self.df.columns
        for name, column in self.settings.columns():
            words = ("key", "global") if name == "watermark_scope" else ()
            check_column(name, column, columns, words)

    @cached_property
    @abstractmethod
    def results(self) -> DataFrame:
        """The result of the window."""

    def __repr__(self) -> str:
        """Return the method calls that create this."""
        return ".".join(["et.window(df)", *self.settings.calls()])

    def _length(self, name: str, value: Duration) -> Self:
        to_iso(name, value)
        return self._with(**{name: value})

    def _with(self, **changes: object) -> Self:
        return replace(self, settings=replace(self.settings, **changes))  # type: ignore[arg-type]
