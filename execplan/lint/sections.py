"""EP1: are the sections what the format knows, where it has them?"""

from __future__ import annotations

from execplan.lint.rule import HINT, SAFE, WARNING, Given, Place, on_line, rule
from execplan.plan import outline
from execplan.text.blocks import CODE, FENCE, HEADING, HTML, RULE
from execplan.text.edit import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.plan.model import Plan, Section
    from execplan.text.blocks import Block

_BEGINS = frozenset([name[:4].lower() for name in outline.NAMES])
_SEQUENCE = (" before ", "depends on", "depend on", "blocked by", "prerequisite", "milestone", "approv")
"""What is said of dependencies that are no interfaces: what waits for what."""


@rule("EP106", HINT, on=False)
def unusual_order(plan: Plan, given: Given) -> Iterator[Place]:
    """A section stands out of the usual order.

    Who has read one plan finds everything in the next where it was before. Outcomes & Retrospective may come last, and
    sections of one's own may stand anywhere. An order of one's own that all plans of a repository keep is as good, and one
    plan does not show it; so this rule is off by default, and says nothing of archived plans.

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
    if given.archived:
        return
    first: dict[str, Section] = {}
    for section in plan.sections:
        if section.name is not None:
            first.setdefault(section.name, section)
    names = list(first)
    if names[-1:] == [outline.OUTCOMES]:
        names.pop()
    places = [outline.NAMES.index(name) for name in names]
    if places == sorted(places):
        return
    kept = _ascending(places)
    moved = [place for place in places if place not in kept]
    if moved:
        place = moved[0]
        behind = [each for each in places[places.index(place) :] if each in kept and each < place]
        before = [each for each in places[: places.index(place)] if each in kept and each > place]
        where = f"before {outline.NAMES[behind[0]]}" if behind else f"after {outline.NAMES[before[-1]]}"
        more = f", and {len(moved) - 1} more out of order" if len(moved) > 1 else ""
        yield on_line(plan, first[outline.NAMES[place]].start, f"{outline.NAMES[place]} stands {where}{more}")


@rule("EP107", WARNING, fix=SAFE)
def other_spelling(plan: Plan, given: Given) -> Iterator[Place]:
    """The heading of a section is spelled otherwise than in the format.

    This tool knows what is meant; a person who searches, and other tools, may not. What stands behind the name, a translation
    or a word in parentheses, is fine and stays. Dependencies alone may mean what waits for what: a section that
    says so, or names nothing in code, is left for a person to mend.

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
    Mended:
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
            title = _spelled(section.title, name)
            if title != section.title:
                place = _renamed(plan, section, title)
                bare = name == outline.INTERFACES and not outline.is_full(section.title, name)
                yield place._replace(edits=()) if bare and not _names_code(plan, given, section) else place


@rule("EP108", WARNING)
def empty_section(plan: Plan, given: Given) -> Iterator[Place]:
    """A section has a heading and nothing below it.

    Nobody can tell whether there is nothing to say or nobody has thought of it. A line says which: `None yet.`, or why none
    is needed. Outcomes & Retrospective may wait until the work is done.

    Bad:
        ## Idempotence and Recovery
    Good:
        ## Idempotence and Recovery

        Every step may be run again; nothing is written outside of `build/`.
    """
    for section in plan.sections:
        # A heading of one's own may stand over the sections that follow; EP201 and EP501 ask for tasks and outcomes.
        own = section.name is None and section.end < len(plan.text.lines)
        if not (own or section.name in (outline.PROGRESS, outline.OUTCOMES) or _says(plan, section)):
            yield on_line(plan, section.start, f"{section.name or section.title} says nothing")


@rule("EP110", WARNING)
def wrong_level(plan: Plan, given: Given) -> Iterator[Place]:
    """One of the twelve sections is not at level 2.

    A section begins with `## `; at another level its tasks and entries are part of the section above, or of a document of
    its own, and no tool finds them.

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
    for block, name in misplaced(plan, given):
        yield on_line(plan, block.start, f"{name} is a section: begin its heading with ##, not {'#' * block.level}")


def misplaced(plan: Plan, given: Given) -> list[tuple[Block, str]]:
    """The headings that name a section of the twelve and are not at level 2, with its name.

    Below level 2 only where the plan has no such section, under its full name, and once: milestones may have steps of their own.
    """
    there = {section.name for section in plan.sections}
    found = []
    below = []
    for block in given.words.headings:
        if block.level == 2 or block.depth or block.start == plan.title_line:
            continue
        if block.text.lstrip("*_")[:4].lower() in _BEGINS:
            name = outline.canonical(block.text)
            if name is not None and block.level == 1:
                found.append((block, name))
            elif name is not None and name not in there and outline.key(block.text) == outline.key(name):
                below.append((block, name))
    names = [name for _, name in below[: 2 * len(outline.NAMES)]]
    return found + [(block, name) for block, name in below if names.count(name) == 1]


def _ascending(places: list[int]) -> list[int]:
    """The longest of the places that stand in order; of equals the one that ends first."""
    best: list[list[int]] = []
    for place in places:
        best.append([*max([each for each in best if each[-1] < place], key=_length, default=[]), place])
    return max(best, key=_length)


def _length(places: list[int]) -> tuple[int, int]:
    return len(places), -places[-1]


def _spelled(title: str, name: str) -> str:
    """The title with the section's name as the format spells it, and with what stands behind the name."""
    bare = title.strip("*_` \t") if title[0] in "*_`" else title
    head, slash, tail = bare.partition(" / ")
    own, _, rest = name.partition(" / ")
    notes = outline.cut(head.rstrip(" :*_"))[1]
    note = "".join([f" {each}" for each in notes])
    if rest and not tail:
        own = name
    elif rest and tail.casefold().startswith(rest.casefold()):
        tail = rest + tail[len(rest) :].rstrip(" :")
    return own + note + slash + tail


def _renamed(plan: Plan, section: Section, title: str) -> Place:
    """The finding of a heading that gets another title."""
    line = plan.text.lines[section.start]
    column = line.find(section.title)
    place = on_line(plan, section.start, f"the format spells it {section.name}")
    if column < 0:
        return place  # a title over two lines
    end = column + len(section.title)
    edit = Edit(section.start, section.start + 1, (line[:column] + title + line[end:],))
    return place._replace(column=column, end_column=end, edits=(edit,))


def _names_code(plan: Plan, given: Given, section: Section) -> bool:
    """Whether a section names something in code, and does not tell what has to come before something else."""
    said = "\n".join(plan.text.lines[section.body : section.end]).casefold()
    if any([word in said for word in _SEQUENCE]):
        return False
    coded = any([block.kind in (FENCE, CODE) for block in plan.blocks[section.first : section.last]])
    return coded or bool(given.words.codes_in(section.body, section.end))


def _says(plan: Plan, section: Section) -> bool:
    """Whether a reader sees anything below the heading but rules and further headings."""
    for block in plan.blocks[section.first : section.last]:
        if block.kind not in (HEADING, RULE) and not (block.kind == HTML and block.text.startswith("<!--")):
            return True
    return False
