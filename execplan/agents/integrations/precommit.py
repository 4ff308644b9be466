"""Integration `install pre-commit`: a hook in .pre-commit-config.yaml; all other bytes stay the same.

The file is parsed to find the position, edited as text, and parsed again to check that only the hook was added or
removed.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from typing import Any

from execplan.agents.integrations import managed_block
from execplan.agents.integrations.integration_changes import ChangeSet, IntegrationChange, read_project_file
from execplan.agents.integrations.managed_block import ManagedBlock, ManagedFile
from execplan.agents.integrations.precommit_config import (
    END,
    INSTEAD,
    InvalidConfigError,
    PreCommitConfig,
    find_hook_position,
    parse_config,
)
from execplan.core.errors import ExecplanError
from execplan.core.git import git_query
from execplan.core.project.plan_path_pattern import plan_paths_regex
from execplan.core.project.project import Project

NAME = "pre-commit"
_FILE = ".pre-commit-config.yaml"
_HOOK_ID = "execplan-lint"
_REPOS_LINE = "repos:"
_REPLACED_PREFIX = "instead of "
_MACHINE_WARNING = f"{_FILE} contains the path of this machine's Python; for other machines, use the hook {_HOOK_ID} of execplan's own repository"


def hook_lines(project: Project) -> list[str]:
    """Return the hook's lines as an item of the list `repos`.

    If the setting `follow` is on, they include the hook that requires a plan.
    """
    python = f"{shlex.quote(sys.executable)} -P -m execplan"
    lines = [
        "- repo: local",
        "  hooks:",
        f"  - id: {_HOOK_ID}",
        "    name: execplan lint",
        f"    entry: {_quote_yaml(f'{python} lint --hook')}",
        "    language: system",
        "    types: [markdown]",
        f"    files: {_quote_yaml(plan_paths_regex(project))}",
    ]
    if project.settings.follow:
        lines += [
            "  - id: execplan-follow",
            "    name: execplan follow",
            f"    entry: {_quote_yaml(f'{python} lint --staged --select EP508 -q')}",
            "    language: system",
            "    always_run: true",
            "    pass_filenames: false",
        ]
    return lines


def install(project: Project, *, force: bool) -> ChangeSet:
    """Plan to add or update the hook. Raises ExecplanError."""
    git_query.require_repository(project)
    file, lines = _file(project), hook_lines(project)
    if file.data is None:
        change_set = managed_block.plan_install(file, [_REPOS_LINE, *lines], bytes, force=force)
    elif (block := file.block) is not None:
        header = [_REPOS_LINE] if block.lines[:1] == (_REPOS_LINE,) else []
        return managed_block.plan_install(file, header + lines, bytes, force=force)
    else:
        config = _load_config(file.data, lines)
        if any([_HOOK_ID in _hook_ids(repo) for repo in config.repos]):
            reason = "already has the hook, added by hand"
            return ChangeSet((IntegrationChange(NAME, file.path, file.data, file.data, reason),))
        change_set = managed_block.plan_install(file, lines, lambda data: _insert_hook(data, lines), force=force)
        new = change_set.changes[0].new or b""
        hook_repos = _load_config("\n".join([_REPOS_LINE, *lines]).encode("utf-8", "surrogateescape"), lines).repos
        if _try_load_config(new) != config._replace(repos=config.repos + hook_repos):
            raise _no_place_error(lines)
    return change_set._replace(warnings=(*change_set.warnings, _MACHINE_WARNING), next_commands=("pre-commit install",))


def uninstall(project: Project, *, force: bool) -> ChangeSet:
    """Plan to remove the hook, and the file if it was created for it. Raises ExecplanError."""
    return managed_block.plan_uninstall(_file(project), _remove_hook, force=force)


def config_without_hook(file: ManagedFile) -> bytes:
    """Return a configuration without the hook. Raises ExecplanError."""
    return managed_block.plan_uninstall(file, _remove_hook, force=False).changes[0].new or b""


def _file(project: Project) -> ManagedFile:
    path = os.path.join(project.root, _FILE)
    return ManagedFile(NAME, path, _FILE, read_project_file(project, path), managed_block.SHELL)


def _insert_hook(data: bytes, lines: list[str]) -> bytes:
    """Add the hook after the last item of the list. Raises ExecplanError if there is no position for it."""
    position = find_hook_position(data.decode("utf-8"))
    if position is None:
        raise _no_place_error(lines)
    if position.mode == INSTEAD:
        note = _REPLACED_PREFIX + json.dumps(data[position.start : position.end].decode("utf-8"), ensure_ascii=False)
        return managed_block.replace_line_with_block(
            data, position.start, position.end, [_REPOS_LINE, *lines], managed_block.SHELL, note
        )
    if position.mode == END:
        lines = [_REPOS_LINE, *lines]
    return managed_block.insert_block(data, position.start, lines, managed_block.SHELL, indent=position.indent)


def _remove_hook(data: bytes, block: ManagedBlock) -> bytes:
    """Remove the hook from the file; a list that began with it keeps the items added since.

    Raises ExecplanError if the file would change in any other way.
    """
    config, hook_repos = _load_config(data, []), _block_repos(block)
    expected_config = config._replace(repos=[repo for repo in config.repos if repo not in hook_repos])
    replaced_line = _replaced_line(block.note)
    candidates = [managed_block.restore_line(data, block, replaced_line)] if replaced_line else []
    candidates += [
        managed_block.remove_block(data, block, managed_block.SHELL),
        managed_block.restore_line(data, block, _REPOS_LINE),
    ]
    for candidate in candidates:
        candidate_config = _try_load_config(candidate)
        if candidate_config == expected_config or (
            block.is_edited and candidate_config
        ):  # text added to the block is removed with it
            return candidate
    raise ExecplanError(
        "would-break",
        f"{_FILE}: removing the execplan block would change the rest of the file; nothing was written",
        hint=f"remove the hook {_HOOK_ID} by hand, including the comments around it",
    )


def _replaced_line(note: str) -> str:
    """Return the line that the block replaced, or an empty string."""
    try:
        return str(json.loads(note.removeprefix(_REPLACED_PREFIX))) if note.startswith(_REPLACED_PREFIX) else ""
    except ValueError:  # someone edited the note
        return ""


def _block_repos(block: ManagedBlock) -> list[Any]:
    """Return the items that the block adds to the list."""
    lines = block.lines if block.lines[:1] == (_REPOS_LINE,) else (_REPOS_LINE, *block.lines)
    config = _try_load_config("\n".join(lines).encode("utf-8", "surrogateescape"))
    return config.repos if config else []


def _load_config(data: bytes, lines: list[str]) -> PreCommitConfig:
    try:
        return parse_config(data)
    except InvalidConfigError as error:
        raise ExecplanError(
            "bad-yaml",
            f"{_FILE}{error}",
            hint="repair the file" + (", or paste this under repos:" if lines else ""),
            candidates=lines,
        ) from None


def _try_load_config(data: bytes) -> PreCommitConfig | None:
    """Parse the file; return None if it is invalid."""
    try:
        return parse_config(data)
    except InvalidConfigError:
        return None


def _no_place_error(lines: list[str]) -> ExecplanError:
    return ExecplanError(
        "no-place",
        f"{_FILE}: the list repos is written in a form that can't be extended without changing it",
        hint="add these lines to it by hand",
        candidates=lines,
    )


def _hook_ids(repo: Any) -> list[Any]:
    """Return the IDs of the hooks in an item of `repos`."""
    hooks = repo.get("hooks") if isinstance(repo, dict) else None
    return [hook.get("id") for hook in hooks or [] if isinstance(hook, dict)] if isinstance(hooks, list) else []


def _quote_yaml(text: str) -> str:
    """Quote a text as a YAML single-quoted scalar, in which only the quote is special."""
    return "'" + text.replace("'", "''") + "'"
