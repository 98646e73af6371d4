"""The jars that tests run beside Spark; `dev/test` fetches what project/test-jars.xml says."""

from __future__ import annotations

from pathlib import Path

import pyspark

_JARS = Path(__file__).parents[2] / ".build/test-jars"
_MINOR = ".".join(pyspark.__version__.split(".")[:2])

BROKER = _JARS / "kafka"
LOCAL_FILES = str(_JARS / "local-files" / "*")

BESIDE_SPARK = sorted(str(jar) for jar in (_JARS / f"spark-{_MINOR}").glob("*.jar"))
"""Kafka's connector, and on Spark 4.1 the table formats."""
