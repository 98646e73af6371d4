"""A driver in a process of its own that does what it is told, warm from one trial to the next.

It reads commands and answers, each a line of JSON; an answer begins with ``@``, as what Spark says
comes in between.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import TYPE_CHECKING, Any

from tests.chaos.session import ROOT, session
from tests.chaos.trial import Ended, Fault, Run, doctor
from tests.jvms import threads

if TYPE_CHECKING:
    from types import TracebackType
    from typing import IO

    from typing_extensions import Self

PATIENCE = 180.0  # seconds: far more than a session and a run of a few batches need, on any machine
SHOWN = 6000  # characters of threads
RUNS = 300  # of one JVM: Hadoop keeps what it knows of the storage of each
COMMAND = [sys.executable, "-m", "tests.chaos.worker"]


class TrialError(RuntimeError):
    """A worker does not answer, or is gone; the next command starts another."""


class Worker:
    """The caller's side. The process begins with the first command and ends with the block.

    Parameters
    ----------
    log : Path
        What the process says besides.
    patience : float
        How many seconds an answer may take.
    """

    def __init__(self, log: Path, patience: float = PATIENCE) -> None:
        self._log, self._patience = log, patience
        self._process: subprocess.Popen[str] | None = None
        self._answers = Queue[str | None]()
        self._runs = 0

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the process."""
        self._stop()

    def begin(self, folder: Path, kind: str, seed: int, fault: Fault) -> Ended | None:
        """Run until the fault has happened; how it ended, if it did before."""
        self._runs += 1
        said = self._ask(do="begin", folder=str(folder), kind=kind, seed=seed, fault=asdict(fault))
        return None if said is None else Ended(**said)

    def go(self) -> Ended:
        """Let a stalled run go on to its end."""
        return Ended(**self._ask(do="go"))

    def run(self, folder: Path, kind: str, seed: int, fault: Fault | None = None) -> Ended:
        """Run to the end, whatever the fault does."""
        self._runs += 1
        asked = asdict(fault or Fault())
        return Ended(**self._ask(do="run", folder=str(folder), kind=kind, seed=seed, fault=asked))

    def refresh(self) -> None:
        """Begin a new process, if this one has made many runs; between two trials."""
        if self._runs > RUNS:
            self._stop()

    def doctor(self, folder: Path) -> dict[str, Any]:
        """Return what eventtide says of a checkpoint."""
        said: dict[str, Any] = self._ask(do="doctor", folder=str(folder))
        return said

    def _ask(self, **command: Any) -> Any:
        process = self._process or self._start()
        try:
            with suppress(BrokenPipeError):  # the answer says so
                to = _pipe(process.stdin)
                to.write(json.dumps(command) + "\n")
                to.flush()
            answer = self._answers.get(timeout=self._patience)
        except Empty:
            shown = stuck(process.pid)
            self._stop()
            raise TrialError(f"hangs: {command}\n{shown}") from None
        if answer is None:
            self._stop()
            tail = self._log.read_text("utf-8", "replace")[-1000:]
            raise TrialError(f"the worker has ended: {command}\n{tail}")
        return json.loads(answer)

    def _start(self) -> subprocess.Popen[str]:
        with self._log.open("ab") as log:
            process = subprocess.Popen(  # noqa: S603 - our own module
                COMMAND,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=os.environ | {"PYTHONPATH": str(ROOT), "TZ": "UTC"},
                cwd=ROOT,
                text=True,
                start_new_session=True,  # so that its JVM ends with it
            )
        self._process, self._answers = process, Queue()
        Thread(target=_listen, args=(process, self._answers), daemon=True).start()
        return process

    def _stop(self) -> None:
        process, self._process = self._process, None
        self._runs = 0
        if process is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            with suppress(BrokenPipeError):
                _pipe(process.stdin).close()


def _listen(process: subprocess.Popen[str], answers: Queue[str | None]) -> None:
    """Hand on what the process answers, and None when it is gone."""
    with _pipe(process.stdout) as lines:
        for line in lines:
            if line.startswith("@"):
                answers.put(line[1:])
    answers.put(None)


def _pipe(pipe: IO[str] | None) -> IO[str]:
    if pipe is None:
        raise TrialError("the worker has no pipes")
    return pipe


def stuck(process: int) -> str:
    """Return the threads of the queries of all JVMs below a process, to say what it waits for."""
    stacks = (stack for _, shown in threads(process) for stack in shown.split("\n\n"))
    ours = (stack for stack in stacks if "eventtide" in stack or "stream execution" in stack)
    return "\n\n".join("\n".join(stack.splitlines()[:25]) for stack in ours)[:SHOWN]


def main() -> None:
    """Do what each line says."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what Spark prints is no answer
    spark, run = session(), None
    for line in sys.stdin:
        command = json.loads(line)
        answer: Any = None
        if command["do"] in {"begin", "run"}:
            folder, fault = Path(command["folder"]), Fault(**command["fault"])
            run = Run(spark, folder, command["kind"], command["seed"], fault)
            run.start()
            if command["do"] == "run":
                answer = run.finish().as_dict()
            elif run.wait(until_reached=True):
                answer = run.end().as_dict()
        elif command["do"] == "go" and run is not None:
            run.files.release()
            answer = run.end().as_dict()
        elif command["do"] == "doctor":
            answer = doctor(spark, Path(command["folder"]))
        answers.write(f"@{json.dumps(answer)}\n")
        answers.flush()


if __name__ == "__main__":
    main()
