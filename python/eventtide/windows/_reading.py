"""Windows from YAML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventtide._yaml.files import content, extra

if TYPE_CHECKING:
    from pathlib import Path

    from eventtide.windows._builder import WindowBuilder

__all__ = ["from_yaml"]


def from_yaml(text: str | Path) -> WindowBuilder:
    """Read a window from a YAML document, without rows.

    Parameters
    ----------
    text : str or Path
        The document, or its file: a Path, or text that ends in ``.yaml`` or ``.yml``. Its keys are
        the methods of `WindowBuilder`, with their arguments below them; aggregates are SQL text.

    Returns
    -------
    WindowBuilder
        Its `over` adds the rows. Its `to_yaml` writes a document.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError, InvalidDurationError
        The first error, with its line and its key.
    SetupError
        The extra ``eventtide[yaml]`` is not installed.

    Examples
    --------
    >>> import eventtide as et
    >>> per_minute = et.from_yaml('''
    ...     event_time: ts
    ...     key_by: user
    ...     sliding: {size: 1m, every: 10s}
    ...     agg: {n: count(*), total: sum(amount)}
    ... ''')
    >>> per_minute
    et.window().event_time('ts').key_by('user').sliding('1m', every='10s').agg(...
    >>> per_minute.over(events).results  # doctest: +SKIP
    """
    with extra():
        from eventtide.windows._document import read  # noqa: PLC0415 - an extra
    return read(content(text, "et.from_yaml"))
