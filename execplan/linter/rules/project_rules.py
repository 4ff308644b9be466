"""Rules about a project rather than a single plan: orphaned artifacts, and commits without a plan."""

from __future__ import annotations

from execplan.linter.rule import ERROR, WARNING, ProjectMatch, project_rule
from execplan.text.message_parts import format_excess

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.linter.rule_facts import ProjectFacts

FOLLOW_CODE = "EP508"


@project_rule("EP505", WARNING)
def orphaned_artifacts(facts: ProjectFacts) -> Iterator[ProjectMatch]:
    """A folder of artifacts belongs to no plan.

    Its plan was renamed, moved or removed by hand, and nobody can tell any more what the files in it show. Give it the id
    of its plan, or remove it; `execplan archive` and `execplan rename` move both. Looked for when a whole home is checked,
    where every plan is a file of one folder.

    Bad:
        .agent/execplans/2026-01-01_parser.md
        .agent/execplans/artifacts/2025-12-01_scanner/
    Good:
        .agent/execplans/archive/2025-12-01_scanner.md
        .agent/execplans/artifacts/2025-12-01_scanner/
    """
    for name, path in facts.artifact_directories:
        if name not in facts.plan_ids:
            yield ProjectMatch(path, "artifacts of a plan that is not there")


@project_rule(FOLLOW_CODE, ERROR, on=False)
def commit_without_plan(facts: ProjectFacts) -> Iterator[ProjectMatch]:
    """A commit changes files that a plan is about, or so many or such that one is due, and no plan.

    A plan that does not say what was done is soon worth nothing. Say it, and stage the plan: `execplan done`, `execplan
    note`, `execplan revise`; or write one with `execplan new`. It runs with `--staged` where the settings say
    `follow = true`, or when it is selected; `follow_files` is how many files a commit may change without a plan, and
    `triage.plan` how sure it must be that none is needed: `execplan triage --staged` says how sure it is, and why. To
    commit all the same: `git commit --no-verify`. A plan is about the files that a code span names as a whole, outside
    its logs, as long as it is neither complete nor archived. Merges, rebases and reverts are left alone.

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
            message = f"{paths[0]}{format_excess(len(paths), 1)} {auxiliary_verb} in its scope, and the commit touches no plan"
            yield ProjectMatch(plan, f"{message}: say what was done with execplan done, note or revise, and stage it")
    if has_scope_match or not facts.commit_files:
        return
    message = ""
    if 0 < facts.max_files < len(facts.commit_files):
        message = f"the commit changes {len(facts.commit_files)} files and no plan (more than {facts.max_files}, follow_files)"
    elif facts.triage_reasons:
        message = f"the commit calls for a plan and touches none ({'; '.join(facts.triage_reasons)})"
    if message:
        yield ProjectMatch(
            facts.commit_files[0],
            f"{message}: write one with execplan new, or say what was done in the one it belongs to",
        )
