"""A Spark session with the installed wheel: one for all tests."""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from pyspark.sql import SparkSession

from tests.jars import BESIDE_SPARK, FIRST, JARS, SHARED_CLASSES
from tests.spark.classic import WITHOUT_CONNECT
from tests.spark.kafka import Broker
from tests.spark.server import WITH_EVENTTIDE, Server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


# PySpark takes a process of pytest-xdist for one that runs doctests of its own.
vars(sys.modules["__main__"]).setdefault("__file__", __file__)

if not JARS.is_dir():
    raise FileNotFoundError(f"{JARS} is missing; dev/test fetches it, as dev/chaos does")

# Where Hadoop's native library is missing, it asks for modes and links by child processes, two for
# each file that is not a checkpoint's. And a class is looked up in all of Spark's jars in their
# order, so that a few come first.
QUICK_FILES = {
    "spark.hadoop.fs.file.impl": "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem",
    "spark.driver.extraClassPath": FIRST,
    "spark.executor.extraClassPath": FIRST,
    "spark.executor.extraJavaOptions": SHARED_CLASSES,
}

# For each JVM that these tests start: most of the code of a query runs a few times only.
os.environ["JDK_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

# PySpark looks each of them up by name, in all jars, whenever it makes a column.
OFTEN_USED = [
    "functions",
    "PythonUtils",
    "org.apache.spark.sql.functions",
    "org.apache.spark.sql.classic.SparkSession",
    "org.apache.spark.sql.catalyst.trees.PySparkCurrentOrigin",
    "io.eventtide.spark.api.PythonApi",
]

# What is compiled stays: the default is a cache that these tests fill, over and over.
LONG_LIVED_JVM = f"-XX:ReservedCodeCacheSize=256m -Xmn600m {SHARED_CLASSES}"

SETTINGS = {
    "spark.driver.memory": "2g",
    "spark.driver.extraJavaOptions": LONG_LIVED_JVM,
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.codegen.fallback": "false",  # code that does not compile is no detail
    "spark.ui.enabled": "false",
    "spark.ui.retainedJobs": "20",  # kept without a UI, too
    "spark.ui.retainedStages": "20",
    "spark.sql.ui.retainedExecutions": "20",
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "1",  # of real-time mode
    "spark.sql.streaming.forceDeleteTempCheckpointLocation": "true",
    "spark.jars": ",".join(BESIDE_SPARK),
}

SERVER = {
    **SETTINGS,
    **QUICK_FILES,
    **WITH_EVENTTIDE,
    "spark.driver.extraJavaOptions": f"{LONG_LIVED_JVM} -Duser.timezone=UTC",
    "spark.eventtide.connect.testKit": "true",
    "spark.eventtide.connect.allowFileChanges": "true",
    # the default of Spark 4.1 is 3221225472b, which a client of 4.2 cannot read
    "spark.sql.session.localRelationSizeLimit": "3221225472",
}
"""The settings of a Spark Connect server for tests, which has the jar beside these."""

HERE = Path(__file__).parent
CONNECT = "EVENTTIDE_CONNECT" in os.environ
"""Whether the session is one of Spark Connect: `dev/test --connect`."""


# Some of these need PySpark's JVM already when they are imported.
if CONNECT:
    collect_ignore = [
        name for names in WITHOUT_CONNECT.values() for name in names if (HERE / name).exists()
    ]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what a client of Spark Connect cannot run, each by its reason."""
    for item in items if CONNECT else ():
        name = item.nodeid.removeprefix("tests/spark/")
        without_line = re.sub(r"(\.md):\d+", r"\1", name)
        for reason, starts in WITHOUT_CONNECT.items():
            if name.startswith(tuple(starts)) or without_line.startswith(tuple(starts)):
                item.add_marker(pytest.mark.skip(reason=f"it {reason}"))


def new_session(others: Mapping[str, str] | None = None) -> SparkSession:
    """Return a local session with Eventtide's jar and extension, and other settings."""
    builder = SparkSession.builder.master("local[2]").appName("eventtide-tests")
    for key, value in (SETTINGS | QUICK_FILES | dict(others or {})).items():
        builder = builder.config(key, value)
    session = et.configure(builder).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    jvm = session._jvm
    for name in OFTEN_USED:
        setattr(jvm, name, getattr(jvm, name))
    return session


os.environ["PYSPARK_PYTHON"] = sys.executable  # for workers, as in an environment that is active


@pytest.fixture
def new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the machine be in New York."""
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Return the Spark Connect server of all tests."""
    server = Server(tmp_path_factory.mktemp("server"), SERVER)
    yield server
    server.kill()


@pytest.fixture(scope="session", autouse=True)
def spark(request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """Return the session of all tests, of Spark Connect with `dev/test --connect`."""
    if CONNECT:
        server: Server = request.getfixturevalue("server")
        session = SparkSession.builder.remote(server.url).getOrCreate()
    else:
        session = new_session()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Return the broker of all tests that want one, each of which has topics of its own."""
    broker = Broker(tmp_path_factory.mktemp("kafka"))
    yield broker
    broker.kill()


@pytest.fixture
def topic(broker: Broker, request: pytest.FixtureRequest) -> str:
    """Return a topic of the test's own, with two partitions."""
    name = re.sub(r"\W+", "-", request.node.name)
    broker.create(name, 2)
    return name


@pytest.fixture
def golden(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Return what takes down that a golden case is played on a query."""
    return lambda case: record_property("golden", case)


@pytest.fixture(autouse=True)
def _settings_are_as_they_were(spark: SparkSession) -> Iterator[None]:
    """Put back what a test, or an example of a page, has set in the session that all share."""
    before = _settings(spark)
    yield
    after = _settings(spark)
    if before == after:
        return
    was, now = dict(before), dict(after)
    for key in now.keys() - was.keys():
        spark.conf.unset(key)
    for key in [key for key, value in was.items() if now.get(key) != value]:
        spark.conf.set(key, was[key])


def _settings(spark: SparkSession) -> Any:
    # As a dict a classic session takes a call for each setting.
    return spark.conf.getAll if CONNECT else spark.conf._jconf.getAllAsJava()
