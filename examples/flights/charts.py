"""The charts of the page. Times are local to New York, wherever the page is read."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

import altair as alt

from examples.flights.data import BANDS, HOUR, NEW_YORK
from examples.flights.settings import BY_BAND, LULL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from examples.flights.data import Flights, Report
    from examples.flights.measure import Measured
    from examples.flights.settings import Setting
    from examples.flights.trace import Strike, Trace

__all__ = ["frontier", "late_by_band", "late_by_hour", "tops", "watermarks"]

Chart: TypeAlias = alt.LayerChart | alt.FacetChart | alt.Chart
Row: TypeAlias = dict[str, Any]

WIDTH, HEIGHT = 860, 320
INK, GREY, STOCK, STOCK_DARK, OURS = "#1f2937", "#9ca3af", "#f59e0b", "#b45309", "#0f766e"
LULLED = "#06b6d4"
_SHOWN = timedelta(days=2)


def frontier(measured: Sequence[Measured]) -> Chart:
    """Draw completeness against delay: down and to the left is better."""
    stock = [_point(m) for m in measured if not m.setting.is_ours]
    ours = [_point(m) for m in measured if m.setting.is_ours]
    x = alt.X("p90:Q", title="hours from the end of a window until 90 % of the rows are out")
    x = x.scale(domain=[0, max(p["p99"] for p in stock + ours) + 1], nice=False)
    y = alt.Y("late:Q", title="late rows").axis(format=".1%", tickCount=8)
    y = y.scale(type="sqrt", domain=[0, max(p["late"] for p in stock + ours) * 1.1])
    layers: list[alt.Chart] = []
    for points, colour in ((stock, STOCK_DARK), (ours, OURS)):
        base = _chart(points).encode(x=x, y=y, tooltip=_TOOLTIP)
        spread = base.mark_rule(color=colour, opacity=0.35, strokeWidth=2)
        layers.append(spread.encode(x=alt.X("p50:Q"), x2="p99:Q"))
        if points is stock:
            layers.append(base.mark_line(color=STOCK, strokeDash=[4, 4]))
        layers.append(base.mark_point(color=colour, filled=True, size=130, opacity=1))
    layers += [_label(p, x, y, STOCK_DARK, dx=12, dy=-10, align="left") for p in stock]
    layers += [
        _label(p, x, y, OURS, dx=-14, dy=-16 - 16 * i, align="right")
        for i, p in enumerate(sorted(ours, key=lambda p: -float(p["p90"])))
    ]
    return _sized(alt.layer(*layers))


def watermarks(traces: Sequence[Trace], flights: Flights) -> Chart:
    """Draw how far each watermark is behind the clock, over the age of every report."""
    chosen = _chosen(traces)
    until = flights.first + _SHOWN
    lost = {r for strike in chosen[0].strikes for r in strike.late}
    name = f"lost by {_name(chosen[0].setting)}"
    dots = [
        {
            "clock": _local(r.landed),
            "hours": (r.landed - r.scheduled) / HOUR,
            "report": name if r in lost else "in time for it",
        }
        for r in flights.measured()
        if r.landed < until
    ]
    reports = (
        _chart(dots)
        .mark_circle(size=12, opacity=0.55)
        .encode(
            x=_clock_axis("when the report came, New York"),
            y=alt.Y("hours:Q", title="hours behind the clock").scale(domain=[0, 14], clamp=True),
            color=alt.Color("report:N", title="a report").scale(
                domain=[name, "in time for it"], range=["#ef4444", "#d1d5db"]
            ),
        )
    )
    return _sized(alt.layer(reports, _behind(chosen, until)).resolve_scale(color="independent"))


def late_by_band(measured: Sequence[Measured], flights: Flights) -> Chart:
    """Draw the late rows by distance."""
    return _shares(measured, flights, _band, BANDS, "distance of the flight")


def late_by_hour(measured: Sequence[Measured], flights: Flights) -> Chart:
    """Draw the late rows by hour of the day."""
    hours = [f"{hour:02}" for hour in range(5, 24)]
    return _shares(measured, flights, _hour, hours, "hour of the scheduled departure, New York")


def tops(traces: Sequence[Trace], flights: Flights) -> Chart:
    """Draw how far each distance band and the watermark are behind the clock."""
    trace = next(t for t in traces if t.setting.name == BY_BAND.name)
    until = flights.first + _SHOWN
    strikes = [s for s in trace.strikes if s.clock <= until]
    rows = [row for strike in strikes for row in _band_rows(strike)]
    marks = [
        {"clock": _local(s.clock), "hours": (s.clock - s.after) / HOUR}
        for s in strikes
        if _is_known(s)
    ]
    x, y = _clock_axis("the clock, New York"), alt.Y("hours:Q", title="hours behind the clock")
    y = y.scale(domain=[0, 16], clamp=True)
    bands = _chart(rows).encode(
        x=x,
        y=y,
        color=alt.Color("band:N", title="newest departure of").scale(
            domain=list(BANDS), range=_BAND_COLOURS
        ),
    )
    line = bands.mark_line(interpolate="step-after", strokeWidth=2, opacity=0.8)
    idle = bands.mark_point(shape="cross", size=50, filled=True).transform_filter("datum.idle")
    mark = _chart(marks).mark_line(color=INK, strokeWidth=3, interpolate="step-after")
    return _sized(alt.layer(line, idle, mark.encode(x=x, y=y)))


_BAND_COLOURS = ["#a5f3fc", "#67e8f9", "#22d3ee", "#0891b2", "#155e75", "#a855f7"]
_TOOLTIP = [
    alt.Tooltip("name:N", title="watermark"),
    alt.Tooltip("late:Q", title="late rows", format=".2%"),
    alt.Tooltip("p50:Q", title="p50, hours"),
    alt.Tooltip("p90:Q", title="p90, hours"),
    alt.Tooltip("p99:Q", title="p99, hours"),
]


def _point(m: Measured) -> Row:
    return {
        "name": _name(m.setting),
        "late": m.late_share,
        "p50": m.delay(0.5),
        "p90": m.delay(0.9),
        "p99": m.delay(0.99),
    }


def _label(point: Row, x: alt.X, y: alt.Y, colour: str, **place: Any) -> alt.Chart:  # noqa: ANN401
    text = _chart([point]).mark_text(color=colour, fontWeight="bold", baseline="middle", **place)
    label: alt.Chart = text.encode(x=x, y=y, text="name:N")
    return label


def _chosen(traces: Sequence[Trace]) -> list[Trace]:
    """Return stock Spark's shortest delay, the best delay in hindsight, and one or two of ours."""
    names = {traces[0].setting.name, "6 h", LULL.name, BY_BAND.name}
    return [t for t in traces if t.setting.name in names]


def _behind(traces: Sequence[Trace], until: datetime) -> alt.Chart:
    rows = [
        {
            "clock": _local(strike.clock),
            "hours": (strike.clock - strike.after) / HOUR,
            "watermark": _name(trace.setting),
        }
        for trace in traces
        for strike in trace.strikes
        if strike.clock <= until and _is_known(strike)
    ]
    names = [_name(trace.setting) for trace in traces]
    colours = [_colour(trace.setting, traces[0].setting) for trace in traces]
    lines: alt.Chart = (
        _chart(rows)
        .mark_line(interpolate="step-after", strokeWidth=2.5)
        .encode(
            x=_clock_axis("when the report came, New York"),
            y="hours:Q",
            color=alt.Color("watermark:N", title="a watermark").scale(domain=names, range=colours),
        )
    )
    return lines


def _is_known(strike: Strike) -> bool:
    return strike.clock - strike.after < timedelta(days=365)  # before its first row it is 1970


def _band_rows(strike: Strike) -> Iterable[Row]:
    for top in strike.tops:
        if top.top is not None:
            yield {
                "clock": _local(strike.clock),
                "hours": (strike.clock - top.top) / HOUR,
                "band": top.name,
                "idle": top.is_idle,
            }


def _shares(
    measured: Sequence[Measured],
    flights: Flights,
    group: Callable[[Report], str],
    groups: Sequence[str],
    title: str,
) -> Chart:
    """Draw the late share of each group of flights, for stock Spark and for eventtide."""
    totals = Counter(map(group, flights.measured()))
    chosen = [measured[0], *(m for m in measured if m.setting.name in {"6 h", BY_BAND.name})]
    rows = []
    for m in chosen:
        late = Counter(map(group, m.late))
        rows += [
            {"group": g, "share": late[g] / totals[g], "watermark": _name(m.setting)}
            for g in groups
            if totals[g]
        ]
    names = [_name(m.setting) for m in chosen]
    colours = [_colour(m.setting, measured[0].setting) for m in chosen]
    bars = (
        _chart(rows)
        .mark_bar()
        .encode(
            x=alt.X("group:N", title=title, sort=list(groups)).axis(labelAngle=0),
            xOffset=alt.XOffset("watermark:N", sort=names),
            y=alt.Y("share:Q", title="late").axis(format=".0%"),
            color=alt.Color("watermark:N", title=None).scale(domain=names, range=colours),
            tooltip=["watermark:N", "group:N", alt.Tooltip("share:Q", format=".2%")],
        )
    )
    return _sized(bars, height=220)


def _band(report: Report) -> str:
    return report.band


def _hour(report: Report) -> str:
    return f"{report.scheduled.astimezone(NEW_YORK):%H}"


def _name(setting: Setting) -> str:
    return f"{setting.side}, {setting.name}"


def _colour(setting: Setting, first: Setting) -> str:
    """Return the colour of a setting: the first is stock Spark's shortest delay."""
    if setting.is_ours:
        return LULLED if setting == LULL else OURS
    return STOCK if setting == first else STOCK_DARK


def _clock_axis(title: str) -> alt.X:
    return alt.X("clock:T", title=title).axis(format="%a %H:%M", tickCount=8)


def _local(moment: datetime) -> str:
    # without a zone: a browser treats it as local time and shows it unchanged
    return f"{moment.astimezone(NEW_YORK):%Y-%m-%dT%H:%M:%S}"


def _chart(rows: Sequence[Row]) -> alt.Chart:
    return alt.Chart({"values": list(rows)})


def _sized(chart: Chart, height: int = HEIGHT) -> Chart:
    sized = chart.properties(width=WIDTH, height=height, background="transparent")
    styled: Chart = (
        sized.configure_view(stroke=None)
        .configure_axis(
            labelColor="#4b5563",
            titleColor="#4b5563",
            titleFontWeight="normal",
            gridColor="#e5e7eb",
            domainColor="#d1d5db",
            tickColor="#d1d5db",
            labelFontSize=12,
            titleFontSize=12,
        )
        .configure_legend(orient="top", titleFontWeight="normal", labelFontSize=12, labelLimit=300)
        .configure_text(fontSize=12)
    )
    return styled
