"""EP4: is everything that a newcomer needs in the plan or in the repository?"""

from __future__ import annotations

from bisect import bisect_right

from execplan.lint.machine import homes
from execplan.lint.rule import TREE, WARNING, Given, Place, on_line, on_span, rule
from execplan.plan import outline
from execplan.text.blocks import CODE, FENCE, PARAGRAPH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.plan.model import Plan
    from execplan.text.blocks import Block

_RECORDS = (*outline.LIVING, outline.ARTIFACTS)
_KNOWLEDGE = (outline.PURPOSE, outline.CONTEXT, outline.WORK, outline.STEPS, outline.VALIDATION, outline.INTERFACES)
_PATHS = 200
"""That are not where they are said to be, of one plan; with more, it is about another repository."""
_LONG = 5
"""A paragraph of so many lines says something beside its links."""


@rule("EP401", WARNING)
def path_of_one_machine(plan: Plan, given: Given) -> Iterator[Place]:
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
    first: dict[str, tuple[int, int]] = {}
    counts: dict[str, int] = {}
    source = given.words.source
    starts = [section.start for section in plan.sections]
    for start, end in homes(source):
        home = source[start:end]
        line, column = given.words.at(start)
        if home not in first and given.words.inert[line] and _is_record(plan, starts, line):
            continue
        first.setdefault(home, (line, column))
        counts[home] = counts.get(home, 0) + 1
    for home, (line, column) in first.items():
        times = f" ({counts[home]} times)" if counts[home] > 1 else ""
        yield Place(f"{home} is a folder of one machine{times}", line, column, line + 1, column + len(home))


def _is_record(plan: Plan, starts: list[int], line: int) -> bool:
    """Whether a line stands where the plan tells what was seen."""
    at = bisect_right(starts, line) - 1
    return at >= 0 and plan.sections[at].name in _RECORDS


@rule("EP402", WARNING, needs=TREE)
def path_that_is_not_there(plan: Plan, given: Given) -> Iterator[Place]:
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
    section, tree = plan.section(outline.CONTEXT), given.tree
    if section is None or tree is None or given.archived:
        return
    from execplan.lint.paths import Excuses, repository_path

    folder = given.path.rpartition("/")[0]
    excuses = Excuses(plan, given)
    missing = 0
    seen = set()
    for span in given.words.codes_in(section.body, section.end):
        path = repository_path(span.text) if "/" in span.text else ""
        if not path or path in seen:
            continue
        seen.add(path)
        if tree.has(path) or (folder and tree.has(f"{folder}/{path}")):
            continue
        missing += 1
        if missing > _PATHS:
            return
        if excuses.excuse(path) or tree.ends(path):
            continue
        if given.words.is_code(span):
            message = f"{path} is not in the repository, and nothing says that it is new"
            yield on_span(span, message)


@rule("EP403", WARNING)
def knowledge_behind_a_link(plan: Plan, given: Given) -> Iterator[Place]:
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
    source = given.words.source
    if "://" not in source or ("https://" not in source and "http://" not in source):
        return
    from execplan.lint.pointer import is_bare, points

    for section in plan.sections:
        if section.name not in _KNOWLEDGE:
            continue
        blocks = plan.blocks[section.first : section.last]
        texts = [(block.start, _text(plan, block)) for block in blocks if block.kind == PARAGRAPH]
        found = [at for at, text in texts if "://" in text and points(text)]
        if not found and texts and all([is_bare(text) for _, text in texts]):
            found = [texts[0][0]] if not any([block.kind in (FENCE, CODE) for block in blocks]) else []
        for at in found:
            yield on_line(plan, at, "this is behind a link only: say what matters of it in the plan")


def _text(plan: Plan, block: Block) -> str:
    """The words of a paragraph, or of a long one its first."""
    lines = plan.text.lines[block.start : min(block.end, block.start + _LONG)]
    return " ".join([line.strip() for line in lines])
