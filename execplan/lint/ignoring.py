"""Comments that keep findings from being shown: `<!-- execplan: ignore EP205 -->`, for the next block or the whole plan."""

from __future__ import annotations

from bisect import bisect_right

from execplan.lint.rule import RULES, Finding, Fix
from execplan.lint.suppress import CODE, MARK
from execplan.record import NamedTuple
from execplan.text.blocks import HTML
from execplan.text.edit import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.lint.words import Words
    from execplan.plan.model import Plan

_END = "-->"
_FILE = "file"


class _Comment(NamedTuple):
    """One comment, and what it covers; lines count from 0."""

    line: int
    names: tuple[str, ...]
    first: int
    stop: int
    """One past the last line of what it covers, or 0 when nothing follows it."""


def left_over(
    plan: Plan, words: Words, findings: list[Finding], levels: dict[str, str], ran: set[str]
) -> list[Finding]:
    """The findings that no comment hides, and those about comments that hide nothing; `ran` are codes of rules that ran."""
    comments, stray = _comments(plan, words)
    hidden, used = _hidden(comments, findings)
    left = [finding for at, finding in enumerate(findings) if at not in hidden]
    level = levels.get(CODE)
    if level is not None:
        # A name that hid nothing can be called idle when every rule that it may mean ran, or there is none.
        unknown = _beginnings([code for code in RULES if code not in ran])
        known = _beginnings(list(RULES))
        for comment in comments:
            over = comment.first, comment.stop
            idle = [name for name in comment.names if (name, *over) not in used and name not in unknown]
            if idle or not comment.names:
                left.append(_finding(plan, comment, idle, known, level))
        left += [_stray(plan, line, column, level) for line, column in stray]
    return left


def _comments(plan: Plan, words: Words) -> tuple[list[_Comment], list[tuple[int, int]]]:
    """Every such comment on lines of its own, and where one stands in a line of text, where it does nothing."""
    lines, comments, own = plan.text.lines, [], set()
    first, stop = 0, 0
    for block in reversed(plan.blocks):
        if block.kind == HTML and block.text.startswith("<!--"):
            for line in range(block.end - 1, block.start - 1, -1):
                if lines[line].strip().startswith(MARK):
                    own.add(line)
                    whole, names = _read(lines[line])
                    comments.append(_Comment(line, names, 0 if whole else first, len(lines) + 1 if whole else stop))
        if not _is_comment(block.kind, block.text):
            first, stop = block.start, block.end
    comments.reverse()
    return comments, [place for place in words.find(MARK) if place[0] not in own and not words.inert[place[0]]]


def _is_comment(kind: str, text: str) -> bool:
    return kind == HTML and text.startswith(MARK)


def _read(line: str) -> tuple[bool, tuple[str, ...]]:
    """Whether a comment is about the whole plan, and the codes that it names; a colon ends them and begins the reason."""
    said = line.strip().removeprefix(MARK).partition(_END)[0].partition(":")[0]
    names = said.replace(",", " ").split()
    whole = names[:1] == [_FILE]
    return whole, tuple(dict.fromkeys(names[whole:]))


def _hidden(comments: list[_Comment], findings: list[Finding]) -> tuple[set[int], set[tuple[str, int, int]]]:
    """Which findings are hidden, and the names that hide one, each with what its comment covers."""
    order = sorted(range(len(findings)), key=lambda at: findings[at].line)
    lines = [findings[at].line for at in order]
    begin = _beginnings([finding.code for finding in findings])
    hidden: set[int] = set()
    used: set[tuple[str, int, int]] = set()
    for cover in {(name, each.first, each.stop) for each in comments for name in each.names if name in begin}:
        name, first, stop = cover
        within = order[bisect_right(lines, first) : bisect_right(lines, stop)]
        found = [at for at in within if findings[at].code.startswith(name)]
        if found:
            hidden.update(found)
            used.add(cover)
    return hidden, used


def _beginnings(codes: list[str]) -> set[str]:
    """How a name may read that means one of the codes."""
    return {code[:size] for code in set(codes) for size in range(1, len(code) + 1)}


def _finding(plan: Plan, comment: _Comment, idle: list[str], known: set[str], level: str) -> Finding:
    line = plan.text.lines[comment.line]
    missing = [name for name in idle if name not in known]
    if not comment.names:
        message = "names no rule to ignore: `<!-- execplan: ignore EP205 -->`"
    elif missing:
        message = f"there is no rule {missing[0]} to ignore"
    else:
        message = f"ignores {' and '.join(idle)}, of which nothing is found {'here' if comment.stop else 'below'}"
    begin = line.index(MARK)
    end = line.find(_END) + len(_END) if _END in line else len(line)
    gone = set(idle)
    kept = [name for name in comment.names if name not in gone]
    edits = _without(plan, comment.line, kept, idle)
    place = comment.line + 1, begin + 1, comment.line + 1, max(end, begin + 1)
    return Finding(CODE, level, *place, message, Fix(RULES[CODE].fix, edits) if edits else None)


def _without(plan: Plan, at: int, kept: list[str], idle: list[str]) -> tuple[Edit, ...]:
    """The edits that take idle codes out of a comment; a comment that joins two blocks if it goes is for a person."""
    lines = plan.text.lines
    line = lines[at]
    if not line.strip().endswith(_END) or line.count("<!--") > 1:
        return ()
    if kept:
        head, mark, rest = line.partition(MARK)
        names, end = (rest, "") if ":" not in rest else rest.split(":", 1)
        tail = f":{end}" if end else f" {_END}"
        whole = f" {_FILE}" if names.split()[:1] == [_FILE] else ""
        return (Edit(at, at + 1, (f"{head}{mark}{whole} {' '.join(kept)}{tail}",)),)
    blank_above = not at or not lines[at - 1].strip()
    blank_below = at + 1 >= len(lines) or not lines[at + 1].strip()
    return (Edit(at, at + 1, ()),) if (blank_above or blank_below) and (idle or not kept) else ()


def _stray(plan: Plan, line: int, column: int, level: str) -> Finding:
    message = "does nothing within a line of text: put the comment on a line of its own, above"
    return Finding(CODE, level, line + 1, column + 1, line + 1, len(plan.text.lines[line]), message)
