"""The demonstrations with a broker of their own: ``dev/demo --kafka`` and ``--real-time``."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from eventtide import jar_path

from examples.flights import __main__ as lab
from examples.flights import terminal
from examples.flights.data import BANDS
from tests.jars import BESIDE_SPARK
from tests.spark.kafka import Broker

TOPIC, RESULTS = "flights", "windows"


def main(arguments: list[str]) -> int:
    """Start a broker, and run a demonstration with it."""
    option = "--real-time" if "--real-time" in arguments else "--kafka"
    others = [one for one in arguments if one != option]
    # what is wrong is said before anything starts
    (terminal if option == "--real-time" else lab).parser().parse_args(others)
    jars = ",".join([*BESIDE_SPARK, str(jar_path())])
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--jars {jars} pyspark-shell"
    with tempfile.TemporaryDirectory(prefix="eventtide-kafka-") as folder:
        broker = Broker(Path(folder))  # which ends by itself if it does not start
        try:
            if option == "--real-time":
                broker.create(TOPIC, 1)
                broker.create(RESULTS, 1)
                return terminal.main(others, broker.address, TOPIC, RESULTS)
            broker.create(TOPIC, len(BANDS))
            return lab.main([*others, "--kafka", f"{broker.address}/{TOPIC}"])
        finally:
            broker.kill()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
