"""The modules of a client of Spark Connect, in an environment with nothing but what pip installs.

It is a file: with `python -c`, pyspark-client 4.2.0 looks for a Spark installation when
`pyspark.sql.connect.functions` is imported, and ends the process.
"""

from __future__ import annotations

import importlib

for module in ("eventtide", "eventtide._connect"):
    importlib.import_module(module)
print("The modules for Spark Connect are imported.")  # noqa: T201
