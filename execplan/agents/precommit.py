"""`install pre-commit`: a hook in .pre-commit-config.yaml, whose other bytes stay as they are.

The file is parsed to find the place, spliced to change it, and parsed again to see that only the hook came or went.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from typing import TYPE_CHECKING, Any

from execplan.agents import block as blocks
from execplan.agents import managed
from execplan.agents.change import Change, Planned, read
from execplan.agents.managed import File
from execplan.agents.yamls import END, INSTEAD, Config, UnreadableError, load, spot
from execplan.errors import INPUT, ExecplanError
from execplan.repo import ask
from execplan.repo.pattern import plan_paths

if TYPE_CHECKING:
    from execplan.agents.block import Block
    from execplan.repo.home import Home

WHAT = "pre-commit"
_FILE = ".pre-commit-config.yaml"
_ID = "execplan-lint"
_REPOS = "repos:"
_INSTEAD = "instead of "
_SHARED = f"{_FILE} names the Python of this machine; for others, use the hook {_ID} of execplan's own repository"


def item(home: Home) -> list[str]:
    """The lines of the hook, as an item of the list `repos`; with the one that asks for a plan, where the settings want it."""
    python = f"{shlex.quote(sys.executable)} -P -m execplan"
    lines = [
        "- repo: local",
        "  hooks:",
        f"  - id: {_ID}",
        "    name: execplan lint",
        f"    entry: {_quoted(f'{python} lint --hook')}",
        "    language: system",
        "    types: [markdown]",
        f"    files: {_quoted(plan_paths(home))}",
    ]
    if home.settings.follow:
        lines += [
            "  - id: execplan-follow",
            "    name: execplan follow",
            f"    entry: {_quoted(f'{python} lint --staged --select EP508 -q')}",
            "    language: system",
            "    always_run: true",
            "    pass_filenames: false",
        ]
    return lines


def install(home: Home, *, force: bool) -> Planned:
    """Add the hook, or renew it; raises ExecplanError."""
    ask.require(home)
    file, lines = _file(home), item(home)
    if file.data is None:
        planned = managed.install(file, [_REPOS, *lines], bytes, force=force)
    elif (block := file.block) is not None:
        head = [_REPOS] if block.lines[:1] == (_REPOS,) else []
        return managed.install(file, head + lines, bytes, force=force)
    else:
        config = _load(file.data, lines)
        if any([_ID in _ids(each) for each in config.repos]):
            why = "has the hook already, put there by hand"
            return Planned((Change(WHAT, file.path, file.data, file.data, why),))
        planned = managed.install(file, lines, lambda data: _put(data, lines), force=force)
        new = planned.changes[0].new or b""
        ours = _load("\n".join([_REPOS, *lines]).encode("utf-8", "surrogateescape"), lines).repos
        if _tried(new) != config._replace(repos=config.repos + ours):
            raise _no_place(lines)
    return planned._replace(warnings=(*planned.warnings, _SHARED), next=("pre-commit install",))


def uninstall(home: Home, *, force: bool) -> Planned:
    """Take the hook out, and the file if it was made for it; raises ExecplanError."""
    return managed.uninstall(_file(home), _take, force=force)


def without(file: File) -> bytes:
    """What a configuration holds besides the hook; raises ExecplanError."""
    return managed.uninstall(file, _take, force=False).changes[0].new or b""


def _file(home: Home) -> File:
    path = os.path.join(home.root, _FILE)
    return File(WHAT, path, _FILE, read(home, path), blocks.SHELL)


def _put(data: bytes, lines: list[str]) -> bytes:
    """The file with the hook behind the last item of its list."""
    place = spot(data.decode("utf-8"))
    if place is None:
        raise _no_place(lines)
    if place.how == INSTEAD:
        note = _INSTEAD + json.dumps(data[place.start : place.end].decode("utf-8"), ensure_ascii=False)
        return blocks.put_instead(data, place.start, place.end, [_REPOS, *lines], blocks.SHELL, note)
    if place.how == END:
        lines = [_REPOS, *lines]
    return blocks.put(data, place.start, lines, blocks.SHELL, indent=place.indent)


def _take(data: bytes, block: Block) -> bytes:
    """The file without the hook; where others were added to a list that began with it, the list stays."""
    config, ours = _load(data, []), _item(block)
    left = config._replace(repos=[each for each in config.repos if each not in ours])
    before = _before(block.note)
    rests = [blocks.take_back(data, block, before)] if before else []
    rests += [blocks.take(data, block, blocks.SHELL), blocks.take_back(data, block, _REPOS)]
    for rest in rests:
        found = _tried(rest)
        if found == left or (block.edited and found):  # what was written into the block goes with it
            return rest
    raise ExecplanError(
        "would-break",
        f"{_FILE}: without the block of execplan the file would say something else; nothing was written",
        exit=INPUT,
        hint=f"take the hook {_ID} out by hand, with the comments around it",
    )


def _before(note: str) -> str:
    """The line that the block stands in place of, or nothing."""
    try:
        return str(json.loads(note.removeprefix(_INSTEAD))) if note.startswith(_INSTEAD) else ""
    except ValueError:  # somebody wrote into it
        return ""


def _item(block: Block) -> list[Any]:
    """What the block adds to the list."""
    lines = block.lines if block.lines[:1] == (_REPOS,) else (_REPOS, *block.lines)
    config = _tried("\n".join(lines).encode("utf-8", "surrogateescape"))
    return config.repos if config else []


def _load(data: bytes, lines: list[str]) -> Config:
    try:
        return load(data)
    except UnreadableError as error:
        raise ExecplanError(
            "bad-yaml",
            f"{_FILE}{error}",
            exit=INPUT,
            hint="mend the file" + (", or paste this under repos:" if lines else ""),
            candidates=lines,
        ) from None


def _tried(data: bytes) -> Config | None:
    """What the file says, None when it can't be read."""
    try:
        return load(data)
    except UnreadableError:
        return None


def _no_place(lines: list[str]) -> ExecplanError:
    return ExecplanError(
        "no-place",
        f"{_FILE}: the list repos is written in a way that nothing can be added to without changing it",
        exit=INPUT,
        hint="add these lines to it by hand",
        candidates=lines,
    )


def _ids(repo: Any) -> list[Any]:
    """The hooks that an item of `repos` names."""
    hooks = repo.get("hooks") if isinstance(repo, dict) else None
    return [hook.get("id") for hook in hooks or [] if isinstance(hook, dict)] if isinstance(hooks, list) else []


def _quoted(words: str) -> str:
    """Words as YAML's single-quoted scalar, in which nothing is special but the quote."""
    return "'" + words.replace("'", "''") + "'"
