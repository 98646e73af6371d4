"""Policies in a YAML document; the module needs the extra ``eventtide[yaml]``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventtide._text.arguments import choice, of_type
from eventtide._yaml.calls import call, mapping, one_of
from eventtide._yaml.nodes import parse
from eventtide.errors import refused
from eventtide.policies._base import WatermarkPolicy
from eventtide.policies._by_substream import BySubstream
from eventtide.policies._combined import MaxOf, MinOf
from eventtide.policies._from_jar import FromJar
from eventtide.policies._namespaces import WatermarkPolicies

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventtide._yaml.nodes import Document
    from eventtide._yaml.places import Path

__all__ = ["COMBINED", "DECORATORS", "PLAIN", "policy_at", "read"]

PLAIN: dict[str, type[WatermarkPolicy]] = {
    kind.name: kind
    for kind in vars(WatermarkPolicies).values()
    if isinstance(kind, type) and issubclass(kind, WatermarkPolicy)
}
"""The policies with parameters, and `BySubstream`, by name."""

DECORATORS = ("throttle_by_frame", "throttle_by_min_step", "emit_every", "guard_future")
COMBINED = {"min_of": MinOf, "max_of": MaxOf}
_DECORATOR = "{name: throttle_by_frame, size: 1s}"
_EXAMPLE = ("a policy", "{name: with_fixed_lag, lag: 5s}")


def read(text: str) -> WatermarkPolicy:
    """Return the policy of a document."""
    document = parse(text)
    return policy_at(document, document.data, ())


def policy_at(document: Document, data: object, path: Path) -> WatermarkPolicy:
    """Return the policy that a part of a document describes.

    Parameters
    ----------
    document : Document
        The document, for the lines of errors.
    data : object
        The part: a mapping with ``name``, the parameters and, if there are any, ``decorators``.
    path : tuple
        The place of the part.
    """
    with document.at(path):
        entry = mapping(data, *_EXAMPLE)
        name, decorators = entry.pop("name", None), entry.pop("decorators", [])
        of_type("decorators", decorators, list, "a list of decorators", f"[{_DECORATOR}]")
        if name is None:
            raise refused("name", None, "is missing", allowed=_EXAMPLE[0], fix=_EXAMPLE[1])
        of_type("name", name, str, "the name of a policy", "name: with_fixed_lag")
    policy = _undecorated(document, name, entry, path)
    for i, one in enumerate(decorators):
        with document.at((*path, "decorators", i)):
            rest = mapping(one, "a decorator", _DECORATOR)
            kind = choice("name", rest.pop("name", None), DECORATORS)
            decorate: Callable[..., WatermarkPolicy] = getattr(policy, kind)
            policy = call(decorate, rest)
    return policy


def _undecorated(
    document: Document, name: str, entry: dict[str, Any], path: Path
) -> WatermarkPolicy:
    if name in COMBINED:
        with document.at(path):
            parts = _only(entry, "of", list, "a list of policies", "of: [{name: storm, lag: 5s}]")
        found = (policy_at(document, one, (*path, "of", i)) for i, one in enumerate(parts))
        policies = tuple(found)
        with document.at(path):
            return COMBINED[name](policies)
    if name == BySubstream.name:
        with document.at(path):
            allowed, fix = "policies by the names of substreams", "rules: {eu: ..., '*': ...}"
            rules = _only(entry, "rules", dict, allowed, fix)
        read = {one: policy_at(document, of, (*path, "rules", one)) for one, of in rules.items()}
        with document.at(path):
            return BySubstream(read)
    with document.at(path):
        if "from_jar" in entry:
            of_type("from_jar", entry["from_jar"], bool, "true or false", "from_jar: true")
        if entry.pop("from_jar", False):
            return FromJar(name, entry)
        kind = PLAIN[choice("name", name, [*PLAIN, *COMBINED])]
        return call(kind, entry, "decorators")


def _only(entry: dict[str, Any], key: str, kind: type, allowed: str, fix: str) -> Any:  # noqa: ANN401 - of YAML
    """Return the value of the only key except the name; reject other keys, and an empty value."""
    for other in entry:
        one_of(other, [key], "is an unknown key")
    if not (value := entry.get(key)):
        problem = "is missing" if value is None else "is empty"
        raise refused(key, None, problem, allowed=allowed, fix=fix)
    of_type(key, value, kind, allowed, fix)
    return value
