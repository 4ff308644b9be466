"""EP5 rules about dependencies between plans: names that are not clear, and plans that wait for each other."""

from __future__ import annotations

from execplan.core.text.markdown_blocks import FRONT
from execplan.linter.rule import ERROR, TREE, WARNING, RuleContext, RuleMatch, on_line, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import ParsedPlan

_NEEDS = "needs"


@rule("EP509", WARNING, needs=TREE, in_archive=False)
def unknown_dependency(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A plan or task depends on a plan or task that doesn't exist, or the name matches several.

    It waits for nothing then, although its author meant it to wait. Checked are `depends_on`, a Metadata list, the
    section Plan dependencies, and `needs plan#task` in open tasks. Use a plan's ID, or a part that only it has. Plans of
    other projects, such as `app:editor`, are not looked up, so that findings are the same on every machine.

    Bad (path .agent/execplans/parser.md, unknown scaner):
        ---
        depends_on: [scaner]
        ---

        # Build the parser

        This ExecPlan is a living document.
    Good (path .agent/execplans/parser.md, unknown scaner):
        ---
        depends_on: [scanner]
        ---

        # Build the parser

        This ExecPlan is a living document.
    """
    if context.tree is None:
        return
    for line, relation, name, is_certain in _dependencies(plan, context):
        find_problem = context.tree.need_problem if relation == _NEEDS else context.tree.dependency_problem
        if is_certain and (problem := find_problem(name)):
            yield on_line(plan, line, f"{relation} {name}: {problem}")


@rule("EP510", ERROR, needs=TREE, in_archive=False)
def dependency_cycle(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A plan waits for a plan that waits for it.

    None of them can start. The message names the plans and tasks in order. Remove one of the dependencies, or split a
    plan, so that one part doesn't have to wait.

    Bad (path .agent/execplans/parser.md, cycle parser -> scanner -> parser):
        ---
        depends_on: [scanner]
        ---

        # Build the parser

        This ExecPlan is a living document.
    Good (path .agent/execplans/parser.md):
        ---
        depends_on: [scanner]
        ---

        # Build the parser

        This ExecPlan is a living document.
    """
    lines = [line for line, _, _, _ in _dependencies(plan, context)]
    if lines and context.tree is not None and (cycle := context.tree.dependency_cycle(context.path)):
        yield on_line(plan, lines[0], f"waits for itself: {cycle}")


def _dependencies(plan: ParsedPlan, context: RuleContext) -> Iterator[tuple[int, str, str, bool]]:
    """Yield the dependencies of a plan: line, kind, name, and whether it can only be a name."""
    if not context.path or not _may_have_dependencies(plan, context):
        return
    from execplan.core.plan.plan_dependencies import read_dependencies
    from execplan.core.plan.task_needs import read_task_needs

    for mention in read_dependencies(plan):
        yield mention.line, "depends on", mention.name, mention.is_certain
    for task in plan.unfinished_tasks:
        for need in read_task_needs(task.text):
            yield task.box_line, _NEEDS, need.name, True


def _may_have_dependencies(plan: ParsedPlan, context: RuleContext) -> bool:
    """Return whether a plan has any place for dependencies, so that nothing more is imported for other plans."""
    if plan.blocks and plan.blocks[0].kind == FRONT:
        return True
    titles = [section.title.lower() for section in plan.sections if section.name is None]
    if any(["metadata" in title or "depend" in title for title in titles]):
        return True
    return "epends on" in context.source.text or any(["#" in task.text and "eeds" in task.text for task in plan.tasks])
