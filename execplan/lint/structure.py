"""EP1: is everything there, once, and written by the author?"""

from __future__ import annotations

from execplan.lint.rule import ERROR, WARNING, Given, Place, on_line, rule
from execplan.lint.sections import misplaced
from execplan.plan import outline
from execplan.plan.grammar import is_note, is_nothing, read_label
from execplan.plan.guidance import is_guidance
from execplan.plan.model import COMPLETE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.plan.model import Plan, Section

_FARTHEST = 120
"""Characters of a longer line that says something."""
_MANY = 100
"""Sections of its own among which one is sought whose title is like a name; no plan has as many."""
PLACEHOLDER = " still holds placeholder text"
"""What a finding says of a section in which placeholder text was left."""
_FINAL = frozenset(("none", "n/a", "na"))


@rule("EP101", ERROR)
def no_title(plan: Plan, given: Given) -> Iterator[Place]:
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
        yield on_line(plan, max(plan.title_line, 0), "no title: begin with a line such as `# Build the parser`")


@rule("EP102", WARNING)
def no_living_sentence(plan: Plan, given: Given) -> Iterator[Place]:
    """The sentence that says the plan is a living document is missing.

    It stands between the title and the first section and tells whoever picks the plan up which sections to keep true.

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
        yield on_line(plan, max(plan.title_line, 0), "no sentence says that this is a living document")


@rule("EP103", WARNING)
def section_missing(plan: Plan, given: Given) -> Iterator[Place]:
    """One of the eight sections that do not live is missing.

    Each answers a question that a newcomer has. That is no reason to fill one with words: a section that has nothing to
    say says so in a line.

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
    return _missing(plan, given, living=False)


@rule("EP104", ERROR)
def living_section_missing(plan: Plan, given: Given) -> Iterator[Place]:
    """A living section is missing.

    Progress, Surprises & Discoveries, Decision Log and Outcomes & Retrospective are where the work is recorded; without
    one of them a plan can't be picked up by somebody else. A writer adds it with `--create`.

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
    return _missing(plan, given, living=True)


@rule("EP105", ERROR)
def section_twice(plan: Plan, given: Given) -> Iterator[Place]:
    """A section stands in the plan twice.

    The first counts; what stands in the other is read by nobody's tool. Verbs that write refuse to guess which is meant.

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
    first: dict[str, Section] = {}
    for section in plan.sections:
        if section.name is not None:
            before = first.setdefault(section.name, section)
            if before is not section:
                message = f"{section.name} stands in line {before.start + 1} already"
                yield on_line(plan, section.start, message)


@rule("EP109", ERROR, unfinished=WARNING)
def placeholder_left(plan: Plan, given: Given) -> Iterator[Place]:
    """A section still holds placeholder text of the template.

    Placeholder text says what to write; a reader takes it for the author's. It is a warning while tasks are open, so that
    you can commit a plan that you are still writing, and an error when all tasks are done; in the profiles `strict` and
    `ci` it always is an error. A living section may keep it until the plan is complete, and `None yet.` as well.

    Bad:
        ## Concrete Steps

        The commands to type, the folder to type them in, and a few lines of what they print when all is well.
    Good:
        ## Concrete Steps

        In the root of the repository, `make test` prints `12 passed`.
    """
    complete = plan.state() == COMPLETE
    left = list(plan.guidance)
    if plan.title_line in left:
        yield on_line(plan, plan.title_line, "the title is still the template's placeholder")
    for section in plan.sections:
        lines = [at for at in left if section.start <= at < section.end]
        if section.living and not complete:
            continue
        if complete and section.name in (outline.SURPRISES, outline.DECISIONS) and not lines:
            lines = [at for at in range(section.body, section.room) if _waits(plan.text.lines[at])]
        if lines and not (complete and section.name == outline.OUTCOMES and not plan.outcomes):
            count = f" ({len(lines)} lines)" if len(lines) > 1 else ""
            yield on_line(plan, lines[0], f"{section.name or section.title}{PLACEHOLDER}{count}")


def _waits(line: str) -> bool:
    """Whether a line says that nothing has been written there so far."""
    if not line.strip() or len(line) > _FARTHEST:
        return False
    label = read_label(line)
    words = label[1] if label else line.strip().lstrip("-*+ ")
    if not is_nothing(words):
        return False
    bare = words.strip(" .*_()").casefold()
    return bare not in _FINAL and any([char.isalnum() for char in bare]) and not is_guidance(line)


def _missing(plan: Plan, given: Given, *, living: bool) -> Iterator[Place]:
    present = {section.name for section in plan.sections}
    lacking = [kind for kind in outline.OUTLINE if kind.living is living and kind.name not in present]
    lower = {name: block for block, name in misplaced(plan, given)} if lacking else {}
    own = [each.title for each in plan.sections if each.name is None and not is_note(each.title)][:_MANY]
    for kind in lacking:
        if kind.name in lower:
            if living:
                where = f"the heading in line {lower[kind.name].start + 1} is not at level 2"
                yield on_line(plan, max(plan.title_line, 0), f"no section {kind.name}: {where}")
        else:
            near = outline.nearest(kind.name, own)
            hint = f"; is `## {near}` meant?" if near else ""
            yield on_line(plan, max(plan.title_line, 0), f"no section {kind.name}{hint}")
