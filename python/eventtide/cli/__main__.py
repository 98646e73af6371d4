"""The entry point of ``eventtide`` and ``python -m eventtide.cli``."""

from __future__ import annotations

import sys
import warnings


def main() -> None:
    """Run the command, or report the missing package."""
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    try:
        from eventtide.cli._commands import app  # noqa: PLC0415 - an extra, which may be missing
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] == "eventtide":
            raise
        sys.stderr.write(f"The command needs {missing.name}: pip install 'eventtide[cli]'\n")
        sys.exit(2)  # 1 is a result about the checkpoint
    app()


if __name__ == "__main__":
    main()
