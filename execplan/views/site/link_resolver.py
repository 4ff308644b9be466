"""Destinations of a plan's links on its page: other plans, copies of artifacts, files of the repository, web pages."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote

from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.text.markdown_html import ResolvedLink
from execplan.core.text.pure_paths import is_inside
from execplan.linter.plan_links import anchor_name
from execplan.views.site.page_context import PageContext, PageNames, quote_path

EXTERNAL: Final = "external"
"""A web page or an email address."""
ANCHOR: Final = "anchor"
"""A place on the same page."""
PATH: Final = "path"
"""A path relative to the plan's directory, or with a leading slash to the repository's root."""
BLOCKED: Final = "blocked"
"""Anything else, such as `javascript:`, `data:` or an address without a scheme on another host."""
_EXTERNAL_SCHEMES: Final = ("http", "https", "mailto")
_MAX_DECODINGS: Final = 4
"""How many times an address is decoded at most: one that was encoded several times is not written by hand."""


def classify_url(url: str) -> str:
    """Return the kind of an address as written in a plan.

    Browsers ignore tabs, line ends and leading control characters in an address. Therefore the scheme is looked for in
    the address without them, and again after each decoding of escapes such as `%3A`.
    """
    if not url.strip():
        return BLOCKED
    forms = [url]
    while len(forms) <= _MAX_DECODINGS and (decoded := unquote(forms[-1])) != forms[-1]:
        forms.append(decoded)
    kinds = {_classify_form(form) for form in forms}
    if len(kinds) > 1:  # it looks different once it is decoded, as `a%3Fb` or `a%23b`
        return PATH if kinds == {PATH, ANCHOR} else BLOCKED
    return kinds.pop()


def _classify_form(url: str) -> str:
    cleaned = "".join([char for char in url if char.isprintable() and not char.isspace()])
    if "\\" in cleaned or cleaned.startswith("//"):
        return BLOCKED
    head = cleaned.partition("/")[0].partition("?")[0].partition("#")[0]
    scheme, colon, _ = head.partition(":")
    if colon:
        return EXTERNAL if scheme.lower() in _EXTERNAL_SCHEMES else BLOCKED
    if cleaned.startswith("#"):
        return ANCHOR
    if cleaned:
        return PATH
    return BLOCKED


ANCHOR_PREFIX: Final = "section-"
"""Prefix of the IDs of a plan's headings, so that they differ from the page's own IDs."""
IMAGE_TYPES: Final = {
    ".avif": "image/avif",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".webp": "image/webp",
}
"""Media types of files that a page shows as images, by suffix; SVG is not among them, because it can contain scripts."""
_NOT_LINKED: Final = ResolvedLink("", "link removed")
_MISSING: Final = ResolvedLink("", "file not found")
_OUTSIDE: Final = ResolvedLink("", "outside of the repository")


class LinkResolver:
    """Resolves the links of one plan."""

    def __init__(
        self,
        context: PageContext,
        pages: PageNames,
        project: Project,
        ref: PlanRef,
        copies: Mapping[str, str],
        own_page: str = "",
    ) -> None:
        """Prepare for a plan; `copies` has the path in the site of each copied file, by absolute path.

        `own_page` is the plan's page, if its text is shown on another one.
        """
        self._context = context
        self._pages = pages
        self._project = project
        self._directory = os.path.dirname(ref.path)
        self._copies = copies
        self._own_url = context.url(own_page) if own_page else ""
        self.checked_paths: dict[str, bool] = {}
        """The paths that were looked for, and whether they exist: the page depends on them."""

    def resolve(self, url: str) -> ResolvedLink:
        """Decide about the destination of a link or an image, as written in the plan."""
        kind = classify_url(url)
        if kind == EXTERNAL:
            return ResolvedLink(url.strip())
        if kind == ANCHOR:
            return ResolvedLink(self._own_url + _anchor_url(url.strip()))
        return self._resolve_path(url.strip()) if kind == PATH else _NOT_LINKED

    def _resolve_path(self, url: str) -> ResolvedLink:
        """Decide about a path, which is looked for only inside the repository."""
        address, mark, anchor = url.partition("#")
        written_path = unquote(address.partition("?")[0], errors="surrogateescape")
        if "\0" in written_path:
            return _NOT_LINKED
        base = self._project.root if written_path.startswith("/") else self._directory
        path = os.path.normpath(os.path.join(base, written_path.lstrip("/")))
        if page := self._pages.page(self._project.display_path(path)) or self._pages.page_of_file(path):
            return ResolvedLink(self._context.url(page) + (_anchor_url(mark + anchor) if anchor else ""))
        if copy := self._copies.get(path):
            return ResolvedLink(self._context.url(copy), is_image=is_image(copy))
        if not is_inside(path, self._project.root):
            return _OUTSIDE
        if not self._exists(path):
            return _MISSING
        return ResolvedLink(self._context.repository_url(os.path.relpath(path, self._project.root)))

    def _exists(self, path: str) -> bool:
        if path not in self.checked_paths:
            self.checked_paths[path] = os.path.lexists(path)
        return self.checked_paths[path]


def anchor_id(anchor: str) -> str:
    """Return the ID of a heading, given its anchor on GitHub."""
    return ANCHOR_PREFIX + anchor


def is_image(path: str) -> bool:
    """Return whether a page shows a file as an image."""
    return path.lower().endswith(tuple(IMAGE_TYPES))


def _anchor_url(url: str) -> str:
    """Return the URL of an anchor of a plan; `#` alone, and anchors that browsers provide, lead to the top."""
    name = anchor_name(url)
    return "#" + quote_path(anchor_id(name)) if name else "#"
