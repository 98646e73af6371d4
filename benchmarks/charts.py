"""The charts of docs/explanation/benchmarks.md, out of benchmarks/results, as SVG."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import altair as alt
from drawing import bars, dots, lines, svg

if TYPE_CHECKING:
    from collections.abc import Callable

    from drawing import Groups, Row

Record: TypeAlias = dict[str, Any]

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"

_LARGE = 20  # million rows in the largest micro-batch


def all_charts() -> dict[str, str]:
    """Return every picture, by the name of its file."""
    return {f"bench-{name}.svg": svg(chart()) for name, chart in CHARTS.items()}


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
    return bars({"": rows}, "times as fast as groupBy(window)", legend=False)


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
    return dots(groups, "ms a batch")


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
    return dots(groups, "ms after the closing row; the number is p50")


def load() -> alt.VConcatChart:
    """Draw the rate that engines hold from Kafka to Kafka."""
    records = _records("load")
    rows = [_throughput("Eventtide", records[0]["ours"])]
    rows += [_throughput(of["baseline"].partition(",")[0], of["theirs"]) for of in records]
    return bars({"": rows}, "million rows per second", legend=False)


def floor() -> alt.VConcatChart:
    """Draw a small batch beside one of Spark's, as it comes and with the same settings."""
    groups: Groups = {}
    for record in _records("floor"):
        partitions = record["settings"]["shuffle_partitions"]
        title = f"{partitions} shuffle partition" + "s" * (partitions > 1)
        settings = record["baseline"].partition(", ")[2]
        groups.setdefault(title, []).extend(_pair(record, settings, "Spark"))
    return dots(groups, "ms a batch", log=False)


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
    return dots(groups, "ms a batch")


def storm() -> alt.VConcatChart:
    """Draw the windows that a Python function is called with."""
    rows = []
    for record in _records("storm"):
        s = record["settings"]
        label = f"{s['windows']}, {_count(s['keys'])} keys, {_count(s['windows_per_batch'])} calls"
        rows += _pair(record, label, "Spark")
    return dots({"": rows}, "ms a batch")


def engines() -> alt.VConcatChart:
    """Draw the throughput of whole engines."""
    groups: Groups = {}
    for record in _records("engines"):
        s = record["settings"]
        rows = groups.setdefault(f"{s['windows']}, {_count(s['keys'])} keys", [])
        if not rows:
            rows.append(_throughput("Eventtide", record["ours"]))
        millions = s["rows_per_batch"] / 1e6
        if millions == _LARGE:
            rows.append(_throughput(record["baseline"].partition(" groupBy")[0], record["theirs"]))
        elif record["baseline"] == "Jet":
            rows.insert(-1, _throughput(f"Eventtide, {millions:g} M a batch", record["ours"]))
    return bars(groups, "million rows per second", legend=False)


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
        panels.append(lines(rows, name, "ms a batch", size=(200, 130), log=True))
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
    return bars(groups, "ms a batch", legend=False)


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
    return bars(groups, "MiB", legend=False)


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
        lines(times, "minutes", "ms a batch: median and p99", size=(480, 120), log=False),
        lines(sizes, "minutes", "MiB", size=(480, 120), log=False),
        spacing=20,
    ).resolve_scale(color="independent")
    return chart


def profile() -> alt.VConcatChart:
    """Draw what the tasks of a batch spend their time on."""
    groups: Groups = {}
    for record in _records("profile"):
        s = record["settings"]
        title = f"{_count(s['keys'])} keys, {_count(s['rows_per_batch'])} rows a batch"
        rows = groups.setdefault(title, [])
        for series, value in (("Eventtide", record["ours"]), ("groupBy(window)", record["theirs"])):
            rows.append({"label": s["part"], "series": series, "value": value})
    return dots(groups, "ms of tasks in a batch")


def state() -> alt.VConcatChart:
    """Draw `et.window` with a larger state beside a smaller one."""
    rows = []
    for record in _records("state"):
        label = f"{record['settings']['state']} / {record['baseline']}"
        rows += _pair(record, label, "smaller state")
    return dots({"": rows}, "ms a batch", log=False)


def large_state() -> alt.VConcatChart:
    """Draw the size of the state of millions of keys, and a restart."""
    groups: Groups = {}
    for record in _records("large_state"):
        s, unit = record["settings"], record["unit"]
        scale, shown = (0.001, "s") if unit == "ms" else (1, unit)
        rows = groups.setdefault(s["windows"], [])
        rows += _pair(record, f"{s['measure']}, {shown}", record["baseline"], scale)
    return dots(groups, "MiB or seconds")


def watermark() -> alt.VConcatChart:
    """Draw `et.with_watermark` beside Spark's."""
    rows = []
    for record in _records("watermark"):
        substreams = record["settings"]["substreams"]
        label = f"{record['settings']['query']}: {substreams} substream"
        label = label.replace("1000 by an int column substream", "1 000 by int")
        label = label.replace("1000 by a string column substream", "1 000 by string")
        rows += _pair(record, label, "Spark", 1e-6)
    return dots({"": rows}, "million rows per second", log=False)


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
    return dots(groups, "ns for each event")


def targets() -> alt.VConcatChart:
    """Draw the share of late rows of each rule, as a multiple of the target."""
    series = {
        "policy, forever": "budget forever",
        "last 4096 rows": "last 4096 rows",
        "fixed by the first tenth": "fixed by the first tenth",
    }
    groups: Groups = {}
    for record in _records("targets"):
        s = record["settings"]
        rows = groups.setdefault(f"target {s['target']}", [])
        label = s["stream"].removeprefix("made: ").removesuffix(", 2013")
        if record["baseline"] == "best fixed lag":
            rows.append({"label": label, "series": "Eventtide", "value": record["ours"]})
        else:
            name = series[record["baseline"]]
            rows.append({"label": label, "series": name, "value": record["theirs"]})
    return dots(groups, "late rows / target")


def shares() -> alt.LayerChart:
    """Draw the shares of rows that came, beside those that were expected, on flights."""
    names = {"0s": "no lag", "1h": "lag 1h", "4h": "lag 4h"}
    rows: list[Row] = []
    for record in _records("shares"):
        s = record["settings"]
        if s["stream"] != "flights of New York, 2013":
            continue
        for step in s["by expected share"].split("; "):
            expected, came = (float(part.rstrip("%")) for part in step.split())
            rows.append({"x": expected, "series": names[s["lag"]], "value": came})
    lowest = min(row["x"] for row in rows)
    rows += [{"x": x, "series": "as expected", "value": x} for x in (lowest, 100)]
    return lines(rows, "expected share, %", "rows in, %", size=(430, 220), log=False)


CHARTS: dict[str, Callable[[], Any]] = {
    "readme": readme,
    "windows": windows,
    "latency": latency,
    "load": load,
    "floor": floor,
    "keys": keys,
    "storm": storm,
    "engines": engines,
    "curves": curves,
    "cores": cores,
    "memory": memory,
    "soak": soak,
    "profile": profile,
    "state": state,
    "large_state": large_state,
    "watermark": watermark,
    "policies": policies,
    "targets": targets,
    "shares": shares,
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
