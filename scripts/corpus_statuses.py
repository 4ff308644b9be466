"""A second count of tasks that have a status instead of a checkbox; it uses neither the product's parser nor its tables."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from execplan.core.plan.model import DONE, OPEN, OTHER

_MARKDOWN = MarkdownIt("commonmark", {"maxNesting": 1000}).enable("table").disable("inline")
_STATUS = re.compile(r"[\s*]*(?:status|state|状态|状態)[\s*]*", re.IGNORECASE)
_WORK = re.compile(
    r"[\s*]*(?:task|step|phase|item|milestone|slice|action|pr|任务|步骤|阶段|里程碑|事项)s?[\s*]*", re.IGNORECASE
)
_RESULTS = re.compile(r"test|check|verif|valid|accept|result|outcome|测试|验证|结果|验收", re.IGNORECASE)
_PART = re.compile(r"(?:task|step|phase|milestone|stage|slice)\s+\S*\d|\d+[.):]? |阶段|第", re.IGNORECASE)
_LINE = re.compile(r"[-*+ ]*(?:status|state|状态)\**\s*[:：][\s*`]*(\S.*)", re.IGNORECASE)
_ITEM = re.compile(
    r"\d+[.)]\s+(?:(✅|☑|✔|🚧|🔄|⬜|🔲|⏳|⚠)\ufe0f?\s|.*(?:[—–-]|\*\*|\()\s*((?:done|complete|todo|pending|in progress)\b)[).*]*$|.*\s(✅)$)",
    re.IGNORECASE,
)
_TASKS = re.compile(r"\b(?:tasks?|steps|phases|plan|milestones|todos?|progress)\b|任务|步骤|里程碑", re.IGNORECASE)
_STATES = (
    (OTHER, "partial|mostly|in.progress|started|wip|ongoing|active|doing|blocked|deferred|🚧|🔄|🟡|⚠|❌|进行中|部分"),
    (
        DONE,
        "done|complete|finished|closed|shipped|implemented|merged|delivered|landed|released|✅|☑|✔|✓|已完成|完成|完了",
    ),
    (OPEN, "todo|to do|pending|not.started|open|planned|queued|upcoming|ready|⬜|🔲|☐|⏳|未开始|待办|未着手"),
)


def statuses_again(data: bytes) -> list[tuple[int, str]]:
    """Return the line and the state of each task: the phases, or else the rows of tables, or else the numbered items."""
    text = data.decode("utf-8").removeprefix("\ufeff")
    lines = text.splitlines()
    tokens = _MARKDOWN.parse(text)
    headings = [
        (token.map[0], tokens[at + 1].content)
        for at, token in enumerate(tokens)
        if token.type == "heading_open" and token.map and not token.level
    ]
    phases, items = [], []
    for (start, title), (end, _) in zip(headings, [*headings[1:], (len(lines), "")], strict=True):
        stated = next((match for line in lines[start + 1 : end] if (match := _LINE.match(line))), None)
        if stated and _PART.match(title):
            phases.append((start, _state(stated[1])))
        marked = [(at, match) for at in range(start + 1, end) if (match := _ITEM.match(lines[at]))]
        numbered = [at for at in range(start + 1, end) if re.match(r"\d+[.)]\s", lines[at])]
        if 2 * len(marked) > len(numbered) and (_PART.match(title) or _TASKS.search(title)):
            items += [(at, _state(next(filter(None, match.groups())))) for at, match in marked]
    if len(phases) > 1:
        return phases
    rows = [
        row for at, token in enumerate(tokens) if token.type == "table_open" for row in _rows(tokens[at:], headings)
    ]
    return rows or (items if len(items) > 1 else [])


def _rows(tokens: Sequence[Token], headings: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the rows of the table with which the tokens begin, if it has a column for the status, and one for the work."""
    end = next(at for at, token in enumerate(tokens) if token.type == "table_close")
    cells = [
        (token.type, tokens[at + 1].content)
        for at, token in enumerate(tokens[:end])
        if token.type in ("th_open", "td_open")
    ]
    titles = [content for kind, content in cells if kind == "th_open"]
    start = tokens[0].map[0] if tokens[0].map else 0
    heading = next((title for line, title in reversed(headings) if line < start), "")
    at = next((index for index, title in enumerate(titles) if _STATUS.fullmatch(title)), -1)
    is_work = any(_WORK.fullmatch(title) for title in titles)
    if at < 0 or not is_work or (_RESULTS.search(heading) and not _PART.match(heading)):
        return []
    bodies = [content for kind, content in cells if kind == "td_open"]
    rows = [(start + 2 + row, _state(content)) for row, content in enumerate(bodies[at :: len(titles)])]
    return rows if 2 * len([state for _, state in rows if state]) > len(rows) else []


def _state(text: str) -> str:
    """Return the state of the status with which a text begins; empty if it begins with none."""
    bare = text.strip("*`_ ([").lower()
    return next((state for state, words in _STATES if re.match(words, bare)), "")
