"""EP4: is everything that a newcomer needs in the plan or in the repository?"""

from __future__ import annotations

from bisect import bisect_right

from execplan.lint.machine import homes
from execplan.lint.paths import is_excused, repository_path
from execplan.lint.rule import TREE, WARNING, Given, Place, rule
from execplan.lint.words import confirmed
from execplan.plan import outline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.plan.model import Plan

_RECORDS = (*outline.LIVING, outline.ARTIFACTS)


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
    folder = given.path.rpartition("/")[0]
    seen = set()
    for span in given.words.codes_in(section.body, section.end):
        path = repository_path(span.text) if "/" in span.text else ""
        if not path or path in seen:
            continue
        seen.add(path)
        if tree.has(path) or (folder and tree.has(f"{folder}/{path}")) or is_excused(plan, given, path) or tree.ends(path):
            continue
        if confirmed(plan, span):
            message = f"{path} is not in the repository, and nothing says that it is new"
            yield Place(message, span.line, span.column, span.line + 1, span.column + len(span.text))
