"""What an agent may do with execplan itself, and what it may not do to anything that guards it, planned or not."""

from __future__ import annotations

import os

from execplan.agents.guard import places
from execplan.agents.guard.call import COMMAND, DELETE, EDIT, TOOL, WRITE
from execplan.agents.guard.calling import NAME, beyond, short
from execplan.agents.guard.plain import plain
from execplan.agents.guard.reading import paths
from execplan.execution.command.parse import parse
from execplan.execution.command.simple import program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.agents.guard.call import Call
    from execplan.agents.guard.planned import Around
    from execplan.execution.command.simple import Simple
    from execplan.repo.home import Home

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
_RISKY_ENDS = (".cmd", ".command", ".receivepack", ".update", ".uploadpack", ".vcs")
"""Settings of git that name programs, in lower case: how they begin, and how others end."""
_CODE = frozenset(" \n\t;()'\"")
_LONGEST = 4096


def ours(call: Call, around: Around) -> bool:
    """Whether a call is verbs of ours and nothing else: such as read, report or keep the plan true, with options that do no more."""
    if call.kind != COMMAND:
        return False
    text = plain(call.command, call.cwd)
    return text is not None and all([not beyond(argv, around, text.folders) for argv in text.commands])


def frees(call: Call, around: Around, home: Home) -> str:
    """Why a call would free the agent that makes it, or nothing; asked before anything else, so a plan can't allow it."""
    if call.kind in (WRITE, EDIT, DELETE):
        for edit in call.edits:
            if what := places.never_written(around, home, call.cwd, edit.path, above=edit.kind == DELETE):
                return f"no agent changes {what}: {short(edit.path)}"
        return _settings(call, around, home)
    if call.kind == COMMAND:
        return _command(call.command, call, around, home)
    return _tool(call, around, home) if call.kind == TOOL else ""


def _command(command: str, call: Call, around: Around, home: Home) -> str:
    """Why a command would."""
    text = plain(command, call.cwd)
    if text is not None and paths(call._replace(kind=COMMAND, command=command), around) is not None:
        return ""
    folders, found = text.folders if text is not None else (call.cwd,), parse(command).simple
    for simple in found:
        why = _called(simple, around, folders, is_plain=text is not None)
        if why := why or _touched(simple, around, home, folders):
            return why
    return _settings_by_command(found, folders)


def _called(simple: Simple, around: Around, folders: Sequence[str], *, is_plain: bool) -> str:
    """Why a program is none that an agent starts: ours with more than it may do, or an agent's that nobody would guard."""
    if not simple.argv:
        return ""
    name = program(simple.argv[0]).casefold()
    if name in _AGENTS:
        return f"{name} would be an agent that nobody guards"
    if name == "git":
        return _git_settings(simple)
    if not _is_ours(name, simple):
        code = next((word for word in simple.argv[1:] if _is_code(word)), "")
        return f"code that runs {NAME} is not for an agent: {short(code)}" if code else ""
    if not is_plain or simple.via or simple.assigned or simple.argv[0] != NAME:
        return f"an agent calls {NAME} by that name alone, with no more than a pipe around it; what it is to read comes by the pipe, or from a file"
    return beyond(simple.argv, around, folders)


def _is_ours(name: str, simple: Simple) -> bool:
    return name == NAME or (simple.via[-1:] == ("python -m",) and name.startswith(f"{NAME}."))


def _is_code(word: str) -> bool:
    """Whether a word is a text that runs execplan: it has its name between marks that no path has."""
    folded = word.casefold()
    at = folded.find(NAME)
    while at >= 0:
        before, after = folded[at - 1 : at] if at else "", folded[at + len(NAME) : at + len(NAME) + 1]
        if not (before.isalnum() or before in ("_", "-", "/")) and (not after or after in " .;)('\",\n"):
            return not _CODE.isdisjoint(word)
        at = folded.find(NAME, at + 1)
    return False


def _git_settings(simple: Simple) -> str:
    """Why a command of git would change what git starts."""
    given = [after for word, after in zip(simple.argv, simple.argv[1:], strict=False) if word in ("-c", "--config-env")]
    given += [word.partition("=")[2] for word in simple.argv if word.startswith(("--config-env=", "-c="))]
    given += [word[2:] for word in simple.argv if word.startswith("-c") and len(word) > 2 and "." in word]
    if any([_is_risky(each.partition("=")[0]) for each in given]) or "--exec-path" in " ".join(simple.argv):
        return "git is given settings that name programs"
    words = [word for word in simple.argv[1:] if not word.startswith("-")]
    if "config" in words[:2] and any([_is_risky(word) for word in words]):
        return "no agent changes which programs git starts"
    return ""


def _is_risky(name: str) -> bool:
    """Whether a setting of git may name a program."""
    return name.casefold().startswith(_RISKY) or name.casefold().endswith(_RISKY_ENDS)


def _touched(simple: Simple, around: Around, home: Home, folders: Sequence[str]) -> str:
    """Why a command, that may write, names what no agent changes."""
    name = program(simple.argv[0]) if simple.argv else ""
    removes = name in _REMOVERS or (name == "git" and bool({"rm", "mv"} & set(simple.argv[1:3])))
    for folder in folders:
        for word in (*simple.argv[1:], *simple.writes):
            for path in _pieces(word):
                if what := places.never_written(around, home, folder, path, above=removes):
                    return f"no agent changes {what}: {short(word)}"
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
    if NAME in call.tool.casefold():
        return f"{short(call.tool)} is a tool of {NAME} itself"
    for text in _texts(call.given):
        if NAME in text.casefold() and (why := _command(text, call, around, home)):
            return why
        if len(text) <= _LONGEST and "\n" not in text and "\0" not in text:
            path = text.removeprefix("file://")
            if what := places.never_written(around, home, call.cwd, path, above=False):
                return f"no agent changes {what}: {short(text)}"
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
                return f"no agent changes the settings of {NAME}: {short(edit.path)}"
    return ""


def _settings_by_command(found: Sequence[Simple], folders: Sequence[str]) -> str:
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
                        return f"no agent changes the settings of {NAME}: {short(word)}"
    return ""
