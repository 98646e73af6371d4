"""The tests that a client of Spark Connect cannot run, each by its reason.

A name is the start of the id of tests. The id of a block of a page may leave out its line, unless
the page has several blocks under one heading.
`dev/test --connect` leaves these out.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WITHOUT_CONNECT: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "calls the session's JVM": (
            "test_counts_without_time.py::test_a_row_without_a_time_is_a_sign_of_life",
            "test_docs.py::test_a_block_runs[test-a-query.md Compare with the kernel]",
            "test_kernel_script.py",
            "test_repartition.py::test_a_kill_at_any_step_leaves_a_checkpoint_that_goes_on",
            "test_repartition.py::test_a_run_that_begins_meanwhile_goes_on",
            "test_script_rows.py",
            "test_start_conflicts.py",
            "test_timeline.py",
            "test_window_restart.py::test_spark_refuses_to_repartition_the_state",
        ),
        "makes sessions or drivers of its own": (
            "test_deploying.py",
            "test_docs.py::test_a_block_runs[README.md A first query]",
            "test_docs.py::test_a_block_runs[migrate-from-withwatermark.md:12 ",
            "test_flights",
            "test_history_server.py",
            "test_hive.py",
            "test_local_connect.py",
            "test_session_kinds.py",
            "test_tutorial.py",
            "test_two_drivers.py",
            "test_ui_tab.py",
            "test_watch_notebook.py",
            "test_window_kill.py",
        ),
        "has functions that use objects of this process": (
            "late_handler",
            "test_complete_writer.py::test_files_have_a_folder_for_each_end",
            "test_completeness.py::test_a_stream_has_each_closed_window_once",
            "test_counting.py::test_another_stream_may_be_planned_within_a_batch",
            "test_docs.py::test_a_block_runs[late-rows.md A handler]",
            "test_docs.py::test_a_block_runs[repair-nightly.md The query and the job]",
            "test_restart.py::test_a_source_that_is_always_busy_has_caught_up",
        ),
        "has policies in Python": (
            "test_docs.py::test_a_timeline_is_what_happens[policies.md In Python]",
            "test_own_policies.py",
        ),
        "needs the command line": (
            "test_lab.py::test_the_command",
            "test_operations.py",
            "test_upgrades.py::test_the_doctor_says_that_state_cannot_be_counted",
        ),
    }
)
