"""Real ``kill -9`` of a query and of the healing of its table, in Delta and in Iceberg.

A trial is killed several times, between any two files, and then runs to its end. The table must
have each result once, and all of the batch query's that have closed.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from tests.chaos.healing_victim import CLOSING, OUTCOME, WINDOWS, beside
from tests.chaos.kills import ENOUGH, MOST
from tests.chaos.processes import Victim
from tests.tables.healed import by_key, parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.chaos.figures import Figures, Limits, Trial

TABLES = "delta", "iceberg"
FEWEST = 5  # results that a trial has, or it says little
NOON = datetime(2024, 1, 1, 12, tzinfo=timezone.utc)  # of the rows
LAG_S = 5  # of the watermark


def command(_: str, figures: Figures, limits: Limits) -> list[Trial]:
    """Kill as often as the command line says, the tables of one seed after the other."""
    enough, kills = limits.trials or ENOUGH, 0
    failed = list[dict[str, Any]]()
    with tempfile.TemporaryDirectory(prefix="eventtide-chaos-") as folder:
        for seed in figures.seeds(limits.seed):
            if kills >= enough or time.monotonic() > limits.until:
                return failed
            trial = figures.add(**_trial(Path(folder) / f"{seed}", seed, enough - kills))
            kills += trial["kills"]
            failed += [trial] if trial["violations"] else []
    return failed


def _trial(folder: Path, seed: int, most: int) -> dict[str, Any]:
    at, table = time.monotonic(), TABLES[seed // len(WINDOWS) % len(TABLES)]
    victim = Victim(folder, table, str(seed), module="tests.chaos.healing_victim")
    kills, violations = 0, list[str]()
    try:
        kills, error = _lived(victim, seed, most)
        violations = [f"plain restart: {error}"] if error else list(_check(folder, seed))
    except Exception as broken:  # noqa: BLE001 - of a victim, or of what it has left
        violations = [f"{type(broken).__name__}: {broken}"]
    shutil.rmtree(folder, ignore_errors=True)
    kind = f"{WINDOWS[seed % len(WINDOWS)].__name__}, {table}"
    return {
        "kind": f"{kind}, at once" if beside(seed) else kind,
        "seed": seed,
        "kills": kills,
        "violations": violations,
        "seconds": round(time.monotonic() - at, 1),
    }


def _lived(victim: Victim, seed: int, most: int) -> tuple[int, str | None]:
    random = Random(seed)  # noqa: S311 - test data
    for kills in range(min(random.randrange(3, MOST + 1), most)):
        if not victim.kill(random):
            return kills, None
    return kills + 1, victim.finish()


def _check(folder: Path, seed: int) -> Iterator[str]:
    """Yield what is wrong with the table: it has each result of the batch that has closed, once."""
    outcome = json.loads((folder / OUTCOME).read_text("utf-8"))
    if not outcome["proved"]:
        yield f"proof: {outcome['proof']}"
    table, batch = Counter(outcome["table"]), Counter(outcome["batch"])
    if wrong := table - batch:
        yield f"table: {sum(wrong.values())} rows that the batch query does not give, or twice"
    if len(table) != outcome["equal"]:
        yield f"proof: it has compared {outcome['equal']} of {len(table)} rows"
    if len(table) < FEWEST:
        yield f"table: it has {len(table)} rows only"
    if lost := [row for row in batch - table if _has_closed(json.loads(row), seed)]:
        yield f"table: it lacks {len(lost)} results of windows that have closed, such as {lost[0]}"


def _has_closed(result: dict[str, Any], seed: int) -> bool:
    """Tell whether the rows have closed the window of a result."""
    device, rows = result["device"], [row for part in (*parts(seed), *CLOSING) for row in part]
    if WINDOWS[seed % len(WINDOWS)] is not by_key:
        return bool(device != CLOSING[0][0][1])
    end = datetime.fromisoformat(result["window"]["end"]) - NOON
    return bool(end.total_seconds() <= max(at for at, of in rows if of == device) - LAG_S)
