"""SQL: calls of the table functions over rows and over a checkpoint, in texts of any kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import eventtide as et
from hypothesis import strategies as st

from tests.chaos.fuzz.calls import CALLS, CHECKPOINT, FRAGMENTS, WORDS
from tests.chaos.fuzz.judge import Check
from tests.chaos.fuzz.kept import files_of, put
from tests.chaos.fuzz.sessions import KEPT_EVENTS, classic, stream
from tests.chaos.fuzz.values import PATHS, TEXTS, changed, damaged

if TYPE_CHECKING:
    from tests.chaos.fuzz.canaries import Canaries

KEPT = "windows-0.1.0"


def quoted(text: str) -> str:
    """Return a text as SQL has it."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


ODD: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(FRAGMENTS),
    st.sampled_from([*TEXTS, *PATHS, CHECKPOINT]).map(quoted),
    st.text(max_size=10).map(quoted),
    st.integers().map(str),
)


def written(function: str, arguments: Any) -> str:
    """Return the statement of a call; an argument that has become another value is that."""
    listed = arguments if isinstance(arguments, list) else [arguments]
    return f"SELECT * FROM {function}({', '.join(map(_argument, listed))})"  # noqa: S608 - of ours


def _argument(given: Any) -> str:
    if not isinstance(given, list) or not given:
        return f"{given}"
    name, value = given[0], given[-1]
    return f"{value}" if name is None else f"{name} => {value}"


@st.composite
def calls(draw: st.DrawFn) -> str:
    """Return a call with an argument that is another, or with several, or without some."""
    function, arguments = draw(st.sampled_from(CALLS))
    if draw(st.booleans()):
        arguments = [[*each] for each in arguments]
        arguments[draw(st.integers(0, len(arguments) - 1))][1] = draw(ODD)
    else:
        arguments = draw(changed(arguments, ODD))
    events = draw(st.sampled_from(["streamed", "history"]))
    return written(function, arguments).replace("TABLE(events)", f"TABLE({events})")


def texts() -> st.SearchStrategy[str]:
    """Return statements, of which some are damaged."""
    pieces = st.one_of(ODD, st.sampled_from([f" {word} " for word in WORDS]))
    return st.one_of(calls(), calls(), calls().flatmap(lambda of: damaged(of, pieces)))


class Statements:
    """Statements over a stream and over rows that are there."""

    def __init__(self, canaries: Canaries) -> None:
        self._put = canaries.put
        self._checkpoint = canaries.given / "checkpoint"
        put(files_of(KEPT), self._checkpoint)

    def use(self, text: str) -> None:
        """Analyze a statement; run it if its rows are there.

        They stay in the JVM: Python has no years before 1.
        """
        spark = classic()
        with et.named_errors():
            rows = spark.sql(self._put(text).replace(CHECKPOINT, str(self._checkpoint)))
            if not rows.isStreaming:
                rows.limit(3).write.format("noop").mode("overwrite").save()


def views() -> None:
    """Make the views that statements are over."""
    spark = classic()
    stream().createOrReplaceTempView("streamed")
    rows = "SELECT timestamp_seconds(id) AS ts, 'a' AS device, 'b' AS kind, id AS v FROM range(4)"
    spark.sql(rows).createOrReplaceTempView("history")
    stream(*KEPT_EVENTS).createOrReplaceTempView("kept")
    spark.sql(
        "SELECT * FROM eventtide_watermark(TABLE(streamed), ts, with_fixed_lag('5s'))"
    ).createOrReplaceTempView("marked")


def may_read(text: str, name: str) -> bool:
    """Return whether a statement has the path of a canary: such functions read what they name."""
    return "named" in text and name.startswith("named")


def checks(canaries: Canaries) -> list[Check]:
    """Return the only check."""
    views()
    return [Check(texts(), Statements(canaries).use, 1000, may_read)]
