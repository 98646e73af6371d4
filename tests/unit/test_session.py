"""`configure`: what it sets, what it keeps, and when it refuses."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pyspark
import pytest
from eventtide import __version__, configure, jar_path
from eventtide._session import (
    ATOMIC_FILES,
    CHANGELOG,
    EMPTY_AT_START,
    EXTENSIONS,
    FILE_MANAGER,
    JARS,
    MAINTENANCE,
    PYTHON,
    ROCKSDB,
    STATE_FORMAT,
    STATE_STORE,
)
from eventtide.errors import ArgumentTypeError, SetupError, UnsupportedSparkError
from pyspark.sql import SparkSession

if TYPE_CHECKING:
    from pathlib import Path

EXTENSION = "io.eventtide.spark.EventtideExtensions"


@pytest.fixture
def jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the path of a jar for Spark 4.3, in an environment that says nothing of Spark."""
    monkeypatch.setattr(pyspark, "__version__", "4.3.0")
    monkeypatch.setattr("eventtide._session.files", lambda _: tmp_path)
    monkeypatch.setattr("eventtide._jvm.running_settings", lambda: None)
    monkeypatch.setattr("eventtide._session._named", set())  # which lasts as long as the process
    for name in ("SUBMIT_ARGS", "PYTHON"):
        monkeypatch.setenv(f"PYSPARK_{name}", "")  # so that what a test sets goes with it
        monkeypatch.delenv(f"PYSPARK_{name}")
    for name in ("SPARK_REMOTE", "SPARK_API_MODE", "SPARK_CONNECT_MODE", "SPARK_HOME", "MASTER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    path = tmp_path / "jars" / f"eventtide-spark-4.3_2.13-{__version__}.jar"
    path.parent.mkdir()
    path.touch()
    return str(path)


def configured(**settings: str) -> dict[str, str]:
    """Return the options of a configured builder; two underscores stand for a dot."""
    builder = SparkSession.Builder()
    for key, value in settings.items():
        builder.config(key.replace("__", "."), value)
    assert configure(builder) is builder
    return builder._options


def test_nine_settings_are_made_and_no_more(jar: str) -> None:
    """Jar, extension, four of the state store, two of checkpoints, Python of workers."""
    assert configured() == {
        JARS: jar,
        EXTENSIONS: EXTENSION,
        STATE_STORE: ROCKSDB,
        STATE_FORMAT: "2",
        CHANGELOG: "true",
        MAINTENANCE: "10s",
        FILE_MANAGER: ATOMIC_FILES,
        EMPTY_AT_START: "false",
        PYTHON: sys.executable,
    }
    assert os.environ["PYSPARK_PYTHON"] == sys.executable


@pytest.mark.usefixtures("jar")
def test_the_format_of_the_state_is_the_users_or_fits_the_store() -> None:
    """Spark's store in memory knows the first format only."""
    builder = SparkSession.Builder().config(STATE_STORE, ROCKSDB)
    assert configure(builder)._options[STATE_FORMAT] == "2"
    builder = SparkSession.Builder().config(STATE_FORMAT, "1")
    assert configure(builder)._options[STATE_FORMAT] == "1"


@pytest.mark.usefixtures("jar")
@pytest.mark.parametrize(
    ("setting", "chosen"), [(CHANGELOG, "false"), (MAINTENANCE, "1m"), (FILE_MANAGER, "my.Files")]
)
def test_how_checkpoints_are_written_may_be_chosen(setting: str, chosen: str) -> None:
    """Changelogs, maintenance and the file manager are defaults."""
    assert configure(SparkSession.Builder().config(setting, chosen))._options[setting] == chosen


@pytest.mark.usefixtures("jar")
def test_a_python_that_was_chosen_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the setting or by the variable."""
    assert configured(spark__pyspark__python="/other/python")[PYTHON] == "/other/python"
    assert "PYSPARK_PYTHON" not in os.environ
    monkeypatch.setenv("PYSPARK_PYTHON", "/another/python")
    assert PYTHON not in configured()


@pytest.mark.usefixtures("jar")
def test_a_cluster_keeps_its_own_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The path of this machine's may not be there."""
    assert PYTHON not in configured(spark__master="yarn")
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--master k8s://host pyspark-shell")
    assert PYTHON not in configured()
    assert "PYSPARK_PYTHON" not in os.environ
    assert configured(spark__master="local-cluster[2,1,1024]")[PYTHON] == sys.executable
    assert PYTHON not in configured(spark__master="spark://host:7077")
    assert "PYSPARK_PYTHON" not in os.environ


def test_what_the_user_set_on_the_builder_is_kept(jar: str) -> None:
    """Jars and extensions stay in front, the state store stays the user's."""
    options = configured(
        spark__jars="a.jar, b.jar",
        spark__sql__extensions="x.Y",
        spark__sql__streaming__stateStore__providerClass="my.Store",
    )
    assert options == {
        JARS: f"a.jar,b.jar,{jar}",
        EXTENSIONS: f"x.Y,{EXTENSION}",
        STATE_STORE: "my.Store",
        FILE_MANAGER: ATOMIC_FILES,
        EMPTY_AT_START: "false",
        PYTHON: sys.executable,
    }


@pytest.mark.parametrize("place", ["builder", "arguments"])
def test_a_jar_that_spark_fetches_is_not_added(
    jar: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same classes would be there twice; other packages do not matter."""
    others = "org.apache.spark:spark-avro_2.13:4.3.0"
    assert configured(spark__jars__packages=others)[JARS] == jar
    coordinate = f"{others},io.eventtide:eventtide-spark-4.3_2.13:{__version__}"
    if place == "builder":
        options = configured(spark__jars__packages=coordinate)
    else:
        monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"--packages {coordinate} pyspark-shell")
        options = configured()
    assert JARS not in options
    assert options[EXTENSIONS] == EXTENSION


def test_configuring_twice_changes_nothing(jar: str) -> None:
    """The jar and the extension are there once."""
    builder = configure(SparkSession.Builder())
    once = dict(builder._options)
    configure(builder)
    assert builder._options == once
    assert once[JARS] == jar


def test_what_spark_would_start_with_is_kept(
    jar: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A setting on the builder would push aside those of the defaults file and of the arguments."""
    (tmp_path / "spark-defaults.conf").write_text(
        f"# ours\n\nspark.jars  a.jar\nspark.sql.extensions=x.Y\n{STATE_STORE} my.Store\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--conf spark.sql.extensions=z.W pyspark-shell")
    assert configured() == {
        JARS: f"a.jar,{jar}",
        EXTENSIONS: f"z.W,{EXTENSION}",
        FILE_MANAGER: ATOMIC_FILES,
        EMPTY_AT_START: "false",
        PYTHON: sys.executable,
    }


@pytest.mark.usefixtures("jar")
@pytest.mark.parametrize("option", ["--conf ", "--conf=", "-c "])
def test_extensions_among_the_arguments_are_kept(
    monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    """Spark-submit takes an equals sign too; it would prefer the builder's extensions."""
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"{option}spark.sql.extensions=z.W pyspark-shell")
    assert configured()[EXTENSIONS] == f"z.W,{EXTENSION}"


@pytest.mark.usefixtures("jar")
def test_arguments_with_an_open_quote_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """By name, before PySpark fails at the same."""
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--conf 'spark.x=1 pyspark-shell")
    with pytest.raises(SetupError, match="No closing quotation"):
        configured()


@pytest.mark.parametrize("option", ["--jars ", "--jars=", "--conf spark.jars="])
def test_jars_among_the_arguments_must_have_ours(
    jar: str, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    """Spark prefers them to those of the builder, so ours would be lost in silence."""
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"{option}a.jar pyspark-shell")
    with pytest.raises(SetupError, match=r"the jars a\.jar.* Add .*eventtide-spark-4\.3"):
        configured()
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"{option}a.jar,{jar} pyspark-shell")
    assert configured()[JARS] == f"a.jar,{jar}"


@pytest.mark.usefixtures("jar")
def test_a_running_jvm_with_the_jar_keeps_its_jars(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under spark-submit, or after a session was stopped: the class path is fixed."""
    monkeypatch.setattr("eventtide._jvm.running_settings", lambda: {EXTENSIONS: "x.Y"})
    monkeypatch.setattr("eventtide._jvm.has_jar", lambda: True)
    assert configured() == {
        EXTENSIONS: f"x.Y,{EXTENSION}",
        STATE_STORE: ROCKSDB,
        STATE_FORMAT: "2",
        CHANGELOG: "true",
        MAINTENANCE: "10s",
        FILE_MANAGER: ATOMIC_FILES,
        EMPTY_AT_START: "false",
        PYTHON: sys.executable,
    }


def test_jars_of_a_later_session_have_ours(jar: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its executors get the jars of the builder and no others."""
    monkeypatch.setattr("eventtide._jvm.running_settings", lambda: {JARS: jar})
    monkeypatch.setattr("eventtide._jvm.has_jar", lambda: True)
    assert configured(spark__jars="/a.jar")[JARS] == f"/a.jar,{jar}"


@pytest.mark.usefixtures("jar")
def test_a_running_jvm_without_the_jar_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark would take `spark.jars` and ignore it."""
    monkeypatch.setattr("eventtide._jvm.running_settings", dict)
    monkeypatch.setattr("eventtide._jvm.has_jar", lambda: False)
    builder = SparkSession.Builder()
    with pytest.raises(SetupError, match=r"already running.*Restart Python.*--jars"):
        configure(builder)
    assert builder._options == {}


@pytest.mark.parametrize("version", ["3.5.7", "4.0.1", "5.0.0.dev1"])
@pytest.mark.usefixtures("jar")
def test_a_pyspark_without_a_jar_is_refused_with_the_list(
    monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    """Before anything is set."""
    monkeypatch.setattr(pyspark, "__version__", version)
    builder = SparkSession.Builder()
    with pytest.raises(UnsupportedSparkError, match=rf"Spark {version} .* Supported: 4\.1, 4\.2"):
        configure(builder)
    assert builder._options == {}


@pytest.mark.usefixtures("jar")
def test_each_pyspark_gets_its_own_jar(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fixture has only the jar for 4.3."""
    assert jar_path().name == f"eventtide-spark-4.3_2.13-{__version__}.jar"
    monkeypatch.setattr(pyspark, "__version__", "4.2.1")
    with pytest.raises(SetupError, match=r"has no eventtide-spark-4\.2_2\.13.*pip install"):
        jar_path()


@pytest.mark.usefixtures("jar")
@pytest.mark.usefixtures("jar")
def test_a_builder_with_the_address_of_a_server_is_not_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The settings belong to the server, which runs."""
    assert configured(spark__remote="sc://host") == {"spark.remote": "sc://host"}
    monkeypatch.setenv("SPARK_REMOTE", "sc://host")
    assert configured() == {}


@pytest.mark.usefixtures("jar")
@pytest.mark.parametrize(
    "options",
    [
        {"spark__remote": "local[2]"},
        {"spark__api__mode": "connect"},
        {"spark__api__mode": "connect", "spark__master": "spark://host:7077"},
    ],
)
def test_a_server_that_pyspark_starts_gets_the_plugin(options: dict[str, str]) -> None:
    """Beside the settings of a classic session."""
    made = configured(**options)
    assert made["spark.connect.extensions.relation.classes"].endswith(".EventtideRelationPlugin")
    assert made[EXTENSIONS] == EXTENSION
    assert made["spark.jars"].endswith(".jar")
    assert made["spark.eventtide.connect.testKit"] == "true"


@pytest.mark.usefixtures("jar")
@pytest.mark.parametrize(
    ("options", "variables", "is_connect"),
    [
        ({}, {"SPARK_CONNECT_MODE": "1"}, True),
        ({}, {"SPARK_CONNECT_MODE": "0"}, False),
        ({}, {"SPARK_CONNECT_MODE": "1", "SPARK_API_MODE": "Classic"}, False),
        ({}, {"SPARK_CONNECT_MODE": "1", "SPARK_API_MODE": "other"}, True),
        ({}, {"SPARK_API_MODE": "CONNECT"}, True),
        ({"spark__api__mode": "classic"}, {"SPARK_API_MODE": "connect"}, False),
        ({"spark__api__mode": "classic"}, {"SPARK_CONNECT_MODE": "1"}, False),
    ],
)
def test_the_kind_of_session_is_that_of_spark(
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, str],
    variables: dict[str, str],
    is_connect: bool,
) -> None:
    """By the settings and the variables that `getOrCreate` reads."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert ("spark.connect.extensions.relation.classes" in configured(**options)) == is_connect


@pytest.mark.parametrize("builder", [None, "spark", SparkSession])
def test_only_a_builder_can_be_configured(builder: object) -> None:
    """A session comes too late, and the message shows what to pass."""
    with pytest.raises(ArgumentTypeError, match=r"Try: et\.configure\(SparkSession\.builder\)"):
        configure(builder)  # type: ignore[arg-type]


def test_real_time_mode_has_settings_of_its_own(jar: str) -> None:
    """Each may be chosen."""
    check = "spark.sql.streaming.realTimeMode.allowlistCheck"
    options = configure(SparkSession.Builder(), real_time=True)._options
    assert options[JARS] == jar
    assert options[check] == "false"
    assert check not in configure(SparkSession.Builder())._options
    chosen = SparkSession.Builder().config(check, "true")
    assert configure(chosen, real_time=True)._options[check] == "true"


@pytest.mark.parametrize("version", ["4.1.3", "4.2.0"])
def test_real_time_mode_needs_a_newer_spark(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Older ones have no shuffle in it."""
    monkeypatch.setattr(pyspark, "__version__", version)
    with pytest.raises(UnsupportedSparkError, match=r"Use Spark 4\.3, or leave out real_time"):
        configure(SparkSession.Builder(), real_time=True)
