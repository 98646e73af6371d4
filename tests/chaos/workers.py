"""Several warm workers at once, each with a trial of its own."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import Queue
from typing import TYPE_CHECKING, TypeVar

from tests.chaos.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

T = TypeVar("T")
R = TypeVar("R")


class Workers:
    """A number of workers, and a folder for what they write."""

    def __init__(self, folder: Path, workers: list[Worker]) -> None:
        self.folder, self._number, self._free = folder, len(workers), Queue[Worker]()
        for worker in workers:
            self._free.put(worker)

    @contextmanager
    def one(self) -> Iterator[Worker]:
        """Lend a worker."""
        worker = self._free.get()
        worker.refresh()
        try:
            yield worker
        finally:
            self._free.put(worker)

    def each(self, do: Callable[[Worker, T], R], cases: Iterable[T]) -> list[R]:
        """Return what comes of each case, by as many workers as there are."""

        def one(case: T) -> R:
            with self.one() as worker:
                return do(worker, case)

        with ThreadPoolExecutor(self._number) as pool:
            return list(pool.map(one, cases))


@contextmanager
def workers(number: int) -> Iterator[Workers]:
    """Start `number` workers, and end them with the block."""
    with ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(
            prefix="eventtide-chaos-", ignore_cleanup_errors=True
        )
        folder = Path(stack.enter_context(temporary))
        logs = [folder / f"log-{n}" for n in range(number)]
        yield Workers(folder, [stack.enter_context(Worker(log)) for log in logs])
