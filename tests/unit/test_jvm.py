"""The door to the JVM: what can be wrong with a session, and how errors come back."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from eventtide import __version__, _bridge, _jvm, named_errors
from eventtide._session_kind import is_connect
from eventtide.errors import BY_NAME, CheckpointError, SetupError, UnsupportedSparkError
from py4j.java_gateway import JavaPackage
from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.errors.exceptions.captured import IllegalArgumentException

from tests.unit.fakes import JavaError, ours, raised

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from tests.unit.fakes import FakeDoor, FakeFrame


def explain(frame: FakeFrame) -> str:
    """Call the simplest thing behind the door."""
    return _jvm.explain_json(frame)


def test_without_a_session_the_error_shows_how_to_start_one(
    monkeypatch: pytest.MonkeyPatch, frame: FakeFrame
) -> None:
    """Also after `spark.stop()`."""
    monkeypatch.setattr(SparkContext, "_active_spark_context", None)
    with pytest.raises(SetupError, match=r"No Spark session is active.*et.configure"):
        explain(frame)


def test_objects_of_two_kinds_of_sessions_are_refused(frame: FakeFrame) -> None:
    """Before either session is asked."""
    connect = type("DataStreamWriter", (), {"__module__": "pyspark.sql.connect.streaming"})
    with pytest.raises(SetupError, match=r"classic session, and another to Spark Connect"):
        _bridge.of(frame, connect())


def test_a_connect_frame_gets_a_message_of_its_own(frame: FakeFrame) -> None:
    """Spark Connect has no JVM to reach; its module is not even imported."""
    connect = type("DataFrame", (), {"__module__": "pyspark.sql.connect.dataframe"})
    with pytest.raises(SetupError, match=r"Spark Connect session"):
        _jvm.explain_json(connect())
    assert not is_connect(frame)


@pytest.mark.parametrize("version", ["3.5.7", "4.0.1", "4.4.0", "5.0.0"])
def test_a_spark_without_a_jar_is_refused_with_the_list(
    door: FakeDoor, frame: FakeFrame, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    """The supported versions are in the message."""
    monkeypatch.setattr(SparkContext, "_active_spark_context", SimpleNamespace(version=version))
    with pytest.raises(UnsupportedSparkError, match=rf"Spark {version} .* Supported: 4\.1, 4\.2"):
        explain(frame)
    assert door.calls == []


def test_without_the_jar_the_error_names_it(
    frame: FakeFrame, monkeypatch: pytest.MonkeyPatch, door: FakeDoor
) -> None:
    """py4j answers with a package where a class is missing; a JVM takes no more jars."""
    package = JavaPackage("io.eventtide.spark.api.PythonApi", None)
    assert SparkContext._jvm is not None
    monkeypatch.setattr(SparkContext._jvm, "io.eventtide.spark.api.PythonApi", package)
    with pytest.raises(SetupError, match=r"without eventtide's jar.*Restart Python") as error:
        explain(frame)
    assert f"--jars eventtide-spark-4.3_2.13-{__version__}.jar" in str(error.value)
    assert "--conf spark.sql.extensions=io.eventtide.spark.EventtideExtensions" in str(error.value)
    assert not _jvm.has_jar()
    assert door.calls == []


def test_a_jar_of_another_eventtide_is_refused(door: FakeDoor, frame: FakeFrame) -> None:
    """Both versions are in the message."""
    door.versions = ("9.9", "4.3")
    with pytest.raises(
        SetupError, match=rf"eventtide 9\.9, and Python has eventtide {__version__}"
    ):
        explain(frame)


def test_a_jar_for_another_spark_is_refused(door: FakeDoor, frame: FakeFrame) -> None:
    """Both minors are in the message, and the right jar."""
    door.versions = (__version__, "4.2")
    with pytest.raises(SetupError, match=r"runs Spark 4\.3.*for Spark 4\.2.*eventtide-spark-4\.3_"):
        explain(frame)


def test_a_session_without_the_extension_is_refused(door: FakeDoor, frame: FakeFrame) -> None:
    """Spark only logs an extension that it cannot load."""
    door.installed = False
    with pytest.raises(SetupError, match=r"jar but not its extension.*spark.sql.extensions"):
        explain(frame)
    assert door.calls == []


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_an_error_of_our_jvm_half_becomes_the_class_it_names(
    door: FakeDoor, frame: FakeFrame, name: str
) -> None:
    """With the message that the JVM finished, and without its stack trace."""
    door.fails_with = raised(ours(name))
    with pytest.raises(BY_NAME[name], match=r"^lag='-1s' is negative.$") as error:
        explain(frame)
    assert error.value.__suppress_context__


def test_our_error_is_found_among_the_causes(door: FakeDoor, frame: FakeFrame) -> None:
    """Spark wraps what fails while a query starts."""
    door.fails_with = raised(JavaError("java.lang.RuntimeException", ours("CheckpointError")))
    with pytest.raises(CheckpointError):
        explain(frame)


def test_our_error_is_found_in_what_pyspark_captured(door: FakeDoor, frame: FakeFrame) -> None:
    """PySpark replaces exceptions that it knows by its own classes."""

    class Captured(IllegalArgumentException):
        def __init__(self, origin: JavaError) -> None:
            self._origin = origin

    illegal = JavaError("java.lang.IllegalArgumentException", ours("CheckpointError"))
    door.fails_with = Captured(illegal)
    with pytest.raises(CheckpointError):
        explain(frame)


@pytest.mark.usefixtures("door")
def test_our_error_is_found_in_what_a_query_reports() -> None:
    """`query.exception()` keeps the Java exception only as the cause."""

    class Captured(IllegalArgumentException):
        def __init__(self, origin: JavaError | None, cause: Captured | None = None) -> None:
            self._origin, self._cause = origin, cause

    with pytest.raises(CheckpointError), named_errors():
        raise Captured(None, Captured(ours("CheckpointError")))
    with pytest.raises(Captured), named_errors():
        raise Captured(None)


@pytest.mark.usefixtures("door")
def test_an_error_of_sparks_has_ours_beside_it() -> None:
    """Where the JVM could only say so beside what Spark has ended a query by."""
    conflict = JavaError("org.apache.spark.SparkException")
    conflict.suppressed = [JavaError("java.io.IOException"), ours("CheckpointError")]
    with pytest.raises(CheckpointError), named_errors():
        raise raised(JavaError("java.lang.RuntimeException", conflict))


@pytest.mark.usefixtures("door")
def test_an_error_of_the_jvm_has_its_parts_as_fields() -> None:
    """What is wrong, the fix, and the values in the message."""
    with pytest.raises(CheckpointError) as caught, named_errors():
        raise raised(ours("CheckpointError"))
    error = caught.value
    assert (error.condition, error.argument, error.value) == ("INVALID_DURATION", "lag", "-1s")
    assert (error.problem, error.allowed) == ("lag='-1s' is negative.", None)
    assert error.fix == "Set it to a duration such as 'PT5S'."
    assert error.parameters == {"option": "lag", "value": "-1s"}


def test_other_errors_are_left_alone(door: FakeDoor, frame: FakeFrame) -> None:
    """What is not ours is Spark's, stack trace and all."""
    error = raised(JavaError("java.lang.NullPointerException"))
    door.fails_with = error
    with pytest.raises(Py4JJavaError) as caught:
        explain(frame)
    assert caught.value is error


def test_a_query_asks_for_its_progress_by_id(door: FakeDoor, query: StreamingQuery) -> None:
    """The JVM's session and the query's id cross, the JSON comes back."""
    door.answer = None
    assert _jvm.progress_json(query) is None
    assert door.calls == [("progressJson", "the java session", "0f6a")]


def test_settings_are_unknown_before_a_jvm_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking must not start one."""
    monkeypatch.setattr(SparkContext, "_gateway", None)
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    assert _jvm.running_settings() is None


def test_settings_are_those_of_the_running_jvm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under spark-submit the gateway is connected to first."""
    connected: list[bool] = []
    conf = SimpleNamespace(getAll=lambda: [("spark.jars", "a.jar")])
    monkeypatch.setattr(SparkContext, "_gateway", None)
    monkeypatch.setattr(SparkContext, "_ensure_initialized", lambda: connected.append(True))
    monkeypatch.setattr("eventtide._jvm.SparkConf", lambda **_: conf)
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "25333")
    assert _jvm.running_settings() == {"spark.jars": "a.jar"}
    assert connected == [True]
