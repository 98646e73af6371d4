"""The jars that tests run beside Spark; `dev/test` fetches what tests/jars.xml says."""

from __future__ import annotations

from pathlib import Path

import pyspark

_JARS = Path(__file__).parents[2] / ".build/test-jars"
if not _JARS.is_dir():
    raise FileNotFoundError(f"{_JARS} is missing; dev/test fetches it, as dev/chaos does")
_MINOR = ".".join(pyspark.__version__.split(".")[:2])

BROKER = _JARS / "kafka"
LOCAL_FILES = str(_JARS / "local-files" / "*")

_SPARK = Path(pyspark.__file__).parent / "jars"
ASKED_MOST = [
    str(jar) for name in ("core", "catalyst", "sql") for jar in _SPARK.glob(f"spark-{name}_*")
]
"""Those of Spark in which it looks up the classes of closures, each time anew."""

BESIDE_SPARK = sorted(str(jar) for jar in (_JARS / f"spark-{_MINOR}").glob("*.jar"))
"""Kafka's connector, and on Spark 4.1 the table formats."""
