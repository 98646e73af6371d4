"""The README as package indexes show it, where relative links lead nowhere."""

from __future__ import annotations

import re

_FENCED = re.compile(r"(^```.*?^```$)", flags=re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)")


def long_description(readme: str, source: str, ref: str) -> str:
    """Return the README with links and pictures under the address of the source code.

    Parameters
    ----------
    readme : str
        The text of README.md.
    source : str
        The address of the repository, such as ``https://host/owner/name``. While it is empty, a
        link becomes its text, and a picture its description.
    ref : str
        The tag or the commit that links lead to, such as ``v0.1.0``.
    """

    def absolute(link: re.Match[str]) -> str:
        picture, text, path = link.groups()
        if not source:
            return text
        kind = "raw" if picture else "blob"
        return f"{picture}[{text}]({source.rstrip('/')}/{kind}/{ref}/{path})"

    parts = _FENCED.split(readme)  # code stands at the odd places
    parts[::2] = (_LINK.sub(absolute, part) for part in parts[::2])
    return "".join(parts)
