"""Commits that an agent may make without a step: files of plans, and files that its completed steps changed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from execplan.agents.guard import operation_commits, protected_paths
from execplan.agents.guard.command_equivalence import is_repository_root
from execplan.agents.guard.command_list import parse_command_list
from execplan.agents.guard.execplan_calls import denial_reason
from execplan.agents.guard.execplan_commands import NAME, shorten
from execplan.agents.guard.guard_context import GuardScope
from execplan.agents.guard.plan_denials import is_plan_path
from execplan.agents.guard.read_policy import ReadDecision, decide_read, uses_repository_git
from execplan.agents.guard.tool_call import ToolCall
from execplan.core.errors import ExecplanError
from execplan.core.git import git_query
from execplan.core.plan_store import plan_store
from execplan.core.project.project import Project
from execplan.core.text.pure_paths import is_inside
from execplan.execution import states
from execplan.execution.approvals.disk_world import DiskWorld
from execplan.execution.binding import describe_difference, sanitize_state
from execplan.execution.engine.agent_runs import agent_run_lookup
from execplan.execution.permission import ALLOW, PLANS, STEPS
from execplan.execution.shell.simple_command import ParsedArgs, parse_args
from execplan.execution.world import State

_ADD_FLAGS = "-A --all -u --update -v --verbose -n --dry-run".split()
_COMMIT_FLAGS = "-a --all -o --only -q --quiet -s --signoff -v --verbose --dry-run".split()
_MESSAGE_OPTIONS = "-m --message".split()
_FILE_OPTIONS = "-F --file".split()
_HERE_DOCUMENT = re.compile(
    r""""\$\(cat <<'(?P<end>[A-Z]{1,20})'\n(?P<text>.{0,10000}?)\n(?P=end)\n[ \t]*\)\"""", re.DOTALL
)
_UNSAFE_TEXT = re.compile(r"""['"`\\$]|(?:^|[\s(])#""")
_PATTERN_CHARS = frozenset("*?[\\")
_NOTHING_OWN = "nothing in git's operation is the agent's own work: a person finishes it"


class _DeniedError(Exception):
    """A call does more than commit the agent's own work; the message says what."""


def decide_commit(call: ToolCall, scope: GuardScope, project: Project, read_policy: str) -> ReadDecision:
    """Return ALLOW for a call that stages or commits only the agent's own work.

    Otherwise the reason why it is not allowed, which is empty for a call that stages and commits nothing. Raises
    ExecplanError if git fails.
    """
    command_list = parse_command_list(_quote_here_documents(call.command), call.cwd)
    if command_list is None or project.git is None:
        return ReadDecision("")
    paths: list[str] = []
    stages_or_commits = False
    try:
        for argv in command_list.commands:
            git_args = _strip_git_options(argv, scope, command_list.folders)
            if operation_commits.is_continuation(git_args):
                stages_or_commits = True
                paths += _continued_paths(argv, git_args, project)
            elif git_args[:1] in (["add"], ["commit"], ["push"]):
                stages_or_commits = True
                paths += _affected_paths(git_args, scope, project, command_list.folders)
            elif not _is_harmless(argv, call, scope, command_list.folders, read_policy):
                return ReadDecision("")
        _ensure_own(paths, scope, project)
    except _DeniedError as error:
        return ReadDecision("", str(error))
    return ReadDecision(ALLOW, "it commits only the agent's own work") if stages_or_commits else ReadDecision("")


def _quote_here_documents(command: str) -> str:
    """Replace `"$(cat <<'EOF'` with its text, as agents write long messages, by the same text in single quotes.

    Only texts that every shell reads the same way are replaced: without quotes, expansions or comments, and with
    balanced parentheses.
    """

    def quote(match: re.Match[str]) -> str:
        text = match["text"]
        is_balanced = all([text[:at].count("(") >= text[:at].count(")") for at in range(len(text) + 1)])
        is_balanced = is_balanced and text.count("(") == text.count(")")
        return f"'{text}'" if is_balanced and _UNSAFE_TEXT.search(text) is None else match[0]

    return _HERE_DOCUMENT.sub(quote, command)


def _strip_git_options(argv: Sequence[str], scope: GuardScope, folders: Sequence[str]) -> list[str]:
    """Return the arguments of git without `--no-pager`, what keeps a message, and `-C` of the directory where it runs anyway.

    The list is empty for other programs, and where git would use another repository.
    """
    args = list(argv[1:]) if argv[0] == "git" else []
    real_folders = [os.path.realpath(folder) for folder in folders]
    while args[:1] in (["-C"], ["--no-pager"]) or args[:2] == operation_commits.KEPT_MESSAGE:
        is_here = [is_repository_root("".join(args[1:2]), folder, scope.root) for folder in folders]
        if args[0] == "-C" and not (all(is_here) and set(real_folders) == {scope.root}):
            return []
        args = args[1 + (args[0] != "--no-pager") :]
    return args if all([uses_repository_git(scope.root, folder) for folder in real_folders]) else []


def _is_harmless(
    argv: Sequence[str], call: ToolCall, scope: GuardScope, folders: Sequence[str], read_policy: str
) -> bool:
    """Check whether a command beside the commit only reads, or is one of execplan that an agent may use."""
    if argv[0] == NAME:
        return not denial_reason(argv, scope, folders)
    from shlex import join

    calls = [call._replace(command=join(argv), cwd=folder) for folder in folders]
    return all([decide_read(single_call, scope, read_policy).kind == ALLOW for single_call in calls])


def _affected_paths(
    git_args: Sequence[str], scope: GuardScope, project: Project, folders: Sequence[str]
) -> Iterable[str]:
    """Return the paths, from the root, that `git add` stages or `git commit` commits. Raises _DeniedError."""
    subcommand, args = git_args[0], git_args[1:]
    if subcommand == "push":
        raise _DeniedError("agents can't push")
    if subcommand == "add":
        parsed_args = parse_args(args, _ADD_FLAGS, ())
        if parsed_args is None:
            raise _DeniedError("agents can't use `git add` with these options")
        pathspecs = _resolve_pathspecs(parsed_args.operands, scope, folders)
        takes_all = not {"-A", "--all", "-u", "--update"}.isdisjoint(parsed_args.flags)
        return _changed_paths(project, pathspecs) if pathspecs or takes_all else ()
    parsed_args = _parse_commit(args, is_operating=operation_commits.is_operating(project))
    for flag, value in parsed_args.values:
        if flag in _FILE_OPTIONS and not _is_readable_file(value, scope, folders):
            raise _DeniedError(f"agents can't read the message from {shorten(value)}")
    pathspecs = _resolve_pathspecs(parsed_args.operands, scope, folders)
    if pathspecs or not {"-a", "--all"}.isdisjoint(parsed_args.flags):
        return _changed_paths(project, pathspecs, untracked=bool(pathspecs))
    paths = operation_commits.staged_paths(project)
    if not paths and not parsed_args.values:
        raise _DeniedError(_NOTHING_OWN)
    return paths


def _continued_paths(argv: Sequence[str], git_args: Sequence[str], project: Project) -> list[str]:
    """Return the paths, from the root, that an agent has resolved in an operation which it continues. Raises _DeniedError."""
    keeps_message = operation_commits.KEPT_MESSAGE[1] in argv
    if reason := operation_commits.continuation_problem(project, git_args, keeps_message=keeps_message):
        raise _DeniedError(reason)
    paths = operation_commits.staged_paths(project)
    if not paths:
        raise _DeniedError(_NOTHING_OWN)
    return paths


def _parse_commit(args: Sequence[str], *, is_operating: bool) -> ParsedArgs:
    """Return the parsed arguments of `git commit`. Raises _DeniedError for those that an agent may not use.

    `is_operating`: git has a message for the commit that finishes its operation.
    """
    parsed_args = parse_args(args, [*_COMMIT_FLAGS, operation_commits.NO_EDIT], (*_MESSAGE_OPTIONS, *_FILE_OPTIONS))
    if parsed_args is None:
        reasons = {"--amend": "rewrite commits", "--no-verify": "skip the repository's hooks", "-n": "skip its hooks"}
        reason = next(
            (reason for flag, reason in reasons.items() if flag in args), "use `git commit` with these options"
        )
        raise _DeniedError(f"agents can't {reason}")
    if not parsed_args.values and not (is_operating and operation_commits.NO_EDIT in parsed_args.flags):
        raise _DeniedError("`git commit` would start an editor: give the message with -m")
    return parsed_args


def _is_readable_file(path: str, scope: GuardScope, folders: Sequence[str]) -> bool:
    real_paths = [real for folder in folders for real in protected_paths.possible_real_paths(folder, path)]
    return path != "-" and all(
        [is_inside(real, scope.root) and not protected_paths.read_denial_reason(scope, real) for real in real_paths]
    )


def _resolve_pathspecs(operands: Sequence[str], scope: GuardScope, folders: Sequence[str]) -> list[str]:
    """Return operands of git as paths from the root. Raises _DeniedError for patterns and for paths outside."""
    pathspecs = []
    for operand in operands:
        if operand.startswith(":") or not _PATTERN_CHARS.isdisjoint(operand):
            raise _DeniedError(f"name the files instead of the pattern {shorten(operand)}")
        for folder in folders:
            path = os.path.normpath(os.path.join(os.path.realpath(folder), operand))
            if not is_inside(path, scope.root):
                raise _DeniedError(f"{shorten(operand)} is outside the repository")
            pathspecs.append(os.path.relpath(path, scope.root))
    return pathspecs


def _changed_paths(project: Project, pathspecs: Sequence[str], *, untracked: bool = True) -> list[str]:
    """Return the paths with changes, all or below some paths; with or without untracked files.

    Raises _DeniedError for a path without changes, because a change could follow before git runs.
    """
    untracked_option = "--untracked-files=all" if untracked else "--untracked-files=no"
    args = ("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=none", untracked_option)
    lines = git_query.output(project, "--no-optional-locks", "--literal-pathspecs", *args, "--", *pathspecs).split(
        b"\0"
    )
    paths = [os.fsdecode(line[3:]) for line in lines if line]
    for pathspec in pathspecs:
        if pathspec != "." and not any([is_inside(path, pathspec) for path in paths]):
            raise _DeniedError(f"git sees no change in {shorten(pathspec)}")
    return paths


def _ensure_own(paths: Iterable[str], scope: GuardScope, project: Project) -> None:
    """Raise _DeniedError if a path belongs neither to a plan nor to a completed step, or the policy excludes it."""
    step_states: dict[str, State] | None = None
    disk = DiskWorld(project)
    for path in sorted(set(paths)):
        if is_plan_path(project, path):
            if PLANS not in scope.commits:
                raise _DeniedError("the policy doesn't let agents commit plans (execution.commit_plans)")
            continue
        if STEPS not in scope.commits:
            raise _DeniedError("the policy doesn't let agents commit files of steps (execution.commit_steps)")
        step_states = _completed_states(project) if step_states is None else step_states
        if path not in step_states:
            raise _DeniedError(
                f"no completed step of an agent's run changed {shorten(path)}, so agents can't commit it"
            )
        if difference := describe_difference(sanitize_state(step_states[path]), sanitize_state(disk.state(path))):
            raise _DeniedError(f"{shorten(path)} {difference}, so agents can't commit it")


def _completed_states(project: Project) -> dict[str, State]:
    """Return the files that completed steps changed in the last agent's run of each plan, as these steps left them."""
    path_states: dict[str, State] = {}
    for ref in plan_store.all_refs(project):
        try:
            run = agent_run_lookup.find_last(project, ref)
        except ExecplanError:
            continue  # a run that can't be read completes nothing
        if run is not None:
            completed_steps = run.run_state.steps_with_status(states.COMPLETED)
            path_states |= {
                change.path: change.after for step, change in run.run_state.changes() if step in completed_steps
            }
    return path_states
