"""Comments such as `<!-- execplan: ignore EP205 -->` that hide findings of the next block or the whole plan."""

from __future__ import annotations

from bisect import bisect_right

from execplan.core.named_tuple import NamedTuple
from execplan.core.text.markdown_blocks import HTML
from execplan.core.text.text_lines import Edit
from execplan.linter.rule import RULES, Finding, Fix
from execplan.linter.rules.suppression_rules import CODE, MARK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan
    from execplan.linter.plan_source import PlanSource

_END = "-->"
_WHOLE_PLAN = "file"


class _Comment(NamedTuple):
    """A suppression comment and the lines that it covers, counted from 0."""

    line: int
    names: tuple[str, ...]
    start: int
    stop: int
    """End of the covered lines, exclusive; 0 if nothing follows the comment."""


def apply_suppressions(
    plan: ParsedPlan, source: PlanSource, findings: list[Finding], levels: dict[str, str], codes_run: set[str]
) -> list[Finding]:
    """Return the findings that no comment hides, and those about unused comments.

    `codes_run` are the codes of the rules that ran.
    """
    comments, misplaced = _find_comments(plan, source)
    hidden, used = _find_hidden(comments, findings)
    remaining = [finding for at, finding in enumerate(findings) if at not in hidden]
    level = levels.get(CODE)
    if level is not None:
        # A name that hid nothing is unused only if every rule that it may mean ran, or if there is no such rule.
        unrun_prefixes = _code_prefixes([code for code in RULES if code not in codes_run])
        known_prefixes = _code_prefixes(list(RULES))
        for comment in comments:
            covered_span = comment.start, comment.stop
            unused = [
                name for name in comment.names if (name, *covered_span) not in used and name not in unrun_prefixes
            ]
            if unused or not comment.names:
                remaining.append(_unused_finding(plan, comment, unused, known_prefixes, level))
        remaining += [_misplaced_finding(plan, line, column, level) for line, column in misplaced]
    return remaining


def _find_comments(plan: ParsedPlan, source: PlanSource) -> tuple[list[_Comment], list[tuple[int, int]]]:
    """Return the suppression comments on their own lines, and the places of those within text, which have no effect."""
    lines, comments, comment_lines = plan.text.lines, [], set()
    start, stop = 0, 0
    for block in reversed(plan.blocks):
        if block.kind == HTML and block.text.startswith("<!--"):
            for line in range(block.end - 1, block.start - 1, -1):
                if lines[line].strip().startswith(MARK):
                    comment_lines.add(line)
                    is_whole_plan, names = _parse_comment(lines[line])
                    comments.append(
                        _Comment(line, names, 0 if is_whole_plan else start, len(lines) + 1 if is_whole_plan else stop)
                    )
        if not _is_comment(block.kind, block.text):
            start, stop = block.start, block.end
    comments.reverse()
    return comments, [
        position
        for position in source.find_all(MARK)
        if position[0] not in comment_lines and not source.inert_lines[position[0]]
    ]


def _is_comment(kind: str, text: str) -> bool:
    return kind == HTML and text.startswith(MARK)


def _parse_comment(line: str) -> tuple[bool, tuple[str, ...]]:
    """Return whether a comment covers the whole plan, and the codes that it names.

    A colon ends the codes and begins the reason.
    """
    text = line.strip().removeprefix(MARK).partition(_END)[0].partition(":")[0]
    names = text.replace(",", " ").split()
    is_whole_plan = names[:1] == [_WHOLE_PLAN]
    return is_whole_plan, tuple(dict.fromkeys(names[is_whole_plan:]))


def _find_hidden(comments: list[_Comment], findings: list[Finding]) -> tuple[set[int], set[tuple[str, int, int]]]:
    """Return the indexes of hidden findings, and the names that hide any, each with the lines of its comment."""
    order = sorted(range(len(findings)), key=lambda at: findings[at].line)
    lines = [findings[at].line for at in order]
    prefixes = _code_prefixes([finding.code for finding in findings])
    hidden: set[int] = set()
    used: set[tuple[str, int, int]] = set()
    for cover in {
        (name, comment.start, comment.stop) for comment in comments for name in comment.names if name in prefixes
    }:
        name, start, stop = cover
        within = order[bisect_right(lines, start) : bisect_right(lines, stop)]
        covered = [at for at in within if findings[at].code.startswith(name)]
        if covered:
            hidden.update(covered)
            used.add(cover)
    return hidden, used


def _code_prefixes(codes: list[str]) -> set[str]:
    """Return every prefix that matches at least one of the codes."""
    return {code[:size] for code in set(codes) for size in range(1, len(code) + 1)}


def _unused_finding(
    plan: ParsedPlan, comment: _Comment, unused: list[str], known_prefixes: set[str], level: str
) -> Finding:
    line = plan.text.lines[comment.line]
    missing = [name for name in unused if name not in known_prefixes]
    if not comment.names:
        message = "names no rule to ignore: `<!-- execplan: ignore EP205 -->`"
    elif missing:
        message = f"ignores unknown rule {missing[0]}"
    else:
        message = (
            f"ignores {' and '.join(unused)}, but there are no such findings {'here' if comment.stop else 'below'}"
        )
    begin = line.index(MARK)
    end = line.find(_END) + len(_END) if _END in line else len(line)
    unused_names = set(unused)
    kept_names = [name for name in comment.names if name not in unused_names]
    edits = _removal_edits(plan, comment.line, kept_names, unused)
    location = comment.line + 1, begin + 1, comment.line + 1, max(end, begin + 1)
    return Finding(CODE, level, *location, message, Fix(RULES[CODE].fix, edits) if edits else None)


def _removal_edits(plan: ParsedPlan, at: int, kept_names: list[str], unused: list[str]) -> tuple[Edit, ...]:
    """Return the edits that remove unused codes from a comment.

    Returns none if removing the comment would join two blocks, which a person must fix.
    """
    lines = plan.text.lines
    line = lines[at]
    if not line.strip().endswith(_END) or line.count("<!--") > 1:
        return ()
    if kept_names:
        head, mark, rest = line.partition(MARK)
        names, end = (rest, "") if ":" not in rest else rest.split(":", 1)
        tail = f":{end}" if end else f" {_END}"
        file_flag = f" {_WHOLE_PLAN}" if names.split()[:1] == [_WHOLE_PLAN] else ""
        return (Edit(at, at + 1, (f"{head}{mark}{file_flag} {' '.join(kept_names)}{tail}",)),)
    blank_above = not at or not lines[at - 1].strip()
    blank_below = at + 1 >= len(lines) or not lines[at + 1].strip()
    return (Edit(at, at + 1, ()),) if (blank_above or blank_below) and (unused or not kept_names) else ()


def _misplaced_finding(plan: ParsedPlan, line: int, column: int, level: str) -> Finding:
    message = "has no effect inside a line of text; put the comment on its own line above"
    return Finding(CODE, level, line + 1, column + 1, line + 1, len(plan.text.lines[line]), message)
