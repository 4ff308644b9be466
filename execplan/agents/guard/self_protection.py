"""Restrictions on an agent's use of execplan itself, and on changes to the guard, whether or not they are planned."""

from __future__ import annotations

import os

from execplan.agents.guard import protected_paths
from execplan.agents.guard.command_list import parse_command_list
from execplan.agents.guard.execplan_commands import NAME, shorten
from execplan.agents.guard.read_policy import find_read_paths
from execplan.agents.guard.tool_call import COMMAND, DELETE, EDIT, TOOL, WRITE
from execplan.core.text.fast_json import iter_texts
from execplan.execution.shell.command_line import parse_command
from execplan.execution.shell.simple_command import normalize_program_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.agents.guard.guard_context import GuardScope
    from execplan.agents.guard.tool_call import ToolCall
    from execplan.core.project.project import Project
    from execplan.execution.shell.simple_command import SimpleCommand

_AGENT_PROGRAMS = frozenset(
    ("claude", "codex", "claude-code", "gemini", "opencode", "aider", "cursor-agent", "copilot")
)
_REMOVERS = frozenset(("rm", "rmdir", "mv", "unlink", "shred", "chmod", "chown", "ln", "rsync", "trash"))
_RISKY_PREFIXES = (
    "core.",
    "alias.",
    "include",
    "filter.",
    "diff.",
    "merge.",
    "hook",
    "gpg.",
    "ssh",
    "pager.",
    "sequence.",
    "credential",
    "browser.",
    "difftool.",
    "extensions.",
    "guitool.",
    "init.templatedir",
    "instaweb.",
    "interactive.",
    "man.",
    "mergetool.",
    "protocol.",
    "sendemail.",
    "tar.",
    "trailer.",
    "uploadpack.",
    "web.",
)
_RISKY_SUFFIXES = (".cmd", ".command", ".receivepack", ".update", ".uploadpack", ".vcs")
"""Prefixes and suffixes of git settings that name programs, in lower case."""
_NO_EDITOR = "core.editor=true"
"""The only setting with a program that agents may use: it does nothing, so that git keeps a commit's message."""
_CODE_CHARS = frozenset(" \n\t;()'\"")
_LONGEST = 4096


def is_execplan_call(call: ToolCall, scope: GuardScope) -> bool:
    """Check whether a call consists only of execplan commands, or is a tool of execplan, that agents may use."""
    if call.kind == TOOL:
        from execplan.agents.guard import mcp_tools

        return mcp_tools.is_own_tool(call) and not mcp_tools.tool_denial_reason(call, scope)
    if call.kind != COMMAND:
        return False
    command_list = parse_command_list(call.command, call.cwd)
    if command_list is None or not all([argv[0] == NAME for argv in command_list.commands]):
        return False
    from execplan.agents.guard.execplan_calls import denial_reason

    return not any([denial_reason(argv, scope, command_list.folders) for argv in command_list.commands])


def reading_reason(call: ToolCall) -> str:
    """Return why a call is allowed that only reads, or that calls execplan beside that."""
    if call.kind == COMMAND and NAME in call.command:
        programs = [simple.argv[0] for simple in parse_command(call.command).simple_commands if simple.argv]
        if NAME in programs:
            return f"it only reads, and calls {NAME} as agents may"
    return "it only reads"


def escape_reason(call: ToolCall, scope: GuardScope, project: Project) -> str:
    """Return why a call would let the agent escape the guard; empty if it would not.

    It is checked before anything else, so that a plan can't allow such a call.
    """
    if call.kind in (WRITE, EDIT, DELETE):
        for edit in call.edits:
            if protected := protected_paths.describe_protected(
                scope, project, call.cwd, edit.path, include_parents=edit.kind == DELETE
            ):
                return f"agents can't change {protected}: {shorten(edit.path)}"
        return _settings_edit_reason(call, scope, project)
    if call.kind == COMMAND:
        return _command_escape_reason(call.command, call, scope, project)
    return _tool_escape_reason(call, scope, project) if call.kind == TOOL else ""


def _command_escape_reason(command: str, call: ToolCall, scope: GuardScope, project: Project) -> str:
    """Return why a command would let the agent escape the guard; empty if it would not."""
    command_list = parse_command_list(command, call.cwd)
    if command_list is not None and find_read_paths(call._replace(kind=COMMAND, command=command), scope) is not None:
        return ""
    folders, simple_commands = (
        command_list.folders if command_list is not None else (call.cwd,),
        parse_command(command).simple_commands,
    )
    for simple in simple_commands:
        reason = _program_denial_reason(simple, scope, folders, "" if command_list is not None else command)
        if reason := reason or _protected_path_reason(simple, scope, project, folders):
            return reason
    return _settings_removal_reason(simple_commands, folders)


def _program_denial_reason(simple: SimpleCommand, scope: GuardScope, folders: Sequence[str], unclear_text: str) -> str:
    """Return why an agent may not start a program; empty if it may.

    Such a program is execplan with more than an agent may do, or another agent without a guard. `unclear_text` is the
    command around it if that is not a plain list of commands.
    """
    if not simple.argv:
        return ""
    name = normalize_program_name(simple.argv[0]).casefold()
    if name in _AGENT_PROGRAMS:
        return f"{name} would be an agent without a guard"
    if name == "git":
        return _git_setting_reason(simple)
    if not _is_execplan(name, simple):
        code = next((arg for arg in simple.argv[1:] if _runs_execplan(arg)), "")
        return f"agents can't run code that calls {NAME}: {shorten(code)}" if code else ""
    from execplan.agents.guard.execplan_calls import denial_reason

    is_exact = simple.argv[0] == NAME and not unclear_text
    if (is_exact and (reason := denial_reason(simple.argv, scope, folders))) or (is_exact and not simple.via):
        return reason
    from execplan.agents.guard.call_explanation import explain_call

    return explain_call(simple, unclear_text)


def _is_execplan(name: str, simple: SimpleCommand) -> bool:
    return name == NAME or (simple.via[-1:] == ("python -m",) and name.startswith(f"{NAME}."))


def _runs_execplan(text: str) -> bool:
    """Check whether an argument is code that runs execplan: it contains the name and characters that no path has."""
    folded = text.casefold()
    at = folded.find(NAME)
    while at >= 0:
        previous_char, next_char = folded[at - 1 : at] if at else "", folded[at + len(NAME) : at + len(NAME) + 1]
        if not (previous_char.isalnum() or previous_char in ("_", "-", "/")) and (
            not next_char or next_char in " .;)('\",\n"
        ):
            return not _CODE_CHARS.isdisjoint(text)
        at = folded.find(NAME, at + 1)
    return False


def _git_setting_reason(simple: SimpleCommand) -> str:
    """Return why a git command would change the programs that git starts; empty if it would not."""
    settings = [
        next_arg for arg, next_arg in zip(simple.argv, simple.argv[1:], strict=False) if arg in ("-c", "--config-env")
    ]
    settings += [arg.partition("=")[2] for arg in simple.argv if arg.startswith(("--config-env=", "-c="))]
    settings += [arg[2:] for arg in simple.argv if arg.startswith("-c") and len(arg) > 2 and "." in arg]
    risky = [setting for setting in settings if _is_risky(setting.partition("=")[0]) and setting != _NO_EDITOR]
    if risky or "--exec-path" in " ".join(simple.argv):
        return "the git command contains settings that specify programs"
    operands = [arg for arg in simple.argv[1:] if not arg.startswith("-")]
    if "config" in operands[:2] and any([_is_risky(arg) for arg in operands]):
        return "agents can't change which programs git starts"
    return ""


def _is_risky(name: str) -> bool:
    """Check whether a git setting may name a program."""
    return name.casefold().startswith(_RISKY_PREFIXES) or name.casefold().endswith(_RISKY_SUFFIXES)


def _protected_path_reason(simple: SimpleCommand, scope: GuardScope, project: Project, folders: Sequence[str]) -> str:
    """Return why a command that may write names a protected path; empty if it does not."""
    name = normalize_program_name(simple.argv[0]) if simple.argv else ""
    removes = name in _REMOVERS or (name == "git" and bool({"rm", "mv"} & set(simple.argv[1:3])))
    args = _without_exclusions(simple.argv) if name == "find" else simple.argv[1:]
    for folder in folders:
        for arg in (*args, *simple.writes):
            for path in _possible_paths(arg):
                if protected := protected_paths.describe_protected(
                    scope, project, folder, path, include_parents=removes
                ):
                    return f"agents can't change {protected}: {shorten(arg)}"
    return ""


def _without_exclusions(argv: Sequence[str]) -> list[str]:
    """Return the arguments of `find` without the patterns that it excludes."""
    return [
        arg
        for at, arg in enumerate(argv)
        if at and argv[max(at - 2, 0)] not in ("!", "-not") and tuple(argv[at + 1 : at + 3]) != ("-prune", "-o")
    ]


def _possible_paths(arg: str) -> Iterator[str]:
    """Yield the paths that an argument of a command may contain."""
    if len(arg) > _LONGEST or "\n" in arg:
        return
    yield arg
    _, equals, value = arg.partition("=")
    if equals and value:
        yield value
    if arg.startswith("-") and not arg.startswith("--") and len(arg) > 2:
        yield arg[2:]
    if arg.startswith("@") and len(arg) > 1:
        yield arg[1:]


def _tool_escape_reason(call: ToolCall, scope: GuardScope, project: Project) -> str:
    """Return why a call of another tool would let the agent escape the guard; empty if it would not.

    It is a tool of execplan itself that agents can't use, or its arguments contain a protected path or a command denied
    to agents.
    """
    from execplan.agents.guard import mcp_tools

    if mcp_tools.is_own_tool(call):
        return mcp_tools.tool_denial_reason(call, scope)
    for text in iter_texts(call.arguments):
        if NAME in text.casefold() and (reason := _command_escape_reason(text, call, scope, project)):
            return reason
    from execplan.agents.guard import tool_call

    try:
        for path in tool_call.possible_paths(call.arguments):
            if protected := protected_paths.describe_protected(scope, project, call.cwd, path):
                return f"agents can't change {protected}: {shorten(path)}"
    except tool_call.UnclearPathsError as error:
        return f"the guard doesn't understand the parameters of {shorten(call.tool)}: {error}"
    return ""


def _settings_edit_reason(call: ToolCall, scope: GuardScope, project: Project) -> str:
    """Return why an edit would change the execplan settings in a pyproject.toml; empty if it would not."""
    for edit in call.edits:
        if os.path.basename(protected_paths.real_path(call.cwd, edit.path)).casefold() == "pyproject.toml":
            from execplan.agents.guard.call_file_changes import changes_execplan_table

            if changes_execplan_table(protected_paths.real_path(call.cwd, edit.path), edit):
                return f"agents can't change the settings of {NAME}: {shorten(edit.path)}"
    return ""


def _settings_removal_reason(simple_commands: Sequence[SimpleCommand], folders: Sequence[str]) -> str:
    """Return why a command would remove a pyproject.toml with execplan settings; empty if it would not.

    Content that the command writes to it is not detected.
    """
    for simple in simple_commands:
        if not simple.argv or normalize_program_name(simple.argv[0]) not in _REMOVERS | {"git"}:
            continue
        for arg in simple.argv[1:]:
            for folder in folders:
                path = protected_paths.real_path(folder, arg)
                if os.path.basename(path).casefold() == "pyproject.toml":
                    from execplan.agents.guard.call_file_changes import has_execplan_table

                    if has_execplan_table(path):
                        return f"agents can't change the settings of {NAME}: {shorten(arg)}"
    return ""
