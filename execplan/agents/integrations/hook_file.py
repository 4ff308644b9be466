"""Hook files of agent programs, and the planned changes to execplan's entries in them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from execplan.agents.integrations import hook_entry
from execplan.agents.integrations.hook_entry import MARK_FIELD, Hook, HookEntry
from execplan.agents.integrations.integration_changes import (
    ALREADY_INSTALLED,
    EDITED_BY_HAND,
    ChangeSet,
    IntegrationChange,
    count_missing_directories,
    read_project_file,
)
from execplan.agents.integrations.json_edits import InvalidJsonError
from execplan.core.errors import ExecplanError, usage_error
from execplan.core.named_tuple import NamedTuple
from execplan.core.project.project import Project

DesiredHook = tuple[Hook, dict[str, Any]]
"""A hook with the current content of its entry."""
PendingFiles = Mapping[str, bytes | None]
"""Pending content of files by path, after the changes planned before: two integrations may share a file."""


class AgentProgram(NamedTuple):
    """An agent program and the location of its hooks."""

    name: str
    file: str
    """Path of the hook file from the repository root."""
    trust_warning: str = ""
    """What a user must do before the program runs the hooks of a repository; empty if it asks."""
    knows_command: bool = False
    """Whether it trusts or knows a hook by its command, which the mark should then not change."""
    ticks: int = 1
    """Number of units in a second, in the timeouts of its hooks."""


PROGRAMS = {
    "claude": AgentProgram("Claude Code", ".claude/settings.json"),
    "codex": AgentProgram(
        "Codex",
        ".codex/hooks.json",
        "Codex runs a repository's hook only if you trust both the directory (when it asks) and the hook (with /hooks)",
        knows_command=True,
    ),
    "gemini": AgentProgram(
        "Gemini CLI",
        ".gemini/settings.json",
        "Gemini CLI runs a repository's hook only if you trust the directory (when it asks)",
        knows_command=True,
        ticks=1000,
    ),
}
"""Agent programs by their names in `--for` and `--program`."""
NO_PENDING_FILES: PendingFiles = MappingProxyType({})


class HookFile(NamedTuple):
    """The hook file of a program, with execplan's entries in it."""

    integration: str
    """Name of the integration that uses the file."""
    path: str
    display_path: str
    data: bytes | None
    text: str
    desired_hooks: tuple[DesiredHook, ...]
    """Hooks in the order of installation, without those that someone added by hand."""
    entries: tuple[HookEntry, ...]

    @property
    def is_edited(self) -> bool:
        """Whether someone edited an entry or duplicated one."""
        hooks = [entry.hook for entry in self.entries]
        return len(hooks) > len(set(hooks)) or any([entry.is_edited for entry in self.entries])

    @property
    def is_current(self) -> bool:
        """Whether the entries are the same as a new installation would add."""
        return self.is_in_place and [(entry.hook, entry.bare_handler) for entry in self.entries] == list(
            self.desired_hooks
        )

    @property
    def is_in_place(self) -> bool:
        """Whether the entries are unedited and where a new installation would add them."""
        return not self.is_edited and all([entry.is_in_place for entry in self.entries])


class HookIntegration(NamedTuple):
    """An integration that adds hooks to the hook files of agent programs."""

    name: str
    hooks: Sequence[Hook]
    """Hooks of all programs."""
    make_hooks: Callable[[str], Sequence[DesiredHook]]
    """Returns the hooks of a program; none if the integration has none for it."""
    change_warnings: tuple[str, ...]
    """Warnings when an entry is added or updated."""
    not_on_path_warning: str
    """Warning when execplan is not on PATH."""

    def install(
        self, project: Project, *, force: bool, programs: Sequence[str] = (), ahead: PendingFiles = NO_PENDING_FILES
    ) -> ChangeSet:
        """Plan to add or update the hooks of programs; by default, of Claude Code and the programs used here.

        Raises ExecplanError.
        """
        for name in programs:
            if not self.make_hooks(name):
                supported = [name for name in PROGRAMS if self.make_hooks(name)]
                raise usage_error(f"{self.name} has no hook for {name}", f"it has one for {' and '.join(supported)}")
        selected = programs or [
            name for name in PROGRAMS if name == "claude" or (_is_program_used(project, name) and self.make_hooks(name))
        ]
        change_sets = [_plan_file_install(self.open_file(project, name, ahead), force=force) for name in selected]
        changes = tuple([change for change_set in change_sets for change in change_set.changes])
        warnings = [warning for change_set in change_sets for warning in change_set.warnings]
        if any([change.action != "kept" for change in changes]):
            trust_warnings = [PROGRAMS[name].trust_warning for name in selected]
            warnings += [*self.change_warnings, *filter(None, trust_warnings)]
        if shutil.which("execplan") is None:
            warnings.append(self.not_on_path_warning)
        return ChangeSet(changes, tuple(warnings))

    def uninstall(
        self, project: Project, *, force: bool, programs: Sequence[str] = (), ahead: PendingFiles = NO_PENDING_FILES
    ) -> ChangeSet:
        """Plan to remove the hooks of programs; by default, of all. Raises ExecplanError.

        A file without a mark is not parsed as JSON.
        """
        selected = [name for name in programs if name in PROGRAMS] or list(PROGRAMS)
        marked_programs = [name for name in selected if has_mark(project, name, self.hooks, ahead)]
        if not marked_programs:
            path = hook_file_path(project, selected[0])
            return ChangeSet((IntegrationChange(self.name, path, None, None, "not installed"),))
        files = [self.open_file(project, name, ahead) for name in marked_programs]
        return ChangeSet(tuple([_plan_file_uninstall(file, force=force) for file in files]))

    def open_file(self, project: Project, program: str, ahead: PendingFiles = NO_PENDING_FILES) -> HookFile:
        """Open the hook file of a program in its current or pending state. Raises ExecplanError."""
        display_path, path = PROGRAMS[program].file, hook_file_path(project, program)
        data, desired_hooks = _read_pending(project, path, ahead), self.make_hooks(program)
        try:
            text = (data or b"").decode("utf-8")
            existing_entries = [entry for hook, _ in desired_hooks for entry in hook_entry.find_entries(text, hook)]
            existing_hooks = [entry.hook for entry in existing_entries]
            managed_hooks = [
                desired_hook
                for desired_hook in desired_hooks
                if desired_hook[0] in existing_hooks or not hook_entry.is_installed_by_hand(text, desired_hook[0])
            ]
            return HookFile(self.name, path, display_path, data, text, tuple(managed_hooks), tuple(existing_entries))
        except UnicodeDecodeError as error:
            raise _bad_json_error(f"{display_path}: byte {error.start} is not UTF-8") from None
        except InvalidJsonError as error:
            raise _bad_json_error(f"{display_path}{error}") from None


def command_handler(program: str, line: str, seconds: int) -> dict[str, Any]:
    """Return a hook entry of a program that runs a shell command, for at most this time."""
    mark_field = {MARK_FIELD: ""} if PROGRAMS[program].knows_command else {}
    return {"type": "command", "command": line, "timeout": seconds * PROGRAMS[program].ticks, **mark_field}


def hook_file_path(project: Project, program: str) -> str:
    """Return the path of a program's hook file, whether or not it exists."""
    return os.path.join(project.root, PROGRAMS[program].file)


def has_mark(project: Project, program: str, hooks: Sequence[Hook], ahead: PendingFiles) -> bool:
    """Check whether a program's hook file contains the mark of a hook. Raises ExecplanError."""
    data = _read_pending(project, hook_file_path(project, program), ahead) or b""
    return any([hook.mark.encode() in data for hook in hooks])


def _read_pending(project: Project, path: str, ahead: PendingFiles) -> bytes | None:
    return ahead[path] if path in ahead else read_project_file(project, path)


def _is_program_used(project: Project, program: str) -> bool:
    return os.path.isdir(os.path.dirname(hook_file_path(project, program)))


def _plan_file_install(file: HookFile, *, force: bool) -> ChangeSet:
    if file.is_edited and not force:
        warning = (
            f"{file.display_path}: the execplan entry was edited by hand and is kept; "
            f"to update it: execplan install {file.integration} --force"
        )
        return ChangeSet((_unchanged(file, EDITED_BY_HAND),), (warning,))
    if not file.desired_hooks:
        return ChangeSet((_unchanged(file, "already has the hook, added by hand"),))
    if file.is_current:
        return ChangeSet((_unchanged(file, ALREADY_INSTALLED),))
    try:
        return ChangeSet((_file_change(file, _text_with_entries(file)),))
    except InvalidJsonError as error:
        raise _bad_json_error(f"{file.display_path}{error}") from None


def _text_with_entries(file: HookFile) -> str:
    """Return the text of a file with up-to-date entries."""
    text, created_directories = file.text, None
    if file.data is None:
        created_directories = count_missing_directories(os.path.realpath(file.path))
    elif file.is_in_place and [entry.hook for entry in file.entries] == [hook for hook, _ in file.desired_hooks]:
        for hook, bare_handler in file.desired_hooks:
            text = hook_entry.update_entry(text, hook_entry.find_entries(text, hook)[0], bare_handler)
        return text
    else:
        text, created_directories = _text_without_entries(file)
    created_directories = created_directories if not text else None
    for hook, bare_handler in file.desired_hooks:
        text, created_directories = hook_entry.add_entry(text, hook, bare_handler, created_directories), None
    return text


def _plan_file_uninstall(file: HookFile, *, force: bool) -> IntegrationChange:
    if not file.entries:
        return _unchanged(file, "not installed: no hook has the mark")
    if file.is_edited and not force:
        raise ExecplanError(
            "edited-block",
            f"{file.display_path}: the execplan entry was edited by hand; nothing was written",
            hint=f"move what you want to keep elsewhere, then: execplan uninstall {file.integration} --force",
        )
    remaining_text, created_directories = _text_without_entries(file)
    if remaining_text or created_directories is None:
        return _file_change(file, remaining_text)
    return _file_change(file, None, created_directories)


def _text_without_entries(file: HookFile) -> tuple[str, int | None]:
    """Remove the entries from the text of a file, in reverse order of installation.

    The second value is the number of directories created with the file; None if it was not created.
    """
    text, directory_counts = (
        file.text,
        [entry.created_directories for entry in file.entries if entry.created_directories is not None],
    )
    for hook in dict.fromkeys([entry.hook for entry in reversed(file.entries)]):
        while matching_entries := hook_entry.find_entries(text, hook):
            text = hook_entry.remove_entry(text, matching_entries[0])
    return hook_entry.transfer_note(text, [entry.note for entry in file.entries]), max(directory_counts, default=None)


def _file_change(file: HookFile, text: str | None, created_directories: int = 0) -> IntegrationChange:
    new = text.encode("utf-8") if text is not None else None
    return IntegrationChange(file.integration, file.path, file.data, new, created_directories=created_directories)


def _unchanged(file: HookFile, reason: str) -> IntegrationChange:
    return IntegrationChange(file.integration, file.path, file.data, file.data, reason)


def _bad_json_error(message: str) -> ExecplanError:
    hint = "repair the file and try again; until then, the program may ignore the file and all its hooks"
    return ExecplanError("bad-json", message, hint=hint)
