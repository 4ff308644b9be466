"""Rules about a project rather than a single plan: orphaned artifacts, and commits without a plan."""

from __future__ import annotations

from execplan.core.text.message_parts import format_excess, join_first
from execplan.linter.rule import ERROR, SAFE, WARNING, ProjectMatch, project_rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.linter.rule_facts import ProjectFacts

FOLLOW_CODE = "EP508"
INDEX_CODE = "EP512"
_MAX_NAMES = 3
"""Maximum number of plans in a message."""


@project_rule("EP505", WARNING)
def orphaned_artifacts(facts: ProjectFacts) -> Iterator[ProjectMatch]:
    """An artifacts directory belongs to no plan.

    Its plan was renamed, moved or removed by hand, and nobody can tell what the files show. Rename the directory to
    its plan's ID, or remove it; `execplan archive` and `execplan rename` move both. The rule runs only if a whole
    project is checked in which every plan is a file in one directory.

    Bad:
        .agent/execplans/2026-01-01_parser.md
        .agent/execplans/artifacts/2025-12-01_scanner/
    Good:
        .agent/execplans/archive/2025-12-01_scanner.md
        .agent/execplans/artifacts/2025-12-01_scanner/
    """
    for name, path in facts.artifact_directories:
        if name not in facts.plan_ids:
            yield ProjectMatch(path, "this is the artifacts directory of a plan that doesn't exist")


@project_rule(FOLLOW_CODE, ERROR, on=False)
def commit_without_plan(facts: ProjectFacts) -> Iterator[ProjectMatch]:
    """A commit changes files in a plan's scope, or is large or significant enough to need a plan, but changes no plan.

    A plan that doesn't record the work soon becomes worthless. Record the work and stage the plan: `execplan done`,
    `execplan note`, `execplan revise`; or create a plan with `execplan new`. The rule runs with `--staged` if the
    settings have `follow = true` or if you select it. `follow_files` is the number of files that a commit can
    change without a plan. `triage.plan` is the minimum confidence that no plan is needed; `execplan triage
    --staged` shows the confidence and the reasons. To commit anyway: `git commit --no-verify`. A plan's scope is
    the files that a code span outside its logs names in full, while the plan is neither complete nor archived.
    Merges, rebases and reverts are not checked.

    Bad (names src/reader.py, commits src/reader.py):
        .agent/execplans/2026-01-01_parser.md
    Good (names src/reader.py, commits src/reader.py .agent/execplans/2026-01-01_parser.md):
        .agent/execplans/2026-01-01_parser.md
    """
    if facts.touches_plan:
        return
    has_scope_match = False
    for plan, scope in facts.plan_scopes:
        paths = [path for path in facts.commit_files if path in scope]
        if paths:
            has_scope_match = True
            auxiliary_verb = "is" if len(paths) == 1 else "are"
            message = f"{paths[0]}{format_excess(len(paths), 1)} {auxiliary_verb} in its scope, but the commit changes no plan"
            yield ProjectMatch(
                plan, f"{message}: record the work with execplan done, note or revise, and stage the plan"
            )
    if has_scope_match or not facts.commit_files:
        return
    message = ""
    if 0 < facts.max_files < len(facts.commit_files):
        message = f"the commit changes {len(facts.commit_files)} files but no plan (more than {facts.max_files}, follow_files)"
    elif facts.triage_reasons:
        message = f"the commit needs a plan but changes none ({'; '.join(facts.triage_reasons)})"
    if message:
        yield ProjectMatch(
            facts.commit_files[0],
            f"{message}: create one with execplan new, or record the work in the plan it belongs to",
        )


@project_rule(INDEX_CODE, WARNING, fix=SAFE)
def outdated_plan_index(facts: ProjectFacts) -> Iterator[ProjectMatch]:
    """The plan index differs from what the plans say.

    Readers who trust the index see plans in the wrong state, or miss one. `execplan index --write` writes it again
    from the plans, and so does `lint --fix`; your own text around it stays as it is. The rule runs if a project has an
    index, and whole projects or a commit are checked.

    Bad (outdated docs/exec-plans/index.md):
        docs/exec-plans/active/2026-01-01_parser.md
    Good:
        docs/exec-plans/active/2026-01-01_parser.md
    """
    for index in facts.outdated_indexes:
        names = f" for {join_first(index.plan_ids, _MAX_NAMES)}" if index.plan_ids else ""
        message = f"the plan index is out of date{names}: execplan index --write"
        yield ProjectMatch(index.path, message, index.line, index.edits)
