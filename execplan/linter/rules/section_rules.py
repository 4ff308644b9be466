"""EP1 rules about sections: order, heading text, heading level and empty sections."""

from __future__ import annotations

from execplan.core.plan import outline
from execplan.core.text.markdown_blocks import CODE, FENCE, HEADING, HTML, RULE
from execplan.core.text.text_lines import Edit
from execplan.linter.plan_paths import DEPENDENCY_PHRASES
from execplan.linter.rule import HINT, SAFE, WARNING, RuleContext, RuleMatch, on_line, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import ParsedPlan, Section
    from execplan.core.text.markdown_blocks import Block

_NAME_PREFIXES = frozenset([name[:4].lower() for name in outline.NAMES])


@rule("EP106", HINT, on=False, in_archive=False)
def unusual_section_order(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A section is out of the usual order.

    A reader who knows one plan can find everything in the next one in the same place. Outcomes & Retrospective can come
    last, and sections of your own can be anywhere. If all plans of a repository use another order, it is just as good.
    The rule looks at one plan at a time and can't know that, so it is off by default.

    Bad:
        ## Validation and Acceptance

        `make test` passes.

        ## Concrete Steps

        In the root of the repository, `make test` prints `12 passed`.
    Good:
        ## Concrete Steps

        In the root of the repository, `make test` prints `12 passed`.

        ## Validation and Acceptance

        `make test` passes.
    """
    first_sections: dict[str, Section] = {}
    for section in plan.sections:
        if section.name is not None:
            first_sections.setdefault(section.name, section)
    names = list(first_sections)
    if names[-1:] == [outline.OUTCOMES]:
        names.pop()
    positions = [outline.NAMES.index(name) for name in names]
    if positions == sorted(positions):
        return
    in_order = _longest_ascending(positions)
    moved_positions = [position for position in positions if position not in in_order]
    if moved_positions:
        position = moved_positions[0]
        later_positions = [
            other_position
            for other_position in positions[positions.index(position) :]
            if other_position in in_order and other_position < position
        ]
        earlier_positions = [
            other_position
            for other_position in positions[: positions.index(position)]
            if other_position in in_order and other_position > position
        ]
        if later_positions:
            location = f"before {outline.NAMES[later_positions[0]]}"
        else:
            location = f"after {outline.NAMES[earlier_positions[-1]]}"
        overflow = f", and {len(moved_positions) - 1} more out of order" if len(moved_positions) > 1 else ""
        yield on_line(
            plan,
            first_sections[outline.NAMES[position]].start,
            f"{outline.NAMES[position]} is {location}{overflow}",
        )


@rule("EP107", WARNING, fix=SAFE)
def nonstandard_heading(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """The heading of a section differs from the standard one.

    It is recognized here, but other tools, and people who search, may miss it. Text after the name, such as a translation
    or a word in parentheses, is fine and stays. A section "Dependencies" can be about the order of work; it is fixed
    automatically only if it names code and is not about the order.

    Bad:
        ## Decisions

        - Decision: Read line by line.
          Rationale: A task is a line.
          Date/Author: 2025-12-30 / Ann
    Good:
        ## Decision Log

        - Decision: Read line by line.
          Rationale: A task is a line.
          Date/Author: 2025-12-30 / Ann
    Fixed:
        ## Decision Log

        - Decision: Read line by line.
          Rationale: A task is a line.
          Date/Author: 2025-12-30 / Ann
    """
    counts: dict[str, int] = {}
    for section in plan.sections:
        if section.name is not None:
            counts[section.name] = counts.get(section.name, 0) + 1
    for section in plan.sections:
        name = section.name
        if name is not None and section.title != name and counts[name] == 1:
            title = _standard_title(section.title, name)
            if title != section.title:
                match = _rename_match(plan, section, title)
                is_short_name = name == outline.INTERFACES and not outline.is_canonical_title(section.title, name)
                yield match._replace(edits=()) if is_short_name and not _names_code(plan, context, section) else match


@rule("EP108", WARNING, in_archive=False)
def empty_section(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A section has a heading but no content.

    Nobody can tell whether there is nothing to say or whether it was forgotten. Add a line: `None yet.`, or why no
    content is needed. Outcomes & Retrospective can be empty until the work is done.

    Bad:
        ## Idempotence and Recovery
    Good:
        ## Idempotence and Recovery

        Every step may be run again; nothing is written outside of `build/`.
    """
    for section in plan.sections:
        # A plan's own heading may only group the sections after it; EP201 and EP501 check tasks and outcomes.
        is_own_section = section.name is None and section.end < len(plan.text.lines)
        if not (is_own_section or section.name in (outline.PROGRESS, outline.OUTCOMES) or _has_content(plan, section)):
            yield on_line(plan, section.start, f"{section.name or section.title} is empty")


@rule("EP110", WARNING)
def wrong_heading_level(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """One of the twelve sections is not at level 2.

    A section starts with `## `. At another level, its tasks and entries become part of the section above, or of a
    separate document, and no tool finds them.

    Bad:
        ## Plan of Work

        Write the scanner, then the reader.

        # Interfaces and Dependencies

        `read(data: bytes) -> Plan` in `src/reader.py`.
    Good:
        ## Plan of Work

        Write the scanner, then the reader.

        ## Interfaces and Dependencies

        `read(data: bytes) -> Plan` in `src/reader.py`.
    """
    for block, name in find_misplaced_headings(plan, context):
        yield on_line(plan, block.start, f"{name} is a section: start its heading with ##, not {'#' * block.level}")


def find_misplaced_headings(plan: ParsedPlan, context: RuleContext) -> list[tuple[Block, str]]:
    """Return the headings that name a standard section but are not at level 2, with the section's name.

    Headings below level 2 count only if the plan has no such section, and they have its full name and occur once,
    because milestones may have their own steps.
    """
    present_names = {section.name for section in plan.sections}
    level_one_headings = []
    lower_headings = []
    for block in context.source.headings:
        if block.level == 2 or block.depth or block.start == plan.title_line:
            continue
        if block.text.lstrip("*_")[:4].lower() in _NAME_PREFIXES:
            name = outline.canonical_name(block.text)
            if name is not None and block.level == 1:
                level_one_headings.append((block, name))
            elif (
                name is not None
                and name not in present_names
                and outline.title_key(block.text) == outline.title_key(name)
            ):
                lower_headings.append((block, name))
    names = [name for _, name in lower_headings[: 2 * len(outline.NAMES)]]
    return level_one_headings + [(block, name) for block, name in lower_headings if names.count(name) == 1]


def _longest_ascending(positions: list[int]) -> list[int]:
    """Return the longest ascending subsequence; among equals, the one that ends lowest."""
    best: list[list[int]] = []
    for position in positions:
        best.append(
            [*max([sequence for sequence in best if sequence[-1] < position], key=_sort_key, default=[]), position]
        )
    return max(best, key=_sort_key)


def _sort_key(positions: list[int]) -> tuple[int, int]:
    return len(positions), -positions[-1]


def _standard_title(title: str, name: str) -> str:
    """Return a title with the section name in standard spelling, keeping the text after the name."""
    stripped = title.strip("*_` \t") if title[0] in "*_`" else title
    head, slash, tail = stripped.partition(" / ")
    main_name, _, subtitle = name.partition(" / ")
    notes = outline.split_title(head.rstrip(" :*_"))[1]
    note = "".join([f" {text}" for text in notes])
    if subtitle and not tail:
        main_name = name
    elif subtitle and tail.casefold().startswith(subtitle.casefold()):
        tail = subtitle + tail[len(subtitle) :].rstrip(" :")
    return main_name + note + slash + tail


def _rename_match(plan: ParsedPlan, section: Section, title: str) -> RuleMatch:
    """Return the match for a heading that should get another title."""
    line = plan.text.lines[section.start]
    column = line.find(section.title)
    match = on_line(plan, section.start, f"the standard heading is {section.name}")
    if column < 0:
        return match  # the title spans two lines
    end = column + len(section.title)
    edit = Edit(section.start, section.start + 1, (line[:column] + title + line[end:],))
    return match._replace(column=column, end_column=end, edits=(edit,))


def _names_code(plan: ParsedPlan, context: RuleContext, section: Section) -> bool:
    """Return whether a section names code and does not describe the order of work."""
    text = "\n".join(plan.text.lines[section.body_start : section.end]).casefold()
    if any([word in text for word in DEPENDENCY_PHRASES]):
        return False
    has_code = any([block.kind in (FENCE, CODE) for block in plan.blocks[section.first_block : section.block_end]])
    return has_code or bool(context.source.code_spans_in(section.body_start, section.end))


def _has_content(plan: ParsedPlan, section: Section) -> bool:
    """Return whether a section has visible content other than rules and headings."""
    for block in plan.blocks[section.first_block : section.block_end]:
        if block.kind not in (HEADING, RULE) and not (block.kind == HTML and block.text.startswith("<!--")):
            return True
    return False
