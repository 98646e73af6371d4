"""Requests: a watermark or a window as every kind of session sends it to the JVM."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import Column

__all__ = ["Request"]


@dataclass(frozen=True)
class Request:
    """A request, as text and columns; ``RequestBuilder`` in the JVM has the options of each.

    Attributes
    ----------
    options : mapping of str to str
        What is requested, and its options. `id` is the identity of its nodes, because Spark Connect
        analyzes a plan more than once.
    columns : mapping of str to sequence of str or Column
        Lists of columns over the input rows, by name.
    """

    options: Mapping[str, str]
    columns: Mapping[str, Sequence[str | Column]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        name: str,
        options: Mapping[str, str],
        watermark: Mapping[str, str] | None = None,
        columns: Mapping[str, Sequence[str | Column]] | None = None,
    ) -> Request:
        """Return a request by its name, with the options of a watermark beside its own."""
        prefixed = {f"watermark.{option}": value for option, value in (watermark or {}).items()}
        identity = {"request": name, "id": str(uuid4())}
        return cls({**identity, **options, **prefixed}, columns or {})

    @property
    def names_python_policy(self) -> bool:
        """Whether a policy is a class in this Python process."""
        return any(value.startswith("python:") for value in self.options.values())
