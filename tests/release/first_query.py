"""The example of the README, on an installed wheel: first_query.py README.

dev/release runs it in an environment with nothing but the wheel and PySpark.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

FENCE = re.compile(r"^```python spark\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def example(readme: str) -> str:
    """Return the Python block that creates a session and needs nothing else."""
    alone = [block for block in FENCE.findall(readme) if "SparkSession.builder" in block]
    if len(alone) != 1:
        sys.exit(f"The README has {len(alone)} examples that create a session, instead of one.")
    return str(alone[0])


def main() -> None:
    """Run the example of the README that is named."""
    code = example(Path(sys.argv[1]).read_text(encoding="utf-8"))
    exec(compile(code, sys.argv[1], "exec"), {"__name__": "__main__"})  # noqa: S102 - of our README
    print("The example of the README runs on the installed wheel.")  # noqa: T201


if __name__ == "__main__":
    main()
