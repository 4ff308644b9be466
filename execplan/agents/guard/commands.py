"""Whether a command that an agent types is the one of a step: its words, its variables, its folder."""

from __future__ import annotations

import os
from os.path import normpath

from execplan.agents.guard.paths import direct
from execplan.agents.guard.verdict import SAME, Verdict
from execplan.execution.command.pattern import fits, is_wild
from execplan.execution.command.simple import program
from execplan.execution.documents.touched import written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from execplan.agents.guard.planned import Around
    from execplan.agents.guard.shell import Typed

_INSTALL = "install_package"
_FILES = frozenset(
    "python node ruby bash sh dash zsh deno pytest ruff mypy pyright black isort flake8 pylint eslint prettier tsc shellcheck "
    "shfmt cat head tail wc ls stat file diff cmp sha256sum md5sum cp mv rm touch chmod gcc g++ clang clang++ rustc".split()
)
"""Programs to which a file is the same by whichever path. To others a word may be a package, a commit, a target or a pattern."""


def compare(typed: Typed, step: Mapping[str, Any], around: Around) -> Verdict:
    """Whether a command is that of a step that runs one."""
    wanted = argv_of(step)
    if wanted is None:
        return Verdict("its command needs a shell and does not say so: nobody runs it")
    if _is_script(typed, step, around):
        return SAME
    near = max([_shared(argv, wanted) for argv in (typed.argv, *[each.argv for each in typed.simple])])
    if typed.problem:
        return Verdict(f"it is no plain command ({typed.problem})", near * 80 // 100)
    folder = folder_of(step, around)
    why = _words(typed, wanted, step, around)
    if why:
        return Verdict(why, near * 80 // 100)
    if typed.assigned != (step.get("env") or {}):
        return Verdict(_variables(typed.assigned, step.get("env") or {}), 90)
    if typed.folder != folder:
        return Verdict(f"it runs in {_shown(typed.folder, around)}, not in {_shown(folder, around)}", 95)
    return SAME


def argv_of(step: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The words that a step runs, as the engine does; None where it needs a shell and does not say so."""
    if step.get("shell") and step.get("command"):
        return (step["shell"], "-c", step["command"])
    return tuple(step["argv"]) if step.get("argv") else None


def folder_of(step: Mapping[str, Any], around: Around) -> str:
    """The folder that a step runs in, as a real path: of packages for a Node project that of the project."""
    cwd, target = normpath(step.get("cwd") or "."), step.get("target")
    if step.get("type") == _INSTALL and target and cwd == "." and _is_node(target, around):
        cwd = target
    return os.path.realpath(os.path.join(around.root, cwd))


def allows(typed: Typed, pattern: str, step: Mapping[str, Any], around: Around) -> bool:
    """Whether a pattern of a step allows a command, of which no word that the pattern leaves open leads out."""
    if typed.problem or typed.folder != folder_of(step, around) or not fits(typed.argv, pattern):
        return False
    if not typed.assigned.items() <= (step.get("env") or {}).items():
        return False
    wanted = pattern.split()
    is_open = [at >= len(wanted) or wanted[at] == "..." or is_wild(wanted[at]) for at in range(len(typed.argv))]
    words = [word for word, left_open in zip(typed.argv, is_open, strict=True) if left_open]
    return not any([_leads_out(piece, typed.folder, around) for word in words for piece in _pieces(word)])


def _is_script(typed: Typed, step: Mapping[str, Any], around: Around) -> bool:
    """Whether the whole text is the script of a step, in its folder and without further variables.

    White space at the end may end a here-document, or not: only line ends count for nothing there.
    """
    script = step.get("command") if step.get("shell") else None
    if not script or step.get("env") or typed.cwd != folder_of(step, around):
        return False
    return _bare(typed.text) == _bare(script)


def _bare(script: str) -> str:
    return script.lstrip(" \t\n").rstrip("\n")


def _words(typed: Typed, wanted: Sequence[str], step: Mapping[str, Any], around: Around) -> str:
    """How the words of a command differ from those of a step, or nothing."""
    given = typed.argv
    if why := _program(given[0], wanted[0], typed, step, around):
        return why
    declared = {normpath(each) for each in (*(step.get("inputs") or ()), *written(step))}
    same = [
        one == other or _same_file(one, other, declared, typed, step, around)
        for one, other in zip(given, wanted, strict=False)
    ]
    wrong = next((at for at in range(1, len(same)) if not same[at]), None)
    if wrong is None and len(given) == len(wanted):
        return ""
    if wrong is None and len(given) > len(wanted):
        return f"it has the further argument {given[len(wanted)]}"
    if wrong is None:
        return f"it lacks the argument {wanted[len(given)]}"
    if given[:wrong] + given[wrong + 1 :] == tuple(wanted):
        return f"it has the further argument {given[wrong]}"
    return f"its argument {wrong} is {given[wrong]}, not {wanted[wrong]}"


def _program(given: str, wanted: str, typed: Typed, step: Mapping[str, Any], around: Around) -> str:
    """Why a program is not that of a step, or nothing.

    A link to a program is not that program: one of a virtual environment knows by its own name where its packages are.
    """
    bin_folder = _environment(step, around)
    if bin_folder and "/" not in wanted:
        is_same = "/" in given and _program_path(given, typed.folder) == os.path.join(bin_folder, wanted)
        return "" if is_same else f"it installs into {step['target']}, whose {wanted} is to be called by its path"
    if given == wanted:
        return ""
    own = folder_of(step, around)
    is_same = "/" in given and "/" in wanted and _program_path(given, typed.folder) == _program_path(wanted, own)
    return "" if is_same else f"it runs {given}, not {wanted}"


def _program_path(word: str, folder: str) -> str:
    path = os.path.join(folder, word)
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


def _environment(step: Mapping[str, Any], around: Around) -> str:
    """Where the programs of the virtual environment are that a step installs into; nothing where it names none."""
    target = step.get("target")
    if step.get("type") != _INSTALL or not target or _is_node(target, around):
        return ""
    path = os.path.realpath(os.path.join(around.root, target))
    return os.path.join(path, "bin")


def _is_node(target: str, around: Around) -> bool:
    return os.path.isfile(os.path.join(around.root, target, "package.json"))


def _same_file(
    given: str, wanted: str, declared: set[str], typed: Typed, step: Mapping[str, Any], around: Around
) -> bool:
    """Whether two words name the same file of the repository, and can't mean anything else."""
    if step.get("type") == _INSTALL or given.startswith("-") or wanted.startswith("-") or not {".", "/"} & set(wanted):
        return False
    programs = {program(each.argv[0]) for each in typed.simple if each.argv} | {program(typed.argv[0])}
    path = direct(wanted, folder_of(step, around), around.root) if programs <= _FILES else ""
    if not path or direct(given, typed.folder, around.root) != path:
        return False
    there = os.path.join(around.root, path)
    return os.path.isfile(there) or (path in declared and not os.path.lexists(there))


def _variables(given: Mapping[str, str], wanted: Mapping[str, str]) -> str:
    for name, value in wanted.items():
        if given.get(name) != value:
            return f"it does not set {name}={value} in front of it"
    return f"it sets {next(name for name in given if name not in wanted)}, and the step does not"


def _leads_out(word: str, folder: str, around: Around) -> bool:
    """Whether a word, taken for a path, leads out of the repository, or to what is git's or the tool's own."""
    if word.startswith("~") or "\0" in word:
        return True
    path = os.path.realpath(os.path.join(folder, word))
    return not f"{path}/".startswith(f"{around.root}/") or bool(around.protected(os.path.relpath(path, around.root)))


def _pieces(word: str) -> list[str]:
    """What of a word may be a path: all of it, what stands behind `=`, `:` or `@`, and what is glued to a flag of one letter."""
    found = [word, word[2:]] if word.startswith("-") else [word]
    for mark in "=:@,":
        found += [word[at + 1 :] for at, char in enumerate(word) if char == mark]
    return [each for each in found if each]


def _shared(given: Sequence[str], wanted: Sequence[str]) -> int:
    """How many of the words of two commands are the same, in hundredths; a program that differs counts for most."""
    if not given:
        return 0
    same = len([word for word in set(given[1:]) if word in set(wanted[1:])])
    most = max(len(set(given[1:])), len(set(wanted[1:])), 1)
    is_same = program(given[0]) == program(wanted[0])
    return 60 * is_same + (40 * same // most if len(wanted) > 1 or len(given) > 1 else 40 * is_same)


def _shown(folder: str, around: Around) -> str:
    inside = f"{folder}/".startswith(f"{around.root}/")
    return os.path.relpath(folder, around.root) if inside else folder
