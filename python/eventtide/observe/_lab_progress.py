"""A bar for the tasks of Spark's jobs, while a function waits for them."""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from eventtide._session_kind import is_connect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyspark.sql import SparkSession

    _Advance = Callable[[int, int], None]

__all__ = ["shown_progress"]

_LOOK = 0.2  # seconds between two looks
_OF_GROUP = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")


@contextmanager
def shown_progress(session: SparkSession, *, show: bool) -> Iterator[None]:
    """Show how many tasks of the jobs of this block are done, if Rich is installed."""
    bar = _bar() if show else None
    if bar is None:
        yield
        return
    with bar:
        task = bar.add_task("replaying", total=None)

        def advance(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total or None)

        follow = _of_connect if is_connect(session) else _of_group
        with follow(session, advance):
            yield


def _bar() -> Any:  # noqa: ANN401 - a class of Rich
    with suppress(ImportError):
        from rich.console import Console  # noqa: PLC0415 - optional
        from rich.progress import Progress  # noqa: PLC0415 - optional

        console = Console(stderr=True)
        if console.is_terminal or console.is_jupyter:
            return Progress(transient=True, console=console)
    return None


@contextmanager
def _of_connect(session: SparkSession, advance: _Advance) -> Iterator[None]:
    def handler(stages: Iterable[Any] | None, **_: object) -> None:
        known = list(stages or ())
        advance(sum(one.num_completed_tasks for one in known), sum(one.num_tasks for one in known))

    session.registerProgressHandler(handler)  # type: ignore[arg-type] # called with keywords
    try:
        yield
    finally:
        session.removeProgressHandler(handler)  # type: ignore[arg-type] # as above


@contextmanager
def _of_group(session: SparkSession, advance: _Advance) -> Iterator[None]:
    context = session.sparkContext
    group, ended = f"eventtide-lab-{uuid4()}", threading.Event()
    status = context.statusTracker()

    def look() -> None:
        while not ended.wait(_LOOK):
            jobs = filter(None, map(status.getJobInfo, status.getJobIdsForGroup(group)))
            stages = {stage for job in jobs for stage in job.stageIds}
            infos = list(filter(None, map(status.getStageInfo, stages)))
            advance(sum(one.numCompletedTasks for one in infos), sum(one.numTasks for one in infos))

    before = {name: context.getLocalProperty(name) for name in _OF_GROUP}
    context.setJobGroup(group, "eventtide lab")
    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    try:
        yield
    finally:
        ended.set()
        looking.join()
        for name, value in before.items():
            context.setLocalProperty(name, value)  # type: ignore[arg-type] # None removes it
