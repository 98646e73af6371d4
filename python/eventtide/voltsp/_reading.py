"""VoltSP windows from YAML; the parser needs the extra ``eventtide[yaml]``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from eventtide._text.arguments import of_type
from eventtide.errors import refused
from eventtide.voltsp._writing import extra

if TYPE_CHECKING:
    from eventtide.voltsp._window import VoltSPWindow
    from eventtide.windows import WindowBuilder

__all__ = ["from_yaml", "read_window"]


def from_yaml(text: str | Path, df: DataFrame) -> WindowBuilder:
    """Return the window of a YAML document, over rows.

    .. versionadded:: 0.1

    Parameters
    ----------
    text : str or Path
        The document, or its file: a Path, or text that ends in ``.yaml`` or ``.yml``. The keys are
        those of VoltSP's page; extractors are columns or SQL expressions. The window is at the top
        level, or under ``emitter``.
    df : DataFrame
        A stream without a watermark.

    Returns
    -------
    WindowBuilder
        The same as from `VoltSPWindow.over`.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError, InvalidDurationError, UnknownColumnError
        The first error, with its line and its key.
    SetupError
        The extra is not installed.

    Examples
    --------
    >>> import eventtide as et
    >>> counts = et.voltsp.from_yaml(  # doctest: +SKIP
    ...     '''
    ...     tumbling-time-window:
    ...       windowSpan: 1h
    ...       keyExtractor: user_id
    ...       timeConfig: {eventTimeExtractor: ts, idleTimeout: 5m}
    ...       aggregateDefinition: {builder: [{type: count}]}
    ...     ''',
    ...     events,
    ... )
    >>> counts.results.writeStream.format("console").start()  # doctest: +SKIP
    """
    of_type("df", df, DataFrame, "a Spark DataFrame", "et.voltsp.from_yaml(text, df)")
    with extra():
        from eventtide.voltsp._from_document import read_over  # noqa: PLC0415 - an extra
    return read_over(_content(text), df)


def read_window(text: str | Path) -> VoltSPWindow:
    """Return the window of a document, without rows."""
    with extra():
        from eventtide.voltsp._from_document import read  # noqa: PLC0415 - an extra
    return read(_content(text))


def _content(text: str | Path) -> str:
    allowed, fix = (
        "YAML, or the path of a file of it",
        "et.voltsp.from_yaml(Path('window.yaml'), df)",
    )
    of_type("text", text, (str, Path), allowed, fix)
    if isinstance(text, str) and ("\n" in text or not text.endswith((".yaml", ".yml"))):
        return text
    try:
        return Path(text).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problem, fix = f"cannot be read: {error}", f"a path from {Path.cwd()} on, or a whole one"
        raise refused("text", str(text), problem, allowed=allowed, fix=fix) from None
