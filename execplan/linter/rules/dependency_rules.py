"""EP5 rules about dependencies between plans: names that are not clear, and plans that wait for each other."""

from __future__ import annotations

from execplan.linter.rule import ERROR, TREE, WARNING, RuleContext, RuleMatch, on_line, rule
from execplan.plan.model import OPEN
from execplan.plan.plan_dependencies import read_dependencies
from execplan.plan.task_needs import read_task_needs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.plan.model import ParsedPlan


@rule("EP509", WARNING, needs=TREE)
def unknown_dependency(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A plan or task depends on a plan or task that doesn't exist, or the name matches several.

    It waits for nothing then, although its author meant it to wait. Checked are `depends_on`, a Metadata list, the
    section Plan dependencies, and `needs plan#task` in open tasks. Use a plan's ID, or a part that only it has.

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
    tree = context.tree
    if tree is None or not context.path or context.is_archived or context.is_superseded:
        return
    for mention in read_dependencies(plan):
        if mention.is_certain and (problem := tree.dependency_problem(mention.name)):
            yield on_line(plan, mention.line, f"depends on {mention.name}: {problem}")
    for task in plan.tasks:
        for need in read_task_needs(task.text) if task.state == OPEN else ():
            if problem := tree.dependency_problem(need.name):
                yield on_line(plan, task.box_line, f"needs {need.name}: {problem}")


@rule("EP510", ERROR, needs=TREE)
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
    tree = context.tree
    if tree is None or not context.path or context.is_archived or context.is_superseded:
        return
    lines = [mention.line for mention in read_dependencies(plan)]
    lines += [task.box_line for task in plan.tasks if task.state == OPEN and read_task_needs(task.text)]
    if lines and (cycle := tree.dependency_cycle(context.path)):
        yield on_line(plan, lines[0], f"waits for itself: {cycle}")
