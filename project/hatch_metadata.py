"""Metadata hook of the package: its links, and those of its README, come from addresses.toml."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LABELS = {
    "home": "Homepage",
    "docs": "Documentation",
    "source": "Source",
    "issues": "Issues",
    "security": "Security",
}


class CustomMetadataHook(MetadataHookInterface):
    """Set the project's URLs and long description; an empty address is left out."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Run when the metadata are read."""
        root = Path(self.root)
        known = addresses(root)
        if urls := project_urls(known):
            metadata["urls"] = urls
        made = runpy.run_path(str(root / "project" / "hatch_readme.py"))
        readme = (root / "README.md").read_text(encoding="utf-8")
        text = made["long_description"](readme, known.get("source", ""), f"v{metadata['version']}")
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def addresses(root: Path) -> dict[str, str]:
    """Return the addresses by key, those of the file in EVENTTIDE_ADDRESSES if it is set."""
    path = os.environ.get("EVENTTIDE_ADDRESSES") or root / "project" / "addresses.toml"
    return tomllib.loads(Path(path).read_text(encoding="utf-8"))


def project_urls(known: dict[str, str]) -> dict[str, str]:
    """Return the links of the package, by the labels that package indexes know."""
    return {label: known[key] for key, label in LABELS.items() if known.get(key)}
