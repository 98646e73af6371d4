"""What `import eventtide` needs: a client of Spark Connect has no py4j and no JVM."""

from __future__ import annotations

import subprocess
import sys

WITHOUT_PY4J = """
import sys
import pyspark.sql.functions, pyspark.sql.streaming.query, pyspark.sql.streaming.readwriter
before = set(sys.modules)
import eventtide
print(sorted(name for name in set(sys.modules) - before if name.split(".")[0] == "py4j"))
print("eventtide._jvm" in sys.modules)
"""


def test_the_bridge_to_a_jvm_is_imported_when_it_is_used() -> None:
    """Not with the package: nothing of it needs py4j before there is a classic session."""
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-W", "ignore", "-c", WITHOUT_PY4J],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["[]", "False"]
