"""Which words of a golden case a runner on queries knows.

They are checked before the first step: a case with another word, or a value of another kind, waits
as a whole with its reason, and no half of it is compared.

A form is a type, or a value, or a tuple of forms of which one fits, or a list with the form of its
elements, or a dictionary of words; a word that ends in `?` may be absent. `object` fits anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

Form = Any

OF_EVERY_CASE: dict[str, Form] = {
    "id": str,
    **dict.fromkeys(("subject?", "source?", "source_test?", "provenance?", "origin?"), object),
    **dict.fromkeys(("status?", "title?", "note?", "notes?", "tier?", "family?"), object),
    "profile?": str,
    "config": dict,
    "steps": [dict],
}


def unknown(where: str, value: object, form: Form) -> str | None:
    """Return what of a value a runner does not know; None if it knows all."""
    if isinstance(form, dict):
        return _unknown_of_object(where, value, form)
    if isinstance(form, list):
        if not isinstance(value, list):
            return f"{where} is {value!r}, which is not a list"
        return _first(unknown(where, one, form[0]) for one in value)
    if isinstance(form, tuple):
        reasons = [unknown(where, value, one) for one in form]
        return None if None in reasons else reasons[-1]
    if isinstance(form, type):
        # True is an int in Python, and in no case
        fits = isinstance(value, form) and (form in (bool, object) or not isinstance(value, bool))
        return None if fits else f"{where} is {value!r}, which is no {form.__name__}"
    fits = type(value) is type(form) and value == form
    return None if fits else f"{where} is {value!r}, where {form!r} is known"


def _unknown_of_object(where: str, value: object, form: dict[str, Form]) -> str | None:
    if not isinstance(value, dict):
        return f"{where} is {value!r}, which is no object"
    words = {word.removesuffix("?"): (of, word.endswith("?")) for word, of in form.items()}
    for word in sorted(map(str, value.keys() - words.keys())):
        return f"{where}: unknown word {word}"
    for word in (word for word, (_, may_be_absent) in words.items() if not may_be_absent):
        if word not in value:
            return f"{where}: no {word}"
    return _first(unknown(f"{where}: {word}", one, words[word][0]) for word, one in value.items())


def unknown_of_steps(case: dict[str, Any], steps: dict[str, Form]) -> str | None:
    """Return what of the steps of a case a runner does not know; `steps` has a form for each."""
    ops = [step.get("op") for step in case["steps"]]
    return _first(f"unknown step: {op}" for op in ops if op not in steps) or _first(
        unknown(str(step["op"]), step, {"op": str, **steps[step["op"]]}) for step in case["steps"]
    )


def _first(reasons: Any) -> str | None:
    return next((reason for reason in reasons if reason is not None), None)


def play(golden: Callable[[str], None], case: dict[str, Any], reason: str | None) -> None:
    """Take down that a case is played, or that it waits; then nothing more is done for it."""
    golden(str(case.get("id")))
    if reason is not None:
        pytest.skip(f"{case.get('id')} waits: {reason}")
