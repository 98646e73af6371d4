"""VoltSP windows from YAML; the parser needs the extra ``eventtide[yaml]``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventtide._yaml.files import content, extra

if TYPE_CHECKING:
    from pathlib import Path

    from eventtide.voltsp._window import VoltSPWindow

__all__ = ["from_yaml"]


def from_yaml(text: str | Path) -> VoltSPWindow:
    """Read a VoltSP window from a YAML document, without rows.

    Parameters
    ----------
    text : str or Path
        The document, or its file: a Path, or text that ends in ``.yaml`` or ``.yml``. The keys are
        the keys of VoltSP's page; extractors are columns or SQL expressions. The window is at the
        top level, or under ``emitter``.

    Returns
    -------
    VoltSPWindow
        Its `over` creates the window over rows. Its `to_yaml` writes a document.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError, InvalidDurationError
        The first error, with its line and its key. Errors of `over` name these, too.
    SetupError
        The extra is not installed.

    Examples
    --------
    >>> import eventtide as et
    >>> hourly = et.voltsp.from_yaml('''
    ...     tumbling-time-window:
    ...       windowSpan: 1h
    ...       keyExtractor: user_id
    ...       timeConfig: {eventTimeExtractor: ts, idleTimeout: 5m}
    ...       aggregateDefinition: {builder: [{type: count}]}
    ... ''')
    >>> hourly
    Windows.tumbling_time_window().with_window_span('1h').with_key_extractor('user_id')...
    >>> hourly.over(events).results.writeStream.format("console").start()  # doctest: +SKIP
    """
    with extra():
        from eventtide.voltsp._from_document import read  # noqa: PLC0415 - an extra
    return read(content(text, "et.voltsp.from_yaml"))
