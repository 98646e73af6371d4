"""How charts of benchmarks are drawn: dots, bars and lines in one style, as SVG."""

from __future__ import annotations

import math
import re
from typing import Any, TypeAlias

import altair as alt
import vl_convert

Row: TypeAlias = dict[str, Any]
Groups: TypeAlias = dict[str, list[Row]]

WIDTH = 430

# mid tones, which can be read on white and on black
INK, GREY, LINE = "#808590", "#9097a3", "#6b7280"
OURS, OURS_TOO, SPARK, OTHER, THIRD, FOURTH = (
    "#0d9488",
    "#5eaaa2",
    "#d97706",
    "#8b5cf6",
    "#db5a8b",
    "#5b8def",
)
COLOURS = {
    "Eventtide": OURS,
    "Eventtide, row by row": OURS_TOO,
    "p50": OURS,
    "p99": OURS_TOO,
    "p99.9": GREY,
    "Eventtide, 5 M a batch": OURS_TOO,
    "Eventtide, 0.5 M a batch": OURS_TOO,
    "Eventtide, two executors": OURS_TOO,
    "one task at a time": GREY,
    "smaller state": GREY,
    "running maximum": GREY,
    "Spark batch": GREY,
    "groupBy(window)": SPARK,
    "Spark": SPARK,
    "transformWithState": OTHER,
    "budget forever": OURS_TOO,
    "last 4096 rows": OTHER,
    "fixed by the first tenth": GREY,
    "no lag": SPARK,
    "lag 1h": OURS,
    "lag 4h": OTHER,
    "as expected": GREY,
    "Jet": OTHER,
    "Jet, own aggregate": THIRD,
    "Flink": FOURTH,
    "Flink SQL": FOURTH,
    "live heap": OURS,
    "beyond the heap": SPARK,
    "checkpoint": OTHER,
}


def dots(groups: Groups, unit: str, *, log: bool = True) -> alt.VConcatChart:
    """Draw a line for each case, with a dot for each series; by default on a logarithmic scale."""
    everything = [row for rows in groups.values() for row in rows]
    values = [row["value"] for row in everything]
    domain = [min(values) * 0.8, max(values) * 2.2] if log else [0, max(values) * 1.15]
    scale = alt.Scale(type="log" if log else "linear", domain=domain, nice=False)
    steps = (1,) if max(values) > 100 * min(values) else (1, 2, 5)
    series = list(dict.fromkeys(row["series"] for row in everything))
    charts = []
    for i, (title, rows) in enumerate(groups.items()):
        last = i == len(groups) - 1
        axis = alt.Axis(
            gridOpacity=0.35,
            format="~s",
            values=_powers(domain[0], domain[1], steps) if log else alt.Undefined,
            labels=last,
            ticks=last,
        )
        x = alt.X("value:Q", title=unit if last else None, scale=scale, axis=axis)
        y = alt.Y("label:N", title=None, sort=None, axis=_labels())
        base = alt.Chart({"values": rows})
        spans = base.mark_rule(color=GREY, opacity=0.6).encode(
            x=alt.X("min(value):Q", scale=scale), x2="max(value):Q", y=y
        )
        dots = base.mark_circle(size=85, opacity=1).encode(x=x, y=y, color=_colour(series))
        layers = [spans, dots]
        if any("text" in row for row in rows):
            text = base.mark_text(align="left", dx=9, color=INK, fontSize=12).encode(
                x=alt.X("max(value):Q", scale=scale), y=y, text="min(text):N"
            )
            layers.append(text)
        chart = alt.layer(*layers).properties(width=WIDTH, height={"step": 20})
        charts.append(chart.properties(title=title) if title else chart)
    return alt.vconcat(*charts, spacing=8)


def bars(groups: Groups, unit: str, *, legend: bool) -> alt.VConcatChart:
    """Draw a bar for each row, from zero, with its number beside it."""
    top = max(row["value"] for rows in groups.values() for row in rows) * 1.12
    scale = alt.Scale(domain=[0, top], nice=False)
    series = list(dict.fromkeys(row["series"] for rows in groups.values() for row in rows))
    charts = []
    for i, (title, rows) in enumerate(groups.items()):
        last = i == len(groups) - 1
        axis = alt.Axis(grid=False, labels=last, ticks=last, domain=last, tickCount=6)
        x = alt.X("value:Q", title=unit if last else None, scale=scale, axis=axis)
        y = alt.Y("label:N", title=None, sort=None, axis=_labels())
        base = alt.Chart({"values": rows}).encode(x=x, y=y)
        bars = base.mark_bar(height=14).encode(color=_colour(series, legend=legend))
        text = base.mark_text(align="left", dx=5, color=INK, fontSize=13).encode(text="text:N")
        chart = alt.layer(bars, text).properties(width=WIDTH, height={"step": 22})
        charts.append(chart.properties(title=title) if title else chart)
    return alt.vconcat(*charts, spacing=8)


def lines(
    rows: list[Row], x_title: str, y_title: str, *, size: tuple[int, int], log: bool
) -> alt.LayerChart:
    """Draw a line for each series; on logarithmic scales, the series are Eventtide and Spark's."""
    scale = alt.Scale(type="log" if log else "linear", nice=False, zero=not log)
    series = list(dict.fromkeys(row["series"] for row in rows))
    x = alt.X("x:Q", title=x_title, scale=alt.Scale(type="log" if log else "linear", nice=False))
    powers = _powers(min(row["x"] for row in rows), max(row["x"] for row in rows))
    values = [row["value"] for row in rows]
    steps = _powers(min(values), max(values), (1, 2, 5))
    across = alt.Axis(grid=False, format="~s", tickCount=5, values=powers if log else alt.Undefined)
    up = alt.Axis(gridOpacity=0.35, tickCount=4, values=steps if log else alt.Undefined)
    base = alt.Chart({"values": rows}).encode(
        x=x.axis(across),
        y=alt.Y("value:Q", title=y_title, scale=scale).axis(up),
        color=_colour(series if not log else ["Eventtide", "groupBy(window)"]),
    )
    layers = [base.mark_line(strokeWidth=2), base.mark_circle(size=45, opacity=1)]
    chart: alt.LayerChart = alt.layer(*layers).properties(width=size[0], height=size[1])
    return chart


def _powers(low: float, high: float, steps: tuple[int, ...] = (1,)) -> list[float]:
    """Return the powers of ten between two numbers, or those times 1, 2 and 5."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    marks = (step * 10.0**power for power in powers for step in steps)
    return [mark for mark in marks if low <= mark <= high]


def _labels() -> alt.Axis:
    return alt.Axis(labelLimit=420, ticks=False, domain=False, labelPadding=8)


def _colour(series: list[str], *, legend: bool = True) -> alt.Color:
    scale = alt.Scale(domain=series, range=[COLOURS[name] for name in series])
    shown = alt.Legend(orient="top", title=None, symbolType="circle") if legend else None
    return alt.Color("series:N", scale=scale, legend=shown)


def svg(chart: Any) -> str:  # noqa: ANN401 - any of altair's
    """Return a chart as text, in the style of all, with two decimals."""
    styled = chart.properties(background="transparent").configure(
        font="Helvetica, Arial, sans-serif",
        aria=False,
        view={"stroke": None},
        title={"color": INK, "fontSize": 13, "anchor": "start", "frame": "group"},
        legend={"labelColor": INK, "labelFontSize": 13},
        axis={
            "labelColor": INK,
            "titleColor": INK,
            "titleFontWeight": "normal",
            "gridColor": GREY,
            "domainColor": GREY,
            "tickColor": GREY,
            "labelFontSize": 12,
            "titleFontSize": 12,
        },
    )
    svg: str = vl_convert.vegalite_to_svg(styled.to_dict())
    return re.sub(r"(\d\.\d\d)\d+", r"\1", svg).replace("</g>", "</g>\n") + "\n"
