"""The jar with a policy in Scala, made once for each engine."""

from __future__ import annotations

import shutil
import tempfile
from hashlib import sha256
from pathlib import Path

import eventtide as et

from tests.chaos.figures import ROOT
from tests.jars import MINOR
from tests.spark.policy_jar import compiled

KIND = "scala policy"


def jar() -> Path:
    """Return its path; it is there after `make`."""
    made_of = Path(et.jar_path()).read_bytes()
    return ROOT / f".build/own-policies-{MINOR}-{sha256(made_of).hexdigest()[:8]}.jar"


def make() -> None:
    """Compile it, if it is not there."""
    if not jar().exists():
        with tempfile.TemporaryDirectory() as folder:
            shutil.copyfile(compiled(Path(folder)), jar())
