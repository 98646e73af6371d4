"""The tests that a client of Spark Connect cannot run, each by its reason.

A name is the start of the id of tests. `dev/test --connect` leaves these out.
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
            "test_damaged_checkpoint.py",
            "test_docs.py::test_a_block_runs[test-a-query.md:134 Compare with the kernel]",
            "test_kernel_script.py",
            "test_script_rows.py",
            "test_spark_progress.py",
            "test_start_conflicts.py",
            "test_upgrades.py",
        ),
        "makes sessions or drivers of its own": (
            "test_deploying.py",
            "test_docs.py::test_a_block_runs[README.md:82 A first query]",
            "test_docs.py::test_a_block_runs[migrate-from-withwatermark.md:12",
            "test_flights",
            "test_local_connect.py",
            "test_operations.py",
            "test_tutorial.py",
            "test_two_drivers.py",
            "test_voltsp_page.py",
            "test_window_kill.py",
        ),
        "has functions that change the state of this process": (
            "late_handler",
            "test_available_now.py",
            "test_begun_settings.py",
            "test_counting.py",
            "test_docs.py::test_a_block_runs[late-rows.md:132 A handler]",
            "test_docs.py::test_a_block_runs[repair-nightly.md:35 The query and the job]",
            "test_repartition.py::test_a_query_goes_on_as_if_nothing_had_happened",
        ),
        "has policies in Python": (
            "test_docs.py::test_a_timeline_is_what_happens[policies.md:436 In Python]",
            "test_own_policies.py",
        ),
    }
)
