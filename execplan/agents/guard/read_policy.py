"""Calls that only read: reading tools, and commands known to only read, with flags that do not change this."""

from __future__ import annotations

import os

from execplan.agents.guard import protected_paths
from execplan.agents.guard.command_equivalence import is_repository_root
from execplan.agents.guard.command_list import parse_command_list
from execplan.agents.guard.execplan_commands import NAME
from execplan.agents.guard.tool_call import COMMAND, READ, TOOL
from execplan.core.named_tuple import NamedTuple
from execplan.core.text.pure_paths import is_inside
from execplan.execution.permission import ALLOW, ASK, DENY, READ_POLICIES
from execplan.execution.shell.reading_commands import GIT, find_command_reads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.agents.guard.guard_context import GuardScope
    from execplan.agents.guard.tool_call import ToolCall

_RECURSIVE_PROGRAMS = frozenset(("grep", "egrep", "fgrep", "diff"))
"""Programs that read directories recursively only with a flag."""
_SEARCH_PROGRAMS = frozenset((*_RECURSIVE_PROGRAMS, "rg"))
_ANYWHERE, _INSIDE, _ASK_FIRST, _ONLY_PLANNED = READ_POLICIES


class ReadDecision(NamedTuple):
    """A decision on a call that reads, with its reason."""

    kind: str
    """ALLOW, ASK or DENY; empty for a call that does more, or that only a step of the plan can allow."""
    reason: str = ""


def decide_read(call: ToolCall, scope: GuardScope, read_policy: str) -> ReadDecision:
    """Decide on a call that only reads, with a reason.

    If the policy requires a plan for reading, no kind is returned, as for a call that does more.
    """
    real_paths = find_read_paths(call, scope)
    if real_paths is None:
        return ReadDecision("")
    for path in real_paths:
        if reason := protected_paths.read_denial_reason(scope, path):
            return ReadDecision(DENY, f"agents can't read {_display_path(scope, path)}: {reason}")
    searched_paths = real_paths if _is_content_search(call) else ()
    private_below = next(
        (description for path in searched_paths if path and (description := protected_paths.find_private_below(path))),
        "",
    )
    if private_below:
        return ReadDecision(DENY, f"a search there would read {private_below}")
    if reason := _printed_secret_reason(call, scope, real_paths):
        return ReadDecision(DENY, reason)
    if read_policy == _ONLY_PLANNED:
        return ReadDecision("", "the policy doesn't allow unplanned reads")
    outside_paths = [path for path in real_paths if not is_inside(path, scope.root)]
    if read_policy == _ASK_FIRST:
        return ReadDecision(ASK, "the policy requires a question before anything is read")
    if outside_paths and read_policy == _INSIDE:
        return ReadDecision(ASK, f"{outside_paths[0]} is outside the repository")
    return ReadDecision(ALLOW)


def _is_content_search(call: ToolCall) -> bool:
    """Check whether a reading call shows the content of files below the directories that it names."""
    if call.kind != COMMAND:
        return call.searches_content
    command_list = parse_command_list(call.command, call.cwd)
    for argv in command_list.commands if command_list is not None else ():
        flag_letters = "".join([arg for arg in argv[1:] if arg.startswith("-") and not arg.startswith("--")])
        is_recursive = "r" in flag_letters or "--recursive" in argv
        if argv[0] == "rg" or (argv[0] in _RECURSIVE_PROGRAMS and is_recursive):
            return True
    return False


def _printed_secret_reason(call: ToolCall, scope: GuardScope, real_paths: Sequence[str]) -> str:
    """Return why a call would print a file for secrets that it does not name; empty if it would not."""
    command_list = parse_command_list(call.command, call.cwd) if call.kind == COMMAND else None
    commands = command_list.commands if command_list is not None else ()
    if not call.searches_content and not any([argv[0] in (GIT, *_SEARCH_PROGRAMS) for argv in commands]):
        return ""
    from execplan.execution.shell import printed_secrets

    if call.kind != COMMAND and len(call.read_paths) < 2:  # with a pattern, its matches are among the paths
        secrets = [
            secret for path in real_paths for secret in printed_secrets.searched_secrets(path, scope.root, hidden=True)
        ]
        if secrets:
            return f"a search there would read {_display_path(scope, secrets[0])}: use a pattern of files"
        return ""
    for argv in commands:
        for folder in command_list.folders if command_list is not None else ():
            base, plain_argv = _split_directory(argv, scope, (folder,)) if argv[0] == GIT else ("", argv)
            if reason := printed_secrets.printed_secret_reason(
                plain_argv, base or os.path.realpath(folder), scope.root
            ):
                return reason
    return ""


def find_read_paths(call: ToolCall, scope: GuardScope) -> list[str] | None:
    """Return the real paths that a call reads, including everything below them; None for a call that does more.

    An empty string represents an argument that is not a path.
    """
    if call.kind == READ or (call.kind == TOOL and call.read_paths):
        return [
            real_path
            for path in call.read_paths or (call.cwd,)
            for real_path in protected_paths.possible_targets(call.cwd, path)
        ]
    if call.kind != COMMAND:
        return None
    command_list = parse_command_list(call.command, call.cwd)
    if command_list is None:
        return None
    real_paths = [os.path.realpath(folder) for folder in command_list.folders]
    for argv in command_list.commands:
        path_args = _read_path_args(argv, scope, command_list.folders)
        if path_args is None:
            return None
        real_paths += [
            real_path
            for folder in command_list.folders
            for path in path_args
            for real_path in protected_paths.possible_targets(folder, path)
        ]
    return list(dict.fromkeys(real_paths))


def _read_path_args(argv: Sequence[str], scope: GuardScope, folders: Sequence[str]) -> list[str] | None:
    """Return the paths that a command reads, as it names them; None if it may do more."""
    if argv[0] == NAME:
        from execplan.agents.guard.execplan_calls import denial_reason

        return None if denial_reason(argv, scope, folders) else []
    base = ""
    if argv[0] == GIT:
        base, argv = _split_directory(argv, scope, folders)
        if not all([uses_repository_git(scope.root, os.path.realpath(base or folder)) for folder in folders]):
            return None
    reads = find_command_reads(argv)
    if reads is None:
        return None
    # a path of git can also start at the root, as in `HEAD:path`
    reads = (*reads, *[os.path.join(scope.root, path) for path in reads if path not in argv])
    return [os.path.join(base, path) for path in reads]


def _split_directory(argv: Sequence[str], scope: GuardScope, folders: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the root of the repository and a git command without `-C` if that leads there; else the same command."""
    at = 1 + (argv[1:2] == ("--no-pager",))
    if argv[at : at + 1] != ("-C",):
        return "", argv
    directory = "".join(argv[at + 1 : at + 2])
    is_root = all([is_repository_root(directory, folder, scope.root) for folder in folders])
    return (scope.root, (*argv[:at], *argv[at + 2 :])) if is_root else ("", argv)


def uses_repository_git(root: str, folder: str) -> bool:
    """Check whether git uses the repository at that root when it runs in a directory.

    The settings of another repository may start programs. Git takes a directory without `.git` for a repository if it
    has a valid `HEAD`, and its objects and references may be anywhere; here, any `HEAD` is enough.
    """
    while folder != root:
        if not is_inside(folder, root) or any(
            [os.path.lexists(os.path.join(folder, name)) for name in (".git", "HEAD")]
        ):
            return False
        folder = os.path.dirname(folder)
    return os.path.lexists(os.path.join(root, ".git"))


def _display_path(scope: GuardScope, path: str) -> str:
    return os.path.relpath(path, scope.root) if path and is_inside(path, scope.root) else path or "the given path"
