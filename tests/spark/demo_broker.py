"""The demonstration with a broker of its own: what ``dev/demo --kafka`` runs."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from eventtide import jar_path

from examples.flights import __main__ as lab
from examples.flights.data import BANDS
from tests.jars import BESIDE_SPARK
from tests.spark.kafka import Broker

TOPIC = "flights"


def main(arguments: list[str]) -> int:
    """Start a broker, and run the demonstration with it."""
    others = [one for one in arguments if one != "--kafka"]
    lab.parser().parse_args(others)  # what is wrong is said before anything starts
    jars = ",".join([*BESIDE_SPARK, str(jar_path())])
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--jars {jars} pyspark-shell"
    with tempfile.TemporaryDirectory(prefix="eventtide-kafka-") as folder:
        broker = Broker(Path(folder))  # which ends by itself if it does not start
        try:
            broker.create(TOPIC, len(BANDS))
            return lab.main([*others, "--kafka", f"{broker.address}/{TOPIC}"])
        finally:
            broker.kill()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
