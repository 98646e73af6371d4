"""Calls of the table functions that are valid, and parts of SQL to put into them."""

from __future__ import annotations

from typing import Any

from tests.chaos.fuzz.values import NAMED

CHECKPOINT = "@checkpoint@"
Arguments = list[list[Any]]
"""Of a call: the name of each, or None, and its text."""

ROWS: Arguments = [
    [None, "TABLE(events)"],
    ["event_time", "ts"],
    ["policy", "with_fixed_lag('5s')"],
]
WINDOW: Arguments = [
    *ROWS,
    ["substream", "device"],
    ["substream_idle_timeout", "'1 minute'"],
    ["expected", "array('a', 'b')"],
    ["max_substreams", "10"],
    ["key_by", "(device, upper(kind))"],
    ["agg", "(count(*) AS n, max(v) FILTER (WHERE v > 0) AS most)"],
]
KEPT_WINDOW = """TABLE(
SELECT * FROM eventtide_window(TABLE(kept), ts, with_fixed_lag('5s'), key_by => key,
  size => '20s', slide => '5s', agg => 'count(*) AS n, max(n) AS most')
)"""
"""The rows of the query that has written the checkpoint."""

CALLS: list[tuple[str, Arguments]] = [
    ("eventtide_watermark", WINDOW[:-2]),
    (
        "eventtide_watermark",
        [*ROWS, ["decorators", "(emit_every('1s'), guard_future('1h', 'late'))"]],
    ),
    ("eventtide_ingestion_time", [[None, "TABLE(events)"], ["into", "'at'"]]),
    (
        "eventtide_window",
        [*WINDOW, ["size", "INTERVAL 1 MINUTE"], ["slide", "'10s'"], ["delay", "'1s'"]],
    ),
    (
        "eventtide_window",
        [
            *WINDOW,
            ["size", "'1 month'"],
            ["time_zone", "'Europe/Berlin'"],
            ["origin", "TIMESTAMP'2024-01-01 00:00:00'"],
            ["late_to", f"'{NAMED}'"],
            ["late_retention", "'90d'"],
        ],
    ),
    (
        "eventtide_window",
        [
            *WINDOW,
            ["size", "'1m'"],
            ["triggers", "(at_window_end, every('10s'), every_rows(1000), when(n >= 100))"],
            ["allowed_lateness", "'1 hour'"],
            ["late_updates", "true"],
            ["discarding", "true"],
        ],
    ),
    (
        "eventtide_window",
        [*WINDOW, ["gap", "'5m'"], ["maximum_duration", "'1h'"], ["touching", "'merge'"]],
    ),
    ("eventtide_window", [*WINDOW, ["gap", "make_dt_interval(0, 0, 0, v)"]]),
    ("eventtide_window", [*WINDOW, ["rows", "3"], ["slide", "1"]]),
    ("eventtide_window", [*WINDOW, ["length", "'20s'"], ["slide", "3"], ["rows_in_memory", "10"]]),
    (
        "eventtide_window",
        [*WINDOW, ["size", "'1m'"], ["scope", "'key'"], ["key_idle_timeout", "'5m'"]],
    ),
    (
        "eventtide_window",
        [*WINDOW[:1], ["processing_time", "true"], ["size", "'1m'"], *WINDOW[-1:]],
    ),
    ("eventtide_late", [[None, f"'{CHECKPOINT}'"], ["window", "0"], ["missing", "'skip'"]]),
    ("STREAM eventtide_late", [[None, f"'{CHECKPOINT}'"], ["max_batches_per_trigger", "10"]]),
    ("eventtide_completeness", [[None, f"'{CHECKPOINT}'"], ["window", "0"]]),
    ("eventtide_checkpoint", [[None, f"'{CHECKPOINT}'"]]),
    ("eventtide_progress", [[None, "'counts'"]]),
    ("eventtide_blame", [[None, "'00000000-0000-0000-0000-000000000000'"]]),
    (
        "eventtide_open_windows",
        [
            [
                None,
                KEPT_WINDOW,
            ],
            [None, f"'{CHECKPOINT}'"],
        ],
    ),
]
FRAGMENTS = (
    *"""\
NULL
ts
device
v
nothing
window
*
TRUE
1
-1
1e400D
9e99
''
INTERVAL 5 SECONDS
INTERVAL '-1' MONTH
INTERVAL 178000000 YEARS
INTERVAL 0 DAYS
array()
array(NULL)
array(array('a'))
map('a', 1)
struct(1)
named_struct('a', 1)
(SELECT 1)
(SELECT max(ts) FROM history)
EXISTS(SELECT 1)
TABLE(history)
TABLE(nothing)
TABLE(events) PARTITION BY device
TABLE(events) ORDER BY ts
TABLE(history) WITH SINGLE PARTITION
TABLE(SELECT 1)
TABLE(SELECT * FROM history, history)
TABLE(marked)
TABLE(VALUES (1))
rand()
uuid()
current_timestamp()
count(*)
sum(v) OVER ()
explode(array(1))
v / 0
CAST('NaN' AS DOUBLE)
CAST('x' AS INT)
1 / 0
X'00'
assert_true(false)
x -> x
:p
DATE'0001-01-01'
TIMESTAMP'294247-01-10 04:00:54'
TIMESTAMP_NTZ'-0001-01-01 00:00:00'
with_fixed_lag('5s')
with_fixed_lag()
with_fixed_lag(lag => '5s', lag => '6s')
max_of()
max_of(with_fixed_lag('5s'), 'storm(''5s'')')
by_substream('a')
map('*', storm('5s'))
by_substream(map('*', storm('5s')))
storm(ts)
with_late_target('5%', start => '2m')
watermark_from(ts)
every('0s')
every(ts)
when(true)
when(n)
every_rows(0)
on_update
at_window_end()
count(*) AS n, count(*) AS n
'count('
'n'
'* FROM history'
'1; DROP VIEW history'
sum(DISTINCT v)
collect_list(struct(*))
percentile(v, 0.5)
max_by(v, ts)
first(ts)
mode() WITHIN GROUP (ORDER BY v)
approx_percentile(v, array(0.5, 1.5))
grouping(device)
`a``b`
a.b.c.d
$x
{x}
${spark.x}
""".splitlines(),
    "max_of(" * 300 + "storm('5s')" + ")" * 300,
    "(" * 500 + "1" + ")" * 500,
    "NOT " * 1000 + "true",
    "'" + "1 + " * 3000 + "1'",
)
"""What stands where an argument is expected, or an expression in it."""

WORDS = "SELECT", "FROM", "(", ")", ",", "=>", "TABLE", "STREAM", "'", '"', "--", "/*", ";"
