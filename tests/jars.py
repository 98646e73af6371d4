"""The jars that tests run beside Spark; `dev/test` fetches what tests/jars.xml says."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pyspark

PYSPARK = Path(os.environ.get("EVENTTIDE_SERVER_PYSPARK") or Path(pyspark.__file__).parent)
"""The PySpark of the session: with `dev/test --connect`, that of the server."""

_BUILD = Path(__file__).parents[1] / ".build"
JARS = _BUILD / "test-jars"
"""Where `dev/test` and `dev/chaos` put what they fetch."""

_FOUND = re.search(r"[\"'](\d+\.\d+)", (PYSPARK / "version.py").read_text(encoding="utf-8"))
MINOR = _FOUND[1] if _FOUND else ""
"""The minor of the session's Spark, such as 4.3."""

BROKER = JARS / "kafka"
CHAOS = _BUILD / f"eventtide-chaos-{MINOR}.jar"
"""The file system in which calls go wrong; `dev/lib.sh` builds it, for the newest Spark."""

# Those of Spark in which it looks up the classes of closures, each time anew.
_SPARK = PYSPARK / "jars"
_ASKED_MOST = [
    jar for name in ("core", "catalyst", "sql") for jar in _SPARK.glob(f"spark-{name}_*")
]

FIRST = ":".join(map(str, [JARS / "local-files" / "*", *_ASKED_MOST, CHAOS]))
"""What comes before Spark's jars, in drivers and in executors."""

ARCHIVE = _BUILD / f"classes-{MINOR}.jsa"
"""The classes of these jars and of Spark's, ready to use; `dev/lib.sh` has it made."""

SHARED_CLASSES = f"-XX:SharedArchiveFile={ARCHIVE}" if ARCHIVE.is_file() else ""
"""A JVM with this option begins in two thirds of the time."""

BESIDE_SPARK = sorted(str(jar) for jar in (JARS / f"spark-{MINOR}").glob("*.jar"))
"""Kafka's connector, and on Spark 4.1 the table formats."""
