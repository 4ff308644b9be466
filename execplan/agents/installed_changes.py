"""Whether a file differs from an earlier version of it only by what `install` puts into it."""

from __future__ import annotations

import os

from execplan.errors import ExecplanError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Home

_MARKDOWN = ("AGENTS.md", "CLAUDE.md")
_ATTRIBUTES = ".gitattributes"
_PRECOMMIT = ".pre-commit-config.yaml"
_HOOKS = {".claude/settings.json": "claude", ".codex/hooks.json": "codex"}
_FILES = (*_MARKDOWN, _ATTRIBUTES, _PRECOMMIT, *_HOOKS)


def is_only_installed(home: Home, path: str, commit: str) -> bool:
    """Whether only execplan has changed a file since a commit, or since it was not there; no commit: it never was.

    The path counts from the root of the repository; one that ends in a slash is a folder of which git tracks nothing.
    """
    if path.endswith("/"):
        inside = [each for each in _FILES if each.startswith(path)]
        return bool(inside) and all(
            [each in inside and is_only_installed(home, each, "") for each in _below(home, path)]
        )
    if path not in _FILES:
        return False
    from execplan.agents.change import read

    try:
        now = read(home, os.path.join(home.root, path))
        before = _version(home, path, commit) if commit else None
        return now is not None and _others(home, path, now) == _others(home, path, before or b"")
    except ExecplanError:
        return False  # whose it is can't be told


def _below(home: Home, folder: str) -> list[str]:
    """The files below a folder, from the root of the repository."""
    return [
        os.path.relpath(os.path.join(place, name), home.root)
        for place, _, names in os.walk(os.path.join(home.root, folder))
        for name in names
    ]


def _version(home: Home, path: str, commit: str) -> bytes | None:
    """A file as a commit has it, None where it has none."""
    from execplan.repo import ask

    try:
        return ask.output(home, "cat-file", "blob", f"{commit}:{path}")
    except ExecplanError:
        return None


def _others(home: Home, path: str, data: bytes) -> bytes:
    """What a file holds that is none of ours; raises ExecplanError, also where somebody has edited what is ours."""
    from execplan.agents import block as blocks
    from execplan.agents import managed
    from execplan.agents.managed import File

    if path not in _HOOKS:
        style = blocks.MARKDOWN if path in _MARKDOWN else blocks.SHELL
        file = File("", path, path, data, style)
        if path != _PRECOMMIT:
            return managed.uninstall(file, force=False).changes[0].new or b""
        from execplan.agents import precommit

        return precommit.without(file)
    from execplan.agents import guard_hook, session_hooks

    full = os.path.join(home.root, path)
    for integration in (guard_hook, session_hooks):
        planned = integration.uninstall(home, force=False, programs=(_HOOKS[path],), ahead={full: data})
        change = planned.changes[0]
        data = (change.new or b"") if change.old is not None else data
    return data
