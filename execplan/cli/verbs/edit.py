"""`execplan edit`."""

from __future__ import annotations

import os
import sys
from itertools import count
from typing import TYPE_CHECKING

from execplan.cli.answer import Answer, Call
from execplan.cli.editor import open_editor
from execplan.cli.lint import exit_status, explain_commands, report_lines, summarize_findings
from execplan.cli.plan_name import plan_argument
from execplan.cli.verb import define_command, writer_options
from execplan.cli.words import read_source
from execplan.cli.writing import edit_answer
from execplan.errors import ExecplanError
from execplan.plan.whole import rebase_text
from execplan.repo import pick, shelf, state
from execplan.repo.amend import WriteOptions, amend
from execplan.repo.checking.one import CheckOptions, CheckTarget, check_plan
from execplan.repo.homes import require_existing
from execplan.text import disk, files

if TYPE_CHECKING:
    from execplan.repo.home import Project


@define_command(
    reads="the plan; VISUAL or EDITOR.",
    writes="what you change, to the plan as it is when the editor closes.",
    examples=("execplan edit", "execplan edit parser --dry-run", "execplan edit parser --commit"),
)
@plan_argument()
@writer_options
def edit(call: Call, plan: str | None, options: WriteOptions) -> Answer:
    """Open a plan in your editor, then check it against the rules; exit 1 when a finding is an error.

    You edit a copy, so that others can go on with the plan: what they change meanwhile stays, and where both changed the
    same lines nothing is written and your copy is kept.
    """
    project, ref = pick.select_plan(os.getcwd(), plan)
    require_existing(project)
    old = shelf.read_bytes(project, ref.path)
    amend(
        project, ref, lambda now: rebase_text(now, old, old, "", "", ""), options._replace(dry_run=True), command="edit"
    )
    copy = _create_copy(project, os.path.basename(ref.path), old)
    try:
        open_editor(copy)
        new = read_source(copy)
        hint = f"your text is kept in {copy}: look at both, then edit again"
        amended = amend(
            project,
            ref,
            lambda now: rebase_text(now, old, new, "edit", f"edited: {ref.id}", hint),
            options,
            command="edit",
        )
    except BaseException as error:
        _keep_edited_copy(copy, old, error)
        raise
    os.unlink(copy)
    answer = edit_answer(amended, options)
    if options.dry_run or not amended.changed:
        return answer if amended.changed else answer._replace(text="nothing was changed", is_requested=False)
    checked = [check_plan(CheckTarget(project, ref, os.path.relpath(ref.path)), CheckOptions(is_hook=True))]
    findings = [finding.to_json(checked[0].path) for finding in checked[0].findings]
    lines = [answer.text, *report_lines(checked), summarize_findings(checked)]
    return answer._replace(
        data={**answer.data, "findings": findings},
        text="\n".join(lines),
        exit=exit_status(checked),
        next_commands=explain_commands(checked),
        is_requested=bool(findings),
    )


def _create_copy(project: Project, name: str, data: bytes) -> str:
    """A copy of a plan for the editor, beside those that were kept; raises ExecplanError."""
    state.make_state_dir(project, "edit")
    copies = (os.path.join(project.state, "edit", f"{number}-{name}") for number in count(1))
    with state.lock(project, "edit", f"edit of {name}"):
        copy_path = next(copy for copy in copies if not os.path.lexists(copy) and files.create(copy, data))
    os.chmod(copy_path, 0o600)  # the plan itself may be readable by nobody else
    return copy_path


def _keep_edited_copy(copy: str, old: bytes, error: BaseException) -> None:
    """Remove a copy in which nothing was changed; else say where it is."""
    try:
        is_unchanged = disk.read(copy, len(old) + 1)[0] == old
    except ExecplanError:
        return
    if is_unchanged:
        os.unlink(copy)
    elif isinstance(error, ExecplanError):
        if copy not in error.hint:
            error.hint += f"; your text is kept in {copy}"
    else:
        print(f"execplan: your text is kept in {copy}", file=sys.stderr)


command = edit
