"""Hooks of mkdocs: pages of the root of the clone, tabs, links out of docs/, a check of links."""

from __future__ import annotations

import logging
import os
import posixpath
import re
import sys
import textwrap
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag, urlsplit

from mkdocs.structure.files import File

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
MERMAID = "javascripts/mermaid.min.js"
FROM_ROOT = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
ALSO = {"README.md": "index.md"}  # where a link to it leads
FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LABELS = {"python": "Python", "scala": "Scala", "sql": "SQL"}
TABBED = re.compile(rf"^```({'|'.join(LABELS)})\n.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
log = logging.getLogger("mkdocs.hooks.site")


def addresses() -> dict[str, str]:
    """Return the addresses by key, those of the file in EVENTTIDE_ADDRESSES if it is set."""
    path = os.environ.get("EVENTTIDE_ADDRESSES") or ROOT / "project" / "addresses.toml"
    return tomllib.loads(Path(path).read_text("utf-8"))


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Set the addresses, with what MkDocs derives from those in its file."""
    known = addresses()
    config.site_url = f"{known['docs'].rstrip('/')}/" if known["docs"] else None
    if source := known["source"]:
        config.repo_url, config.repo_name = source, urlsplit(source).path.strip("/")
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are in the root of the clone, and Mermaid."""
    for source, page in FROM_ROOT.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text("utf-8")))
    mermaid = ROOT / ".build" / "mermaid" / "mermaid.min.js"
    files.append(File.generated(config, MERMAID, abs_src_path=str(mermaid)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Drop how a block is tested, make tabs, and let links out of docs/ lead somewhere."""
    path = page.file.src_uri
    origin = next((name for name, to in FROM_ROOT.items() if to == path), f"docs/{path}")
    text = re.sub(r"^(```\w+) [\w.-]+$", r"\1", markdown, flags=re.MULTILINE)
    parts, end = [], 0
    for fence in FENCE.finditer(text):
        parts += [relinked(text[end : fence.start()], origin, path), fence[0]]
        end = fence.end()
    return tabbed("".join([*parts, relinked(text[end:], origin, path)]))


def tabbed(text: str) -> str:
    """Return a text in which blocks of different languages, one after the other, are tabs.

    Code hosts show the syntax of tabs as text, so the sources do not have it.
    """
    groups: list[list[re.Match[str]]] = []
    for block in TABBED.finditer(text):
        if groups and follows(block, groups[-1], text):
            groups[-1].append(block)
        else:
            groups.append([block])
    parts, end = [], 0
    for group in groups:
        if len(group) > 1:
            tabs = "\n\n".join(map(tab, group)).replace("===", "===!", 1)  # `!` begins a new set
            parts += [text[end : group[0].start()], tabs]
            end = group[-1].end()
    return "".join([*parts, text[end:]])


def follows(block: re.Match[str], group: list[re.Match[str]], text: str) -> bool:
    """Whether only blank lines are before a block, and no block of its language."""
    is_next = not text[group[-1].end() : block.start()].strip()
    return is_next and block[1] not in {other[1] for other in group}


def tab(block: re.Match[str]) -> str:
    """Return a block as a tab."""
    return f'=== "{LABELS[block[1]]}"\n\n' + textwrap.indent(block[0], "    ")


def relinked(text: str, origin: str, path: str) -> str:
    """Return a text whose links lead to pages of the site, or to the source."""

    def link(match: re.Match[str]) -> str:
        target, anchor = urldefrag(match[3])
        if not target or urlsplit(target).scheme:
            return match[0]
        of_root = posixpath.normpath(posixpath.join(posixpath.dirname(origin), target))
        found = {**FROM_ROOT, **ALSO}.get(of_root, of_root.removeprefix("docs/"))
        if found == of_root:  # neither a page nor below docs/
            source = addresses()["source"]
            return f"[{match[2]}]({source}/blob/main/{of_root})" if source else match[2]
        if of_root in ALSO:
            anchor = ""
        to = posixpath.relpath(found, posixpath.dirname(path) or ".")
        return f"{match[1]}[{match[2]}]({to}{'#' * bool(anchor)}{anchor})"

    return LINK.sub(link, text)


def on_post_page(output: str, **_: object) -> str:
    """Load Mermaid, which is large, only where a page has a diagram."""
    if 'class="mermaid"' in output:
        return output
    return re.sub(rf'\s*<script src="[^"]*{MERMAID}"></script>', "", output)


def on_post_build(config: MkDocsConfig) -> None:
    """Check every link of the built pages, and that no page fetches anything from elsewhere."""
    site, base = Path(config.site_dir), urlsplit(config.site_url or "").path
    pages = {page.relative_to(site).as_posix(): Links.of(page) for page in site.rglob("*.html")}
    for name, page in pages.items():
        for link in page.fetched:
            if urlsplit(link).netloc:
                log.warning("%s fetches %s", name, link)
        for link in [*page.links, *page.fetched]:
            is_ours = not (urlsplit(link).scheme or urlsplit(link).netloc)
            # 404.html alone has links from the root of the host
            if is_ours and not found(link.removeprefix(base), name, pages, site):
                log.warning("%s has a link to %s, which does not exist", name, link)


def found(link: str, name: str, pages: dict[str, Links], site: Path) -> bool:
    """Whether a link of a page leads to a file of the site and to an anchor in it."""
    path, anchor = urldefrag(unquote(link))
    path = path.partition("?")[0]
    folder = posixpath.dirname(name)
    target = posixpath.normpath(posixpath.join(folder, path)).lstrip("/") if path else name
    if (site / target).is_dir():
        target = posixpath.join(target, "index.html").removeprefix("./")
    if target not in pages:
        return (site / target).is_file()
    return not anchor or anchor in pages[target].anchors


class Links(HTMLParser):
    """The links, fetched files and anchors of a page."""

    def __init__(self) -> None:
        """Begin without any."""
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.anchors: set[str] = {"__top"}

    @classmethod
    def of(cls, page: Path) -> Links:
        """Return those of a file."""
        parser = cls()
        parser.feed(page.read_text("utf-8"))
        return parser

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what an element has."""
        values = dict(attrs)
        self.anchors |= {value for key in ("id", "name") if (value := values.get(key))}
        if tag == "a" and (link := values.get("href")):
            self.links.append(link)
        is_fetched = tag != "link" or values.get("rel") not in {"canonical", "prev", "next"}
        if is_fetched and (link := values.get(FETCHED.get(tag, ""))):
            self.fetched.append(link)
