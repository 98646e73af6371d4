"""The charts of docs/explanation/benchmarks.md, out of benchmarks/results, as SVG."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import altair as alt
import vl_convert

if TYPE_CHECKING:
    from collections.abc import Callable

Record: TypeAlias = dict[str, Any]
Row: TypeAlias = dict[str, Any]
Groups: TypeAlias = dict[str, list[Row]]

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"
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
    "Eventtide, before": OURS_TOO,
    "Eventtide, row by row": OURS_TOO,
    "p50": OURS,
    "p99": OURS_TOO,
    "p99.9": GREY,
    "Eventtide, two executors": OURS_TOO,
    "one task at a time": GREY,
    "smaller state": GREY,
    "running maximum": GREY,
    "Spark batch": GREY,
    "groupBy(window)": SPARK,
    "Spark": SPARK,
    "transformWithState": OTHER,
    "Jet": OTHER,
    "Jet, own aggregate": THIRD,
    "Flink SQL": FOURTH,
    "live heap": OURS,
    "beyond the heap": SPARK,
    "checkpoint": OTHER,
}


def all_charts() -> dict[str, str]:
    """Return every picture, by the name of its file."""
    return {f"bench-{name}.svg": _svg(chart()) for name, chart in CHARTS.items()}


def readme() -> alt.VConcatChart:
    """Draw how many times as fast windows are as Spark's."""
    cases = [
        ("60 s / 1 s", 100_000, 500_000, "sliding 60 s / 1 s, 100 000 keys"),
        ("60 s / 1 s", 1000, 500_000, "sliding 60 s / 1 s, 1 000 keys"),
        ("10 s / 1 s", 100_000, 500_000, "sliding 10 s / 1 s, 100 000 keys"),
        ("10 s / 1 s", 1000, 500_000, "sliding 10 s / 1 s, 1 000 keys"),
        ("tumbling 10 s", 100_000, 5_000_000, "tumbling 10 s, 100 000 keys"),
        ("tumbling 10 s", 1000, 5_000_000, "tumbling 10 s, 1 000 keys"),
    ]
    rows = []
    for windows, keys, batch, label in cases:
        wanted = {"windows": windows, "keys": keys, "rows_per_batch": batch}
        found = next(
            r
            for r in _records("windows")
            if r["baseline"] == "groupBy(window)" and wanted.items() <= r["settings"].items()
        )
        rows.append({"label": label, "series": "Eventtide", "value": found["ratio"]})
    for row in rows:
        row["text"] = f"{row['value']:.0f} x" if row["value"] >= 10 else f"{row['value']:.1f} x"  # noqa: PLR2004
    return _bars({"": rows}, "times as fast as groupBy(window)", legend=False)


def windows() -> alt.VConcatChart:
    """Draw a batch of `et.window` beside one of Spark's."""
    groups: Groups = {}
    titles = {
        "groupBy(window)": "Spark's groupBy(window)",
        "groupBy(window), stores that do not count": "groupBy(window), stores that do not count",
        "transformWithState": "a handwritten transformWithState",
    }
    for record in _records("windows"):
        s = record["settings"]
        label = f"{s['windows']}, {_count(s['keys'])} keys, {_count(s['rows_per_batch'])} rows"
        theirs = record["baseline"].partition(",")[0]
        groups.setdefault(titles[record["baseline"]], []).extend(_pair(record, label, theirs))
    return _dots(groups, "ms a batch")


def latency() -> alt.VConcatChart:
    """Draw how long after its closing row a result arrives."""
    groups: Groups = {}
    for record in _records("latency"):
        s = record["settings"]
        sides = [("ours", "Eventtide, real-time mode"), ("theirs", record["baseline"])]
        if "rows_per_second" in s:
            title = f"{_count(s['rows_per_second'])} rows a second"
            p50s = {"ours": record["ours"], "theirs": record["theirs"]}
        else:
            title = "the highest rate"
            p50s = {side: s[f"{side}_p50_ms"] for side, _ in sides}
            sides = [(side, f"{name}: {_count(record[side])}") for side, name in sides]
        rows = groups.setdefault(title, [])
        for side, label in sides[1 if rows else 0 :]:
            values = {"p50": p50s[side], "p99": s[f"{side}_p99_ms"], "p99.9": s[f"{side}_p99.9_ms"]}
            rows += [{"label": label, "series": name, "value": values[name]} for name in values]
            text = f"{p50s[side]:,.{0 if p50s[side] >= 100 else 1}f}"  # noqa: PLR2004
            rows[-1]["text"] = rows[-2]["text"] = rows[-3]["text"] = text
    return _dots(groups, "ms after the closing row; the number is p50")


def keys() -> alt.VConcatChart:
    """Draw windows in the time of keys, sessions and count windows."""
    groups: Groups = {}
    for record in _records("keys"):
        s, baseline = record["settings"], record["baseline"]
        if "keys in state" in s:
            if baseline.startswith("ours"):
                continue
            title = f"{s['windows']}, a state that grows"
            label = f"{s['keys in state'].replace(',', ' ')} keys in state"
        else:
            label = f"{_count(s['keys'])} keys, {_count(s['rows_per_batch'])} rows"
            title = f"windows of {s['windows']}" if s["windows"] == "20 rows" else s["windows"]
        theirs = baseline.partition(",")[0]
        if "Pandas" in baseline or "Python" in baseline:
            title, label, theirs = f"{title}, Spark in Python", f"{label}: {baseline}", "Spark"
        elif "," in baseline:
            label += f": {baseline.partition(', ')[2]}"
        if s.get("idle after") == "never":
            label += ", no idle timeout"
        if theirs == "groupBy(session_window)":
            theirs = "Spark"
        groups.setdefault(title, []).extend(_pair(record, label, theirs))
    return _dots(groups, "ms a batch")


def storm() -> alt.VConcatChart:
    """Draw the windows that a Python function is called with."""
    rows = []
    for record in _records("storm"):
        s = record["settings"]
        label = f"{s['windows']}, {_count(s['keys'])} keys, {_count(s['windows_per_batch'])} calls"
        rows += _pair(record, label, "Spark")
    return _dots({"": rows}, "ms a batch")


def engines() -> alt.VConcatChart:
    """Draw the throughput of whole engines."""
    groups: Groups = {}
    for record in _records("engines"):
        s = record["settings"]
        rows = groups.setdefault(f"{s['windows']}, {_count(s['keys'])} keys", [])
        if not rows:
            rows.append(_throughput("Eventtide", record["ours"]))
        rows.append(_throughput(record["baseline"].partition(" groupBy")[0], record["theirs"]))
    return _bars(groups, "million rows per second", legend=False)


def curves() -> alt.VConcatChart:
    """Draw what a batch takes while one thing grows."""
    panels = []
    for name in ("rows in a batch", "keys", "frames in a window", "keys with state", "substreams"):
        rows = []
        for record in _records("curves"):
            if name not in record["settings"]:
                continue
            x = int(record["settings"][name].replace(",", ""))
            rows.append({"x": x, "series": "Eventtide", "value": record["ours"]})
            if record["baseline"] == "groupBy(window)":
                rows.append({"x": x, "series": "groupBy(window)", "value": record["theirs"]})
        panels.append(_lines(rows, name, "ms a batch", size=(200, 130), log=True))
    pairs = [alt.hconcat(*panels[i : i + 2], spacing=30) for i in range(0, len(panels), 2)]
    return alt.vconcat(*pairs, spacing=20)


def cores() -> alt.VConcatChart:
    """Draw one task, two tasks and two executors."""
    series = {
        "1 task at a time": "one task at a time",
        "2 tasks at a time": "Eventtide",
        "2 executors, a task each": "Eventtide, two executors",
    }
    groups: Groups = {}
    for record in _records("cores"):
        s = record["settings"]
        title = f"{s['windows']}, {_count(s['keys'])} keys, {_count(s['rows_per_batch'])} rows"
        row = {"label": s["on"], "series": series[s["on"]], "value": record["ours"]}
        groups.setdefault(title, []).append(row | {"text": f"{record['ours']:,.0f}"})
    return _bars(groups, "ms a batch", legend=False)


def memory() -> alt.VConcatChart:
    """Draw the memory of a million keys."""
    groups: Groups = {}
    for record in _records("memory"):
        rows = groups.setdefault(
            f"{record['settings']['windows']}, {record['settings']['memory']}", []
        )
        for series, value in (("Eventtide", record["ours"]), ("groupBy(window)", record["theirs"])):
            text = f"{value:,.0f}"
            rows.append({"label": series, "series": series, "value": value, "text": text})
    return _bars(groups, "MiB", legend=False)


def soak() -> alt.VConcatChart:
    """Draw an hour at a steady rate."""
    times, sizes = [], []
    names = {
        "live_heap_MiB": "live heap",
        "beyond_heap_MiB": "beyond the heap",
        "checkpoint_MiB": "checkpoint",
    }
    for record in _records("soak"):
        s = record["settings"]
        x = int(s["until"].partition(" ")[0])
        times.append({"x": x, "series": "Eventtide", "value": record["ours"]})
        times.append({"x": x, "series": "p99", "value": s["p99_ms"]})
        sizes += [{"x": x, "series": names[n], "value": s[n]} for n in names]
    chart: alt.VConcatChart = alt.vconcat(
        _lines(times, "minutes", "ms a batch: median and p99", size=(480, 120), log=False),
        _lines(sizes, "minutes", "MiB", size=(480, 120), log=False),
        spacing=20,
    ).resolve_scale(color="independent")
    return chart


def profile() -> alt.VConcatChart:
    """Draw what the tasks of a batch spend their time on."""
    groups: Groups = {}
    for name, series in (("profile_before", "Eventtide, before"), ("profile", "Eventtide")):
        for record in _records(name):
            s = record["settings"]
            title = f"{_count(s['keys'])} keys, {_count(s['rows_per_batch'])} rows a batch"
            rows = groups.setdefault(title, [])
            rows.append({"label": s["part"], "series": series, "value": record["ours"]})
            if name == "profile":
                theirs = {"series": "groupBy(window)", "value": record["theirs"]}
                rows.append({"label": s["part"], **theirs})
    return _dots(groups, "ms of tasks in a batch")


def state() -> alt.VConcatChart:
    """Draw `et.window` with a larger state beside a smaller one."""
    rows = []
    for record in _records("state"):
        label = f"{record['settings']['state']} / {record['baseline']}"
        rows += _pair(record, label, "smaller state")
    return _dots({"": rows}, "ms a batch", log=False)


def watermark() -> alt.VConcatChart:
    """Draw `et.with_watermark` beside Spark's."""
    rows = []
    for record in _records("watermark"):
        substreams = record["settings"]["substreams"]
        label = f"{record['settings']['query']}: {substreams} substream"
        label = label.replace("1000 by an int column substream", "1 000 by int")
        label = label.replace("1000 by a string column substream", "1 000 by string")
        rows += _pair(record, label, "Spark", 1e-6)
    return _dots({"": rows}, "million rows per second", log=False)


def policies() -> alt.VConcatChart:
    """Draw what a policy takes for an event."""
    bare: list[Row] = []
    over: list[Row] = []
    for record in _records("policies"):
        s, ours = record["settings"], record["ours"]
        label, baseline = s["policy"], record["baseline"]
        if s.get("read") == "after every event" and baseline == "running maximum":
            bare += [row | {"text": ""} for row in _pair(record, label, "running maximum")]
        elif s.get("substreams") == 1000 and s["order"] == "in turn":  # noqa: PLR2004
            by_batch = str(s["told"]).startswith("by batches")
            series = "Eventtide" if by_batch else "Eventtide, row by row"
            over.append({"label": label, "series": series, "value": ours})
            if by_batch:
                over.append({"label": label, "series": "Jet", "value": record["theirs"]})
    groups = {"one policy, read after every event": bare, "1 000 substreams": over}
    return _dots(groups, "ns for each event")


CHARTS: dict[str, Callable[[], Any]] = {
    "readme": readme,
    "windows": windows,
    "latency": latency,
    "keys": keys,
    "storm": storm,
    "engines": engines,
    "curves": curves,
    "cores": cores,
    "memory": memory,
    "soak": soak,
    "profile": profile,
    "state": state,
    "watermark": watermark,
    "policies": policies,
}


def _records(name: str) -> list[Record]:
    records: list[Record] = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
    return records


def _pair(record: Record, label: str, theirs: str, scale: float = 1) -> list[Row]:
    """Return the two dots of a record, with the ratio beside the right one."""
    text = f"{record['ratio']:.1f} x" if record["ratio"] < 10 else f"{record['ratio']:.0f} x"  # noqa: PLR2004
    return [
        {"label": label, "series": "Eventtide", "value": record["ours"] * scale, "text": text},
        {"label": label, "series": theirs, "value": record["theirs"] * scale, "text": text},
    ]


def _throughput(engine: str, rows: float) -> Row:
    value = rows / 1e6
    text = f"{value:.1f}" if value >= 1 else f"{value:.2f}"
    return {"label": engine, "series": engine, "value": value, "text": text}


def _count(number: float) -> str:
    return f"{number:,.0f}".replace(",", " ").replace(" 000 000", " M")


def _dots(groups: Groups, unit: str, *, log: bool = True) -> alt.VConcatChart:
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
            format="~s" if log else ",",
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


def _bars(groups: Groups, unit: str, *, legend: bool) -> alt.VConcatChart:
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


def _lines(
    rows: list[Row], x_title: str, y_title: str, *, size: tuple[int, int], log: bool
) -> alt.LayerChart:
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


def _svg(chart: Any) -> str:  # noqa: ANN401 - any of altair's
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
