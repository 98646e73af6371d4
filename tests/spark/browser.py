"""A real browser without a window: Chromium."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

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


@contextmanager
def driven(address: str, width: int) -> Iterator[Page]:
    """Give a page whose elements a test can click."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only where a browser is

    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        try:
            page = browser.new_page(viewport={"width": width, "height": 900})
            page.goto(address)
            yield page
        finally:
            browser.close()
