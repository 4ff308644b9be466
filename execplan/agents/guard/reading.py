"""Calls that only read: tools that do, and commands of which each is known to, with flags that are known to change nothing of that."""

from __future__ import annotations

import os

from execplan.agents.guard import places
from execplan.agents.guard.call import COMMAND, READ
from execplan.agents.guard.calling import NAME, beyond
from execplan.agents.guard.plain import plain
from execplan.agents.guard.readers import ASKED, FIND, GIT, NO_PATHS, PROGRAMS
from execplan.agents.guard.words import apart
from execplan.agents.guard.wrapped import is_root
from execplan.execution.permission import ALLOW, ASK, DENY, READ_POLICIES
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.agents.guard.call import Call
    from execplan.agents.guard.planned import Around
    from execplan.agents.guard.readers import Reads

_SOUGHT = ("--include", "-g", "--glob")
"""Flags that say which files a search looks into."""
_DEEP = frozenset(("grep", "egrep", "fgrep", "diff"))
"""Programs that go through folders where they are told to."""
_TESTS = frozenset("-d -e -f -h -L -r -s -w -x".split())
_ANYWHERE, _INSIDE, _ASKS, _NONE = READ_POLICIES


class Reading(NamedTuple):
    """What becomes of a call that reads."""

    kind: str
    """ALLOW, ASK or DENY; nothing for a call that does more, or that only a step of the plan can allow."""
    why: str = ""


def reads(call: Call, around: Around, reads: str) -> str:
    """What the policy says of a call that only reads: ALLOW, ASK or DENY; nothing for any other call."""
    return judge(call, around, reads).kind


def judge(call: Call, around: Around, reads: str) -> Reading:
    """As `reads`, with why; where reading must be planned too, one that is none of these calls is all that is said."""
    found = paths(call, around)
    if found is None:
        return Reading("")
    for path in found:
        if why := places.never_read(around, path):
            return Reading(DENY, f"{_shown(around, path)} is never read: {why}")
    searched = found if _searches(call) else ()
    above = next((what for path in searched if path and (what := places.above_private(path))), "")
    if above:
        return Reading(DENY, f"a search there reads {above}")
    if reads == _NONE:
        return Reading("", "the policy lets nothing be read that is not planned")
    out = [path for path in found if not places.inside(around.root, path)]
    if reads == _ASKS:
        return Reading(ASK, "the policy asks before anything is read")
    if out and reads == _INSIDE:
        return Reading(ASK, f"{out[0]} lies outside the repository")
    return Reading(ALLOW)


def _searches(call: Call) -> bool:
    """Whether a call that reads shows what is in files below the folders that it names."""
    if call.kind == READ:
        return call.tool == "Grep"
    text = plain(call.command, call.cwd)
    for argv in text.commands if text is not None else ():
        short = "".join([word for word in argv[1:] if word.startswith("-") and not word.startswith("--")])
        recursive = "r" in short or "--recursive" in argv
        if argv[0] == "rg" or (argv[0] in _DEEP and recursive):
            return True
    return False


def paths(call: Call, around: Around) -> list[str] | None:
    """The real paths that a call reads, of which all below them is read; None for a call that does more than to read.

    Nothing stands for what is no path.
    """
    if call.kind == READ:
        return [way for path in call.reads or (call.cwd,) for way in places.ways(call.cwd, path)]
    if call.kind != COMMAND:
        return None
    text = plain(call.command, call.cwd)
    if text is None:
        return None
    found = [os.path.realpath(folder) for folder in text.folders]
    for argv in text.commands:
        named = _named(argv, around, text.folders)
        if named is None:
            return None
        found += [way for folder in text.folders for path in named for way in places.ways(folder, path)]
    return list(dict.fromkeys(found))


def _named(argv: Sequence[str], around: Around, folders: Sequence[str]) -> list[str] | None:
    """The paths that a command reads, as it names them; None for one that may do more."""
    name, rest = argv[0], argv[1:]
    if name == "echo":  # whatever looks like a flag is printed, or no more than how that is printed
        return []
    if name in ASKED and list(rest) == ["--version"]:
        return []
    if name == "find":
        return _find(rest)
    if name == "sed":
        return _sed(rest)
    if name == "git":
        return _git(rest, around, folders)
    if name in ("test", "["):
        return _tested(rest if name == "test" else rest[:-1] if rest[-1:] == ("]",) else ())
    if name == "command":
        return [] if len(rest) == 2 and rest[0] == "-v" and not rest[1].startswith("-") else None
    if name == NAME:
        return None if beyond(argv, around, folders) else []
    if name == "date":
        rest = [each for each in rest if not each.startswith("+")]
    return _read(rest, PROGRAMS[name]) if name in PROGRAMS else None


def _tested(argv: Sequence[str]) -> list[str] | None:
    """The path of which `test` says whether it is there; all else it may evaluate."""
    words = argv[1:] if argv[:1] == ("!",) else argv
    if len(words) != 2 or words[0] not in _TESTS or words[1].startswith("-"):
        return None
    return [words[1]]


def _read(argv: Sequence[str], program: Reads) -> list[str] | None:
    """The paths among the words of a program; None where a flag is not known, or where there are too many words."""
    found = apart(argv, program.flags.split(), program.values.split(), numbers=program.numbers)
    if found is None:
        return None
    texts = 0 if found.flags & set(program.without.split()) else program.texts
    words = found.words
    if not program.least <= len(words) <= program.most or (program.needs and program.needs not in found.flags):
        return None
    if any([each in word for word in words for each in program.never]):
        return None
    sought = [name for flag, value in found.values if flag in _SOUGHT for name in places.named(value)]
    return [] if texts == NO_PATHS else [*words[texts:], *sought]


def filtered(argv: Sequence[str]) -> list[str] | None:
    """The paths that a program reads that is no more than a filter otherwise; None where it may do more."""
    if argv[0] == "sed":
        return _sed(argv[1:])
    return _read(argv[1:], PROGRAMS[argv[0]]) if argv[0] in PROGRAMS else None


def _git(argv: Sequence[str], around: Around, folders: Sequence[str]) -> list[str] | None:
    """What a command of git reads, where it is the repository's own git that is asked."""
    words, base = list(argv), ""
    while words[:1] in (["-C"], ["--no-pager"]):
        if words[0] == "-C":
            if base or not all([is_root("".join(words[1:2]), folder, around.root) for folder in folders]):
                return None
            base = around.root
        words = words[1 + (words[0] == "-C") :]
    folders = (base,) if base else folders
    two = " ".join(words[:2])
    name = two if two in GIT else words[0] if words else ""
    if name not in GIT or not all([_is_its_git(around.root, os.path.realpath(folder)) for folder in folders]):
        return None
    found = _read(words[len(name.split()) :], GIT[name])
    lines = [word[2:] or after for word, after in zip(words, [*words[1:], ""], strict=True) if word[:2] == "-L"]
    if found is None:
        return None
    return [os.path.join(base, piece) for word in (*found, *lines) for piece in _of_revision(word)]


def _of_revision(word: str) -> Iterator[str]:
    """A word of git's that may be a path, and the paths that may be in one as `HEAD:path`, `:0:path` or `:(top)path`."""
    yield word
    while ":" in word:
        word = word.partition(":")[2]
        found = word.partition(")")[2] if word.startswith("(") else word.lstrip("!^")
        if found:
            yield found


def _is_its_git(root: str, folder: str) -> bool:
    """Whether git, asked in a folder, asks the repository of that root: another may start programs by its settings."""
    while folder != root:
        if not places.inside(root, folder) or os.path.lexists(os.path.join(folder, ".git")):
            return False
        if all([os.path.lexists(os.path.join(folder, each)) for each in ("HEAD", "objects", "refs")]):
            return False
        folder = os.path.dirname(folder)
    return True


def _find(argv: Sequence[str]) -> list[str] | None:
    """The folders that `find` looks into, where it only prints what it finds."""
    start = next((at for at, word in enumerate(argv) if word.startswith("-") or word in ("(", "!", ",")), len(argv))
    at = start
    while at < len(argv):
        behind = argv[at + 1 : at + 1 + FIND.get(argv[at], 0)]
        if argv[at] not in FIND or any([word.startswith("-") and not _is_number(word[1:]) for word in behind]):
            return None
        at += 1 + len(behind) if len(behind) == FIND[argv[at]] else len(argv) + 1
    return list(argv[:start]) or ["."] if at == len(argv) else None


def _sed(argv: Sequence[str]) -> list[str] | None:
    """The files of which `sed -n` prints lines by their numbers."""
    if len(argv) < 2 or argv[0] != "-n" or any([word.startswith("-") for word in argv[1:]]):
        return None
    for piece in argv[1].split(";"):
        ends = piece.removesuffix("p").split(",")
        if not piece.endswith("p") or len(ends) > 2 or not all([end == "$" or _is_number(end) for end in ends]):
            return None
    return list(argv[2:])


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _shown(around: Around, path: str) -> str:
    return os.path.relpath(path, around.root) if path and places.inside(around.root, path) else path or "what is named"
