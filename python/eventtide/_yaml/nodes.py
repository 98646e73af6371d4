"""YAML text as plain data with line numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml

from eventtide._yaml.places import placed, placing, refused_at
from eventtide.errors import ArgumentTypeError, short

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from eventtide._yaml.places import Lines, Path
    from eventtide.errors import EventtideError

__all__ = ["Document", "parse"]

_TIME = "tag:yaml.org,2002:timestamp"
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_OLD_NUMBER = re.compile(r"[-+]?0\d|.*[:_]")  # octal, of base sixty, or with grouped digits


@dataclass(frozen=True)
class Document:
    """Plain data with the line numbers of its values."""

    data: object
    lines: Lines

    def at(self, path: Path) -> AbstractContextManager[None]:
        """Add the place of a value to errors in the block; see `placed`."""
        return placing(lambda error: placed(error, path, self.lines))


def parse(text: str) -> Document:
    """Parse one YAML document without duplicate keys.

    Raises
    ------
    InvalidArgumentError
        The text is not YAML, has a duplicate key, or has an alias.
    ArgumentTypeError
        A key is not text.
    """
    try:
        reader = _Reader(loader := yaml.SafeLoader(text))
        node = loader.get_single_node()
        data = {} if node is None else reader.value(node, ())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _refused(mark.line + 1 if mark else 1, error.problem or error.context) from None
    except (yaml.YAMLError, RecursionError) as error:  # an invalid character, deep nesting
        raise _refused(1, str(error).partition("\n")[0]) from None
    return Document(data, {(): 1, **reader.lines})


class _Reader:
    """Converts nodes to plain data, and records their lines."""

    def __init__(self, loader: yaml.SafeLoader) -> None:
        self.lines: dict[Path, int] = {}
        self._loader = loader
        self._seen: set[int] = set()

    def value(self, node: yaml.Node, path: Path) -> object:
        """Return the value of a node."""
        line = self.lines.setdefault(path, node.start_mark.line + 1)
        if id(node) in self._seen:  # a few nested aliases could exhaust the memory
            allowed, fix = "each value where it belongs", "the value again"
            problem = "an alias is not followed"
            raise refused_at(line, "", None, problem, allowed=allowed, fix=fix)
        self._seen.add(id(node))
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(one, (*path, i)) for i, one in enumerate(node.value)]
        return self._mapping(node, path)

    def _scalar(self, node: yaml.ScalarNode) -> object:
        line = node.start_mark.line + 1
        if node.tag == _TIME:  # text to the settings that are times
            return node.value
        if node.tag in _NUMBERS and _OLD_NUMBER.match(node.value):
            problem = f"{short(node.value)} is another number in YAML 1.1 than in YAML 1.2"
            allowed, fix = "decimal numbers", "a decimal number, or quotes around text"
            raise refused_at(line, "", None, problem, allowed=allowed, fix=fix)
        try:
            value = self._loader.construct_object(node)
            if isinstance(value, str):
                value.encode("utf-8")
        except ValueError as error:  # half of a surrogate pair
            raise _refused(line, str(error)) from None
        except (AttributeError, LookupError):  # what PyYAML raises for a value of another type
            kind = node.tag.rpartition(":")[2]
            raise _refused(line, f"{short(node.value)} is not of the type {kind}") from None
        return value

    def _mapping(self, node: yaml.Node, path: Path) -> dict[str, object]:
        items: dict[str, object] = {}
        for key_node, value_node in node.value:
            key, line = self._key(key_node), key_node.start_mark.line + 1
            place = (*path, key)
            if key in items:
                problem = f"is already set on line {self.lines[place]}"
                allowed, fix = "each key once", "remove one"
                raise refused_at(line, key, None, problem, allowed=allowed, fix=fix)
            self.lines[place] = line
            items[key] = self.value(value_node, place)
        return items

    def _key(self, node: yaml.Node) -> str:
        key = self._scalar(node) if isinstance(node, yaml.ScalarNode) else None
        if isinstance(key, bool):  # PyYAML reads on, off, yes and no as flags, not YAML 1.2
            return str(node.value)
        if isinstance(key, str):
            return key
        line, problem = node.start_mark.line + 1, "a key is not text"
        allowed, fix = "names", "quotes around it"
        raise refused_at(line, "", None, problem, allowed=allowed, fix=fix, error=ArgumentTypeError)


def _refused(line: int, problem: str | None) -> EventtideError:
    text = f"cannot be read as YAML: {problem}"
    allowed, fix = "one document of keys and values", "quotes around text that is YAML syntax"
    return refused_at(line, "", None, text, allowed=allowed, fix=fix)
