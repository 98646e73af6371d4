"""What dev/audit says about a report of pip-audit: audit_report.py REPORT [--require].

The exit code is 1 if a vulnerability was found. A package that the database does not answer for is
skipped by pip-audit and is not checked; if that holds for all of them, nothing was, which is an
error under ``--require``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

OURS = "eventtide"


def summary(packages: list[dict[str, Any]], *, require: bool = False) -> tuple[list[str], int]:
    """Return the lines to print and the exit code."""
    others = [package for package in packages if package["name"] != OURS]
    skipped = [package for package in others if "skip_reason" in package]
    lines = [
        f"{package['name']} {package['version']}: {found['id']}, fixed in "
        f"{', '.join(found['fix_versions']) or 'no version'}"
        for package in others
        for found in package.get("vulns", ())
    ]
    checked = len(others) - len(skipped)
    if not checked:
        return ["not checked: the database of vulnerabilities was not reached."], int(require)
    end = f"; not checked: {', '.join(p['name'] for p in skipped)}" if skipped else ""
    return [*lines, f"{len(lines)} vulnerabilities in {checked} packages{end}."], bool(lines)


def main() -> None:
    """Print the summary of the report; one that is empty or missing counts as not reached."""
    path = Path(sys.argv[1])
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    packages = json.loads(text)["dependencies"] if text.strip() else []
    lines, code = summary(packages, require="--require" in sys.argv)
    sys.stdout.write("\n".join(lines) + "\n")
    sys.exit(code)


if __name__ == "__main__":
    main()
