"""The command that helps with a finding of `lint`."""

from __future__ import annotations

import os

from execplan.core.plan import outline
from execplan.core.plan_store import plan_store
from execplan.core.project import project_discovery
from execplan.linter.finding_summary import CONFLICT_CODE
from execplan.linter.rule import SAFE
from execplan.linter.rules.completeness_rules import MISSING_MESSAGE, PLACEHOLDER_MESSAGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.linter.checking.plan_check import CheckedFile
    from execplan.linter.rule import Finding

_CODES_WITH_QUOTED_COMMAND: Final = ("EP201", "EP503", "EP512")
"""Rules whose messages have the command; messages of others may quote a command from the plan's text."""
_CODES_WITH_COMMAND: Final = (*_CODES_WITH_QUOTED_COMMAND, CONFLICT_CODE, "EP103", "EP104", "EP109", "EP501")


def help_command(checked: CheckedFile, finding: Finding) -> str:
    """Return the command that fixes a finding or resolves conflicts, or else explains its rule."""
    has_command = finding.code in _CODES_WITH_COMMAND or (finding.fix is not None and finding.fix.kind == SAFE)
    plan = _editable_plan(checked) if has_command else ""
    return (_fixing_command(finding, plan) if plan else "") or f"execplan explain {finding.code}"


def _editable_plan(checked: CheckedFile) -> str:
    """Return the name of a plan in commands; empty if it is archived or not a file."""
    path = os.path.abspath(checked.display_name)
    project = project_discovery.find_for_file(path)
    refs = [ref for ref in plan_store.all_refs(project) if ref.path == path]
    if not os.path.exists(path) or any([ref.archived for ref in refs]):
        return ""
    return plan_store.name_in_commands(project, refs[0]) if refs else plan_store.quote_plan_name(checked.display_name)


def _fixing_command(finding: Finding, plan: str) -> str:
    """Return the command that fixes a finding, perhaps one that its message has; empty if there is none."""
    section, is_unfilled, _ = finding.message.partition(PLACEHOLDER_MESSAGE)
    if finding.code == CONFLICT_CODE:
        return f"execplan merge {plan}"
    if finding.code == "EP109" and is_unfilled:
        from execplan.core.plan_store.hint_reader import fill_command

        return fill_command(section, plan)
    if finding.code == "EP501":
        return f"execplan outcome 'What works now' -p {plan}"
    if finding.code in ("EP103", "EP104"):
        return _create_command(finding.message.removeprefix(MISSING_MESSAGE), plan)
    if finding.code in _CODES_WITH_QUOTED_COMMAND:
        _, is_quoted, quoted = finding.message.partition("`execplan ")
        return f"execplan {quoted.partition('`')[0] if is_quoted else finding.message.rpartition(': execplan ')[2]}"
    return f"execplan lint {plan} --fix" if finding.fix is not None and finding.fix.kind == SAFE else ""


def _create_command(section: str, plan: str) -> str:
    """Return the command that adds a section; empty for a section whose heading is only wrong, as its message says."""
    if section not in outline.NAMES:
        return ""
    from shlex import quote

    from execplan.core.plan_store.hint_reader import NEW_TEXT

    text = "None yet." if section in outline.LIVING else NEW_TEXT
    action = "add 'First step'" if section == outline.PROGRESS else f"set {quote(section)} {quote(text)}"
    return f"execplan {action} --create -p {plan}"
