"""The part of an issue's body that execplan writes: hidden comments around it name the plan, and other text stays."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from execplan.core.text.text_lines import digest

if TYPE_CHECKING:
    from typing import Final

_BEGIN: Final = re.compile(r'<!-- execplan:begin plan="([^"<>\s]*)" title="([0-9a-f]*)" -->')
_END: Final = "<!-- execplan:end -->"
_DIGEST_LENGTH: Final = 16


class ManagedPart(NamedTuple):
    """The part of a body between the comments."""

    plan_key: str
    """Names the plan (see `plan_issue.plan_key`)."""
    title_digest: str
    """Digest of the title that was written last, to tell whether a person changed it."""
    start: int
    end: int
    """Where the second comment ends; -1 if it is missing."""
    content: str
    """Text between the comments, without blank lines around it, with line feeds as line ends."""


def find_managed_part(body: str) -> ManagedPart | None:
    """Return the first part that execplan wrote, or None if there is none."""
    begin = _BEGIN.search(body)
    if begin is None:
        return None
    content_end = body.find(_END, begin.end())
    content = body[begin.end() : content_end] if content_end >= 0 else ""
    end = content_end + len(_END) if content_end >= 0 else -1
    content = content.replace("\r\n", "\n").strip("\n")
    return ManagedPart(unquote(begin[1]), begin[2], begin.start(), end, content)


def format_managed_part(plan_key: str, title: str, content: str) -> str:
    """Return a part with its comments. The content must not contain comments of its own."""
    marker = f'<!-- execplan:begin plan="{quote(plan_key, safe="")}" title="{title_digest(title)}" -->'
    return f"{marker}\n\n{content}\n\n{_END}"


def replace_managed_part(body: str, managed_part: ManagedPart, replacement: str) -> str:
    """Return a body with another managed part; all other text stays as it is."""
    return body[: managed_part.start] + replacement + body[managed_part.end :]


def title_digest(title: str) -> str:
    """Return what the comment stores of a title, so that the title itself can't break the comment."""
    return digest(title.encode("utf-8", "surrogatepass"))[:_DIGEST_LENGTH]
