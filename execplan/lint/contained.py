"""EP4: is everything that a newcomer needs in the plan or in the repository?"""

from __future__ import annotations

from bisect import bisect_right

from execplan.lint.machine import find_user_directories
from execplan.lint.rule import TREE, WARNING, RuleContext, RuleMatch, on_line, on_span, rule
from execplan.plan import outline
from execplan.text.blocks import CODE, FENCE, PARAGRAPH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.plan.model import Plan
    from execplan.text.blocks import Block

_RECORD_SECTIONS = (*outline.LIVING, outline.ARTIFACTS)
_KNOWLEDGE_SECTIONS = (outline.PURPOSE, outline.CONTEXT, outline.WORK, outline.STEPS, outline.VALIDATION, outline.INTERFACES)
_MAX_MISSING_PATHS = 200
"""That are not where they are said to be, of one plan; with more, it is about another repository."""
_MAX_PARAGRAPH_LINES = 5
"""A paragraph of so many lines says something beside its links."""


@rule("EP401", WARNING)
def machine_specific_path(plan: Plan, context: RuleContext) -> Iterator[RuleMatch]:
    """A path exists on one machine only.

    The next person, and the agent in a container, has the repository in another folder. Write paths from its root, and
    "the root of the repository" for the root itself. What a command printed, in a block of code of a log or of Artifacts and
    Notes, may stay as it was.

    Bad:
        ## Concrete Steps

        In `/home/ann/src/parser`, `make test` prints `12 passed`.
    Good:
        ## Concrete Steps

        In the root of the repository, `make test` prints `12 passed`.
    """
    first_positions: dict[str, tuple[int, int]] = {}
    counts: dict[str, int] = {}
    source = context.source.text
    starts = [section.start for section in plan.sections]
    for start, end in find_user_directories(source):
        user_home = source[start:end]
        line, column = context.source.position_of(start)
        if user_home not in first_positions and context.source.inert_lines[line] and _is_in_record_section(plan, starts, line):
            continue
        first_positions.setdefault(user_home, (line, column))
        counts[user_home] = counts.get(user_home, 0) + 1
    for user_home, (line, column) in first_positions.items():
        times = f" ({counts[user_home]} times)" if counts[user_home] > 1 else ""
        yield RuleMatch(f"{user_home} is a folder of one machine{times}", line, column, line + 1, column + len(user_home))


def _is_in_record_section(plan: Plan, starts: list[int], line: int) -> bool:
    """Whether a line stands where the plan tells what was seen."""
    at = bisect_right(starts, line) - 1
    return at >= 0 and plan.sections[at].name in _RECORD_SECTIONS


@rule("EP402", WARNING, needs=TREE)
def missing_path(plan: Plan, context: RuleContext) -> Iterator[RuleMatch]:
    """Context and Orientation names a file that is not in the repository.

    It tells a newcomer where things are, so a wrong path costs more than none: it was moved, or misspelt, or is yet to come.
    A path is left alone where the plan says, near any mention of it, that it is new, gone, made by a run or elsewhere.

    Bad (has src/reader.py):
        ## Context and Orientation

        The reader is `src/raeder.py`.
    Good (has src/reader.py):
        ## Context and Orientation

        The reader is `src/reader.py`.
    """
    section, tree = plan.section(outline.CONTEXT), context.tree
    if section is None or tree is None or context.is_archived:
        return
    from execplan.lint.paths import MissingPathExcuses, repository_path

    folder = context.path.rpartition("/")[0]
    excuses = MissingPathExcuses(plan, context)
    missing = 0
    seen_paths = set()
    for span in context.source.code_spans_in(section.body_start, section.end):
        path = repository_path(span.text) if "/" in span.text else ""
        if not path or path in seen_paths:
            continue
        seen_paths.add(path)
        if tree.has_path(path) or (folder and tree.has_path(f"{folder}/{path}")):
            continue
        missing += 1
        if missing > _MAX_MISSING_PATHS:
            return
        if excuses.is_excused(path) or tree.has_path_suffix(path):
            continue
        if context.source.is_code_span(span):
            message = f"{path} is not in the repository, and nothing says that it is new"
            yield on_span(span, message)


@rule("EP403", WARNING)
def knowledge_only_in_link(plan: Plan, context: RuleContext) -> Iterator[RuleMatch]:
    """What a newcomer needs stands behind a link only.

    The page moves, asks for a login, or says something else by then. Write what matters of it into the plan, in your own
    words; the link may stay beside them.

    Bad:
        ## Context and Orientation

        See [the design](https://wiki.example.org/parser/design) for details.
    Good:
        ## Context and Orientation

        A plan is read in two passes: blocks first, then the sections that they make up. `src/reader.py` does both.
        The design is [written down](https://wiki.example.org/parser/design) with the forms that were tried.
    """
    source = context.source.text
    if "://" not in source or ("https://" not in source and "http://" not in source):
        return
    from execplan.lint.pointer import is_link_only, is_pointer

    for section in plan.sections:
        if section.name not in _KNOWLEDGE_SECTIONS:
            continue
        blocks = plan.blocks[section.first_block : section.block_end]
        texts = [(block.start, _paragraph_text(plan, block)) for block in blocks if block.kind == PARAGRAPH]
        link_lines = [at for at, text in texts if "://" in text and is_pointer(text)]
        if not link_lines and texts and all([is_link_only(text) for _, text in texts]):
            link_lines = [texts[0][0]] if not any([block.kind in (FENCE, CODE) for block in blocks]) else []
        for at in link_lines:
            yield on_line(plan, at, "this is behind a link only: say what matters of it in the plan")


def _paragraph_text(plan: Plan, block: Block) -> str:
    """The words of a paragraph, or of a long one its first."""
    lines = plan.text.lines[block.start : min(block.end, block.start + _MAX_PARAGRAPH_LINES)]
    return " ".join([line.strip() for line in lines])
