"""Which lag? The curve of a query, and a lab over the same flights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import eventtide as et
from eventtide import WatermarkPolicies
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from examples.flights.data import HOUR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eventtide.observe import Lab, LagCurve
    from pyspark.sql import DataFrame
    from rich.console import Console

    from examples.flights.trace import Trace

__all__ = ["Foresight", "foresight", "show"]

_WANTED = "0.1%"
_LAGS = ("1h", "2h", "3h", "4h", "6h", "8h", "12h")


_LAG_TEXT = (
    "\n[bold]Which lag?[/bold] Each Eventtide query counts how far its rows are behind, so it knows"
    " what every lag would have cost. This one has a watermark for each distance band:"
)

_LAB_TEXT = (
    "[bold]Which policy?[/bold] The lab replays the same flights under other policies, with one"
    " watermark for all flights, and with one for each band. A star marks the policies that no"
    " other one beats; with_late_target learns its lag."
)


@dataclass(frozen=True)
class Foresight:
    """What a query knows of every lag, and what policies would have done.

    Attributes
    ----------
    curve : LagCurve
        The rows that each lag would have cost the query.
    advice : str
        The lag for the wanted share of late rows, in a sentence.
    one, by_band : Lab
        The policies with one watermark for all flights, and with one for each distance band.
    """

    curve: LagCurve
    advice: str
    one: Lab
    by_band: Lab

    def __str__(self) -> str:
        """Return the curve and the lag for the wanted share."""
        return f"{self.curve}\n{self.advice}\n"

    @property
    def labs(self) -> str:
        """The points of both labs."""
        return f"one watermark for all flights\n{self.one}\none for each band\n{self.by_band}\n"


def foresight(trace: Trace, reports: DataFrame) -> Foresight:
    """Read the curve of a query of the replay, and try policies on the same flights."""
    spark, checkpoint = reports.sparkSession, str(trace.checkpoint)
    # A trigger reads what has arrived before it: the reports of the hour that has just ended.
    recorded = reports.withColumn("landed", F.col("hour") - F.expr("interval 1 second"))
    target = WatermarkPolicies.with_late_target(_WANTED, max_lag="12h")
    policies = [*map(WatermarkPolicies.with_fixed_lag, _LAGS), target]

    def lab(substream: str | None) -> Lab:
        return et.lab(
            recorded,
            event_time="ts",
            arrival="landed",
            policies=policies,
            windows=[et.window().key_by("dest").tumbling("1h")],
            substream=substream,
            substream_idle_timeout=None if substream is None else 3 * HOUR,
            every=HOUR,
            progress=False,
        )

    return Foresight(
        et.lag_curve(checkpoint, spark=spark),
        et.advise(checkpoint, late=_WANTED, spark=spark),
        lab(None),
        lab("band"),
    )


def show(console: Console, traces: Sequence[Trace], reports: DataFrame) -> None:
    """Print what the first query of the replay with eventtide windows knows, and the labs."""
    found = foresight(next(one for one in traces if one.setting.keeps_late_rows), reports)
    for text, tables in ((_LAG_TEXT, str(found)), (_LAB_TEXT, found.labs)):
        console.print(text)
        console.print(tables, markup=False, highlight=False, soft_wrap=True)
