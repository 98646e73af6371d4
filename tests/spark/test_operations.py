"""What an operator has of a running query: the command, Spark's metric system, the driver's log."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import eventtide as et
import pyspark
import pytest
from eventtide import WatermarkPolicies
from eventtide.cli import _commands as commands
from eventtide.cli.__main__ import main
from eventtide.cli._plans import load_plan
from eventtide.observe import CheckpointReport
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention
from typer import BadParameter
from typer.testing import CliRunner

from tests.dashboard import ALERTS, DASHBOARD, named
from tests.spark.queries import EVENTS, at, counts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession

LAG = WatermarkPolicies.with_fixed_lag("2s")
ROWS = [(at(1), "a"), (at(3), "a"), (at(25), "b"), (at(24), "a"), (at(26), "c")]
EVENTTIDE = Path(sys.executable).with_name("eventtide")
LAB = ("lab", "rows.csv", "--event-time", "ts", "--arrival", "seen")

JOB = """
import eventtide as et
from pyspark.sql import functions as F

def plan(spark):
    events = spark.readStream.schema("ts timestamp, key string").json("{source}")
    timed = et.window(events).event_time("ts", et.WatermarkPolicies.with_fixed_lag("9s"))
    return timed.key_by("key").tumbling("{size}").agg(F.count("*").alias("n"))
"""


def windowed(events: DataFrame) -> DataFrame:
    """Count by key over ten seconds."""
    window = et.window(events).event_time("ts", LAG).key_by("key").tumbling("10s")
    return window.agg(F.count("*").alias("n")).results


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command as a user does."""
    environment = {**os.environ, "COLUMNS": "200", "SPARK_LOCAL_IP": "127.0.0.1"}
    return subprocess.run(  # noqa: S603 - the command under test
        [str(EVENTTIDE), *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        check=False,
        timeout=300,
    )


@pytest.fixture
def at_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that is the one at hand, in which modules of plans are looked for."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


@pytest.fixture
def here(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return what runs the command in this process, to save the start of another."""

    @contextmanager
    def session(*_: object) -> Iterator[SparkSession]:
        yield spark

    monkeypatch.setattr(commands, "session", session)
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *arguments: CliRunner().invoke(commands.app, arguments)


def test_the_doctor_on_a_running_query(at_hand: Path, here: Callable[..., Any]) -> None:
    """What it holds; whether a plan fits; 1 when it does not."""
    (at_hand / "job.py").write_text(JOB.format(size="10s", source=at_hand), encoding="utf-8")
    (at_hand / "other_job.py").write_text(JOB.format(size="15s", source=at_hand), encoding="utf-8")
    with Script(windowed, EVENTS) as script:
        script.rows(ROWS).rows([(at(2), "a")])
        counting = ("--plan", "job:plan", "--count-windows")
        fits = run("doctor", script.checkpoint, *counting, folder=at_hand)
        other = here("doctor", script.checkpoint, "--plan", "other_job:plan")
        script.rows([(at(40), "b")])  # it runs on
    assert (fits.returncode, fits.stderr) == (0, "")
    for part in ("with_fixed_lag", "window_closed 1", "Open windows: 3", "continue from here: yes"):
        assert part in fits.stdout
    assert re.search(r"watermark\W+2024-01-01 00:00:24 UTC", fits.stdout)
    assert re.search(r"rows on time\W+\d", fits.stdout)
    assert other.exit_code == 1
    assert "Open windows" not in other.stdout
    assert "[CHECKPOINT_PLAN_CHANGED]" in other.stdout
    assert "size: 10s in the checkpoint, 15s in this query" in other.stdout


def test_a_timeline_is_one_page(at_hand: Path, here: Callable[..., Any]) -> None:
    """Of a query that runs; a folder without a checkpoint is refused."""
    with Script(windowed, EVENTS) as script:
        script.rows(ROWS)
        done = here("timeline", script.checkpoint, "--out", "page[b].html")
        nowhere = here("timeline", script.checkpoint, "--out", "nowhere/page.html")
    assert done.exit_code == 0
    assert done.stdout == f"Open {at_hand / 'page[b].html'} in a browser.\n"
    assert (at_hand / "page[b].html").read_text("utf-8").startswith("<!doctype html>")
    assert (nowhere.exit_code, "does not exist" in nowhere.output) == (2, True)
    assert "[CHECKPOINT_EMPTY]" in str(here("timeline", "nowhere").exception)


def test_a_timeline_draws_some_rows(at_hand: Path, here: Callable[..., Any]) -> None:
    """From files of any format, with times as timestamps or as text."""
    lines = [{"ts": at(second), "seen": at(second + 1)} for second in range(3)]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (at_hand / "rows.json").write_text(text, encoding="utf-8")
    rows = ("--rows", str(at_hand / "rows.json"), "--event-time", "ts")
    with Script(windowed, EVENTS) as script:
        script.rows(ROWS).clock("+5s").rows([(at(27), "a")])
        done = here("timeline", script.checkpoint, *rows, "--arrival", "seen")
        short = here("timeline", script.checkpoint, *rows)
        wrong = here("timeline", script.checkpoint, *rows, "--arrival", "sen")
    assert done.exit_code == 0
    page = (at_hand / "timeline.html").read_text("utf-8")
    [drawn] = re.findall(r'"rows":(\[\[.*?\]\])\}</script>', page)
    assert len(json.loads(drawn)) == 3  # which arrived between the two batches
    assert all(arrival == time + 1_000_000 for arrival, time in json.loads(drawn))
    assert "--rows needs --event-time and --arrival" in short.output
    assert "arrival='seen'" in str(wrong.exception)


def test_the_doctor_answers_as_json(at_hand: Path, here: Callable[..., Any]) -> None:
    """One object with the fields of the report, and the same exit code."""
    (at_hand / "json_job.py").write_text(JOB.format(size="10s", source=at_hand), encoding="utf-8")
    with Script(windowed, EVENTS) as script:
        script.rows(ROWS).rows([(at(2), "a")])
        alone = here("doctor", script.checkpoint, "--json")
        counting = ("--plan", "json_job:plan", "--count-windows", "--json")
        counted = here("doctor", script.checkpoint, *counting)
    told, fits = json.loads(alone.stdout), json.loads(counted.stdout)
    assert (alone.exit_code, counted.exit_code) == (0, 0)
    assert told.keys() == {field.name for field in fields(CheckpointReport)} | {"open_windows"}
    assert (told["continues"], told["open_windows"]) == (None, None)
    assert told["windows"][0]["late"] == {"window_closed": 1}
    assert told["watermark"]["emitted"] == "2024-01-01T00:00:24+00:00"
    assert (fits["continues"], fits["open_windows"]) == (True, 3)


def test_the_version_names_the_jars(here: Callable[..., Any]) -> None:
    """Of the package and of Spark."""
    assert here("--version").stdout == f"eventtide {et.__version__}, for Spark 4.1, 4.2, 4.3\n"


def test_rows_on_time_are_no_number_where_nobody_counts_them(here: Callable[..., Any]) -> None:
    """In Spark's own windows; a zero would look as if all were late."""
    with Script(counts(LAG), EVENTS) as script:
        script.rows(ROWS)
        told = here("doctor", script.checkpoint).stdout
    assert "fingerprint" in told
    assert "rows on time" not in told


def test_a_package_that_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the extra that has it, and not as if something were wrong with a checkpoint."""
    monkeypatch.setitem(sys.modules, "typer", None)
    monkeypatch.delitem(sys.modules, commands.__name__)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "needs typer: pip install 'eventtide[cli]'" in capsys.readouterr().err


def test_late_files_that_count_for_nothing_are_named_and_removed(
    here: Callable[..., Any],
) -> None:
    """A dry run removes nothing, and what counts stays."""
    with Script(windowed, EVENTS) as script:
        script.rows(ROWS).rows([(at(2), "a")])
        [kept] = Path(script.checkpoint, "late").glob("*.parquet")
        orphan = kept.with_name(kept.name.replace("-", "-9", 1))
        orphan.write_bytes(b"left")
        found = here("clean-late", script.checkpoint, "--dry-run")
        assert orphan.exists()
        cleaned = here("clean-late", script.checkpoint)
        compacted = here("compact-late", script.checkpoint, "--late-to", "/data/late")
        assert kept.exists()
        assert not orphan.exists()
    assert orphan.name in found.stdout
    assert found.stdout.endswith("1 late file would be removed.\n")
    assert cleaned.stdout.endswith("1 late file removed.\n")
    assert compacted.stdout.endswith("0 late files of 0 batches are 0 now.\n")
    assert "[CHECKPOINT_EMPTY]" in str(here("compact-late", "nowhere").exception)


@pytest.mark.skipif(pyspark.__version__.startswith("4.1."), reason="from Spark 4.2 on")
def test_state_is_repartitioned(here: Callable[..., Any]) -> None:
    """While no query runs, to a number that makes sense."""
    with Script(windowed, EVENTS) as script:
        script.rows(ROWS).stop()
        done = here("repartition", script.checkpoint, "--partitions", "5")
        assert done.stdout == "The state has 5 partitions now, and had 2.\n"
        same = here("repartition", script.checkpoint, "--partitions", "5")
        assert "[REPARTITION_SAME]" in str(same.exception)
        assert here("repartition", script.checkpoint, "--partitions", "0").exit_code == 2
        report = here("doctor", script.checkpoint).stdout
        assert re.search(r"partitions\W+5\b", report)
        script.restart()
        assert script.rows([(at(60), "a")]).results()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("clean-late", "nowhere"), 1, "[CHECKPOINT_EMPTY] There is no checkpoint"),
        (("doctor", "s3a://bucket/checkpoint"), 1, "S3AFileSystem not found"),
        (("doctor", "nowhere", "--conf", "endpoint"), 2, "Allowed is key=value"),
        (("doctor", "nowhere", "--plan", "job"), 2, "Allowed is module:name"),
        (("doctor", "nowhere", "--plan", "./job:plan"), 2, "Allowed is module:name"),
        (("doctor", "nowhere", "--count-windows"), 2, "needs a --plan that is a window"),
        ((*LAB, "--every", "0s"), 2, "every='0s' is zero"),
        ((*LAB, "--policy", "{name: storm}"), 2, "lag: is missing"),
    ],
)
def test_the_command_says_what_is_wrong(
    tmp_path: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    """Without a trace."""
    (tmp_path / "rows.csv").write_text(
        "ts,seen\n2024-01-01 00:00:00,2024-01-01 00:00:01\n", encoding="utf-8"
    )
    answer = run(*arguments, folder=tmp_path)
    assert answer.returncode == code
    assert said in " ".join(answer.stderr.replace("│", " ").split())
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys\nfolder = sys.argv[99]\n", "is imported: IndexError.*job.py, line 2"),
        ("def plan(spark:\n", "is imported: SyntaxError"),
        ("import os\nos.no_such_name\n", "is imported: AttributeError.*line 2"),
        ("import no_such_module\n", "No module named 'no_such_module'"),
        ("plans = 1\n", "has no 'plan'"),
        ("def plan(spark):\n    return spark.no_such\n", "which fails: .*job.py, line 2"),
    ],
)
def test_whatever_the_module_of_a_plan_raises_is_said_with_its_place(
    spark: SparkSession, at_hand: Path, monkeypatch: pytest.MonkeyPatch, code: str, said: str
) -> None:
    """A deployment must not take it for a plan that does not fit."""
    (at_hand / "broken_job.py").write_text(code, encoding="utf-8")
    monkeypatch.delitem(sys.modules, "broken_job", raising=False)
    with pytest.raises(BadParameter, match=f"(?s)'broken_job:plan', .*{said}|: {said}"):
        load_plan("broken_job:plan", spark)


@pytest.mark.parametrize(
    ("folder", "said"), [("not-there", "not-there"), ("s3a://bucket/events", "S3AFileSystem")]
)
def test_a_plan_that_cannot_be_made_is_told_from_one_that_does_not_fit(
    spark: SparkSession, at_hand: Path, monkeypatch: pytest.MonkeyPatch, folder: str, said: str
) -> None:
    """As where the command runs on a machine that does not see what the job reads."""
    job = JOB.format(size="10s", source=folder)
    (at_hand / "far_away.py").write_text(job, encoding="utf-8")
    monkeypatch.delitem(sys.modules, "far_away", raising=False)
    with pytest.raises(BadParameter, match=f"'far_away:plan', which fails: .*{said}"):
        load_plan("far_away:plan", spark)


@pytest.fixture(scope="module")
def job() -> subprocess.CompletedProcess[str]:
    """Run the job beside this file in a process of its own."""
    path = Path(__file__).with_name("metrics_job.py")
    done = subprocess.run(  # noqa: S603 - our own job
        [sys.executable, str(path)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done


def test_the_numbers_of_a_query_are_where_prometheus_looks_for_them(
    job: subprocess.CompletedProcess[str],
) -> None:
    """While it runs, when Spark's own streaming metrics are on; the job asks the driver itself."""
    before, counted, later, after = map(numbers, job.stdout.split("--\n")[:4])
    assert before["watermark_ms"] == "NaN"
    assert counted["watermark_ms"] == "1.704067224E12"
    assert counted["lag_behindClockMs"] == "-14000.0"
    assert counted["rowsLate_window_closed"] == counted["rowsLate_bad_time"] == "1.0"
    assert (counted["rows_onTime"], counted["keys_open"]) == ("5.0", "3.0")
    assert (counted["substreams_total"], counted["substreams_idle"]) == ("3.0", "0.0")
    assert counted["lag_behindLeaderMs"] == "2000.0"
    assert float(counted["ledger_bytes"]) > 0
    assert float(counted["state_memoryBytes"]) > 0
    assert "state_fileBytes" in counted
    assert (named(DASHBOARD) | named(ALERTS)) - counted.keys() == set()
    assert counted["restart_held"] == "0.0"
    assert (later["lag_behindLeaderMs"], later["substreams_idle"]) == ("0.0", "2.0")
    assert after == {}


def numbers(scrape: str) -> dict[str, str]:
    """Return eventtide's gauges of a scrape by their names."""
    gauge = re.compile(
        r'metrics_.*_eventtide_[0-9a-f_]{36}_query_(\w+)_Value\{type="gauges"\} (\S+)'
    )
    return {found[1]: found[2] for line in scrape.splitlines() if (found := gauge.match(line))}


def test_the_log_says_who_holds_the_watermark_and_which_lag_would_keep_rows(
    job: subprocess.CompletedProcess[str],
) -> None:
    """Once each, in a line of the driver's log."""
    said = [line for line in job.stderr.splitlines() if "WatermarkMonitor" in line]
    [stuck] = [line for line in said if "has not moved for 3 batches with rows" in line]
    assert "'a' holds the watermark at 2024-01-01 00:00:24 UTC, 24s behind 'c'" in stuck
    [late] = [line for line in said if "came too late" in line]
    assert late.endswith("a lag longer by 22s would have kept them.")
