"""The README as package indexes show it: no link in it leads nowhere."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import tomli

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
SOURCE = "https://example.invalid/eventtide"
VERSION = tomli.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]


@pytest.fixture
def long_description() -> Callable[[str, str, str], str]:
    """Return what makes the long description."""
    made = runpy.run_path(str(ROOT / "project" / "hatch_readme.py"))
    described: Callable[[str, str, str], str] = made["long_description"]
    return described


@pytest.mark.parametrize(
    ("markdown", "with_source", "without"),
    [
        ("[a\nb](docs/a.md#x)", f"[a\nb]({SOURCE}/blob/v1/docs/a.md#x)", "a\nb"),
        ("![a](docs/a.svg)", f"![a]({SOURCE}/raw/v1/docs/a.svg)", "a"),
        ("[a](#x) [b](https://b.c)", "[a](#x) [b](https://b.c)", "[a](#x) [b](https://b.c)"),
        ("```python\nx[0](y)\n```", "```python\nx[0](y)\n```", "```python\nx[0](y)\n```"),
    ],
)
def test_relative_links_become_absolute_or_text(
    markdown: str, with_source: str, without: str, long_description: Callable[[str, str, str], str]
) -> None:
    """Links and pictures do; anchors, addresses and code stay."""
    assert long_description(markdown, SOURCE, "v1") == with_source
    assert long_description(markdown, SOURCE + "/", "v1") == with_source
    assert long_description(markdown, "", "v1") == without


def test_the_package_has_the_readme_without_relative_links(tmp_path: Path) -> None:
    """With an address, and as long as there is none."""
    filled, empty = tmp_path / "filled.toml", tmp_path / "empty.toml"
    filled.write_text(f'source = "{SOURCE}"\n')
    empty.write_text('source = ""\n')
    with_source, without = metadata(filled), metadata(empty)
    for description in (with_source, without):
        assert "**Stop losing late events in Spark Structured Streaming.**" in description
        targets = re.findall(
            r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", description, flags=re.DOTALL)
        )
        assert [link for link in targets if not link.startswith(("#", SOURCE))] == []
    assert f"]({SOURCE}/blob/v{VERSION}/docs/how-to/kafka.md)" in with_source
    assert f"]({SOURCE}/raw/v{VERSION}/docs/img/demo.svg)" in with_source


def metadata(addresses: Path) -> str:
    """Return the long description that the build backend writes."""
    said = subprocess.run(
        [sys.executable, "-m", "hatchling", "metadata", "readme"],
        cwd=ROOT,
        env={"PATH": "", "EVENTTIDE_ADDRESSES": str(addresses)},
        capture_output=True,
        text=True,
        check=True,
    )
    return said.stdout
