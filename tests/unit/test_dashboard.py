"""The Grafana dashboard and the alert rules: each metric in them is one that a query registers."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.dashboard import ALERTS, DASHBOARD, expressions, named
from tests.pages import ROOT

if TYPE_CHECKING:
    from typing import Any

PAGE = ROOT / "docs/how-to/operate.md"
MONITOR = ROOT / "jvm/spark/src/main/scala/io/eventtide/spark"


def registered() -> set[str]:
    """Return the metrics of QueryMetrics.scala, under the names of Spark's Prometheus servlet."""
    code = (MONITOR / "query/monitor/QueryMetrics.scala").read_text(encoding="utf-8")
    names = set(re.findall(r'"([a-zA-Z]+-\w+)" ->', code))
    reasons = (MONITOR / "latelog/LateReason.scala").read_text(encoding="utf-8")
    assert 's"rowsLate-${reason.name}"' in code
    names |= {f"rowsLate-{name}" for name in re.findall(r'LateReason\("(\w+)"', reasons)}
    return {re.sub(r"\W", "_", name) for name in names}


@pytest.mark.parametrize("file", [ALERTS, DASHBOARD], ids=lambda file: file.name)
def test_every_metric_is_registered(file: Any) -> None:
    """Both files parse, and name no metric that does not exist."""
    found = named(file)
    assert found
    assert found - registered() == set()


def test_the_dashboard_shows_every_metric() -> None:
    """In a panel of its own or beside others."""
    assert registered() - named(DASHBOARD) == set()


def test_panels_have_their_own_place() -> None:
    """With an id, a title and a description each."""
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    assert all(panel["title"] and panel["description"] for panel in panels)
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert len({(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}) == len(panels)


def test_alerts_are_those_of_the_page() -> None:
    """Each with a summary; parentheses and brackets of expressions are balanced."""
    rules = yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"][0]["rules"]
    page = PAGE.read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(Eventtide\w+)` \|", page, re.MULTILINE)) == {
        rule["alert"] for rule in rules
    }
    assert all(rule["annotations"]["summary"] and rule["labels"]["severity"] for rule in rules)
    for expression in (*expressions(ALERTS), *expressions(DASHBOARD)):
        for opening, closing in ("()", "[]", "{}"):
            assert expression.count(opening) == expression.count(closing), expression


def test_the_relabeling_of_the_page_gives_the_names_of_both_files() -> None:
    """Applied to the scrape that the page shows; its regular expressions are whole matches."""
    page = PAGE.read_text(encoding="utf-8")
    [config] = re.findall(r"^```yaml\n(scrape_configs:.*?)^```$", page, re.MULTILINE | re.DOTALL)
    steps = yaml.safe_load(config)["scrape_configs"][0]["metric_relabel_configs"]
    scraped = re.findall(r"^(metrics_\w+)\{", page, re.MULTILINE)
    assert scraped
    relabeled = [after(steps, name) for name in scraped]
    assert {name["__name__"].removeprefix("eventtide_") for name in relabeled} <= registered()
    assert {(name["namespace"], name["query"]) for name in relabeled} == {("orders", "tides")}


def after(steps: list[dict[str, Any]], name: str) -> dict[str, str]:
    """Return the labels of a metric after the steps, as Prometheus takes them."""
    labels = {"__name__": name}
    for step in steps:
        [source] = step["source_labels"]
        if found := re.fullmatch(step["regex"], labels[source]):
            labels[step["target_label"]] = found.expand(step["replacement"].replace("$", "\\"))
    return labels
