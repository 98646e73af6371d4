"""The text of a document, and the extra that YAML needs; this module needs no extra."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from eventtide._text.arguments import of_type
from eventtide.errors import pip_install, refused, unready

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["content", "dump", "extra"]


def content(text: str | Path, function: str) -> str:
    """Return a document that is given as text or as a file.

    Parameters
    ----------
    text : str or Path
        A Path, or text that ends in ``.yaml`` or ``.yml``, is a file.
    function : str
        The function that reads it, for errors.

    Raises
    ------
    InvalidArgumentError
        The file cannot be read.
    """
    allowed, fix = "YAML, or the path of a file of it", f"{function}(Path('window.yaml'))"
    of_type("text", text, (str, Path), allowed, fix)
    if isinstance(text, str) and ("\n" in text or not text.endswith((".yaml", ".yml"))):
        return text
    try:
        return Path(text).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:  # also bytes that are not text, and a NUL in the path
        problem, fix = f"cannot be read: {error}", f"a path from {Path.cwd()} on, or a whole one"
        raise refused("text", str(text), problem, allowed=allowed, fix=fix) from None


def dump(data: object) -> str:
    """Return plain data as a document, with its keys in their order."""
    with extra():
        import yaml  # noqa: PLC0415 - an extra

        from eventtide._yaml.dumper import Dumper  # noqa: PLC0415 - needs it
    return yaml.dump(data, Dumper=Dumper, sort_keys=False, width=100, allow_unicode=True)


@contextmanager
def extra() -> Iterator[None]:
    """Convert an import error of a package of the extra to an error that names the extra."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if missing.name not in {"pydantic", "yaml"}:
            raise
        problem = f"YAML needs {missing.name}, which is not installed."
        raise unready(problem, pip_install("yaml")) from None
