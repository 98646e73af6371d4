"""Writes the JSON schema of YAML documents anew, from the table of settings: dev/tables."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, get_args

from eventtide import policies
from eventtide.policies._by_target import Budget
from eventtide.policies._decorators import FutureAction
from eventtide.policies._document import COMBINED, DECORATORS, PLAIN

from tests.pages import ROOT
from tests.settings_page import rows

if TYPE_CHECKING:
    from eventtide.policies._rule import Rule

SCHEMA = ROOT / "python/eventtide/_yaml/schema.json"
TEXT = {"type": "string"}
SEVERAL = {"anyOf": [TEXT, {"type": "array", "items": TEXT, "minItems": 1}]}
COUNT = {"type": "integer", "minimum": 1}
POLICY = {"$ref": "#/$defs/policy"}
TRIGGER = {
    "anyOf": [
        {"enum": ["at_window_end", "on_update"]},
        *(
            {"type": "object", "properties": {name: of}, "required": [name], "maxProperties": 1}
            for name, of in {"every": TEXT, "every_rows": COUNT, "when": TEXT}.items()
        ),
    ]
}
TRIGGERS = {"anyOf": [TRIGGER, {"type": "array", "items": TRIGGER, "minItems": 1}]}
TYPES: dict[str, dict[str, Any]] = {
    "aggregates": {"type": "object", "additionalProperties": TEXT, "minProperties": 1},
    "choice or columns": SEVERAL,
    "column": TEXT,
    "columns": SEVERAL,
    "count": COUNT,
    "count or names": {"anyOf": [COUNT, {"type": "array", "items": TEXT, "minItems": 1}]},
    "duration": TEXT,
    "duration of 1 ms or more, or a column": TEXT,
    "positive duration, or never": TEXT,
    "flag": {"type": "boolean"},
    "instant": TEXT,
    "policy": POLICY,
    "size": TEXT,
    "text": TEXT,
    "triggers": TRIGGERS,
}
ALONE = {"event_time": "column", "emit": "triggers", "key_idle_timeout": "timeout"}
"""The arguments that a method may have alone; of the other methods it is the only one."""


def schema() -> dict[str, Any]:
    """Return the schema of a window, with that of a policy as a definition."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A window of Eventtide",
        "type": "object",
        "properties": {name: method(name, of) for name, of in methods().items()},
        "additionalProperties": False,
        "$defs": {"policy": policy(), "decorator": {"anyOf": [*map(decorator, DECORATORS)]}},
    }


def methods() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the arguments of each method as rows of the table."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows():
        for name in row.get("python", ()):
            of, _, argument = name.partition(".")
            if of not in {"with_watermark", "storm", "on_late"}:
                found.setdefault(of, {})[argument] = row
    return found


def method(name: str, arguments: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the schema of a key."""
    first, *others = arguments
    if not others and (name not in ALONE):
        return value(arguments[first])
    alone = ALONE.get(name, first)
    needed = [one for one in arguments if name in {"sliding", "cumulate"} or one == alone]
    names = {
        "type": "object",
        "properties": {one: value(row) for one, row in arguments.items()},
        "additionalProperties": False,
        "required": needed if name != "emit" else [],
    }
    if len(needed) > 1:
        return names
    return {"anyOf": [value(arguments[alone]), names]}


def value(row: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a value, with its description."""
    of = {"enum": row["choices"]} if row["type"] == "choice" else TYPES[row["type"]]
    return of if "$ref" in of else {**of, "description": row["doc"]}


def policy() -> dict[str, Any]:
    """Return the schema of a policy."""
    plain = [rule(kind) for name, kind in PLAIN.items() if name != "by_substream"]
    many = {"type": "array", "items": POLICY, "minItems": 1}
    rules = {"type": "object", "additionalProperties": POLICY, "required": ["*"]}
    jar = {
        "type": "object",
        "properties": {"from_jar": {"const": True}},
        "required": ["name", "from_jar"],
    }
    combined = [named(name, {"of": many}, ["of"]) for name in COMBINED]
    by_substream = named("by_substream", {"rules": rules}, ["rules"])
    return {"anyOf": [*plain, *combined, by_substream, jar]}


def decorator(name: str) -> dict[str, Any]:
    """Return the schema of a decorator."""
    kinds = (getattr(policies, one) for one in policies.__all__)
    return rule(next(kind for kind in kinds if getattr(kind, "name", None) == name))


def rule(kind: type[Rule]) -> dict[str, Any]:
    """Return the schema of a policy or a decorator with parameters."""
    own = [field for field in fields(kind) if field.name != "decorators"]
    types = {
        "int": COUNT,
        "Share": {"anyOf": [TEXT, {"type": "number", "minimum": 0, "maximum": 1}]},
        "Budget": {"enum": [*get_args(Budget)]},
        "FutureAction": {"enum": [*get_args(FutureAction)]},
    }
    parameters = {field.name: types.get(str(field.type), TEXT) for field in own}
    needed = [field.name for field in own if field.default is MISSING]
    return named(kind.name, parameters, needed)


def named(name: str, parameters: dict[str, Any], needed: list[str]) -> dict[str, Any]:
    """Return the schema of a rule with its name."""
    more = {} if name in DECORATORS else {"decorators": DECORATED}
    return {
        "type": "object",
        "properties": {"name": {"const": name}, **parameters, **more},
        "required": ["name", *needed],
        "additionalProperties": False,
    }


DECORATED = {"type": "array", "items": {"$ref": "#/$defs/decorator"}}

if __name__ == "__main__":
    SCHEMA.write_text(json.dumps(schema(), indent=2) + "\n", "utf-8")
