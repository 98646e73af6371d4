"""Charts of reports; needs Altair."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from eventtide._text.durations import in_words
from eventtide._text.shares import percent
from eventtide.errors import pip_install, unready

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["lab_chart", "lag_chart"]

_SECOND = timedelta(seconds=1)


def lag_chart(title: str, shares: Iterable[tuple[timedelta, float]]) -> Any:  # noqa: ANN401 - a chart of Altair
    """Return a chart of lags and shares of late rows; see `LagCurve.plot`."""
    alt = _altair()
    points = [
        {
            "seconds": lag / _SECOND,
            "late": late,
            "lag": in_words(lag // timedelta(microseconds=1)),
            "share": percent(late),
        }
        for lag, late in shares
        if lag and late  # neither zero has a place on a logarithmic axis
    ]
    log = alt.Scale(type="log")
    across = alt.X("seconds:Q", scale=log, title="lag in seconds")
    up = alt.Y("late:Q", scale=log, title="share of late rows", axis=alt.Axis(format="~%"))
    chart = alt.Chart(alt.Data(values=points), title=title)
    line = chart.mark_line(interpolate="step-after", point=True)
    return line.encode(x=across, y=up, tooltip=["lag:N", "share:N"])


def lab_chart(points: Iterable[dict[str, Any]]) -> Any:  # noqa: ANN401 - a chart of Altair
    """Return a chart of policies, with a panel for each window; see `Lab.plot`."""
    alt = _altair()
    across = alt.X("seconds:Q", title="median delay of results in seconds")
    scale = alt.Scale(type="symlog", constant=1e-4)
    up = alt.Y("late:Q", scale=scale, title="share of late rows", axis=alt.Axis(format="~%"))
    base = alt.Chart().encode(x=across, y=up)
    line = base.transform_filter("datum.best").mark_line(color="#888")
    shown = alt.Color("kind:N", title="policy")
    dots = base.mark_point(filled=True, size=60)
    dots = dots.encode(color=shown, tooltip=["policy:N", "share:N", "delay:N"])
    both = alt.layer(line, dots, data=alt.Data(values=list(points)))
    return both.facet(facet=alt.Facet("window:N", title=None), columns=2)


def _altair() -> Any:  # noqa: ANN401 - a module
    try:
        import altair as alt  # noqa: PLC0415 - optional
    except ImportError as error:
        problem = "a chart needs Altair, which is not installed"
        raise unready(problem, pip_install("plot")) from error
    return alt
