"""What an agent may do with execplan itself, and what it may not do to anything that guards it, planned or not."""

from __future__ import annotations

import os

from execplan.agents.guard import places
from execplan.agents.guard.call import COMMAND, DELETE, EDIT, TOOL, WRITE
from execplan.agents.guard.plain import plain
from execplan.agents.guard.reading import paths
from execplan.agents.guard.verbs import EVERYWHERE, KEPT, VERBS
from execplan.agents.guard.words import apart
from execplan.execution.command.parse import parse
from execplan.execution.command.simple import program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.agents.guard.call import Call
    from execplan.agents.guard.planned import Around
    from execplan.agents.guard.verbs import Mine
    from execplan.execution.command.simple import Simple
    from execplan.repo.home import Home

_NAME = "execplan"
_AGENTS = frozenset(("claude", "codex", "claude-code", "gemini", "opencode", "aider", "cursor-agent", "copilot"))
_REMOVERS = frozenset(("rm", "rmdir", "mv", "unlink", "shred", "chmod", "chown", "ln", "rsync", "trash"))
_RISKY = (
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
)
"""Settings of git that name programs, in lower case."""
_CODE = frozenset(" \n\t;()'\"")
_LONGEST = 4096


def ours(call: Call, around: Around) -> bool:
    """Whether a call is verbs of ours and nothing else: such as read, report or keep the plan true, with options that do no more."""
    if call.kind != COMMAND:
        return False
    text = plain(call.command, call.cwd)
    return text is not None and all([not _beyond(argv, around, text.folders) for argv in text.commands])


def frees(call: Call, around: Around, home: Home) -> str:
    """Why a call would free the agent that makes it, or nothing; asked before anything else, so a plan can't allow it."""
    if call.kind in (WRITE, EDIT, DELETE):
        for edit in call.edits:
            if what := places.never_written(around, home, call.cwd, edit.path, above=edit.kind == DELETE):
                return f"no agent changes {what}: {_short(edit.path)}"
        return _settings(call, around, home)
    if call.kind == COMMAND:
        return _command(call.command, call, around, home)
    return _tool(call, around, home) if call.kind == TOOL else ""


def _command(command: str, call: Call, around: Around, home: Home) -> str:
    """Why a command would."""
    read = parse(command)
    text = plain(command, call.cwd)
    folders = text.folders if text is not None else (call.cwd,)
    for simple in read.simple:
        if why := _called(simple, around, folders, is_plain=text is not None):
            return why
    if text is not None and paths(call._replace(command=command), around) is not None:
        return ""
    for simple in read.simple:
        if why := _touched(simple, around, home, folders):
            return why
    return _settings_by_command(read.simple, around, folders)


def _called(simple: Simple, around: Around, folders: Sequence[str], *, is_plain: bool) -> str:
    """Why a program is none that an agent starts: ours with more than it may do, or an agent's that nobody would guard."""
    if not simple.argv:
        return ""
    for at, word in enumerate(simple.argv):
        if at and _NAME in word.casefold() and _is_code(word):
            return f"code that runs {_NAME} is not for an agent: {_short(word)}"
    name = program(simple.argv[0]).casefold()
    if name in _AGENTS:
        return f"{name} would be an agent that nobody guards"
    if not _is_ours(name):
        return _git_settings(simple)
    if not is_plain or simple.via or simple.assigned or simple.argv[0] != _NAME:
        return f"an agent calls {_NAME} by that name alone, with nothing around it"
    return _beyond(simple.argv, around, folders)


def _is_ours(name: str) -> bool:
    return name == _NAME or name.startswith((f"{_NAME}.", f"{_NAME}-", f"{_NAME}/"))


def _is_code(word: str) -> bool:
    """Whether a word is a text that runs execplan: it has its name between marks that no path has."""
    folded = word.casefold()
    at = folded.find(_NAME)
    while at >= 0:
        before, after = folded[at - 1 : at] if at else "", folded[at + len(_NAME) : at + len(_NAME) + 1]
        if not (before.isalnum() or before in ("_", "-", "/")) and (not after or after in " .;)('\",\n"):
            return not _CODE.isdisjoint(word)
        at = folded.find(_NAME, at + 1)
    return False


def _beyond(argv: Sequence[str], around: Around, folders: Sequence[str]) -> str:
    """Why a call of execplan is more than an agent may do; nothing for one that reads, reports or keeps the plan true."""
    if argv[0] != _NAME:
        return f"{_short(argv[0])} is not {_NAME}"
    words = list(argv[1:])
    while words and (words[0] in EVERYWHERE or words[0] == "-C"):
        taken = 2 if words[0] == "-C" else 1
        if taken == 2 and not _all_inside(words[1:2] or [""], around, folders):
            return f"{_NAME} -C leads out of the repository"
        words = words[taken:]
    if not words:
        return ""
    verb, rest = words[0], words[1:]
    if verb not in VERBS:
        why = KEPT.get(verb, "it is none of the verbs that an agent may use")
        return f"`{_NAME} {_short(verb)}` is not for an agent: {why}"
    mine = VERBS[verb]
    return _given(verb, mine, rest, around, folders)


def _given(verb: str, mine: Mine, argv: Sequence[str], around: Around, folders: Sequence[str]) -> str:
    """Why a verb is given more than an agent may give it."""
    values = [*mine.values.split(), *mine.files.split(), "-C"]
    found = apart([each for each in argv if not each.startswith("- ")], [*mine.flags.split(), *EVERYWHERE], values)
    if found is None or (mine.needs and mine.needs not in found.flags):
        only = f" but with {mine.needs}" if mine.needs else " with these options"
        return f"`{_NAME} {verb}` is not for an agent{only}"
    read = [value for flag, value in found.values if flag in mine.files.split() or flag == "-C"]
    read += [value for flag, value in found.values if flag in ("-p", "--plan", "--stdin-filename") and "/" in value]
    read += [word for word in found.words if mine.takes and "/" in word]
    texts = [*found.words, *[value for _, value in found.values]]
    read += [each[1:] for each in texts if each.startswith("@") and not each.startswith("@@")]
    return "" if _all_inside(read, around, folders) else f"`{_NAME} {verb}` is given a file that an agent may not read"


def _all_inside(named: Sequence[str], around: Around, folders: Sequence[str]) -> bool:
    """Whether all paths lead into the repository, to nothing that is never read; `-` is standard input."""
    found = [places.real(folder, path) for path in named if path != "-" for folder in folders]
    return all([path and places.inside(around.root, path) and not places.never_read(around, path) for path in found])


def _git_settings(simple: Simple) -> str:
    """Why a command of git would change what git starts."""
    if program(simple.argv[0]) != "git":
        return ""
    given = [after for word, after in zip(simple.argv, simple.argv[1:], strict=False) if word in ("-c", "--config-env")]
    given += [word.partition("=")[2] for word in simple.argv if word.startswith(("--config-env=", "-c="))]
    given += [word[2:] for word in simple.argv if word.startswith("-c") and len(word) > 2 and "." in word]
    if any([each.casefold().startswith(_RISKY) for each in given]) or "--exec-path" in " ".join(simple.argv):
        return "git is given settings that name programs"
    words = [word for word in simple.argv[1:] if not word.startswith("-")]
    if "config" in words[:2] and any([word.casefold().startswith(_RISKY) for word in words]):
        return "no agent changes which programs git starts"
    return ""


def _touched(simple: Simple, around: Around, home: Home, folders: Sequence[str]) -> str:
    """Why a command, that may write, names what no agent changes."""
    name = program(simple.argv[0]) if simple.argv else ""
    removes = name in _REMOVERS or (name == "git" and bool({"rm", "mv"} & set(simple.argv[1:3])))
    for folder in folders:
        for word in (*simple.argv[1:], *simple.writes):
            for path in _pieces(word):
                if what := places.never_written(around, home, folder, path, above=removes):
                    return f"no agent changes {what}: {_short(word)}"
    return ""


def _pieces(word: str) -> Iterator[str]:
    """The paths that a word of a command may hold."""
    if len(word) > _LONGEST or "\n" in word:
        return
    yield word
    _, equals, value = word.partition("=")
    if equals and value:
        yield value
    if word.startswith("-") and not word.startswith("--") and len(word) > 2:
        yield word[2:]
    if word.startswith("@") and len(word) > 1:
        yield word[1:]


def _tool(call: Call, around: Around, home: Home) -> str:
    """Why another tool would: it is execplan's own, or it is given a path or a command that is not for an agent."""
    if _NAME in call.tool.casefold():
        return f"{_short(call.tool)} is a tool of {_NAME} itself"
    for text in _texts(call.given):
        if _NAME in text.casefold() and (why := _command(text, call, around, home)):
            return why
        if len(text) <= _LONGEST and "\n" not in text and "\0" not in text:
            path = text.removeprefix("file://")
            if what := places.never_written(around, home, call.cwd, path, above=False):
                return f"no agent changes {what}: {_short(text)}"
    return ""


def _texts(value: object) -> Iterator[str]:
    """Every text in what a tool is given."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _texts(name)
            yield from _texts(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _texts(each)


def _settings(call: Call, around: Around, home: Home) -> str:
    """Why an edit would change what a pyproject.toml says of execplan."""
    for edit in call.edits:
        if os.path.basename(places.real(call.cwd, edit.path)).casefold() == "pyproject.toml":
            from execplan.agents.guard.settings import changes

            if changes(places.real(call.cwd, edit.path), edit):
                return f"no agent changes the settings of {_NAME}: {_short(edit.path)}"
    return ""


def _settings_by_command(found: Sequence[Simple], around: Around, folders: Sequence[str]) -> str:
    """Why a command would do away with a pyproject.toml that has settings of ours; what it writes there is not seen."""
    for simple in found:
        if not simple.argv or program(simple.argv[0]) not in _REMOVERS | {"git"}:
            continue
        for word in simple.argv[1:]:
            for folder in folders:
                path = places.real(folder, word)
                if os.path.basename(path).casefold() == "pyproject.toml":
                    from execplan.agents.guard.settings import has_table

                    if has_table(path):
                        return f"no agent changes the settings of {_NAME}: {_short(word)}"
    return ""


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:60]}…"
