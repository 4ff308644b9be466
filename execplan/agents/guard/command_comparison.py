"""Comparison of an agent's command with that of a step: arguments, variables and working directory."""

from __future__ import annotations

import os
from os.path import normpath

from execplan.agents.guard.command_equivalence import (
    PATHSPEC_COMMANDS,
    is_harmless_variable,
    is_same_pathspec,
    is_same_python,
    normalize_argv,
)
from execplan.agents.guard.path_resolution import linkless_path
from execplan.agents.guard.tool_call import EXACT_MATCH, StepComparison
from execplan.core.text.pure_paths import is_inside
from execplan.execution.documents.written_paths import written_paths
from execplan.execution.shell.call_patterns import has_wildcard, matches_command
from execplan.execution.shell.command_line import parse_command
from execplan.execution.shell.simple_command import normalize_program_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from execplan.agents.guard.guard_context import GuardScope
    from execplan.agents.guard.typed_command import TypedCommand

_INSTALL = "install_package"
_FILE_PROGRAMS = frozenset(
    "python node ruby bash sh dash zsh deno pytest ruff mypy pyright black isort flake8 pylint eslint prettier tsc shellcheck "
    "shfmt cat head tail wc ls stat file diff cmp sha256sum md5sum cp mv rm touch chmod gcc g++ clang clang++ rustc".split()
)
"""Programs that treat a file the same under any path.

For other programs, a word may be a package, a commit, a target or a pattern.
"""


def compare(typed_command: TypedCommand, step: Mapping[str, Any], scope: GuardScope) -> StepComparison:
    """Compare a typed command with that of a step that runs one."""
    planned_argv = step_argv(step)
    if planned_argv is None:
        return StepComparison("the step's command needs a shell but doesn't declare one, so it can't run")
    if _is_script(typed_command, step, scope):
        return EXACT_MATCH
    if (
        reason
        := f"the call is not a plain command ({typed_command.problem}): type the step's command exactly as it is written"
        if typed_command.problem
        else _explain_argument_difference(typed_command, planned_argv, step, scope)
    ):
        similarity = _command_similarity(typed_command, planned_argv, step)
        return StepComparison(reason, similarity * 80 // 100)
    if reason := _explain_variable_difference(typed_command.assigned, step.get("env") or {}):
        return StepComparison(reason, 90)
    folder = resolve_step_directory(step, scope)
    if typed_command.folder != folder:
        planned_directory = os.path.normpath(step.get("cwd") or ".") if not folder else _display_path(folder, scope)
        return StepComparison(
            f"the call runs in {_display_path(typed_command.folder, scope)}, not in {planned_directory}", 95
        )
    return EXACT_MATCH


def step_argv(step: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the step's arguments, as the engine runs them; None if it needs a shell but does not declare one."""
    if step.get("shell") and step.get("command"):
        return (step["shell"], "-c", step["command"])
    return tuple(step["argv"]) if step.get("argv") else None


def resolve_step_directory(step: Mapping[str, Any], scope: GuardScope) -> str:
    """Return the step's working directory, or an empty string if a link leads there.

    A step that installs packages into a Node project runs in that project's directory.
    """
    cwd, target = normpath(step.get("cwd") or "."), step.get("target")
    if step.get("type") == _INSTALL and target and cwd == "." and _is_node_project(target, scope):
        cwd = target
    path = os.path.normpath(os.path.join(scope.root, cwd))
    return path if os.path.realpath(path) == path else ""


def is_allowed_by_pattern(
    typed_command: TypedCommand, pattern: str, step: Mapping[str, Any], scope: GuardScope
) -> bool:
    """Check whether a step's pattern allows a command whose variable arguments do not lead out of the repository."""
    if (
        typed_command.problem
        or typed_command.folder != resolve_step_directory(step, scope)
        or not matches_command(typed_command.argv, pattern)
    ):
        return False
    step_env = step.get("env") or {}
    if not all(
        [
            step_env.get(name) == value if name in step_env else is_harmless_variable(name, value)
            for name, value in typed_command.assigned.items()
        ]
    ):
        return False
    pattern_words = pattern.split()
    is_open = [
        at >= len(pattern_words) or pattern_words[at] == "..." or has_wildcard(pattern_words[at])
        for at in range(len(typed_command.argv))
    ]
    open_args = [arg for arg, left_open in zip(typed_command.argv, is_open, strict=True) if left_open]
    return not any(
        [
            _leads_out(candidate, typed_command.folder, scope)
            for arg in open_args
            for candidate in _possible_paths(arg, typed_command.folder)
        ]
    )


def _is_script(typed_command: TypedCommand, step: Mapping[str, Any], scope: GuardScope) -> bool:
    """Check whether the complete text is the step's script, in its directory and without further variables.

    White space at the end may end a here-document or not, so only line ends are ignored there.
    """
    script = step.get("command") if step.get("shell") else None
    if (
        not script
        or step.get("env")
        or not typed_command.cwd
        or typed_command.cwd != resolve_step_directory(step, scope)
    ):
        return False
    return _strip_script(typed_command.text) == _strip_script(script)


def _strip_script(script: str) -> str:
    return script.lstrip(" \t\n").rstrip("\n")


def _explain_argument_difference(
    typed_command: TypedCommand, planned_argv: Sequence[str], step: Mapping[str, Any], scope: GuardScope
) -> str:
    """Explain how a command's arguments differ from those of a step; empty if they match."""
    call_argv = normalize_argv(typed_command.argv, planned_argv)
    if reason := _explain_program_difference(call_argv[0], planned_argv[0], typed_command, step, scope):
        return reason
    takes_pathspecs = tuple(call_argv[:2]) in PATHSPEC_COMMANDS and tuple(planned_argv[:2]) == tuple(call_argv[:2])
    declared_paths = {normpath(path) for path in (*(step.get("inputs") or ()), *written_paths(step))}
    matches = [
        call_arg == planned_arg
        or _is_same_file(call_arg, planned_arg, declared_paths, typed_command, step, scope)
        or (
            takes_pathspecs
            and is_same_pathspec(
                call_arg, planned_arg, typed_command.folder, resolve_step_directory(step, scope), scope.root
            )
        )
        for call_arg, planned_arg in zip(call_argv, planned_argv, strict=False)
    ]
    mismatch = next((index for index in range(1, len(matches)) if not matches[index]), None)
    if mismatch is None and len(call_argv) == len(planned_argv):
        return ""
    if mismatch is None and len(call_argv) > len(planned_argv):
        return f"the call has the extra argument {call_argv[len(planned_argv)]}"
    if mismatch is None:
        return f"the call is missing the argument {planned_argv[len(call_argv)]}"
    if call_argv[:mismatch] + call_argv[mismatch + 1 :] == tuple(planned_argv):
        return f"the call has the extra argument {call_argv[mismatch]}"
    return f"argument {mismatch} of the call is {call_argv[mismatch]}, not {planned_argv[mismatch]}"


def _explain_program_difference(
    call_program: str, planned_program: str, typed_command: TypedCommand, step: Mapping[str, Any], scope: GuardScope
) -> str:
    """Explain why a program differs from that of a step; empty if it is the same.

    A link to a program is not that program: one in a virtual environment finds its packages by its own name.
    """
    venv_bin = _venv_bin(step, scope)
    if venv_bin and "/" not in planned_program:
        is_same = "/" in call_program and _resolve_program(call_program, typed_command.folder) == os.path.join(
            venv_bin, planned_program
        )
        return "" if is_same else f"the step installs into {step['target']}: call {planned_program} there by its path"
    step_directory = resolve_step_directory(step, scope)
    if is_same_python(call_program, planned_program, typed_command.folder, step_directory):
        return ""
    if "/" not in planned_program or "/" not in call_program:
        return "" if call_program == planned_program else f"the call runs {call_program}, not {planned_program}"
    planned_path = os.path.normpath(os.path.join(step_directory, planned_program))
    if not planned_program.startswith("/") and _resolve_program(planned_program, step_directory) != planned_path:
        return f"the path {planned_program} contains a symbolic link"
    if _resolve_program(call_program, typed_command.folder) == _resolve_program(planned_program, step_directory):
        return ""
    return f"the call runs {call_program}, not {planned_program}"


def _resolve_program(program_path: str, folder: str) -> str:
    """Resolve a program that is named by its path: its directory is resolved, its name is kept."""
    parent, _, name = os.path.join(folder, program_path).rpartition("/")
    return f"{os.path.realpath(parent)}/{name}"


def _venv_bin(step: Mapping[str, Any], scope: GuardScope) -> str:
    """Return the program directory of the virtual environment that a step installs into; empty if there is none."""
    target = step.get("target")
    if step.get("type") != _INSTALL or not target or _is_node_project(target, scope):
        return ""
    return os.path.join(os.path.normpath(os.path.join(scope.root, target)), "bin")


def _is_node_project(target: str, scope: GuardScope) -> bool:
    return os.path.isfile(os.path.join(scope.root, target, "package.json"))


def _is_same_file(
    call_arg: str,
    planned_arg: str,
    declared_paths: set[str],
    typed_command: TypedCommand,
    step: Mapping[str, Any],
    scope: GuardScope,
) -> bool:
    """Check whether two arguments name the same file of the repository and can't mean anything else."""
    if (
        step.get("type") == _INSTALL
        or call_arg.startswith("-")
        or planned_arg.startswith("-")
        or not {".", "/"} & set(planned_arg)
    ):
        return False
    programs = {normalize_program_name(simple.argv[0]) for simple in typed_command.simple if simple.argv} | {
        normalize_program_name(typed_command.argv[0])
    }
    if programs <= _FILE_PROGRAMS:
        path = linkless_path(planned_arg, resolve_step_directory(step, scope), scope.root)
    else:
        path = ""
    if not path or linkless_path(call_arg, typed_command.folder, scope.root) != path:
        return False
    planned_path, call_path = os.path.join(scope.root, path), os.path.join(typed_command.folder, call_arg)
    if os.path.isfile(planned_path):
        return os.path.isfile(call_path)
    return path in declared_paths and not os.path.lexists(planned_path) and ".." not in call_arg.split("/")


def _explain_variable_difference(assigned: Mapping[str, str], step_env: Mapping[str, str]) -> str:
    """Explain why a command's variables differ from those of a step; empty if they match."""
    for name, value in step_env.items():
        if assigned.get(name) != value:
            return f"the call doesn't set {name}={value} before the command"
    extra_names = [
        name for name, value in assigned.items() if name not in step_env and not is_harmless_variable(name, value)
    ]
    return f"the call sets {extra_names[0]}, but the step doesn't" if extra_names else ""


def _leads_out(text: str, folder: str, scope: GuardScope) -> bool:
    """Check whether a word, taken as a path, leads out of the repository or to files of git or execplan."""
    if text.startswith("~") or "\0" in text:
        return True
    joined = os.path.join(folder, text)  # programs differ in whether they follow links before `..`
    real_paths = {os.path.realpath(candidate) for candidate in (joined, os.path.normpath(joined))}
    are_inside = all([is_inside(path, scope.root) for path in real_paths])
    return not are_inside or any([scope.protected(os.path.relpath(path, scope.root)) for path in real_paths])


def _possible_paths(arg: str, folder: str) -> list[str]:
    """Return the parts of an argument that may be a path.

    They are the complete argument, the text after `=`, `:`, `@` or `,`, and text directly after one-letter flags.
    """
    candidates = [arg]
    for mark in "=:@,":
        candidates += [arg[at + 1 :] for at, char in enumerate(arg) if char == mark]
    flag_texts = [candidate.lstrip("-") for candidate in candidates if candidate.startswith("-")]
    candidates += [flag_text[1:] for flag_text in flag_texts]
    candidates += [flag_text[at:] for flag_text in flag_texts if (at := flag_text.find("../")) > 0]
    for flag_text in flag_texts:  # such as `-xf/etc/x`, unlike `-Isrc/x`
        head, slash, tail = flag_text.partition("/")
        if slash and not any([os.path.lexists(os.path.join(folder, head[at:])) for at in range(1, len(head))]):
            candidates.append(f"/{tail}")
    return [candidate for candidate in candidates if candidate]


def _command_similarity(typed_command: TypedCommand, planned_argv: Sequence[str], step: Mapping[str, Any]) -> int:
    """Rate how similar any command in the typed text is to one in a step, whatever it is wrapped in."""
    call_argvs = [typed_command.argv, *[command.argv for command in typed_command.simple]]
    if not typed_command.argv or typed_command.simple[0].via:
        inner_commands = parse_command(step["command"]).simple_commands
    else:
        inner_commands = ()
    return max(
        [
            _argv_similarity(argv, other_argv)
            for argv in call_argvs
            for other_argv in (planned_argv, *[simple.argv for simple in inner_commands])
            if other_argv
        ]
    )


def _argv_similarity(call_argv: Sequence[str], planned_argv: Sequence[str]) -> int:
    """Rate the similarity of two commands from 0 to 100; the same program counts most."""
    if not call_argv:
        return 0
    shared_count = len([arg for arg in set(call_argv[1:]) if arg in set(planned_argv[1:])])
    max_count = max(len(set(call_argv[1:])), len(set(planned_argv[1:])), 1)
    is_same = normalize_program_name(call_argv[0]) == normalize_program_name(planned_argv[0])
    return 60 * is_same + (
        40 * shared_count // max_count if len(planned_argv) > 1 or len(call_argv) > 1 else 40 * is_same
    )


def _display_path(folder: str, scope: GuardScope) -> str:
    return os.path.relpath(folder, scope.root) if is_inside(folder, scope.root) else folder
