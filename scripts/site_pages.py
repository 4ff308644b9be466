"""Adapt the pages of docs/ to the documentation site: mkdocs calls these functions (mkdocs.yml).

Pages are written for GitHub. Here their hidden fixtures go, blocks that are written to files get a title, and links to files
outside of docs/ lead to a page of the site or become text. The first pages for the three readers are the navigation.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
READERS = {
    "For people": "for-people.md",
    "For agent authors": "for-agent-authors.md",
    "For contributors": "for-contributors.md",
}
"""The first page of each reader, by its name in the navigation."""
OUTSIDE = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
"""Files beside docs/ that are pages of the site, with their names there."""
_BLOCK = re.compile(r"^( *)(`{3,})([^`\n]*)\n(.*?)^\1\2 *$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")


def make_navigation() -> list[dict[str, Any]]:
    """Return the home page, and for each reader the pages that the first one links to, by its headings."""
    navigation: list[dict[str, Any]] = [{"Home": "README.md"}]
    for name, first in READERS.items():
        pages: list[Any] = [first]
        group = pages
        for line in (ROOT / "docs" / first).read_text(encoding="utf-8").splitlines():
            if line.startswith("## "):
                group = []
                pages.append({line[3:]: group})
            elif line.startswith("| [") and (match := _LINK.search(line)):
                group.append({match[1]: OUTSIDE.get(match[2].removeprefix("../"), match[2])})
        navigation.append({name: pages})
    return navigation


def on_config(config: MkDocsConfig) -> None:
    """Set the navigation, and offer other versions if `mike` builds one of several."""
    config.nav = make_navigation()
    if "MIKE_DOCS_VERSION" in os.environ:
        config.extra["version"] = {"provider": "mike"}


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the pages whose files are beside docs/."""
    from mkdocs.structure.files import File

    for name, page in OUTSIDE.items():
        files.append(File.generated(config, page, content=(ROOT / name).read_text(encoding="utf-8")))


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return the page as the site shows it."""
    outside = {target: name for name, target in OUTSIDE.items()}
    source = ROOT / outside.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    return adapt(markdown, source, {file.src_uri for file in files})


def adapt(text: str, source: Path, pages: set[str]) -> str:
    """Return the text of a page without comments, with titles of blocks, and with links that the site has."""
    parts: list[str] = []
    position = 0
    # A comment may contain blocks, and a block may contain what looks like a comment: whichever begins first counts.
    while True:
        block, comment = _BLOCK.search(text, position), _COMMENT.search(text, position)
        first = min(filter(None, [block, comment]), key=lambda match: match.start(), default=None)
        prose = text[position : first.start() if first else len(text)]
        parts.append(_LINK.sub(lambda match: _adapt_link(match, source, pages), prose))
        if first is None:
            return "".join(parts)
        if first is block:
            indent, fence, information, body = first.groups()
            parts.append(f"{indent}{fence}{_adapt_information(information)}\n{body}{indent}{fence}")
        position = first.end()


def _adapt_information(words: str) -> str:
    """Return the first line of a block as the site's Markdown understands it."""
    language, _, path = words.strip().partition(" ")
    if language == "file":
        language = "md" if path.endswith(".md") else "text"
    return f'{language} title="{path}"' if path else language


def _adapt_link(match: re.Match[str], source: Path, pages: set[str]) -> str:
    """Return a link to a page of the site, or its text where the site has no such page."""
    text, address = match.groups()
    target, _, anchor = address.partition("#")
    if urlsplit(address).scheme or not target:
        return match[0]
    path = (source.parent / target).resolve().relative_to(ROOT).as_posix()
    page = path.removeprefix("docs/") if path.startswith("docs/") else OUTSIDE.get(path)
    if page not in pages:
        return text
    depth = len(source.relative_to(ROOT).parts) - (2 if source.is_relative_to(ROOT / "docs") else 1)
    return f"[{text}]({'../' * depth}{page}{'#' + anchor if anchor else ''})"
