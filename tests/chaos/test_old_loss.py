"""Driver A rests between ledger and commit, B starts and dies, A goes on: a restart suffices.

A start once deleted the ledger's entry of the batch that A was in. B died, A went on over the gap,
and the next start found no entry to begin with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.chaos.checker import Outcome, check
from tests.chaos.quiet import SEED, Quiet
from tests.chaos.trial import Fault
from tests.chaos.worker import Worker

if TYPE_CHECKING:
    from pathlib import Path

KIND = "tumbling"
RESTS = Fault("stall", "before create checkpoint/commits/.N.U.tmp", 4)
DEATHS = {
    "when it has taken the checkpoint over": "after rename checkpoint/eventtide/runs/N",
    "before it writes the batch down again": "before create checkpoint/eventtide/ledger/.N.N.U.tmp",
    "when it has written the batch down again": "after rename checkpoint/eventtide/ledger/N.N",
}


@pytest.mark.long
@pytest.mark.thorough
def test_a_driver_that_goes_on_after_another_has_died_loses_nothing(tmp_path: Path) -> None:
    """A ends by a named error, as B has begun, and the restart has all rows."""
    with Worker(tmp_path / "log-a") as a, Worker(tmp_path / "log-b") as b:
        quiet = Quiet(tmp_path)(a, KIND)
        for death, step in DEATHS.items():
            folder = tmp_path / death.replace(" ", "-")
            folder.mkdir()
            assert a.begin(folder, KIND, SEED, RESTS) is None
            dead = b.run(folder, KIND, SEED, Fault("halt", step))
            assert dead.reached, death
            lost = a.go()
            assert "CHECKPOINT_TAKEN_OVER" in (lost.error or ""), (death, lost)
            restart = b.run(folder, KIND, SEED)
            outcome = Outcome([(lost.error, lost.named)], restart.error, a.doctor(folder))
            assert check(folder, quiet, outcome) == [], death
