"""The page: charts with embedded data and scripts, which opens without a network."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

import vl_convert
from altair import SCHEMA_VERSION

from examples.flights import charts, table
from examples.flights.data import BANDS, NEW_YORK
from examples.flights.settings import BY_AIRPORT, BY_BAND

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from examples.flights.data import Flights
    from examples.flights.lull import Moment, Side
    from examples.flights.measure import Measured
    from examples.flights.repair import Repaired
    from examples.flights.trace import Trace

__all__ = ["Shown", "write"]


@dataclass(frozen=True)
class Shown:
    """The content of the page.

    Attributes
    ----------
    flights : Flights
        The replayed flights.
    traces, hourly : sequence of Trace, of Measured
        The counts by hour: their history and their quality.
    sliding, repaired : sequence of Measured, Repaired
        The sliding windows, eventtide's last, and the corrections from its late log.
    moments : sequence of Moment
        The lull.
    """

    flights: Flights
    traces: Sequence[Trace]
    hourly: Sequence[Measured]
    sliding: Sequence[Measured]
    repaired: Repaired
    moments: Sequence[Moment]


def write(out: Path, shown: Shown) -> Path:
    """Write ``index.html`` into a folder and return its path."""
    flights, traces, measured = shown.flights, shown.traces, shown.hourly
    specs = {
        "frontier": charts.frontier(measured),
        "watermarks": charts.watermarks(traces, flights),
        "bands": charts.late_by_band(measured, flights),
        "hours": charts.late_by_hour(measured, flights),
        "tops": charts.tops(traces, flights),
    }
    page = Template(files("examples.flights").joinpath("page.html").read_text(encoding="utf-8"))
    text = page.substitute(
        script=_scripts().replace("</script", "<\\/script"),
        specs=json.dumps({name: chart.to_dict() for name, chart in specs.items()}),
        tiles="".join(map(_tile, _tiles(measured))),
        results=_results(measured),
        sliding=_sliding(shown.sliding, shown.repaired),
        books=table.books(shown.sliding[-1], shown.repaired),
        lull=_lull(shown.moments),
        **_words(flights, measured),
    )
    path = out / "index.html"
    path.write_text(text, encoding="utf-8")
    return path


def _scripts() -> str:
    """Return vega, vega-lite and vega-embed as one script, in the version that Altair writes."""
    version = SCHEMA_VERSION.rpartition(".")[0]
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=version)


def _words(flights: Flights, measured: Sequence[Measured]) -> dict[str, str]:
    first, last = (moment.astimezone(NEW_YORK) for moment in (flights.first, flights.last))
    stock = [m for m in measured if not m.setting.is_ours]
    ours = [m for m in measured if m.setting.is_ours]
    worst, best = stock[0], _baseline(measured)
    far = [r for r in flights.measured() if r.band == _FAR]
    lost = [r for r in worst.late if r.band == _FAR]
    return {
        "rows": f"{worst.rows_in:,}",
        "days": f"{first:%A %d} to {last:%A %d %B %Y}",
        "worst": worst.setting.name,
        "far_lost": f"{len(lost) / max(len(far), 1):.0%}",
        "rare": _rare(ours),
        "night": _night(ours),
        "hindsight": _hindsight(worst, best),
        "airport": _airport(measured),
        "ours_late": _span(f"{m.late_share:.2%}" for m in ours),
        "ours_p90": _span(str(m.delay(0.9)) for m in ours),
    }


def _night(ours: Sequence[Measured]) -> str:
    """Return the sentence on the chart's lines with a lull, if it has one."""
    if not any("lull" in one.setting.name for one in ours):
        return "The demo without --quick also has policies that advance with the clock in a lull."
    return "With a lull, Eventtide's watermark advances with the clock."


def _hindsight(worst: Measured, best: Measured) -> str:
    """Return the sentence on the cost of stock Spark's best delay, if there are several delays."""
    if worst is best:
        return (
            "The demo without --quick also has longer delays of stock Spark. They lose fewer rows,"
            " and every result waits longer."
        )
    return (
        "With stock Spark, fewer late rows cost a longer wait. The best delay is"
        f" {best.setting.name}, but only hindsight finds it: {best.late_share:.2%} of the rows are"
        f" late, and nine tenths wait up to {best.delay(0.9)} hours."
    )


def _airport(measured: Sequence[Measured]) -> str:
    """Return the sentence that compares a watermark per airport with a watermark per band."""
    of = {m.setting.name: m for m in measured}
    if BY_AIRPORT.name not in of:
        return "The demo without --quick has the numbers."
    band, airport = of[BY_BAND.name], of[BY_AIRPORT.name]
    return (
        f"Half of all rows are in a result {airport.delay(0.5)} hours after the end of their hour,"
        f" instead of {band.delay(0.5)}; nine tenths after {airport.delay(0.9)} hours, instead of"
        f" {band.delay(0.9)}. {airport.late_share:.2%} are late, instead of {band.late_share:.2%}."
    )


def _rare(ours: Sequence[Measured]) -> str:
    """Return the number of eventtide's late rows that are from the rarest band, as text."""
    late = [report for m in ours for report in m.late]
    rare = sum(report.band == BANDS[-1] for report in late)
    return f"{rare} of the {len(late)}" if late else "none of the 0"


_FAR = "2000-3000 mi"


def _baseline(measured: Sequence[Measured]) -> Measured:
    """Return the stock setting nearest to ours in completeness: the best choice in hindsight."""
    ours = [m.late_share for m in measured if m.setting.is_ours]
    stock = (m for m in measured if not m.setting.is_ours)
    return min(stock, key=lambda m: abs(m.late_share - sum(ours) / len(ours)))


def _span(values: Iterable[str]) -> str:
    ordered = sorted(set(values), key=lambda text: float(text.rstrip("%")))
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]} to {ordered[-1]}"


def _tiles(measured: Sequence[Measured]) -> list[tuple[str, str, str]]:
    worst, baseline = measured[0], _baseline(measured)
    ours = min((m for m in measured if m.setting.is_ours), key=lambda m: m.delay(0.9))
    return [
        ("stock", f"{worst.late_share:.1%}", f"lost by stock Spark at {worst.setting.name}"),
        (
            "stock",
            f"{baseline.delay(0.9)} h",
            f"p90 wait of stock Spark at {baseline.setting.name}",
        ),
        ("ours", f"{ours.late_share:.2%}", f"late with Eventtide, {ours.setting.name}"),
        ("ours", f"{ours.delay(0.9)} h", "its p90 wait for a result"),
    ]


def _tile(tile: tuple[str, str, str]) -> str:
    kind, number, text = tile
    return f'<div class="tile {kind}"><b>{escape(number)}</b><span>{escape(text)}</span></div>'


def _results(measured: Sequence[Measured]) -> str:
    return "".join(
        _row(
            "ours" if m.setting.is_ours else "",
            f"{m.setting.side}, {m.setting.name}",
            f"{m.rows_in:,}",
            f"{m.rows_out:,}",
            f"{len(m.late):,}",
            f"{m.late_share:.2%}",
            *(f"{m.delay(share)} h" for share in (0.5, 0.9, 0.99)),
            f"{m.windows_wrong:,} of {m.windows:,}",
        )
        for m in measured
    )


def _sliding(measured: Sequence[Measured], repaired: Repaired) -> str:
    return "".join(
        _row(
            "ours" if m.setting.keeps_late_rows else "",
            f"{m.setting.side}, {m.setting.name}",
            f"{m.rows_in:,}",
            f"{len(m.late):,}",
            f"{len(m.late):,}" if m.setting.keeps_late_rows else "",
            *(f"{m.delay(share)} h" for share in (0.5, 0.9, 0.99)),
            f"{m.windows_wrong:,} of {m.windows:,}",
            f"{repaired.windows_wrong:,}" if m.setting.keeps_late_rows else "",
        )
        for m in measured
    )


def _lull(moments: Sequence[Moment]) -> str:
    return "".join(
        _row("", f"{m.clock:%H:%M}", str(m.rows or ""), *_side(m.stock), *_side(m.ours))
        for m in moments
    )


def _side(side: Side) -> tuple[str, str]:
    out = ", ".join(f"{start:%H:%M} window: {rows} rows" for start, rows in side.out)
    return (f"{side.watermark:%H:%M}" if side.watermark else "", out)


def _row(kind: str, *cells: str) -> str:
    return f'<tr class="{kind}">' + "".join(f"<td>{escape(c)}</td>" for c in cells) + "</tr>"
