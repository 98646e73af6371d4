"""The commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer
from rich.console import Console

import eventtide as et
from eventtide import _jvm
from eventtide._version import SUPPORTED_SPARK, __version__
from eventtide.cli import _doctor as said
from eventtide.cli._lab import lab
from eventtide.cli._plans import check_name, load_plan
from eventtide.cli._recorded import Format, read, times
from eventtide.cli._session import Conf, session

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Inspects and maintains the checkpoints of Spark queries with an Eventtide watermark, and"
    " tries policies on recorded rows.",
)

_Checkpoint = Annotated[
    str, typer.Argument(help="The query's checkpointLocation: a path or a URI that Spark can read.")
]
_LateTo = Annotated[
    list[str] | None,
    typer.Option(
        help="The folder outside the checkpoint that the query's late_to names: without it nothing"
        " is removed there.",
    ),
]


def _show_version(asked: bool) -> None:  # noqa: FBT001 - typer passes it by position
    if asked:
        minors = ", ".join(SUPPORTED_SPARK)
        typer.echo(f"eventtide {__version__}, for Spark {minors}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print the version, and exit."
        ),
    ] = False,
) -> None:
    """Take the options of no command."""


_WHOSE_WINDOWS = "--count-windows needs a --plan that is a window of et.window."


@app.command()
def doctor(
    checkpoint: _Checkpoint,
    plan: Annotated[
        str | None,
        typer.Option(
            callback=check_name,
            help="module:name of a DataFrame, a window, or a function of the session that returns"
            " one: checks whether it can continue from the checkpoint.",
        ),
    ] = None,
    *,
    count_windows: Annotated[
        bool,
        typer.Option(
            "--count-windows",
            help="Count the open windows of --plan, which reads all state.",
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the report as one JSON object, for a program.")
    ] = False,
    conf: Conf = None,
) -> None:
    """Report the contents of a checkpoint. It is read-only, and the query may be running.

    The exit code is 1 if a part cannot be read, or the plan cannot continue.
    """
    console = Console(stderr=as_json)  # the JSON is alone on the standard output
    if count_windows and plan is None:
        raise typer.BadParameter(_WHOSE_WINDOWS)
    with session(console, conf) as spark:
        wanted = None if plan is None else load_plan(plan, spark)
        if count_windows and not isinstance(wanted, et.WindowBuilder):
            raise typer.BadParameter(_WHOSE_WINDOWS)
        report = et.read_checkpoint(checkpoint, plan=wanted, spark=spark)
        count: int | str | None = None
        if count_windows and report.continues and report.committed >= 0:
            count = said.open_windows(cast("et.WindowBuilder", wanted), report, spark)
        if as_json:
            typer.echo(said.as_json(report, count))
        else:
            said.show(report, console, count)
    if report.problems or report.continues is False:
        raise typer.Exit(1)


@app.command()
def timeline(  # noqa: PLR0913 - options
    checkpoint: _Checkpoint,
    *,
    out: Annotated[
        Path, typer.Option("--out", help="The file to write: one page of HTML, without a network.")
    ] = Path("timeline.html"),
    rows: Annotated[
        list[str] | None,
        typer.Option(
            help="Files of rows of the query: the page draws 2 000 of them over the watermark."
        ),
    ] = None,
    event_time: Annotated[
        str | None, typer.Option(help="The column of --rows with the event time.")
    ] = None,
    arrival: Annotated[
        str | None, typer.Option(help="The column of --rows with the time of arrival.")
    ] = None,
    file_format: Format = None,
    conf: Conf = None,
) -> None:
    """Draw the last batches of a checkpoint: watermark, substreams, late rows, the lag curve.

    It is read-only, and the query may be running.
    """
    if rows and not (event_time and arrival):
        raise typer.BadParameter("--rows needs --event-time and --arrival.")
    if out.is_dir() or not out.parent.is_dir():
        problem = "is a folder" if out.is_dir() else "is in a folder that does not exist"
        raise typer.BadParameter(f"--out={str(out)!r} {problem}; name a file in a folder.")
    console = Console()
    with session(console, conf) as spark:
        drawn = None
        if rows and event_time and arrival:
            drawn = times(read(spark, rows, file_format), event_time, arrival)
        out.write_text(_jvm.timeline(spark, checkpoint, drawn), encoding="utf-8")
    console.print(
        f"Open {out.resolve()} in a browser.", soft_wrap=True, highlight=False, markup=False
    )


@app.command("clean-late")
def clean_late(
    checkpoint: _Checkpoint,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the files without removing them.")
    ] = False,
    late_to: _LateTo = None,
    conf: Conf = None,
) -> None:
    """Remove unreferenced late files of failed attempts.

    The exit code is 1, and nothing is removed, if a part of the late log is missing.
    """
    console = Console()
    with session(console, conf) as spark:
        files = et.clean_late(checkpoint, late_to=late_to or (), dry_run=dry_run, spark=spark)
    for file in files:
        console.print(file, soft_wrap=True, markup=False, highlight=False)
    done = "would be removed" if dry_run else "removed"
    what = "late file" if len(files) == 1 else "late files"
    console.print(f"{len(files)} {what} {done}.", highlight=False)


@app.command("compact-late")
def compact_late(checkpoint: _Checkpoint, *, late_to: _LateTo = None, conf: Conf = None) -> None:
    """Compact the late rows of old batches into few large files; the query may be running.

    The next run or clean-late removes replaced files, because a reader may still use them.
    """
    console = Console()
    with session(console, conf) as spark:
        done = et.compact_late(checkpoint, late_to=late_to or (), spark=spark)
    before, after = f"{done.files_before:,}", f"{done.files_after:,}"
    console.print(
        f"{before} late files of {done.batches:,} batches are {after} now.", highlight=False
    )


@app.command("forget-late-reader")
def forget_late_reader(
    checkpoint: _Checkpoint,
    reader: Annotated[str, typer.Argument(help="The id of a reader of late rows, from doctor.")],
    *,
    conf: Conf = None,
) -> None:
    """Remove a stream or a handler from the late log's readers, if it will not be restarted."""
    console = Console()
    with session(console, conf) as spark:
        et.forget_late_reader(checkpoint, reader, spark=spark)
    console.print("Late rows are no longer kept for that reader.", highlight=False)


@app.command()
def repartition(
    checkpoint: _Checkpoint,
    *,
    partitions: Annotated[
        int, typer.Option(min=1, help="The new number, about one per core of the executors.")
    ],
    conf: Conf = None,
) -> None:
    """Change the number of partitions of the state of et.window; the query must be stopped.

    The same query then continues from the checkpoint. If the command is killed, the checkpoint is
    either unchanged or complete.
    """
    console = Console()
    with session(console, conf) as spark:
        before = et.observe.repartition(checkpoint, partitions, spark=spark)
    done = f"The state has {partitions:,} partitions now, and had {before:,}."
    console.print(done, highlight=False)


app.command()(lab)
