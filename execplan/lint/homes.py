"""Rules about a home as a whole, not about one of its plans."""

from __future__ import annotations

from execplan.lint.rule import ERROR, WARNING, Spot, home_rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.lint.facts import Shelf

FOLLOW = "EP508"


@home_rule("EP505", WARNING)
def artifacts_of_no_plan(shelf: Shelf) -> Iterator[Spot]:
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
    for name, path in shelf.artifacts:
        if name not in shelf.plans:
            yield Spot(path, "artifacts of a plan that is not there")


@home_rule(FOLLOW, ERROR, on=False)
def commit_without_its_plan(shelf: Shelf) -> Iterator[Spot]:
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
    if shelf.touched:
        return
    asked = False
    for plan, scope in shelf.scopes:
        found = [path for path in shelf.commits if path in scope]
        if found:
            asked = True
            more = f" and {len(found) - 1} more" if len(found) > 1 else ""
            does = "is" if len(found) == 1 else "are"
            what = f"{found[0]}{more} {does} in its scope, and the commit touches no plan"
            yield Spot(plan, f"{what}: say what was done with execplan done, note or revise, and stage it")
    if asked or not shelf.commits:
        return
    what = ""
    if 0 < shelf.most < len(shelf.commits):
        what = f"the commit changes {len(shelf.commits)} files and no plan (more than {shelf.most}, follow_files)"
    elif shelf.due:
        what = f"the commit calls for a plan and touches none ({'; '.join(shelf.due)})"
    if what:
        yield Spot(
            shelf.commits[0], f"{what}: write one with execplan new, or say what was done in the one it belongs to"
        )
