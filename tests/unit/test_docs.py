"""The docs, as far as they can be checked without Spark."""

from __future__ import annotations

import doctest
import json
import pkgutil
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import eventtide as et
import pytest
from eventtide import WatermarkPolicies, WatermarkPolicy
from eventtide.errors import BY_NAME
from eventtide.storm._config import KEYS
from eventtide.windows._closing import Closing
from eventtide.windows._framing import Framing
from eventtide.windows._profiles import LATE_RULES, PROFILES
from eventtide.windows._timing import Timing

from examples.flights.broker import CONNECTOR, CONNECTORS
from tests import error_page, tutorial
from tests.pages import (
    PAGES,
    ROOT,
    Block,
    anchors,
    blocks,
    cells,
    file_names,
    links,
    names,
    prose,
)

ALL_PAGES = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
PLAIN = [block for page in PAGES for block in blocks(page) if not block.mark]
# marks of blocks that other tests run
ALSO = {
    "README.md": {"connect", "pipeline"},
    "completeness.md": {"spark-4.1"},
    "delta-and-iceberg.md": {"spark-4.1"},
    "heal-a-table.md": {"spark-4.1"},
    "repair-nightly.md": {"spark-4.1"},
    "spark-connect.md": {"connect"},
    "first-15-minutes.md": {"tutorial"},
    "pipelines.md": {"pipeline", "session"},
}
# marks of blocks in other languages; a suite with `Page` in its name runs those in Scala
ALSO_IN = {
    ("pipelines.md", "sql"): {"", "pipeline"},
    ("sql.md", "sql"): {"", "pipeline"},
}
# names in capitals that are no conditions
NO_CONDITIONS = {
    "CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT",  # of Spark
    "JAVA_HOME",
    "MAX_EVENT_TIME",
    "MIN_EVENT_TIME",
    "PYSPARK_PYTHON",
    "PYSPARK_SUBMIT_ARGS",
    "SPARK_WORKER_CORES",
    "SPARK_WORKER_MEMORY",
}
DOCTEST = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("block", PLAIN, ids=lambda block: block.name)
def test_a_plain_block_runs_as_it_is_printed(block: Block) -> None:
    """With output where it shows prompts."""
    names = {"et": et, "WatermarkPolicies": WatermarkPolicies}
    if ">>>" not in block.code:
        exec(block.code, names)  # noqa: S102 - our own docs
        return
    test = doctest.DocTestParser().get_doctest(block.code, names, block.name, None, 0)
    report: list[str] = []
    failed, _ = doctest.DocTestRunner(optionflags=DOCTEST).run(test, out=report.append)
    assert not failed, "".join(report)


@ALL_PAGES
def test_every_block_says_how_it_is_run(page: Path) -> None:
    """One that is not run is the exception: a file of the user's, with its name on top."""
    for block in blocks(page):
        assert block.mark in {"", "spark", "no-run"} | ALSO.get(page.name, set()), block.name
        assert block.mark != "no-run" or block.code.startswith("# "), block.name
    for block in blocks(page, "sql", "scala"):
        assert block.mark in ALSO_IN.get((page.name, block.language), {""}), block.name


@ALL_PAGES
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    """To a file of the repository and, behind a ``#``, to a heading in it."""
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.is_file(), link
        assert not anchor or anchor in anchors(target), link


@ALL_PAGES
def test_files_that_a_page_names_exist(page: Path) -> None:
    """Named by the whole path, or by its end."""
    known = [f"/{name}" for name in repository()]
    folders = {str(folder) for name in known for folder in Path(name).parents}
    for name in file_names(page):
        suffix = "/" + name.rstrip("/")
        assert any(path.endswith(suffix) for path in {*known, *folders}), name


@ALL_PAGES
def test_names_that_a_page_has_are_in_the_package(page: Path) -> None:
    """In code style: functions, classes, modules."""
    for name in names(page):
        assert is_there(name.replace("et.", "eventtide.", 1) if name.startswith("et.") else name)


@ALL_PAGES
def test_lines_fit(page: Path) -> None:
    """100 columns, as everywhere; tables are as wide as they are, and a script writes one page."""
    if page.name == "benchmarks.md":
        return
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        assert len(line) <= 100 or line.startswith("|"), f"{page.name}:{number}"


def test_the_notebook_is_what_the_tutorial_gives() -> None:
    """`python -m tests.tutorial` writes it, as `dev/tables` does."""
    page = tutorial.PAGE.read_text("utf-8")
    assert tutorial.NOTEBOOK.read_text("utf-8") == tutorial.notebook(page)
    assert len(tutorial.steps(page)[0]) == sum(b.mark == "tutorial" for b in blocks(tutorial.PAGE))


def test_every_policy_and_decorator_has_a_section_with_a_timeline() -> None:
    """A new one is not done before it has one."""
    decorators = {name for name in vars(WatermarkPolicy) if name.startswith(("throttle", "guard"))}
    policies = {name for name in vars(WatermarkPolicies) if not name.startswith("_")}
    policies.remove("from_jar")  # whose timeline would be that of the user's policy
    page = ROOT / "docs/reference/policies.md"
    shown = " ".join(block.heading for block in blocks(page) if block.timelines).split()
    assert policies | decorators | {"emit_every"} <= set(shown)


def test_every_method_and_profile_of_a_window_is_on_its_page() -> None:
    """In tables that say what the code says."""
    lines = (ROOT / "docs/reference/windows.md").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(cells, lines) if row]
    methods = {name for base in (Framing, Timing, Closing) for name in vars(base) if name[0] != "_"}
    said = " ".join(row[0] for row in rows[-len(methods) :])
    assert {name for name in methods if f"`{name}(" not in said} == set()
    for name, rules in PROFILES.items():
        late = LATE_RULES.get(rules.late, rules.late)
        assert [f"`{name}`", rules.bounds, rules.closes, late] in [row[:4] for row in rows]


JET = """
    PunctuationPolicies PunctuationPolicy WatermarkPolicies WatermarkPolicy withFixedLag limitingLag
    limitingLagAndDelay limitingLagAndLull limitingTimestampAndWallClockLag limitingRealTimeLag
    throttleByFrame throttleByMinStep emitByFrame emitByMinStep noThrottling reportEvent
    getCurrentWatermark insertWatermarksP EventTimePolicy eventTimePolicy EventTimeMapper
    WatermarkEmissionPolicy WatermarkGenerationParams wmGenParams noWatermarks noEventTime
    WatermarkCoalescer setPartitionIdleTimeout withTimestamps withNativeTimestamps
    withIngestionTimestamps withIngestionTime withoutTimestamps WindowDefinition SlidingWindowPolicy
    tumbling sliding session setEarlyResultsPeriod floorFrameTs higherFrameTs
"""


def test_jets_names_are_in_the_index() -> None:
    """Those of policies, throttles, event time and windows; and what they lead to is there."""
    lines = (ROOT / "docs/how-to/migrate-from-jet.md").read_text(encoding="utf-8").splitlines()
    index = {row[0]: row[1] for row in map(cells, lines) if len(row) == 2}
    named = set(re.findall(r"\w+", " ".join(index)))
    assert set(JET.split()) - named == set()
    policies = {name for name in vars(et.policies.PunctuationPolicies) if not name.startswith("_")}
    policies |= {"limiting_real_time_lag", "with_ingestion_time"}
    policies |= {"throttle_by_frame", "throttle_by_min_step"}
    assert {name for name in policies if f"{name}(" not in " ".join(index.values())} == set()


def test_every_method_and_key_of_storms_is_in_its_tables() -> None:
    """So that every part of a bolt has its counterpart."""
    page = (ROOT / "docs/how-to/migrate-from-storm.md").read_text(encoding="utf-8")
    rows = " ".join(" ".join(row) for row in map(cells, page.splitlines()) if row)
    methods = {name for name in vars(et.storm.StormWindow) if name.startswith("with_")}
    methods |= {"execute", "agg", "group_by", "over", "get", "get_new", "get_expired"}
    ours = {"with_late", "with_late_to"}  # Storm has none of the kind
    assert {name for name in methods - ours if not re.search(rf"\b{name}\(", rows)} == set()
    assert {key for key in KEYS if f"`{key}`" not in rows} == set()


def test_error_conditions_that_a_page_names_are_in_the_catalogue() -> None:
    """With their text, where a page quotes it."""
    catalogue = json.loads(error_page.CATALOGUE.read_text(encoding="utf-8"))
    known = NO_CONDITIONS | catalogue.keys() | {error.condition for error in BY_NAME.values()}
    for page in PAGES:
        named = re.findall(r"`([A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+)`", prose(page))
        assert set(named) - known == set(), page.name
        for quote in quotes(page):
            condition, _, text = quote.partition("] ")
            error = catalogue[condition.strip("[")]
            assert text == f"{error['problem']} {error['fix']}", page.name


def test_the_page_of_errors_is_that_of_the_catalogue() -> None:
    """`dev/tables` writes it anew."""
    assert error_page.PAGE.read_text("utf-8") == error_page.page()


def test_every_condition_has_an_anchor_on_the_page_of_errors() -> None:
    """A message ends with its address: lower case, as `EventtideError` and the JVM write it."""
    catalogue = json.loads(error_page.CATALOGUE.read_text("utf-8"))
    known = {*catalogue} | {error.condition for error in BY_NAME.values() if error.condition}
    assert {condition.lower() for condition in known} - anchors(error_page.PAGE) == set()


def test_jars_that_are_named_are_those_that_tests_run_with() -> None:
    """On the pages for Kafka and for tables, and by the demo."""
    jars = ET.parse(ROOT / "tests" / "jars.xml").findall("dependencies/dependency")  # noqa: S314 - our own
    tested = {f"{jar.get('org')}:{jar.get('name')}:{jar.get('rev')}" for jar in jars}
    named = re.findall(
        r"[\w.-]+:[\w.-]+_2\.13:[\d.]+\d", prose(ROOT / "docs/how-to/delta-and-iceberg.md")
    )
    assert len(named) == 2
    assert set(named) <= tested
    connectors = {
        minor: jar.get("rev")
        for jar in jars
        if f"{jar.get('org')}:{jar.get('name')}" == CONNECTOR
        for minor in re.findall(r"spark-([\d.]+)", jar.get("conf", ""))
    }
    assert connectors == CONNECTORS
    page = " ".join(prose(ROOT / "docs/how-to/kafka.md").split())
    assert f"{CONNECTOR}:{CONNECTORS['4.3']}` for Spark 4.2 and 4.3" in page
    assert f"`:{CONNECTORS['4.1']}` for Spark 4.1" in page


def is_there(name: str) -> bool:
    """Whether a name of the package can be used, also in a module that is not imported yet."""
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


def quotes(page: Path) -> list[str]:
    """Return the quoted errors of a page, each in one line: ``> [CONDITION] message``."""
    paragraphs = prose(page).split("\n\n")
    quoted = [part for part in paragraphs if re.match(r"> \[\w", part)]
    return [
        " ".join(line.strip("> ").replace("\\<", "<") for line in part.splitlines())
        for part in quoted
    ]


def repository() -> list[str]:
    """Return the files of the repository, also those that are not yet under version control."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603
    return listed.stdout.splitlines()
