"""What is refused in YAML: the line and the key, the value, what is allowed, what to try."""

from __future__ import annotations

import eventtide as et
import pytest
from eventtide import EventtideError
from eventtide.errors import (
    ArgumentTypeError,
    InvalidArgumentError,
    InvalidDurationError,
    UnknownColumnError,
)

from tests.unit.fakes import FakeFrame
from tests.unit.refusals import assert_refused

pytestmark = pytest.mark.usefixtures("columns")

FRAME = FakeFrame("ts", "device", "Amount")
PAGE = """\
version: 1
name: hourly
emitter:
  sliding-time-window:
    windowSpan: 1h
    slideBy: 1m
    keyExtractor: device
    timeConfig:
      eventTimeExtractor: ts
      idleTimeout: 5m
    aggregateDefinition:
      builder:
      - type: sum
        column: Amount
        as: total
    triggers:
    - trigger: atWindowEnd
"""

T, D, A, U = ArgumentTypeError, InvalidDurationError, InvalidArgumentError, UnknownColumnError
ONCE = ("each key once", "remove one")
NO_YAML = ("one document of keys and values", "quotes around")
JAVA = "org.voltdb.stream.plugin.window.api.WindowTrigger#onUpdate"

Case = tuple[str, type[EventtideError], str, str, str]

# By the line that is replaced: what stands there, the error, how it begins, what it says is
# allowed, and what it tries.
CASES: dict[str, list[Case]] = {
    "version: 1": [
        ("version: 2", A, "line 1, version: 2 is unknown", "1", "version: 1"),
        ("version: true", A, "line 1, version: True is unknown", "1", "version: 1"),
        ("version: 1.0", A, "line 1, version: 1.0 is unknown", "1", "version: 1"),
        ("version: '1'", A, "line 1, version: '1' is unknown", "1", "version: 1"),
        ("{", A, "line 3: cannot be read as YAML", *NO_YAML),
    ],
    "name: hourly": [
        ("name: 7", T, "line 2, name: 7 has type int", "text", "quotes"),
        ("name: on", T, "line 2, name: True has type bool", "text", "quotes"),
        ("names: x", A, "line 2, names: is an unknown key", "version, name", "name in its place"),
        (
            "source: {kafka: {}}",
            A,
            "line 2, source: is not allowed here",
            "emitter",
            "et.voltsp.from_yaml(",
        ),
        ("processors: []", A, "line 2, processors: is not allowed", "emitter", "df.where(...)"),
        ("sink: {}", A, "line 2, sink: is not allowed here", "emitter", "results.writeStream"),
        ("version: 1", A, "line 2, version: is already set on line 1", *ONCE),
        (
            "session-window: {}",
            A,
            "line 4, emitter.sliding-time-window: cannot be combined with another window",
            "one window, tumbling-time-window, sliding-time-window",
            "remove one of them",
        ),
    ],
    "  sliding-time-window:": [
        (
            "  file:",
            A,
            "line 4, emitter.file: is not a kind of window",
            "tumbling-time-window, sliding-time-window, session-window",
            "in its place",
        ),
        (
            "  sliding-window:",
            A,
            "line 4, emitter.sliding-window: is not a kind of window",
            "tumbling-time-window, sliding-time-window",
            "sliding-time-window in its place",
        ),
        (
            "  session-window:",
            A,
            "line 5, windowSpan: '1h' does not apply to a session-window, whose gap is its idle",
            "windowSpan of tumbling-time-window",
            "idleTimeout: 1h",
        ),
        (
            "  tumbling-time-window:",
            A,
            "line 6, slideBy: '1m' does not apply to a tumbling-time-window",
            "of sliding-time-window, sliding-count-window",
            "sliding-time-window",
        ),
        (
            "  sliding-count-window:",
            T,
            "line 5, windowSpan: '1h' has type str",
            "a whole number from 1 to 1000000",
            "windowSpan: 100",
        ),
    ],
    "windowSpan: 1h": [
        ("windowSpan: 60", D, "line 5, windowSpan: 60 is a number", "text", "windowSpan: 60s"),
        ("windowSpan: 0s", D, "line 5, windowSpan: '0s' is zero", "more than", "windowSpan: 1s"),
        ("windowSpan: soon", D, "line 5, windowSpan: 'soon' cannot", "text", "windowSpan: 5s"),
        ("windowSpan: [1h]", D, "line 5, windowSpan: ['1h'] has type", "text", "windowSpan: 5s"),
        ("windowSpan:", A, "line 5, windowSpan: is empty", "a value", "remove windowSpan"),
        (
            "windowSpan: 1mo",
            D,
            "line 5, windowSpan: '1mo' is a calendar size",
            "a dur",
            "et.window",
        ),
        ("# none", A, "line 4, windowSpan: is missing", "a duration", "windowSpan: 1m"),
        ("window_span: 1h", A, "line 5, window_span: is an unknown", "windowSpan", "windowSpan in"),
        ("exceptionHandler: f", A, "line 5, exceptionHandler: is not", "late", "with_exception_"),
        (
            "maximumDuration: 1h",
            A,
            "line 5, maximumDuration: '1h' does not",
            "session-window",
            "remove",
        ),
        ("touching: merge", A, "line 5, touching: 'merge' does not", "session-window", "remove"),
        ("5: 1h", T, "line 5: a key is not text", "names", "quotes"),
        ("windowSpan: '1h", A, "line", *NO_YAML),
        ("windowSpan: !x 1h", A, "line 5: cannot be read as YAML", *NO_YAML),
        ("windowSpan: 2024-13-01", D, "line 5, windowSpan: '2024-13-01' cannot", "text", "5s"),
        ("windowSpan: !!int ''", A, "line 5: cannot be read as YAML: '' is not of", *NO_YAML),
        ("windowSpan: !!bool x", A, "line 5: cannot be read as YAML: 'x' is not of", *NO_YAML),
        ("windowSpan: !!timestamp x", D, "line 5, windowSpan: 'x' cannot be", "text", "5s"),
        ("windowSpan: 0100", A, "line 5: '0100' is another number", "decimal numbers", "quotes"),
        ('"\\ud800": 1h', A, "line 5: cannot be read as YAML: 'utf-8' codec", *NO_YAML),
        ("<<: {}", A, "line 5: cannot be read as YAML", *NO_YAML),
    ],
    "slideBy: 1m": [
        (
            "slideBy: 7m",
            D,
            "line 5, windowSpan: '1h' is not a multiple",
            "up to",
            "slideBy: 6m or slideBy: 10m",
        ),
        (
            "slideBy: 1ms",
            D,
            "line 6, slideBy: '1ms' makes 3600000",
            "up to 1000000",
            "slideBy: 3ms",
        ),
        ("windowSpan: 1m", A, "line 6, windowSpan: is already set on line 5", *ONCE),
        ("# none", A, "line 4, slideBy: is missing: a sliding-time-window", "a duration", ": 1m"),
        ("late: drop", A, "line 6, late: 'drop' is unknown", "'log', 'count', 'fail'", "late: log"),
        ("lateTo: 7", T, "line 6, lateTo: 7 has type int", "the path of a folder", "lateTo: s3:"),
    ],
    "keyExtractor: device": [
        (
            "keyExtractor: org.acme.Event::userId",
            A,
            "line 7, keyExtractor: 'org.acme.Event::userId' is a Java method",
            "a column name, SQL text",
            "keyExtractor: userId",
        ),
        ("keyExtractor: 7", T, "line 7, keyExtractor: 7 has type int", "columns", "keyExtractor: "),
        ("keyExtractor: []", A, "line 7, keyExtractor: () is empty", "columns", "keyExtractor: "),
        (
            "keyExtractor: devices",
            U,
            "line 7, keyExtractor: 'devices' is no",
            "one of ts",
            "device",
        ),
    ],
    "eventTimeExtractor: ts": [
        (
            "eventTimeExtractor: tz",
            U,
            "line 9, timeConfig.eventTimeExtractor: 'tz' is not a column",
            "one of ts, device, Amount",
            "eventTimeExtractor: ts",
        ),
        (
            "eventTimeExtractor: Event::timestamp",
            A,
            "line 9, timeConfig.eventTimeExtractor: 'Event::timestamp' is a Java method",
            "a column name, SQL text",
            "eventTimeExtractor: timestamp",
        ),
        (
            "delayWindowClose: 5s",
            A,
            "line 9, timeConfig.delayWindowClose: '5s' needs an eventTimeExtractor",
            "delayWindowClose with an eventTimeExtractor",
            "eventTimeExtractor: ts",
        ),
        (
            "delayWindowClose: -5s",
            D,
            "line 9, timeConfig.delayWindowClose: '-5s' is negative",
            "zero or more",
            "delayWindowClose: 5s",
        ),
        (
            "watermarkStrategy: LAST",
            A,
            "line 9, timeConfig.watermarkStrategy: 'LAST' is unknown",
            "'MIN_EVENT_TIME', 'MAX_EVENT_TIME'",
            "watermarkStrategy: MIN_EVENT_TIME",
        ),
        (
            "idleTimeoutClock: 1",
            A,
            "line 9, timeConfig.idleTimeoutClock: 1 is unknown",
            "'EVENT_TIME', 'PROCESSING_TIME'",
            "idleTimeoutClock: EVENT_TIME",
        ),
        ("scope: []", A, "line 9, timeConfig.scope: [] is empty", "'key', 'global'", "scope: key"),
        (
            "lateRule: x",
            A,
            "line 9, timeConfig.lateRule: 'x' is",
            "'frame_closed'",
            "lateRule: beh",
        ),
        (
            "maxRowsPerBatch: all",
            T,
            "line 9, timeConfig.maxRowsPerBatch: 'all' has type str",
            "a whole number",
            "maxRowsPerBatch: 1",
        ),
        ("heartbeat: 1ms", D, "line 9, timeConfig.heartbeat: '1ms' is", "100ms", "heartbeat: 1m"),
        (
            "policy: x",
            A,
            "line 9, timeConfig.policy: is an unknown key",
            "scope, lateRule",
            "place",
        ),
    ],
    "idleTimeout: 5m": [
        ("scope: ts", A, "line 10, timeConfig.scope: 'ts' is not a key", "'device'", "scope: key"),
        ("idleTimeout: 5", D, "line 10, timeConfig.idleTimeout: 5 is", "text", "idleTimeout: 5s"),
        ("idleTimeout: -5m", D, "line 10, timeConfig.idleTimeout: '-5m' is", "more", "Timeout: 5m"),
        ("idleTimeOut: 5m", A, "line 10, timeConfig.idleTimeOut: is an", "idleTimeout", "idleTime"),
        ("idleTimeout: [", A, "line 12: cannot be read as YAML", *NO_YAML),
    ],
    "    aggregateDefinition:": [
        ("    late: log", A, "line 12: cannot be read as YAML", *NO_YAML),
    ],
    "      builder:": [
        (
            "      from: org.acme.Event\n      builder:",
            A,
            "line 12, aggregateDefinition.from: is not allowed here",
            "builder",
            "remove from",
        ),
        (
            "      build:",
            A,
            "line 12, aggregateDefinition.build: is an unknown",
            "builder",
            "build",
        ),
    ],
    "- type: sum": [
        ("- type: total", A, "line 13, aggregateDefinition.builder[0].type: 'to", "'avg'", "count"),
        ("- from: x", A, "line 13, aggregateDefinition.builder[0].from: is an unk", "column", "in"),
        (
            "- type: expression",
            A,
            "line 14, aggregateDefinition.builder[0].column:",
            "expr",
            "expr",
        ),
        (
            "- sum\n      - type: sum",
            T,
            "line 13, aggregateDefinition.builder[0]: 'sum'",
            "map",
            "t",
        ),
    ],
    "column: Amount": [
        ("# none", T, "line 13, aggregateDefinition.builder[0].column: is miss", "a column", "col"),
        (
            "column: 7",
            T,
            "line 14, aggregateDefinition.builder[0].column: 7 has",
            "a column",
            "col",
        ),
        (
            "expression: n",
            A,
            "line 14, aggregateDefinition.builder[0].expression:",
            "col",
            "column",
        ),
    ],
    "as: total": [
        ("# none", T, "line 13, aggregateDefinition.builder[0].as: is missing", "a name", "total"),
        ("as: [n]", T, "line 15, aggregateDefinition.builder[0].as: ['n'] has", "a name", "total"),
    ],
    "- trigger: atWindowEnd": [
        (
            f"- trigger: {JAVA}",
            A,
            f"line 17, triggers[0].trigger: '{JAVA}' is a Java name",
            "atWindowEnd, onUpdate, {every: 10s}",
            "trigger: onUpdate",
        ),
        ("- trigger: end", A, "line 17, triggers[0].trigger: 'end' is", "onUpdate", "atWindowEnd"),
        ("- trigger: every", A, "line 17, triggers[0].trigger: 'every'", "{every: 10s}", "trigger"),
        ("- trigger: {every: 5}", D, "line 17, triggers[0].trigger.every: 5", "text", "every: 5s"),
        (
            "- trigger: {everyRows: x}",
            T,
            "line 17, triggers[0].trigger.everyRows",
            "from 1",
            "1000",
        ),
        ("- trigger: {when: 7}", T, "line 17, triggers[0].trigger.when: 7 has", "SQL text", "n >"),
        ("- trigger: {a: 1, b: 2}", A, "line 17, triggers[0].trigger: {'a'", "onUpdate", "trigger"),
        ("- sink: {}", A, "line 17, triggers[0].sink: is not allowed", "trigger", "writeStream"),
        ("- processors: []", A, "line 17, triggers[0].processors: is not", "trigger", "where("),
        ("- atWindowEnd", T, "line 17, triggers[0]: 'atWindowEnd' has type", "trigger", "trigger:"),
        ("  trigger: x", T, "line 16, triggers: {'trigger': 'x'} has type", "a list", "a dash"),
        (
            "- trigger: onUpdate\n    - trigger: onUpdate",
            A,
            "line 16, triggers: (WindowTrigger.onUpdate, WindowTrigger.onUpdate) has a trigger",
            "atWindowEnd, onUpdate",
            "triggers: [{trigger: atWindowEnd}]",
        ),
    ],
}


@pytest.mark.parametrize(
    ("line", "case"), [(line, case) for line, cases in CASES.items() for case in cases]
)
def test_a_wrong_line_is_refused(line: str, case: Case) -> None:
    """By its number, in the words of the document."""
    instead, error, begins, allowed, fix = case
    assert PAGE.count(line) == 1
    page = PAGE.replace(line, instead)
    assert_refused(lambda: et.voltsp.from_yaml(page).over(FRAME), error, begins, allowed, fix)


@pytest.mark.parametrize(
    ("line", "instead", "argument"),
    [
        ("windowSpan: 1h", "windowSpan: 5", "windowSpan"),
        ("idleTimeout: 5m", "idleTimeout: 5", "idleTimeout"),
        ("type: sum", "type: summ", "type"),
        ("- trigger: atWindowEnd", "- atWindowEnd", "triggers"),
        ("name: hourly", "? [a]", None),
    ],
)
def test_the_argument_of_an_error_is_its_key(line: str, instead: str, argument: str | None) -> None:
    """Without its line, and without the keys above it."""
    with pytest.raises(EventtideError) as raised:
        et.voltsp.from_yaml(PAGE.replace(line, instead)).over(FRAME)
    assert raised.value.argument == argument


def test_the_document_passes_without_its_mistakes() -> None:
    """Each case differs from it in one line."""
    assert et.voltsp.from_yaml(PAGE).over(FRAME).explained()


def test_what_is_no_frame_is_not_blamed_on_the_document() -> None:
    """It has no line."""
    with pytest.raises(T, match=r"^df='events' has type str"):
        et.voltsp.from_yaml(PAGE).over("events")  # type: ignore[arg-type]
