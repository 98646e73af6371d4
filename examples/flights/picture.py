"""The picture of the README: two watermarks, and the rows that one of them makes late.

The points are sampled into a small JSON file next to the picture, so that the picture can be drawn
again without a replay: ``python -m examples.flights.picture FOLDER``.
"""

from __future__ import annotations

import json
import re
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import altair as alt
import vl_convert

from examples.flights.data import HOUR, NEW_YORK
from examples.flights.settings import BY_BAND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from examples.flights.data import Flights, Report
    from examples.flights.trace import Trace

__all__ = ["Points", "draw", "points", "redraw", "write"]

Points: TypeAlias = dict[str, Any]

NAME = "demo"
# mid tones, which are readable on white and on black
INK, GREY, STOCK, OURS, LOST = "#808590", "#9097a3", "#d97706", "#0d9488", "#ef4444"
FONT = "Helvetica, Arial, sans-serif"
WIDTH, HEIGHT = 740, 330
_SHOWN = 22 * HOUR
_EVERY = 4
"""Of the rows on time, every fourth is drawn."""


def points(traces: Sequence[Trace], flights: Flights) -> Points:
    """Return the data of the picture: times in minutes after the first hour of the replay.

    Parameters
    ----------
    traces : sequence of Trace
        The first trace is stock Spark's; one trace has eventtide's windows by distance band.
    flights : Flights
        The replayed flights.
    """
    stock, ours = traces[0], next(t for t in traces if t.setting.name == BY_BAND.name)
    measured = set(flights.measured())
    lost = [r for strike in stock.strikes for r in strike.late if r in measured]
    late = [r for strike in ours.strikes for r in strike.late if r in measured]
    rows = list(flights.measured())
    kept = [r for r in rows if r not in set(lost)][::_EVERY]
    until = flights.first + _SHOWN

    def minutes(moment: datetime) -> int:
        return (moment - flights.first) // timedelta(minutes=1)

    def dots(reports: Sequence[Report]) -> list[list[int]]:
        return [[minutes(r.landed), minutes(r.scheduled)] for r in reports if r.landed < until]

    def line(trace: Trace) -> list[list[int]]:
        known = (s for s in trace.strikes if s.after > flights.first - 24 * HOUR)
        return [[minutes(s.clock), minutes(s.after)] for s in known if s.clock <= until]

    return {
        "first": f"{flights.first.astimezone(NEW_YORK):%Y-%m-%dT%H:%M:%S}",
        "rows": len(rows),
        "lost": len(lost),
        "logged": len(late),
        "stock": line(stock),
        "ours": line(ours),
        "lost_rows": dots(lost),
        "kept_rows": dots(kept),
    }


def draw(shown: Points) -> str:
    """Return the picture as SVG."""
    first = datetime.fromisoformat(shown["first"])  # the local time of New York, without a zone

    def rows(name: str) -> alt.Chart:
        moments = [
            {"clock": _text(first, clock), "event": _text(first, event)}
            for clock, event in shown[name]
        ]
        chart: alt.Chart = alt.Chart({"values": moments}).encode(x=x, y=y)
        return chart

    x = alt.X("clock:T", title="a flight lands and is reported").axis(
        format="%H:%M", tickCount=8, grid=False
    )
    y = alt.Y("event:T", title="scheduled departure: the event time").axis(
        format="%H:%M", tickCount=6, gridOpacity=0.35
    )
    layers = [rows("kept_rows").mark_circle(size=14, color=GREY, opacity=0.55)]
    layers.append(rows("lost_rows").mark_circle(size=16, color=LOST, opacity=0.9))
    for name, colour in (("stock", STOCK), ("ours", OURS)):
        layers.append(rows(name).mark_line(color=colour, strokeWidth=3, interpolate="step-after"))
    layers += _labels(shown, first, x, y)
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT, background="transparent")
    styled = chart.configure(
        font=FONT,
        aria=False,
        view={"stroke": None},
        axis={
            "labelColor": INK,
            "titleColor": INK,
            "titleFontWeight": "normal",
            "gridColor": GREY,
            "domainColor": GREY,
            "tickColor": GREY,
            "labelFontSize": 13,
            "titleFontSize": 14,
        },
    )
    return _smaller(vl_convert.vegalite_to_svg(styled.to_dict()))


def write(folder: Path, shown: Points) -> Path:
    """Write the points and the picture into a folder, and return the picture's path."""
    text = json.dumps(shown, separators=(",", ":")).replace('],"', '],\n"')
    (folder / f"{NAME}.json").write_text(text + "\n", encoding="utf-8")
    return redraw(folder)


def redraw(folder: Path) -> Path:
    """Draw the points of a folder again."""
    shown = json.loads((folder / f"{NAME}.json").read_text(encoding="utf-8"))
    path = folder / f"{NAME}.svg"
    path.write_text(draw(shown), encoding="utf-8")
    return path


def _labels(shown: Points, first: datetime, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Label the lines and the dots directly, instead of a legend."""
    texts: list[tuple[int, int, str, str, Literal["left", "right"]]] = [
        (9 * 60 + 5, 11 * 60 + 50, "stock Spark's watermark", STOCK, "right"),
        (16 * 60, 6 * 60 + 40, "Eventtide's watermark", OURS, "left"),
        (
            9 * 60,
            60,
            f"{shown['lost']} of {shown['rows']} rows dropped by stock Spark",
            LOST,
            "left",
        ),
    ]
    return [
        alt.Chart({"values": [{"clock": _text(first, clock), "event": _text(first, event)}]})
        .mark_text(text=text, color=colour, align=align, fontSize=16, fontWeight="bold")
        .encode(x=x, y=y)
        for clock, event, text, colour, align in texts
    ]


def _smaller(svg: str) -> str:
    """Write a dot as a circle, which takes a third of the bytes."""
    dot = (
        r'<path transform="translate\(([\d.]+),([\d.]+)\)" d="M([\d.]+),0A[^"]*"'
        r' fill="(#\w+)" stroke-width="\d+" opacity="([\d.]+)"/>'
    )

    def circle(found: re.Match[str]) -> str:
        x, y, radius = (f"{float(number):.1f}" for number in found.groups()[:3])
        return f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{found[4]}" opacity="{found[5]}"/>'

    return re.sub(dot, circle, svg).replace("</g>", "</g>\n") + "\n"


def _text(first: datetime, minutes: int) -> str:
    return f"{first + timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%S}"


if __name__ == "__main__":
    redraw(Path(sys.argv[1]))
