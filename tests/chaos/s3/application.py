"""moto's S3 as a WSGI application, in which requests take long, fail, or end the client.

`gunicorn` serves it, in one process with threads. A step is an operation on a kind of object,
before or after it has its effect: `before PUT checkpoint/commits/N`. Access keys tell clients
apart: they are not checked. What is told to happen is a request to ``/-/``, with JSON.
"""

from __future__ import annotations

import io
import json
import os
import re
import signal
import socket
import struct
import time
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from threading import Event, Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from moto.core import DEFAULT_ACCOUNT_ID
from moto.moto_server.werkzeug_app import create_backend_app
from moto.s3.models import s3_backends

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

BUCKET = "chaos"
CHANGES = {"PUT", "POST", "DELETE"}
RELEASED_WITHIN = 120  # seconds, of a request that stalls
STANDS_FOR = [
    (re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "U"),
    (re.compile("(?<![0-9a-z])[0-9a-f]{12}(?![0-9a-z])"), "H"),
    (re.compile("-?[0-9]+"), "N"),
]
BUSY = b"<Error><Code>SlowDown</Code><Message>chaos: reduce your request rate</Message></Error>"


@dataclass
class Told:
    """What happens to the requests of one access key.

    Attributes
    ----------
    group : int
        The process group of the client, which is killed; 0 for none.
    after : int
        The earliest of its requests that change something at which it is killed; or which of the
        steps it is that waits. From 1.
    stall : str
        The step that waits, once, until it is released.
    steps : dict of str to int
        How often each step was made.
    reached : str
        The step at which what was told has happened.
    """

    group: int = 0
    after: int = 0
    stall: str = ""
    steps: dict[str, int] = field(default_factory=dict)
    reached: str = ""


class Store:
    """The application.

    Parameters
    ----------
    seed : int
        Of all that is by chance.
    latency : float
        Seconds that a request takes longer, on average.
    trouble : float
        The share of requests that are refused, and that of those whose connection is reset.
    """

    def __init__(self, seed: int, latency: float, trouble: float) -> None:
        self._backend: Any = create_backend_app("s3")
        self._random, self._latency, self._trouble = Random(seed), latency, trouble  # noqa: S311
        self._lock, self._one_by_one = Lock(), Lock()
        self._told: dict[str, Told] = {}
        self._killed: Counter[str] = Counter()
        self._happened: Counter[str] = Counter()
        self._released = Event()

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Answer a request."""
        if environ["PATH_INFO"].startswith("/-/"):
            return self._control(environ, start_response)
        body = environ["wsgi.input"].read()
        step, key = _step(environ), _key(environ)
        with self._lock:
            wait = self._random.expovariate(1 / self._latency) if self._latency else 0
            chance = self._random.random() / self._trouble if self._trouble else 9
        time.sleep(wait)
        self._pass(key, f"before {step}")
        if chance < 1:
            return self._went_wrong("refused", start_response)
        if chance < 1.5:
            return self._reset(environ, "reset before", start_response)
        answer = self._forward(environ, body)
        self._pass(key, f"after {step}")
        if chance < 2:
            return self._reset(environ, "reset after", start_response)
        status, headers, content = answer
        start_response(status, headers)
        return content

    def _forward(
        self, environ: dict[str, Any], body: bytes
    ) -> tuple[str, list[tuple[str, str]], list[bytes]]:
        """Let moto answer, one request after the other: it checks and writes in two steps."""
        answered: list[Any] = []
        environ["wsgi.input"] = io.BytesIO(body)
        with self._one_by_one:
            parts = self._backend(environ, lambda *about: answered.extend(about[:2]))
            content = list(parts)
            if hasattr(parts, "close"):
                parts.close()
        return answered[0], answered[1], content

    def _pass(self, key: str, step: str) -> None:
        """Count a step, and let happen what was told."""
        with self._lock:
            told = self._told.setdefault(key, Told())
            told.steps[step] = told.steps.get(step, 0) + 1
            stalls = step == told.stall and told.steps[step] == told.after
            kills = self._kills(told, step)
            if stalls or kills:
                told.reached = step
        if kills:
            with suppress(ProcessLookupError):
                os.killpg(told.group, signal.SIGKILL)
            raise ConnectionAbortedError(step)
        if stalls:
            self._released.wait(RELEASED_WITHIN)

    def _kills(self, told: Told, step: str) -> bool:
        """Choose by chance, the steps first that have killed least."""
        if not told.group or told.reached or step.split()[1] not in CHANGES:
            return False
        told.after -= 1
        if told.after > 0 or self._random.random() > max(0.02, 0.4 ** self._killed[step]):
            return False
        self._killed[step] += 1
        return True

    def _went_wrong(self, how: str, start_response: Callable[..., Any]) -> Iterable[bytes]:
        self._happened[how] += 1
        start_response("503 Slow Down", [("Content-Length", str(len(BUSY)))])
        return [BUSY]

    def _reset(
        self, environ: dict[str, Any], how: str, start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Close the connection without an answer."""
        client = environ["gunicorn.socket"]
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
        return self._went_wrong(how, start_response)

    def _control(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        asked = json.loads(environ["wsgi.input"].read())
        with self._lock:
            if "tell" in asked:
                self._told[asked["tell"]] = Told(**asked.get("what", {}))
            if "killed" in asked:
                self._killed.update(asked["killed"])
            told = self._told.get(asked.get("of", ""), Told())
        if asked.get("release"):
            self._released.set()
            self._released = Event()
        if "take" in asked:
            _take(asked["take"], Path(asked["to"]))
        said = json.dumps({**asdict(told), "happened": self._happened}).encode()
        start_response("200 OK", [("Content-Length", str(len(said)))])
        return [said]


def _step(environ: dict[str, Any]) -> str:
    """Return the operation of a request and the kind of its object."""
    method, query = environ["REQUEST_METHOD"], environ.get("QUERY_STRING", "")
    path = environ["PATH_INFO"]
    if method == "GET" and "list-type" in query:
        method, path = "LIST", unquote(query)
    elif method == "POST" and "delete" in query.split("&"):
        path = "checkpoint"
    elif "uploadId=" in query or "uploads" in query:
        path += "?upload"
    _, found, below = path.partition("checkpoint")
    kind = found + below.partition("&")[0]
    for pattern, stands in STANDS_FOR:
        kind = pattern.sub(stands, kind)
    return f"{method} {kind or 'bucket'}"


def _key(environ: dict[str, Any]) -> str:
    """Return the access key of a request."""
    found = re.search("Credential=([^/]*)/", environ.get("HTTP_AUTHORIZATION", ""))
    return found[1] if found else ""


def _take(prefix: str, to: Path) -> None:
    """Write the objects below a prefix into a folder, and delete them."""
    keys = s3_backends[DEFAULT_ACCOUNT_ID]["aws"].buckets[BUCKET].keys
    for name in [name for name in list(keys) if name.startswith(prefix)]:
        file = to / name.removeprefix(prefix)
        if not name.endswith("/"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(keys[name].value)
        del keys[name]


def application() -> Store:
    """Return the application that the environment describes."""
    told = os.environ
    store = Store(
        int(told["STORE_SEED"]), float(told["STORE_LATENCY"]), float(told["STORE_TROUBLE"])
    )
    s3_backends[DEFAULT_ACCOUNT_ID]["aws"].create_bucket(BUCKET, "us-east-1")
    return store
