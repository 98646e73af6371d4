"""The expressions of the Grafana dashboard and of the alert rules, and the metrics in them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import yaml

from tests.pages import ROOT

if TYPE_CHECKING:
    from pathlib import Path

ALERTS = ROOT / "docs/how-to/alerts.yml"
DASHBOARD = ROOT / "docs/how-to/grafana.json"


def expressions(file: Path) -> list[str]:
    """Return the queries of panels, variables and rules."""
    text = file.read_text(encoding="utf-8")
    if file == ALERTS:
        groups = yaml.safe_load(text)["groups"]
        return [rule["expr"] for group in groups for rule in group["rules"]]
    board = json.loads(text)
    targets = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    return targets + [
        variable["query"]
        for variable in board["templating"]["list"]
        if variable["name"] != "datasource"
    ]


def named(file: Path) -> set[str]:
    """Return the metrics that a file names, without the prefix that the scrape gives them."""
    return {
        name
        for expression in expressions(file)
        for name in re.findall(r"\beventtide_(\w+)", expression)
    }
