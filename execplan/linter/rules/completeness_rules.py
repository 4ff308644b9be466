"""EP1 rules about completeness: title, living statement, required sections and leftover placeholder text."""

from __future__ import annotations

from execplan.core.plan import outline
from execplan.core.plan.line_grammar import is_empty_text, is_revision_note, read_label
from execplan.core.plan.model import COMPLETE
from execplan.core.plan.placeholder_text import find_unfilled, is_placeholder_text
from execplan.linter.rule import ERROR, WARNING, RuleContext, RuleMatch, on_line, rule
from execplan.linter.rules.section_rules import find_misplaced_headings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import ParsedPlan, Section

_MAX_LINE_LENGTH = 120
"""Maximum characters of a placeholder line; longer lines have content."""
_MAX_OWN_SECTIONS = 100
"""Maximum number of the plan's own sections compared with a missing name; no plan has this many."""
MISSING_MESSAGE = "missing section "
"""Start of the message for a missing section."""
PLACEHOLDER_MESSAGE = " still contains placeholder text"
"""Part of the message for a section that still contains placeholder text."""
_FINAL_ANSWERS = frozenset(
    "none|n/a|na|none yet|none so far|none at this time|nothing yet|nothing so far|no surprises yet|no discoveries yet|no decisions yet".split(
        "|"
    )
)
"""Texts that say that a section has no entries, which is also true of a complete plan."""


@rule("EP101", ERROR)
def missing_title(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """The plan has no title.

    A plan is listed, found and committed by its title: one `# ` heading at the top that says what will be done.

    Bad:
        ## Progress

        - [ ] Build the parser.
    Good:
        # Build the parser

        ## Progress

        - [ ] Build the parser.
    """
    if not plan.title:
        yield on_line(plan, max(plan.title_line, 0), "no title: start with a line such as `# Build the parser`")


@rule("EP102", WARNING, in_archive=False)
def missing_living_statement(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """The statement that the plan is a living document is missing.

    It belongs between the title and the first section, and tells whoever continues the plan which sections to keep
    up to date.

    Bad:
        # Build the parser

        ## Progress
    Good:
        # Build the parser

        This ExecPlan is a living document.

        ## Progress
    """
    end = plan.sections[0].start if plan.sections else len(plan.text.lines)
    preface = " ".join(plan.text.lines[plan.title_line + 1 : end]).casefold()
    if "living" not in preface:
        yield on_line(plan, max(plan.title_line, 0), "no sentence states that this is a living document")


@rule("EP103", WARNING, in_archive=False)
def missing_section(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A section other than the living sections is missing.

    Each section answers a question of a newcomer. A section with nothing to say needs only one line that says so. In an
    open plan of another dialect, the rule checks that lines start as the dialect's guide demands, such as `**Goal:**` in
    plans of superpowers. The setting `dialects` changes these lines.

    Bad:
        # Build the parser

        ## Progress
    Good:
        # Build the parser

        ## Purpose / Big Picture
        ## Progress
        ## Context and Orientation
        ## Plan of Work
        ## Concrete Steps
        ## Validation and Acceptance
        ## Idempotence and Recovery
        ## Artifacts and Notes
        ## Interfaces and Dependencies
    """
    if context.required_lines is None:
        yield from _missing_sections(plan, context, living=False)
    elif context.required_lines and plan.state() != COMPLETE:
        lines = [line.lstrip() for line in plan.text.lines]
        for start in context.required_lines:
            if not any([line.startswith(start) for line in lines]):
                message = f"no line starts with `{start}`, as the guide of this dialect demands"
                yield on_line(plan, max(plan.title_line, 0), message)


@rule("EP104", ERROR)
def missing_living_section(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A living section is missing.

    Progress, Surprises & Discoveries, Decision Log and Outcomes & Retrospective record the work. Without one of
    them, nobody else can continue the plan. The commands that write to the section add it with `--create`.

    Bad:
        # Build the parser

        ## Progress
    Good:
        # Build the parser

        ## Progress
        ## Surprises & Discoveries
        ## Decision Log
        ## Outcomes & Retrospective
    """
    return _missing_sections(plan, context, living=True)


@rule("EP105", ERROR)
def duplicate_section(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A section occurs twice in the plan.

    The first one counts; no tool reads the other. Commands that write to the section fail, because it is ambiguous.

    Bad:
        ## Progress

        - [ ] Build the parser.

        ## Progress

        - [ ] Write the tests.
    Good:
        ## Progress

        - [ ] Build the parser.
        - [ ] Write the tests.
    """
    first_sections: dict[str, Section] = {}
    for section in plan.sections:
        if section.name is not None:
            earlier_section = first_sections.setdefault(section.name, section)
            if earlier_section is not section:
                message = f"duplicate section {section.name}; the first is on line {earlier_section.start + 1}"
                yield on_line(plan, section.start, message)


@rule("EP109", ERROR, unfinished=WARNING, in_archive=False)
def leftover_placeholder(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A section still contains placeholder text of the template.

    Placeholder text says what to write, but a reader takes it for the author's text. While tasks are open, the
    finding is a warning, so that you can commit an unfinished plan; when all tasks are done, it is an error. In the
    profiles `strict` and `ci`, it is always an error. A living section without entries can keep its placeholder
    text, and until the plan is complete also `TBD`; `None yet.` stays valid after that.

    Bad:
        ## Concrete Steps

        The commands to run, their working directory, and a few lines of the expected output.
    Good:
        ## Concrete Steps

        In the root of the repository, `make test` prints `12 passed`.
    """
    if plan.title_line in plan.placeholder_lines:
        yield on_line(plan, plan.title_line, "the title is still the template's placeholder")
    unfilled = find_unfilled(plan)
    if plan.state() == COMPLETE:
        names = [name for name, _ in unfilled]
        for section in plan.sections:
            if section.name in (outline.SURPRISES, outline.DECISIONS) and section.name not in names:
                body = range(section.body_start, section.content_end)
                pending_lines = [at for at in body if _is_pending_line(plan.text.lines[at])]
                unfilled += [(section.name, pending_lines)] if pending_lines else []
    for name, lines in sorted(unfilled, key=lambda part: part[1]):
        count = f" ({len(lines)} lines)" if len(lines) > 1 else ""
        yield on_line(plan, lines[0], f"{name}{PLACEHOLDER_MESSAGE}{count}")


def _is_pending_line(line: str) -> bool:
    """Return whether a line states that something will be written later."""
    if not line.strip() or len(line) > _MAX_LINE_LENGTH:
        return False
    label = read_label(line)
    text = label[1] if label else line.strip().lstrip("-*+ ")
    if not is_empty_text(text):
        return False
    bare = text.strip(" .*_()").casefold()
    return bare not in _FINAL_ANSWERS and any([char.isalnum() for char in bare]) and not is_placeholder_text(line)


def _missing_sections(plan: ParsedPlan, context: RuleContext, *, living: bool) -> Iterator[RuleMatch]:
    present_names = {section.name for section in plan.sections}
    missing_kinds = [kind for kind in outline.OUTLINE if kind.is_living is living and kind.name not in present_names]
    misplaced_headings = (
        {name: block for block, name in find_misplaced_headings(plan, context)} if missing_kinds else {}
    )
    own_titles = [
        section.title for section in plan.sections if section.name is None and not is_revision_note(section.title)
    ][:_MAX_OWN_SECTIONS]
    for kind in missing_kinds:
        if kind.name in misplaced_headings:
            if living:
                location = f"the heading on line {misplaced_headings[kind.name].start + 1} is not at level 2"
                yield on_line(plan, max(plan.title_line, 0), f"{MISSING_MESSAGE}{kind.name}: {location}")
        else:
            nearest_title = outline.closest_title(kind.name, own_titles)
            hint = f"; rename `## {nearest_title}`?" if nearest_title else ""
            if not hint and kind.name == outline.PROGRESS and plan.has_tasks_elsewhere:
                hint = "; the tasks are in other sections"
            yield on_line(plan, max(plan.title_line, 0), f"{MISSING_MESSAGE}{kind.name}{hint}")
