"""The trials of `dev/chaos exhaustive` that are left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.chaos.exhaustive import Case, faults_at, plan

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.chaos.trial import Fault

STEPS = {
    (kind, storage, phase): {f"before {step}": 3 for step in steps}
    for kind, steps in {
        "panes": [
            "list checkpoint/eventtide",
            "create checkpoint/eventtide/ledger/N",
            "rename checkpoint/commits/N",
        ],
        "counts": ["list checkpoint/eventtide", "create checkpoint/eventtide/ledger/N"],
        "spark": ["rename checkpoint/commits/N"],
    }.items()
    for storage, phase in [("renames", "first"), ("object_store", "first"), ("renames", "restart")]
}


def cases(planned: Iterable[tuple[str, Fault]]) -> list[Case]:
    """Return what is written down of trials that went well."""
    return [(f.storage, f.phase, f.name, f.step, kind) for kind, f in planned]


def lacks(made: list[Case]) -> set[tuple[str, ...]]:
    """Return the classes that lack a fault, and the kinds that lack a step."""
    wanted = {
        (storage, phase, step, fault)
        for (_, storage, phase), steps in STEPS.items()
        for step in steps
        if phase == "first" or "/eventtide" in step
        for fault in faults_at(step, storage)
    }
    pairs = {(kind, step) for (kind, _, _), steps in STEPS.items() for step in steps}
    met = {(storage, phase, step, fault) for storage, phase, fault, step, _ in made}
    return (wanted - met) | (pairs - {(kind, step) for *_, step, kind in made})


def test_each_class_meets_each_fault_and_each_step_each_kind() -> None:
    """No case is there twice."""
    made = cases(plan(STEPS, 7))
    assert not lacks(made)
    assert len(made) == len({*made})


def test_it_goes_on_with_what_is_left() -> None:
    """What was done with other steps or another choice counts too."""
    all_of_it = cases(plan(STEPS, 7))
    done = cases(plan(STEPS, 8))[::2]
    left = cases(plan(STEPS, 7, done))
    assert len(left) < len(all_of_it)
    assert not {*left} & {*done}
    assert not lacks(done + left)
    assert not cases(plan(STEPS, 7, done + left))
