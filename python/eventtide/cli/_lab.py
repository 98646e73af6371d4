"""The command `lab`: policies on files of recorded rows."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console

import eventtide as et
from eventtide.cli._recorded import Format, read
from eventtide.cli._session import Conf, session


def lab(  # noqa: PLR0913 - options
    files: Annotated[
        list[str], typer.Argument(help="Recorded rows: files or folders that Spark can read.")
    ],
    *,
    event_time: Annotated[str, typer.Option(help="The column with the event time.")],
    arrival: Annotated[str, typer.Option(help="The column with the time of arrival.")],
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="A policy in YAML, or its file: '{name: with_fixed_lag, lag: 5s}'; by default"
            " fixed lags.",
        ),
    ] = None,
    window: Annotated[
        list[str] | None,
        typer.Option(
            help="The size of a window, and after a comma the slide: '1h', or '1h,5m'; by default"
            " '1m'.",
        ),
    ] = None,
    key: Annotated[list[str] | None, typer.Option(help="A key column of the windows.")] = None,
    substream: Annotated[
        list[str] | None, typer.Option(help="A column that identifies substreams.")
    ] = None,
    substream_idle_timeout: Annotated[
        str | None, typer.Option(help="When a substream without rows is left out.")
    ] = None,
    every: Annotated[str, typer.Option(help="The time between two triggers.")] = "10s",
    file_format: Format = None,
    late: Annotated[
        str | None,
        typer.Option(help="Print only the code of the best policy for this share, such as '0.1%'."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the points as JSON.")] = False,
    conf: Conf = None,
) -> None:
    """Try policies on recorded rows: late rows, delay of results, state.

    A star marks the policies that no other one beats.
    """
    console = Console(stderr=as_json or late is not None)  # the answer alone on the standard output
    with session(console, conf) as spark:
        tried = et.lab(
            read(spark, files, file_format),
            event_time=event_time,
            arrival=arrival,
            policies=[et.policies.from_yaml(text) for text in policy] if policy else None,
            windows=[_window(text, key) for text in window or ["1m"]],
            substream=substream or None,
            substream_idle_timeout=substream_idle_timeout,
            every=every,
        )
        if late is not None:
            typer.echo(tried.choose(late=late).code)
        elif as_json:
            typer.echo(json.dumps([_plain(point) for point in tried.points]))
        else:
            console.print(str(tried), soft_wrap=True, markup=False, highlight=False)


def _window(text: str, keys: list[str] | None) -> et.WindowBuilder:
    size, _, slide = (part.strip() for part in text.partition(","))
    begun = et.window().key_by(*keys) if keys else et.window()
    return begun.sliding(size, every=slide) if slide else begun.tumbling(size)


def _plain(point: et.observe.LabPoint) -> dict[str, object]:
    delays = (point.delay_p50, point.delay_p90, point.delay_p99)
    names = ("delay_p50_s", "delay_p90_s", "delay_p99_s")
    return {
        "policy": repr(point.policy),
        "window": repr(point.window),
        "rows": point.rows,
        "late": point.late,
        "refused": point.refused,
        "windows": point.windows,
        **{
            name: None if of is None else of.total_seconds()
            for name, of in zip(names, delays, strict=True)
        },
        "open_at_end": point.open_at_end,
        "most_open": point.most_open,
        "most_aggregates": point.most_aggregates,
    }
