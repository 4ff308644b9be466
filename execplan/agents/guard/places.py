"""Which files an agent never reads, and which it never writes, whatever the plan says and whatever they are called."""

from __future__ import annotations

import os

from execplan.agents.guard.paths import passes
from execplan.agents.guard.suspects import PIECES
from execplan.repo import own
from execplan.text.hidden import hides
from execplan.text.secret_files import is_secret, other_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.agents.guard.planned import Around
    from execplan.repo.home import Home

_PROGRAMS = {
    ".claude": "the settings, hooks or skills of Claude Code",
    ".codex": "the settings or hooks of Codex",
    ".mcp.json": "the servers that an agent's program starts",
}
"""Of a repository, in any folder of it."""
_IN_HOME = (".claude", ".claude.json", ".codex")
_STATE = "where execplan keeps its state"
_LONGEST = 4096


def real(folder: str, path: str) -> str:
    """Where a path leads to from a folder, links followed; nothing for what is no path."""
    if not path or "\0" in path or len(path) > _LONGEST:
        return ""
    return os.path.realpath(os.path.join(folder, _at_home(path)))


def ways(folder: str, path: str) -> tuple[str, ...]:
    """Where a path may lead to: programs differ in whether they follow links before `..`, and each has a /proc of its own."""
    found, joined = real(folder, path), os.path.join(folder, _at_home(path))
    if not found or not (".." in joined.split("/") or passes(joined)):
        return (found,)
    plain = os.path.normpath(joined)
    return tuple(dict.fromkeys((found, plain if passes(plain) else os.path.realpath(plain))))


def named(pattern: str) -> list[str]:
    """The names in a pattern of files, wildcards taken off: one for each way to read it, none where it leaves files out."""
    pieces = [] if pattern.startswith("!") else pattern.replace("{", ",").replace("}", ",").split(",")
    return [name for each in pieces if (name := each.replace("**/", "").strip("*?/"))]


def inside(root: str, path: str) -> bool:
    """Whether a real path lies in a folder, or is that folder."""
    return f"{path}/".startswith(f"{root.rstrip('/')}/")


def never_read(around: Around, path: str) -> str:
    """Why a real path is not to be read, or nothing."""
    if not path:
        return "it is no path"
    if what := _private(path):
        return what
    parts = path.casefold().split("/")
    if ".git" in parts and "execplan" in parts[parts.index(".git") :]:
        return _STATE
    shown = os.path.relpath(path, around.root) if inside(around.root, path) else ""
    if shown and (".state" in parts or "approvals" in parts) and around.protected(shown).partition(" ")[0] == "what":
        return around.protected(shown)
    if why := secret(shown or path, folder=os.path.isdir(path)):
        return why
    other = other_name(path, (around.root, os.path.expanduser("~"), _login()))
    return f"it is another name of {other}, which holds credentials" if other else ""


def secret(path: str, *, folder: bool = False) -> str:
    """Why a file is not to be shown, by its name, and why a device is not, as the table of risks has it."""
    if is_secret(path, folder=folder):
        return "it holds credentials"
    folded = path.casefold()
    if not any([piece in folded for piece in PIECES]):
        return ""
    from execplan.execution.risk.matching import row_matches_path
    from execplan.execution.risk.table import builtin_table

    found = [row.reason for row in builtin_table().rows if row.reading and row.path and row_matches_path(path, row)]
    return f"it {found[0]}" if found else ""


def never_written(around: Around, home: Home, folder: str, path: str, *, above: bool = False) -> str:
    """What a path from a folder is that no agent may change, or nothing; `above`: also where such lies below it."""
    if not path.isprintable() or hides(path):
        return "a path with characters that nobody sees"
    there = os.path.normpath(os.path.join(folder, _at_home(path)))
    for each in dict.fromkeys((there, real(folder, path))):
        if what := _owned(around, home, each) or (above and _holds(around, home, each)):
            return what or ""
    return _same_file(home, there)


def _owned(around: Around, home: Home, path: str) -> str:
    """What an absolute path is that no agent may change."""
    for root in dict.fromkeys((around.root, home.root)):
        if inside(root, path):
            shown = os.path.relpath(path, root)
            parts = shown.casefold().split("/")
            named = [what for name, what in _PROGRAMS.items() if name in parts]
            return around.protected(shown) or "".join(named[:1]) or _of_home(home, path) or _of_program(path)
    return _private(path) or _of_home(home, path) or _of_program(path)


def _of_home(home: Home, path: str) -> str:
    """What of a home a path is, that says what may be done."""
    folded = path.casefold()
    if inside(os.path.join(home.base, home.settings.templates).casefold(), folded):
        return "a template of plans"
    return _STATE if any([inside(each.casefold(), folded) for each in (home.state, home.shared)]) else ""


def _of_program(path: str) -> str:
    """Whether a path is a part of this very program."""
    import execplan

    folder = os.path.dirname(os.path.realpath(execplan.__file__))
    return "the program that guards" if inside(folder, path) or inside(folder, os.path.realpath(path)) else ""


def _private(path: str) -> str:
    """What of the user's own an absolute path is: the key, what was approved, the settings of agents' programs."""
    folded = path.casefold()
    for folder, what in _folders():
        if inside(folder.casefold(), folded):
            return what
    return ""


def above_private(path: str) -> str:
    """What of the user's own lies below a real path, or nothing."""
    return next((what for folder, what in _folders() if inside(path, folder) and os.path.lexists(folder)), "")


def _folders() -> Iterator[tuple[str, str]]:
    """The user's own folders, by what the environment says and by what the machine says, and what is in them."""
    homes = dict.fromkeys((os.path.expanduser("~"), _login()))
    states = [os.environ.get("XDG_STATE_HOME", ""), *[os.path.join(each, ".local", "state") for each in homes if each]]
    settings = [os.path.dirname(own.path()), *[os.path.join(each, ".config", "execplan") for each in homes if each]]
    pairs = [(each, "where the user's key and settings are") for each in settings]
    pairs += [(os.path.join(each, "execplan"), _STATE) for each in states if each]
    pairs += [
        (os.path.join(each, name), "the user's settings of an agent's program")
        for each in homes
        if each
        for name in _IN_HOME
    ]
    named = [os.environ.get("CLAUDE_CONFIG_DIR", ""), os.environ.get("CODEX_HOME", "")]
    pairs += [(each, "the user's settings of an agent's program") for each in named if each]
    for folder, what in pairs:
        for each in dict.fromkeys((os.path.abspath(folder), os.path.realpath(folder))):
            yield each, what


def _login() -> str:
    """The user's folder as the machine knows it, whatever HOME says."""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def _at_home(path: str) -> str:
    return os.path.expanduser(path) if path.startswith("~") else path


def _holds(around: Around, home: Home, path: str) -> str:
    """What of it lies below a folder."""
    marks = [os.path.join(home.base, ".agent", "execplan.toml"), os.path.join(home.base, home.settings.templates)]
    marks += [home.plans, home.state, home.git or home.state]
    marks += [os.path.join(around.root, name) for name in _PROGRAMS]
    marks += [folder for folder, _ in _folders()]
    return next((f"a folder with {each}" for each in marks if os.path.lexists(each) and inside(path, each)), "")


def _same_file(home: Home, path: str) -> str:
    """Whether a path is another name of a file that decides, by a hard link."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return ""
    if found.st_nlink < 2 or os.path.isdir(path):
        return ""
    for each in _deciding(home):
        try:
            other = os.stat(each)
        except OSError:
            continue
        if (found.st_dev, found.st_ino) == (other.st_dev, other.st_ino):
            return f"another name of {each}"
    return ""


def _deciding(home: Home) -> Sequence[str]:
    """The files that decide what an agent may do, as far as they are known by name."""
    folders = [os.path.dirname(own.path()), os.path.join(home.root, ".claude"), os.path.join(home.root, ".codex")]
    folders += [os.path.join(home.git, "hooks"), home.git] if home.git else []
    found = [os.path.join(home.base, ".agent", "execplan.toml"), os.path.join(home.root, ".mcp.json")]
    for folder in folders:
        try:
            with os.scandir(folder) as entries:
                found += [each.path for each in entries]
        except OSError:
            continue
    return found
