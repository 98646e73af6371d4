"""Checkpoints of releases: those of a minor version are kept, and read by the next."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.pages import ROOT
from tests.spark.kept_checkpoints import KEPT, QUERIES
from tests.spark.test_upgrades import GO_ON

if TYPE_CHECKING:
    from collections.abc import Iterable

CHANGELOG = """\
## 0.3.0 - not released yet
## 0.2.1 - 2024-03-01
## 0.2.0 - 2024-02-01
## 0.1.3 - 2024-01-02
## 0.1.0 - 2024-01-01
"""


def minors(changelog: str) -> list[str]:
    """Return the first version of each minor in a changelog that has a date, the newest first."""
    return re.findall(r"^## (\d+\.\d+\.0) - \d{4}-\d{2}-\d{2}$", changelog, re.MULTILINE)


def missing(changelog: str, read: Iterable[str]) -> set[str]:
    """Return the checkpoints that a version must read, and that are not among those it reads.

    They are those of the last two minor versions, one for each query.
    """
    return {f"{query}-{minor}" for minor in minors(changelog)[:2] for query in QUERIES} - {*read}


def test_checkpoints_of_releases_are_read() -> None:
    """What `test_upgrades` goes on from has all of them."""
    assert not missing((ROOT / "CHANGELOG.md").read_text("utf-8"), GO_ON)


def test_a_release_without_its_checkpoints_is_found() -> None:
    """Each query of each of the last two minors; patches have none of their own."""
    both = {f"{query}-{minor}" for query in QUERIES for minor in ("0.1.0", "0.2.0")}
    assert missing(CHANGELOG, ()) == both
    assert missing(CHANGELOG, both - {"keys-0.1.0"}) == {"keys-0.1.0"}
    assert not missing(CHANGELOG, both)


def test_a_query_is_found_by_the_name_of_its_checkpoint() -> None:
    """A name is a query and the format or the release that wrote it."""
    assert {file.name.partition("-")[0] for file in KEPT.glob("*.tar.gz")} == {*QUERIES}
