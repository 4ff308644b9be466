"""EP4 rules about what a plan says of files: which it creates, changes and deletes, and whether it names any."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import outline
from execplan.core.plan.model import COMPLETE, DONE
from execplan.core.text.message_parts import format_excess
from execplan.linter.plan_paths import repository_path
from execplan.linter.rule import HINT, TREE, WARNING, RuleContext, RuleMatch, on_line, on_span, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.core.plan.model import ParsedPlan
    from execplan.linter.plan_source import PlanSource, TextSpan
    from execplan.linter.rule_facts import RepositoryTree

_CREATED, _CHANGED, _DELETED = "creates", "changes", "deletes"
_LABELS = {
    **dict.fromkeys(("create", "new", "new file"), _CREATED),
    **dict.fromkeys(("modify", "update", "extend", "edit", "change"), _CHANGED),
    **dict.fromkeys(("delete", "remove"), _DELETED),
}
"""Words in front of a path in a list, as in `- Create: src/reader.py` and `- **Modify:** src/reader.py`, by their meaning."""
_MARKUP = " \t-*+_:.[]()0123456789"
_NEW_MARKS = ("(new)", "(new file)")


class _PlannedFile(NamedTuple):
    """A path with what the plan does with it."""

    action: str
    path: str
    span: TextSpan


@rule("EP411", WARNING, needs=TREE, in_archive=False)
def planned_file(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """The plan says that it creates, changes or deletes a file, but the repository says otherwise.

    Before the first task is done, a file to create must not be there, and one to change must be. Once all tasks are
    done, a created file must be there and a deleted one gone. Otherwise the plan starts from a wrong picture of the
    repository, or the work was done differently. Correct the path, or what the plan says of it.

    Bad (has src/reader.py):
        ## Progress

        - [ ] Write the reader.

        ## Plan of Work

        - Create `src/reader.py`, which reads lines.
    Good (has src/reader.py):
        ## Progress

        - [ ] Write the reader.

        ## Plan of Work

        - Extend `src/reader.py`, which reads lines.
    """
    tree, is_complete = context.tree, plan.state() == COMPLETE
    is_untouched = bool(plan.tasks) and not any([task.state == DONE for task in plan.tasks])
    if tree is None or not (is_untouched or is_complete):
        return
    planned_files = list(_find_planned_files(plan, context.source))
    created_paths = {planned.path for planned in planned_files if planned.action == _CREATED}
    contradictions: dict[tuple[str, str], dict[str, TextSpan]] = {}
    for planned in planned_files:
        is_created_too = planned.action != _CREATED and planned.path in created_paths
        problem = "" if is_created_too else _find_problem(tree, planned, is_complete=is_complete)
        if problem:
            contradictions.setdefault((planned.action, problem), {}).setdefault(planned.path, planned.span)
    for (action, problem), spans in contradictions.items():
        path, span = next(iter(spans.items()))
        yield on_span(span, f"the plan {action} {path}, {problem}{format_excess(len(spans), 1)}")


def _find_problem(tree: RepositoryTree, planned: _PlannedFile, *, is_complete: bool) -> str:
    """Return how the repository contradicts the plan; empty if it does not, or if the path may be of another repository."""
    exists = tree.has_path(planned.path)
    if is_complete:
        if planned.action == _DELETED and exists:
            return "but it is still there although all tasks are done"
        is_missing = planned.action == _CREATED and not exists and not tree.has_path_suffix(planned.path)
        return "but it is not there although all tasks are done" if is_missing else ""
    if planned.action == _CREATED:
        return "but it is already there" if exists else ""
    is_known_directory = tree.has_path(planned.path.rpartition("/")[0])
    return "but it is not there" if not exists and is_known_directory else ""


def _find_planned_files(plan: ParsedPlan, source: PlanSource) -> Iterator[_PlannedFile]:
    """Yield the paths in lists that follow a word such as "Create", and those before "(new)"."""
    for at, line in enumerate(plan.text.lines):
        head, tick, _ = line.partition("`")
        label = _LABELS.get(head.strip(_MARKUP).lower(), "") if tick and head.strip() else ""
        if not label and "` (new" not in line:
            continue
        for index, span in enumerate(source.code_spans_in(at, at + 1)):
            rest = line[span.column + len(span.text) :].lstrip("` ")
            is_labeled = not index and not rest.startswith("'s ")  # "Remove `a.py`'s class" keeps the file
            if rest.startswith(_NEW_MARKS):
                action = _CREATED
            elif is_labeled:
                action = label
            else:
                action = ""
            path = repository_path(span.text.partition("::")[0])
            if action and path and not span.text.endswith("/"):
                yield _PlannedFile(action, path, span)


_QUOTES = "`*_()[]{}<>,;:.!?\"'"
_MAX_EXTENSION = 5
"""Maximum number of letters of a file name's extension."""


@rule("EP412", HINT, on=False, in_archive=False)
def work_without_path(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """Plan of Work names no file.

    A newcomer doesn't know which file "the parser" is. Name each file that changes by its path from the root of the
    repository: here, or in the milestones.

    Bad:
        ## Plan of Work

        First extend the parser, then its tests.
    Good:
        ## Plan of Work

        First extend `src/parser.py`, then `tests/test_parser.py`.
    """
    section = plan.section(outline.WORK)
    if section is None or any([section.start <= at < section.end for at in plan.placeholder_lines]):
        return
    lines = plan.text.lines[section.body_start : section.content_end]
    own_lines = [
        line for own in plan.sections if own.name is None for line in plan.text.lines[own.body_start : own.end]
    ]
    if any([line.strip() for line in lines]) and not _names_file(lines) and not _names_file(own_lines):
        yield on_line(plan, section.start, f"{section.title} names no file")


def _names_file(lines: Sequence[str]) -> bool:
    """Return whether a word may be a path; what has a slash or an extension counts, so that no path is missed."""
    for line in lines:
        for word in [part.strip(_QUOTES) for part in line.split()] if "/" in line or "." in line else ():
            name, _, extension = word.rpartition(".")
            if "/" in word.strip("/") or (len(name) > 1 and extension.isalpha() and len(extension) <= _MAX_EXTENSION):
                return True
    return False
