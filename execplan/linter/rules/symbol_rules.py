"""Symbols named in Interfaces and Dependencies, and the rule that looks for them in the repository."""

from __future__ import annotations

from execplan.core.plan import outline
from execplan.core.plan.model import COMPLETE
from execplan.execution.shell.shell_vocabulary import looks_like_command
from execplan.linter.plan_paths import MISSING_SYMBOL_PHRASES
from execplan.linter.plan_source import TextSpan
from execplan.linter.rule import HINT, HISTORY, RuleContext, RuleMatch, rule
from execplan.linter.section_content import find_code_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import ParsedPlan
    from execplan.linter.plan_source import PlanSource

_MIN_NAME_LENGTH = 6
_KEYWORDS = ("def", "class", "fn", "func", "function", "struct", "enum", "trait", "interface", "type")
_MODIFIERS = frozenset(
    "pub pub(crate) async export default public private static abstract final sealed unsafe const".split()
)


@rule("EP407", HINT, needs=HISTORY, in_archive=False)
def missing_symbol(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """All tasks are done, but a name from Interfaces and Dependencies is not in any file of the repository.

    The interface was built under another name, or not at all, and the next reader will search for it in vain. Names
    that the plan describes as removed, or as possible later additions, are not reported.

    Bad (absent read_plan):
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.

        ## Outcomes & Retrospective

        The parser reads all twelve sections.

        ## Interfaces and Dependencies

        `read_plan(data: bytes) -> Plan` in `src/reader.py`.
    Good (absent parse_plan):
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.

        ## Outcomes & Retrospective

        The parser reads all twelve sections.

        ## Interfaces and Dependencies

        `read_plan(data: bytes) -> Plan` in `src/reader.py`.
    """
    if context.history is None or not context.history.missing_symbols or plan.state() != COMPLETE:
        return
    for span in find_symbols(plan, context.source):
        if span.text in context.history.missing_symbols and (
            context.source.inert_lines[span.line] or context.source.is_code_span(span)
        ):
            yield RuleMatch(
                f"{span.text} is not in any file of the repository",
                span.line,
                span.column,
                span.line + 1,
                span.column + len(span.text),
            )


def find_symbols(plan: ParsedPlan, source: PlanSource) -> list[TextSpan]:
    """Return the functions and types in Interfaces and Dependencies that should exist, each at its first place."""
    section = plan.section(outline.INTERFACES)
    if section is None:
        return []
    spans: dict[str, TextSpan] = {}
    absent_names: set[str] = set()
    for span in source.code_spans_in(section.body_start, section.notes_start):
        name, column = _code_name(span.text)
        if name:
            if _is_said_absent(plan, span.line):
                absent_names.add(name)
            spans.setdefault(name, TextSpan(span.line, span.column + column, name))
    for _, start, end in find_code_blocks(plan, section):
        for at in range(start, end):
            name = _defined_name(plan.text.lines[at])
            if name:
                spans.setdefault(name, TextSpan(at, plan.text.lines[at].index(name), name))
    return sorted([span for name, span in spans.items() if name not in absent_names])


def _is_said_absent(plan: ParsedPlan, line: int) -> bool:
    """Return whether text near a line says that something may be missing."""
    nearby_text = " ".join(plan.text.lines[max(line - 1, 0) : line + 2]).casefold()
    return any([word in nearby_text for word in MISSING_SYMBOL_PHRASES])


def _code_name(code: str) -> tuple[str, int]:
    """Return the symbol that a code span names or calls, and its column; empty for paths, commands and prose."""
    head = code.partition("(")[0].strip()
    if " " in head:
        defined_name = _defined_name(code)
        return (defined_name, code.index(defined_name)) if defined_name else ("", 0)
    if "/" in head or "@" in head or looks_like_command(code):
        return "", 0
    for mark in ("::", ".", "#"):
        head = head.rpartition(mark)[2]
    is_call = "(" in code
    name = head.rstrip("!?")
    if _is_symbol(name, is_call=is_call):
        return (name, code.rindex(name, 0, code.find("(") if is_call else len(code)))
    return ("", 0)


def _defined_name(line: str) -> str:
    """Return the symbol that a line of code defines; empty if there is none."""
    tokens = [token for token in line.strip().split() if token not in _MODIFIERS]
    if len(tokens) < 2 or tokens[0] not in _KEYWORDS:
        return ""
    name = ""
    for char in tokens[1]:
        if not (char.isalnum() or char == "_"):
            break
        name += char
    return name if _is_symbol(name, is_call=True) else ""


def _is_symbol(name: str, *, is_call: bool) -> bool:
    """Return whether a name looks like a symbol: with underscores, in camel case, or called."""
    if len(name) < _MIN_NAME_LENGTH or not name.isascii() or not name.isidentifier() or name.isupper():
        return False
    has_humps = sum([char.isupper() for char in name[1:]]) and any([char.islower() for char in name])
    return is_call or bool(has_humps) or "_" in name.strip("_")
