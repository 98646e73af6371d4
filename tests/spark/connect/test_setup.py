"""A server that lacks something, and what it says to its clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide.errors import SetupError
from eventtide.testing import Script

from tests.spark.queries import EVENTS, at, counts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    Start = Callable[[dict[str, str | None]], SparkSession]

POLICY = et.WatermarkPolicies.with_fixed_lag("0s")


def rates(spark: SparkSession) -> DataFrame:
    """Return a stream with a time."""
    return spark.readStream.format("rate").load()


def test_a_server_without_eventtide_says_what_to_set(other_server: Start) -> None:
    """Its jar, its plugin and its extension."""
    session = other_server({"spark.connect.extensions.relation.classes": None})
    with pytest.raises(SetupError, match=r"does not have eventtide.*--jars.*relation\.classes="):
        et.with_watermark(rates(session), "timestamp", POLICY)


def test_a_server_without_the_extension_says_so(other_server: Start) -> None:
    """Spark itself would leave the request unresolved."""
    session = other_server({"spark.sql.extensions": None})
    with pytest.raises(SetupError, match=r"spark\.sql\.extensions") as error:
        et.with_watermark(rates(session), "timestamp", POLICY)
    assert error.value.condition == "EXTENSION_MISSING"


def test_a_server_decides_what_its_clients_may_do(other_server: Start, tmp_path: Path) -> None:
    """By default they change no files, and do not use its memory for tests."""
    off: dict[str, str | None] = {
        f"spark.eventtide.connect.{name}": None for name in ("allowFileChanges", "testKit")
    }
    session = other_server(off)
    checkpoint = str(tmp_path / "checkpoint")
    for change in (
        lambda: et.clean_late(checkpoint, spark=session),
        lambda: et.compact_late(checkpoint, spark=session),
        lambda: et.forget_late_reader(checkpoint, "1", spark=session),
        lambda: et.observe.repartition(checkpoint, 4, spark=session),
    ):
        with pytest.raises(SetupError, match=r"allowFileChanges=true") as error:
            change()
        assert error.value.condition == "CONNECT_CHANGES_OFF"
    session.conf.set("spark.eventtide.connect.testKit", "true")  # of the session, not of the server
    with pytest.raises(SetupError, match=r"connect\.testKit=true") as error:
        Script(counts(POLICY), EVENTS, session=session)
    assert error.value.condition == "CONNECT_TEST_KIT_OFF"


def test_a_client_of_another_version_is_refused(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once for each session, with both versions."""
    monkeypatch.setattr("eventtide._connect.answers._checked", set())
    monkeypatch.setattr("eventtide._connect.answers.__version__", "9.9.9")
    with pytest.raises(SetupError, match=r"Python has eventtide 9\.9\.9\. Use one version: pip"):
        et.with_watermark(rates(spark), "timestamp", POLICY)


@pytest.mark.smoke
def test_the_test_kit_runs_on_a_server(spark: SparkSession) -> None:
    """Rows, clock, restarts and results, as in a classic session."""
    with Script(counts(POLICY), EVENTS, session=spark) as script:
        script.rows([(at(1), "a"), (at(2), "a")], [(at(60), "b")], partitions=2)
        script.stop().waiting([(at(120), "b")]).restart(clock="+1m")
        assert script.now == "2024-01-01T00:01:00Z"
        assert script.last_batch >= 1
        assert script.streaming_query.isActive
        assert [row["n"] for row in script.results()] == [2, 1]
