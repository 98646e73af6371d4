"""The demonstration with a Delta table: ``dev/demo --heal``, on Spark 4.1."""

from __future__ import annotations

import sys

from examples.flights import healing
from tests.spark.tables import FORMATS


def main(arguments: list[str]) -> int:
    """Run the demonstration with the jars of Delta, which the session adds to Eventtide's."""
    return healing.main([one for one in arguments if one != "--heal"], FORMATS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
