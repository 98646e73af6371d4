"""Pages of the reference that a script writes are up to date; the others have every name."""

from __future__ import annotations

import re
import textwrap
from dataclasses import fields
from typing import TYPE_CHECKING

import pytest
from eventtide.cli._commands import app
from eventtide.observe import InputProgress, QueryProgress, SubstreamProgress
from typer.testing import CliRunner

from tests import cli_page, scala_page, settings_page, sql_page, yaml_page
from tests.pages import PAGES, ROOT, blocks

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

REFERENCE = ROOT / "docs/reference"
SPARK = ROOT / "jvm/spark/src/main/scala/io/eventtide/spark"
TESTS = ROOT / "jvm/spark/src/test"


def page(name: str) -> str:
    """Return the text of a page."""
    return (REFERENCE / name).read_text("utf-8")


def source(path: str) -> str:
    """Return the text of a Scala file."""
    return (SPARK / path).read_text("utf-8")


@pytest.mark.parametrize("written", [cli_page, scala_page, settings_page, sql_page, yaml_page])
def test_a_page_that_a_script_writes_is_up_to_date(written: ModuleType) -> None:
    """`dev/tables` writes it anew."""
    assert written.PAGE.read_text("utf-8") == written.page()


@pytest.mark.parametrize("command", ["doctor", "timeline", "clean-late", "repartition", "lab"])
def test_the_options_of_a_command_on_its_page_are_those_of_its_help(command: str) -> None:
    """The page reads what the command declares, the help what a terminal accepts."""
    section = page("cli.md").partition(f"## {command}\n")[2].partition("\n## ")[0]
    shown = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).output
    options = re.findall(r"--[a-z][a-z-]+", shown)
    assert {*re.findall(r"--[a-z][a-z-]+", section)} == {*options} - {"--help"}


def reasons() -> list[str]:
    """Return the reasons of late rows."""
    return re.findall(r'extends LateReason\("(\w+)"\)', source("latelog/LateReason.scala"))


def metrics() -> set[str]:
    """Return the names of all metrics in the code."""
    gauges = re.findall(r'"([a-z]+[A-Za-z]*-\w+)"', source("query/monitor/QueryMetrics.scala"))
    report = source("query/monitor/WatermarkReport.scala")
    in_progress = re.findall(r'^      "(\w+)" ->', report, flags=re.MULTILINE)
    operators = (SPARK / "operators").rglob("*.scala")
    texts = [operator.read_text("utf-8") for operator in operators]
    in_plans = [
        name
        for text in texts
        for name in re.findall(r'"(\w+)"\s*->\s*SQLMetrics', text)
        + re.findall(r'private val \w+ = "(num\w+)"', text)
    ]
    late = {f"numLate{''.join(map(str.capitalize, name.split('_')))}" for name in reasons()}
    late |= {f"rowsLate-{name}" for name in reasons()}
    assert len(gauges) >= 13
    assert len(in_progress) == 7
    assert {"numOpenKeys", "numOutputRows", "peakMemory"} <= {*in_plans}
    return {*gauges, *in_progress, *in_plans, *late}


def test_every_metric_is_on_its_page() -> None:
    """Of Spark's metrics system, of its progress, of plans, and of `et.progress`."""
    text = page("metrics.md")
    of_python = {
        field.name
        for kind in (QueryProgress, InputProgress, SubstreamProgress)
        for field in fields(kind)
    }
    assert {name for name in metrics() | of_python if f"`{name}`" not in text} == set()


def marked(path: Path) -> list[str]:
    """Return the code between the marks of a test's source."""
    text = path.read_text("utf-8")
    found = re.findall(r"^ *// begin\n(.*?)^ *// end\n", text, flags=re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(code) for code in found]


def test_the_examples_in_scala_are_those_that_run() -> None:
    """On all pages; the suites with `Page` in their names run them.

    `tests/spark/test_own_policies.py` compiles a block that is a file of a package.
    """
    shown = {
        block.code
        for page in PAGES
        for block in blocks(page, "scala")
        if block.mark != "no-run" and not block.code.startswith("package ")
    }
    suites = (TESTS / "scala/io/eventtide/spark").glob("*Page*Suite.scala")
    assert shown == {code for suite in suites for code in marked(suite)}


def test_the_example_in_java_is_that_which_runs() -> None:
    """`JavaSuite` runs it."""
    shown = [block.code for block in blocks(REFERENCE / "scala.md", "java")]
    assert shown == marked(TESTS / "java/io/eventtide/spark/JavaUser.java")


def test_every_method_in_scala_is_on_its_page() -> None:
    """Of `Eventtide`, of a policy, of the options, and of a window."""
    text = page("scala.md")
    files = ["Eventtide", "EventtideReports", "EventtideCheckpoints", "WatermarkPolicy"]
    files += ["WatermarkOptions", "WindowFraming", "WindowTiming", "WindowClosing"]
    methods = {
        name
        for file in files
        for name in re.findall(r"^  (?:@varargs )?def (\w+)", source(f"{file}.scala"), re.MULTILINE)
    }
    assert len(methods) > 60
    missing = {name for name in methods if not re.search(rf"`{name}[`(]", text)}
    assert missing == {"apply", "create"}


def test_every_part_of_a_checkpoint_is_on_the_page_of_the_state_format() -> None:
    """The changelog has the versions of the parts."""
    text = page("state-format.md")
    table = (ROOT / "CHANGELOG.md").read_text("utf-8").partition("## State format")[2]
    folders = set(re.findall(r"`(eventtide/\w+)", table))
    assert len(folders) >= 7
    assert {folder for folder in folders if folder not in text} == set()
