"""A query while it runs: two lines in a terminal, or in a notebook, that follow it."""

from __future__ import annotations

import re
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias

from eventtide._text.durations import Duration, in_words, micros
from eventtide._text.shares import percent
from eventtide.errors import unready
from eventtide.observe._blame import blame
from eventtide.observe._progress import QueryProgress, progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["Glance", "watch"]

_SECOND = timedelta(seconds=1)
_SENTENCE = re.compile(r"(?:'[^']*'|.)*?\.(?= |$)")

_Show: TypeAlias = "Callable[[Glance], object]"


@dataclass(frozen=True)
class Glance:
    """A query at one moment: its figures in a line, and what holds its watermark.

    Attributes
    ----------
    name : str
        The name of the query, or its id.
    progress : QueryProgress
        Its state after the last batch.
    rows_per_second : float
        The rows that the last batch processed in a second.
    held : str
        The first sentence of `blame`.
    """

    name: str
    progress: QueryProgress
    rows_per_second: float
    held: str

    @property
    def figures(self) -> str:
        """The line of figures."""
        of = self.progress
        if of.emitted is None:
            watermark = "no watermark yet"
        else:
            watermark = f"watermark {of.emitted:%Y-%m-%d %H:%M:%S} UTC"
        late = sum(of.late.values())
        share = percent(late / (late + of.on_time)) if late else "0%"
        parts = [self.name, watermark, *self._lag(), f"{self.rows_per_second:,.0f} rows/s"]
        return "  ".join([*parts, f"late {late:,} ({share})"])

    def _lag(self) -> Iterator[str]:
        tops = [one.top for source in self.progress.inputs for one in source.substreams if one.top]
        if tops and self.progress.emitted is not None:
            lag = max(max(tops) - self.progress.emitted, timedelta(0))
            yield f"lag {in_words(lag // _SECOND * 1_000_000)}"

    def __str__(self) -> str:
        """Return the two lines."""
        return f"{self.figures}\n{self.held}"

    def _repr_html_(self) -> str:
        """Return the two lines as HTML, which notebooks show."""
        return f"<code>{escape(self.figures)}</code><br>{escape(self.held)}"


def watch(query: StreamingQuery, *, every: Duration = "1s") -> None:
    """Show a query while it runs, until it ends or the user interrupts.

    In a terminal two lines are written again and again; in a notebook the output of the cell
    changes. They have the watermark, its distance from the newest row, the rows per second of the
    last batch, the late rows and their share, and what holds the watermark.

    Parameters
    ----------
    query : StreamingQuery
        A query over a DataFrame from `with_watermark`, or with a window.
    every : str or timedelta
        The time between two looks.

    Raises
    ------
    InvalidArgumentError
        The query has no eventtide watermark.
    InvalidDurationError
        `every` is not a duration above zero.
    SetupError
        Rich is not installed, in a terminal: ``pip install rich``.

    Notes
    -----
    An interrupt (Ctrl-C, or the stop button of a notebook) ends the display, not the query. What
    ends the query is not raised here: use ``query.awaitTermination()``.

    Examples
    --------
    >>> import eventtide as et
    >>> et.watch(query)  # doctest: +SKIP
    minutes  watermark 2026-01-01 12:00:05 UTC  lag 5s  12,034 rows/s  late 34 (0.02%)
    'sensor-7' holds the watermark at 2026-01-01 12:00:05 UTC, 14m behind 'sensor-1', last ...
    """
    pause = micros("every", every, positive=True) / 1e6
    first = glance_at(query)  # refuses other queries before anything is shown
    with suppress(KeyboardInterrupt), _screen() as show:
        show(first)
        while query.isActive:
            time.sleep(pause)
            show(glance_at(query))


def glance_at(query: StreamingQuery) -> Glance:
    """Return a query as it is now."""
    now = progress(query)  # refuses what is no query
    name = query.name or str(query.id)
    return Glance(name, now, _rate(query), first_sentence(blame(query)))


def first_sentence(text: str) -> str:
    """Return the first sentence of a text, whose quoted names may have full stops.

    Examples
    --------
    >>> first_sentence("'no. 7' holds the watermark. Next to close is ...")
    "'no. 7' holds the watermark."
    """
    found = _SENTENCE.match(text)
    return text if found is None else found[0]


def _rate(query: StreamingQuery) -> float:
    with suppress(KeyError):  # PySpark cannot read the progress of a batch that took no time
        last = query.lastProgress
        return 0.0 if last is None else last["processedRowsPerSecond"]
    return 0.0


@contextmanager
def _screen() -> Iterator[_Show]:
    """Give a function that shows a glance in place of the one before."""
    if _in_notebook():
        from IPython import display  # noqa: PLC0415 - only in a notebook

        shown: Any = display
        yield shown.display(display_id=True).update
    else:
        live_of, text_of = _rich()
        with live_of(auto_refresh=False) as live:
            yield lambda glance: live.update(text_of(str(glance)), refresh=True)


def _rich() -> Any:  # noqa: ANN401 - two classes of Rich
    try:
        from rich.live import Live  # noqa: PLC0415 - optional
        from rich.text import Text  # noqa: PLC0415 - names of substreams are no markup
    except ImportError as error:
        problem = "a display in a terminal needs Rich, which is not installed"
        raise unready(problem, "Try: pip install rich.") from error
    return Live, Text


def _in_notebook() -> bool:
    kernel = sys.modules.get("ipykernel.zmqshell")
    ipython = sys.modules.get("IPython")
    if kernel is None or ipython is None:
        return False
    return isinstance(ipython.get_ipython(), kernel.ZMQInteractiveShell)
