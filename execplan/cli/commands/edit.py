"""The `execplan edit` command."""

from __future__ import annotations

import os
import sys
from itertools import count

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, writer_options
from execplan.cli.output.lint_report import exit_status, help_commands, report_lines, summarize_findings
from execplan.cli.plan_arguments import plan_argument
from execplan.cli.plan_editing import edit_answer
from execplan.cli.text_input import open_editor, read_source
from execplan.core.edits.plan_writer import WriteOptions, amend
from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.plan.text_rebase import rebase_text
from execplan.core.plan_store import plan_selection, plan_store
from execplan.core.project import project_state
from execplan.core.project.project import Project
from execplan.core.project.project_discovery import require_existing
from execplan.linter.checking.plan_check import CheckOptions, CheckTarget, check_plan


@define_command(
    reads="the plan; VISUAL or EDITOR.",
    writes="your changes, merged into the plan as it is when the editor closes.",
    examples=("execplan edit", "execplan edit parser --dry-run", "execplan edit parser --commit"),
)
@plan_argument()
@writer_options
def edit(call: Call, plan: str | None, options: WriteOptions) -> Answer:
    """Open a plan in your editor, then check it.

    You edit a copy, so others can continue to work on the plan: their changes are kept. If you and others changed the
    same lines, nothing is written and your copy is kept. Exits 1 if lint finds an error.
    """
    project, ref = plan_selection.select_plan(os.getcwd(), plan)
    require_existing(project)
    old = plan_store.read_bytes(project, ref.path)
    amend(
        project, ref, lambda now: rebase_text(now, old, old, "", "", ""), options._replace(dry_run=True), command="edit"
    )
    display_path = os.path.relpath(ref.path)
    copy = _create_copy(project, os.path.basename(ref.path), old)
    try:
        open_editor(
            copy, instead=f"change the file itself: {display_path}; or a section: execplan set SECTION 'New text'"
        )
        new = read_source(copy)
        hint = f"your text is saved in {copy}; compare both, then edit again"
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
        return answer if amended.changed else answer._replace(text="no changes", is_requested=False)
    checked = [check_plan(CheckTarget(project, ref, os.path.relpath(ref.path)), CheckOptions(is_hook=True))]
    findings = [finding.to_json(checked[0].path) for finding in checked[0].findings]
    lines = [answer.text, *report_lines(checked), summarize_findings(checked)]
    return answer._replace(
        data={**answer.data, "findings": findings},
        text="\n".join(lines),
        exit=exit_status(checked),
        next_commands=help_commands(checked),
        is_requested=bool(findings),
    )


def _create_copy(project: Project, name: str, data: bytes) -> str:
    """Create a copy of a plan for the editor, next to earlier saved copies; raises ExecplanError."""
    project_state.make_state_dir(project, "edit")
    copies = (os.path.join(project.state, "edit", f"{number}-{name}") for number in count(1))
    with project_state.lock(project, "edit", f"edit of {name}"):
        copy_path = next(copy for copy in copies if not os.path.lexists(copy) and atomic_files.create(copy, data))
    os.chmod(copy_path, 0o600)  # the plan itself may be readable by nobody else
    return copy_path


def _keep_edited_copy(copy: str, old: bytes, error: BaseException) -> None:
    """Remove an unchanged copy; otherwise print its path."""
    try:
        is_unchanged = file_access.read(copy, len(old) + 1)[0] == old
    except ExecplanError:
        return
    if is_unchanged:
        os.unlink(copy)
    elif isinstance(error, ExecplanError):
        if copy not in error.hint:
            error.hint += f"; your text is saved in {copy}"
    else:
        print(f"execplan: your text is saved in {copy}", file=sys.stderr)
