"""The jar with a policy in Scala, made once for each engine and source."""

from __future__ import annotations

import shutil
import tempfile
from hashlib import sha256
from pathlib import Path

import eventtide as et

from tests.chaos.figures import ROOT
from tests.jars import MINOR
from tests.spark import policy_jar

KIND = "scala policy"
MADE_OF = policy_jar.__file__, ROOT / "docs/reference/policies.md", et.jar_path()


def jars() -> list[str]:
    """Return its path, if it was made."""
    return [str(made)] if (made := _jar()).exists() else []


def _jar() -> Path:
    made_of = b"".join(Path(file).read_bytes() for file in MADE_OF)
    return ROOT / f".build/policies-{MINOR}-{sha256(made_of).hexdigest()[:8]}.jar"


def make() -> None:
    """Compile it, if it is not there."""
    if not jars():
        with tempfile.TemporaryDirectory(dir=ROOT / ".build") as folder:
            shutil.move(policy_jar.compiled(Path(folder)), _jar())
