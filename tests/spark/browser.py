"""A real browser without a window: Chromium."""

from __future__ import annotations

import shutil
import subprocess

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")


def shown(address: str, width: int, seconds: int = 5) -> str:
    """Return what the scripts of a page have made of it."""
    options = ("--headless", "--no-sandbox", "--disable-gpu", f"--window-size={width},900")
    done = subprocess.run(  # noqa: S603 - a browser of the system
        [str(BROWSER), *options, f"--virtual-time-budget={seconds}000", "--dump-dom", address],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout
