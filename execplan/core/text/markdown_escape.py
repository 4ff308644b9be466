"""Text of plans as one line of markdown that shows it unchanged: no markup, HTML, link, mention or reference of its own."""

from __future__ import annotations

import re

from execplan.core.text.invisible_characters import escape_unprintable

_BACKTICK_RUN = re.compile(r"`+")
_SPECIAL = re.compile(
    r"[\\*_\[\]~|<>&`$@]|:(?=//)|(?<=www)\.|#(?=\d)|\bGH(?=-\d)"
    r"|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{6}(?=[0-9a-f]{1,58}\b)",
    re.IGNORECASE,
)
"""Characters of markup and links, and the starts of references to issues and commits: `#5`, `GH-7`, a commit's digest."""
_BLOCK_START = re.compile(r"[#+=-]|\d+(?=[.)])")
"""Start of a line that would open a heading, a list or a rule."""
_COMMENT = "<!--"
_WORD_JOINER = "&#8288;"
"""An invisible character that keeps `@name` and `#5` from notifying someone, and `a@b.org` from becoming a link."""
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;", "`": "&#96;", "$": "&#36;", ":": "&#58;", ".": "&#46;"}


def escape_markdown(text: str) -> str:
    """Return a text as one line of GitHub's markdown that shows its characters; only its code spans remain code.

    The line can follow any markup, also that of a list item. It notifies nobody, refers to no issue or commit, and contains no
    HTML, image or link, and no start of a comment, not even in code.
    """
    line = escape_unprintable(" ".join(text.split()))
    pieces, copied_end = [], 0
    for start, end in _code_spans(line):
        if _COMMENT in line[start:end]:  # programs that look for comments don't look for code
            continue
        pieces += [_escape_plain(line[copied_end:start], is_start=copied_end == 0), line[start:end]]
        copied_end = end
    return "".join([*pieces, _escape_plain(line[copied_end:], is_start=copied_end == 0)])


def _code_spans(line: str) -> list[tuple[int, int]]:
    """Return the start and end of each code span: a run of backticks, up to the next run of the same length."""
    runs = [run.span() for run in _BACKTICK_RUN.finditer(line)]
    later_runs: dict[int, list[int]] = {}
    for index, (start, end) in reversed(list(enumerate(runs))):
        later_runs.setdefault(end - start, []).append(index)
    spans, index = [], 0
    while index < len(runs):
        start, end = runs[index]
        candidates = later_runs[end - start]
        while candidates and candidates[-1] <= index:
            candidates.pop()
        if candidates:
            index = candidates[-1]
            spans.append((start, runs[index][1]))
        index += 1
    return spans


def _escape_plain(text: str, *, is_start: bool) -> str:
    """Escape the punctuation of a text without code; at the start of a line also what would open a block."""
    escaped = _SPECIAL.sub(_escape_character, text)
    block_start = _BLOCK_START.match(escaped) if is_start else None
    if block_start is None:
        return escaped
    marker_end = block_start.end() if escaped[0].isdigit() else 0
    return f"{escaped[:marker_end]}\\{escaped[marker_end:]}"


def _escape_character(match: re.Match[str]) -> str:
    text = match[0]
    if text in "@#" or text.isalnum():
        return text + _WORD_JOINER
    return _ENTITIES.get(text, "\\" + text)
