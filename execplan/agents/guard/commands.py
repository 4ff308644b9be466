"""Whether a command that an agent types is the one of a step: its words, its variables, its folder."""

from __future__ import annotations

import os
from os.path import normpath

from execplan.agents.guard.equivalent import PATHSPECS, alike, same_pathspec
from execplan.agents.guard.paths import direct
from execplan.agents.guard.verdict import SAME, Verdict
from execplan.agents.guard.wrapped import is_harmless, is_same_python
from execplan.execution.command.parse import parse
from execplan.execution.command.pattern import fits, is_wild
from execplan.execution.command.simple import program
from execplan.execution.documents.touched import written_paths

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
        return Verdict("the command of the step needs a shell and does not say so: nobody runs it")
    if _is_script(typed, step, around):
        return SAME
    if (
        why := f"the call is no plain command ({typed.problem}): a step is called as it is written"
        if typed.problem
        else _words(typed, wanted, step, around)
    ):
        near = _near(typed, wanted, step)
        return Verdict(why, near * 80 // 100)
    if why := _variables(typed.assigned, step.get("env") or {}):
        return Verdict(why, 90)
    folder = folder_of(step, around)
    if typed.folder != folder:
        wanted_in = os.path.normpath(step.get("cwd") or ".") if not folder else _shown(folder, around)
        return Verdict(f"the call runs in {_shown(typed.folder, around)}, not in {wanted_in}", 95)
    return SAME


def argv_of(step: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The words that a step runs, as the engine does; None where it needs a shell and does not say so."""
    if step.get("shell") and step.get("command"):
        return (step["shell"], "-c", step["command"])
    return tuple(step["argv"]) if step.get("argv") else None


def folder_of(step: Mapping[str, Any], around: Around) -> str:
    """The folder that a step runs in: of packages for a Node project that of the project; nothing where a link leads there."""
    cwd, target = normpath(step.get("cwd") or "."), step.get("target")
    if step.get("type") == _INSTALL and target and cwd == "." and _is_node(target, around):
        cwd = target
    path = os.path.normpath(os.path.join(around.root, cwd))
    return path if os.path.realpath(path) == path else ""


def allows(typed: Typed, pattern: str, step: Mapping[str, Any], around: Around) -> bool:
    """Whether a pattern of a step allows a command, of which no word that the pattern leaves open leads out."""
    if typed.problem or typed.folder != folder_of(step, around) or not fits(typed.argv, pattern):
        return False
    own = step.get("env") or {}
    if not all(
        [own.get(name) == value if name in own else is_harmless(name, value) for name, value in typed.assigned.items()]
    ):
        return False
    wanted = pattern.split()
    is_open = [at >= len(wanted) or wanted[at] == "..." or is_wild(wanted[at]) for at in range(len(typed.argv))]
    words = [word for word, left_open in zip(typed.argv, is_open, strict=True) if left_open]
    return not any([_leads_out(piece, typed.folder, around) for word in words for piece in _pieces(word, typed.folder)])


def _is_script(typed: Typed, step: Mapping[str, Any], around: Around) -> bool:
    """Whether the whole text is the script of a step, in its folder and without further variables.

    White space at the end may end a here-document, or not: only line ends count for nothing there.
    """
    script = step.get("command") if step.get("shell") else None
    if not script or step.get("env") or not typed.cwd or typed.cwd != folder_of(step, around):
        return False
    return _bare(typed.text) == _bare(script)


def _bare(script: str) -> str:
    return script.lstrip(" \t\n").rstrip("\n")


def _words(typed: Typed, wanted: Sequence[str], step: Mapping[str, Any], around: Around) -> str:
    """How the words of a command differ from those of a step, or nothing."""
    given = alike(typed.argv, wanted)
    if why := _program(given[0], wanted[0], typed, step, around):
        return why
    is_paths = tuple(given[:2]) in PATHSPECS and tuple(wanted[:2]) == tuple(given[:2])
    declared = {normpath(each) for each in (*(step.get("inputs") or ()), *written_paths(step))}
    same = [
        one == other
        or _same_file(one, other, declared, typed, step, around)
        or (is_paths and same_pathspec(one, other, typed.folder, folder_of(step, around), around.root))
        for one, other in zip(given, wanted, strict=False)
    ]
    wrong = next((at for at in range(1, len(same)) if not same[at]), None)
    if wrong is None and len(given) == len(wanted):
        return ""
    if wrong is None and len(given) > len(wanted):
        return f"the call has the further argument {given[len(wanted)]}"
    if wrong is None:
        return f"the call lacks the argument {wanted[len(given)]}"
    if given[:wrong] + given[wrong + 1 :] == tuple(wanted):
        return f"the call has the further argument {given[wrong]}"
    return f"argument {wrong} of the call is {given[wrong]}, not {wanted[wrong]}"


def _program(given: str, wanted: str, typed: Typed, step: Mapping[str, Any], around: Around) -> str:
    """Why a program is not that of a step, or nothing.

    A link to a program is not that program: one of a virtual environment knows by its own name where its packages are.
    """
    place = _environment(step, around)
    if place and "/" not in wanted:
        is_same = "/" in given and _place(given, typed.folder) == os.path.join(place, wanted)
        return "" if is_same else f"the step installs into {step['target']}, whose {wanted} is to be called by its path"
    own = folder_of(step, around)
    if is_same_python(given, wanted, typed.folder, own):
        return ""
    if "/" not in wanted or "/" not in given:
        return "" if given == wanted else f"the call runs {given}, not {wanted}"
    meant = os.path.normpath(os.path.join(own, wanted))
    if not wanted.startswith("/") and _place(wanted, own) != meant:
        return f"{wanted} leads through a link"
    return "" if _place(given, typed.folder) == _place(wanted, own) else f"the call runs {given}, not {wanted}"


def _place(word: str, folder: str) -> str:
    """Where a program is that is named by its path, in its real folder; a slash at its end is none of it."""
    above, _, name = os.path.join(folder, word).rpartition("/")
    return f"{os.path.realpath(above)}/{name}"


def _environment(step: Mapping[str, Any], around: Around) -> str:
    """Where the programs of the virtual environment are that a step installs into; nothing where it names none."""
    target = step.get("target")
    if step.get("type") != _INSTALL or not target or _is_node(target, around):
        return ""
    return os.path.join(os.path.normpath(os.path.join(around.root, target)), "bin")


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
    there, same = os.path.join(around.root, path), os.path.join(typed.folder, given)
    if os.path.isfile(there):
        return os.path.isfile(same)
    return path in declared and not os.path.lexists(there) and ".." not in given.split("/")


def _variables(given: Mapping[str, str], wanted: Mapping[str, str]) -> str:
    """Why variables are not those of a step, or nothing."""
    for name, value in wanted.items():
        if given.get(name) != value:
            return f"the call does not set {name}={value} in front of it"
    more = [name for name, value in given.items() if name not in wanted and not is_harmless(name, value)]
    return f"the call sets {more[0]}, and the step does not" if more else ""


def _leads_out(word: str, folder: str, around: Around) -> bool:
    """Whether a word, taken for a path, leads out of the repository, or to what is git's or the tool's own."""
    if word.startswith("~") or "\0" in word:
        return True
    joined = os.path.join(folder, word)  # programs differ in whether they follow links before `..`
    found = {os.path.realpath(each) for each in (joined, os.path.normpath(joined))}
    inside = all([f"{path}/".startswith(f"{around.root}/") for path in found])
    return not inside or any([around.protected(os.path.relpath(path, around.root)) for path in found])


def _pieces(word: str, folder: str) -> list[str]:
    """What of a word may be a path: all of it, what stands behind `=`, `:` or `@`, and what is glued to flags of one letter."""
    found = [word]
    for mark in "=:@,":
        found += [word[at + 1 :] for at, char in enumerate(word) if char == mark]
    glued = [each.lstrip("-") for each in found if each.startswith("-")]
    found += [each[1:] for each in glued]
    found += [each[at:] for each in glued if (at := each.find("../")) > 0]
    for each in glued:  # as `-xf/etc/x`, which is not `-Isrc/x`
        head, slash, rest = each.partition("/")
        if slash and not any([os.path.lexists(os.path.join(folder, head[at:])) for at in range(1, len(head))]):
            found.append(f"/{rest}")
    return [each for each in found if each]


def _near(typed: Typed, wanted: Sequence[str], step: Mapping[str, Any]) -> int:
    """How near any command in what is typed comes to one in a step, whatever it is wrapped in."""
    given = [typed.argv, *[each.argv for each in typed.simple]]
    inside = parse(step["command"]).simple if not typed.argv or typed.simple[0].via else ()
    return max(
        [_shared(argv, each) for argv in given for each in (wanted, *[simple.argv for simple in inside]) if each]
    )


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
