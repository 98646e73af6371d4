"""What Spark's JVM takes of the processor and of memory, where the system tells it."""

from __future__ import annotations

import math
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from subprocess import TimeoutExpired
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from process_group import process_usage
from pyspark import SparkContext

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

P = ParamSpec("P")
T = TypeVar("T")

# All of the heap is there from the start, so that what is resident beyond it lies elsewhere.
WHOLE_HEAP = "-Xms4g -XX:+AlwaysPreTouch"

PATIENCE = 30  # seconds, for the end of a JVM
PAUSE = 2.0  # seconds between two looks at the memory, each of which collects garbage


@dataclass
class Memory:
    """Bytes.

    Attributes
    ----------
    heap : int
        What is alive in it.
    off_heap : int
        The resident memory of the process beyond the heap, with `WHOLE_HEAP`.
    """

    heap: int = 0
    off_heap: int = 0


def cpu_seconds() -> float:
    """Return the CPU time so far."""
    return process_usage(_pid()).cpu_seconds if Path("/proc").exists() else math.nan


def driver_cpu_seconds() -> float:
    """Return the CPU time so far of the threads that run queries, without that of their tasks."""
    bean = _java().management.ManagementFactory.getThreadMXBean()
    threads = [
        each.getThreadId()
        for each in bean.dumpAllThreads(False, False)  # noqa: FBT003 - locks of neither kind
        if each.getThreadName().startswith("stream execution thread")
    ]
    return sum(int(bean.getThreadCpuTime(thread)) for thread in threads) / 1e9


def memory() -> Memory:
    """Return what is held now, as far as garbage can be collected."""
    java = _java()
    java.System.gc()
    management = java.management.ManagementFactory
    # What a collection left: there may be hundreds of megabytes of garbage until one has asked. And
    # none is made while native code compresses an array, so then it is what the one before left.
    pools = [pool.getCollectionUsage() for pool in management.getMemoryPoolMXBeans()]
    alive = sum(int(usage.getUsed()) for usage in pools if usage is not None)
    committed = int(management.getMemoryMXBean().getHeapMemoryUsage().getCommitted())
    return Memory(alive, process_usage(_pid()).resident_bytes - committed)


@contextmanager
def peak_memory() -> Iterator[Memory]:
    """Look at the memory from time to time; what is yielded ends as the most of each."""
    most, done = Memory(), threading.Event()

    def watch() -> None:
        while not done.wait(PAUSE):
            now = memory()
            most.heap = max(most.heap, now.heap)
            most.off_heap = max(most.off_heap, now.off_heap)

    with ThreadPoolExecutor(1) as watcher:
        watching = watcher.submit(watch)
        try:
            yield most
        finally:
            done.set()
        watching.result()  # raises what went wrong


def alone(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do some work in a new process, and so in a JVM of its own, which has ended after it."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        return processes.submit(_and_end, partial(work, *args, **kwargs)).result()


def _and_end(work: Callable[[], T]) -> T:
    try:
        return work()
    finally:
        gateway: Any = SparkContext._gateway  # noqa: SLF001 - nothing else has the process
        if gateway is not None:
            gateway.shutdown()
            gateway.proc.stdin.close()
            try:
                gateway.proc.wait(PATIENCE)
            except TimeoutExpired:  # RocksDB can keep a JVM from its end while it writes files
                gateway.proc.kill()


def _pid() -> int:
    return int(_java().ProcessHandle.current().pid())


def _java() -> Any:  # noqa: ANN401 - py4j's
    context: Any = SparkContext._active_spark_context  # noqa: SLF001 - so is the JVM behind it
    return context._jvm.java.lang  # noqa: SLF001
