"""Doctor checks of agent hooks: whether agents ask the guard before each call, and run the other hooks."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from types import ModuleType
from typing import Any

from execplan.agents.integrations import capture_hooks, guard_hook, hook_file, installed_guard, session_hooks, stop_gate
from execplan.agents.integrations.hook_entry import STOP, Hook, HookEntry
from execplan.agents.integrations.hook_file import PROGRAMS, HookFile
from execplan.cli.doctor import agent_program_limits
from execplan.cli.doctor.agent_program_limits import find_claude_problem, find_codex_problem, find_unknown_claude_events
from execplan.cli.doctor.doctor_check import ERROR, WARNING, DoctorContext, DoctorFinding, check
from execplan.cli.doctor.integration_checks import NOT_INSTALLED, check_integration, make_fix
from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.text.plain_toml import parse_toml
from execplan.execution.approvals import approval_files, approval_status
from execplan.execution.approvals.approved_plan import ApprovedPlan
from execplan.execution.engine.run_records import run_statuses

_EVENTS = {"PreToolUse": "pre_tool_use", "SessionStart": "session_start", "PreCompact": "pre_compact", "Stop": "stop"}
_INSTALL = f"execplan install {guard_hook.NAME}"
_MANAGED = (
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
)
"""Managed Claude Code settings of an organization, on Linux and on macOS."""
_MAX_BYTES = 5 << 20
_EVENTS_VERSION = (2, 1)
"""First version of Claude Code that skips an unknown event, and not the whole file."""


def trust_key(path: str, entry: HookEntry) -> str:
    """Return the key of an entry in a file: its path and position."""
    return f"{path}:{_EVENTS[entry.hook.event]}:{entry.ancestors[2][1]}:{entry.ancestors[4][1]}"


def trust_digest(entry: HookEntry) -> str:
    """Return the digest that Codex stores for an unedited entry; fields that it doesn't know are not in it."""
    handler = {name: entry.bare_handler[name] for name in ("command", "timeout", "type")}
    identity = {"event_name": _EVENTS[entry.hook.event], "hooks": [{"async": False, **handler}]}
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{sha256(text.encode()).hexdigest()}"


def find_trust_problem(config: Mapping[str, Any], path: str, entry: HookEntry) -> str:
    """Return why Codex does not run an entry, by the user's settings; empty if it does."""
    hooks = config.get("hooks")
    states = hooks.get("state") if isinstance(hooks, dict) else None
    state = states.get(trust_key(path, entry)) if isinstance(states, dict) else None
    if not isinstance(state, dict) or "trusted_hash" not in state:
        return "Codex doesn't trust the hook yet"
    if state.get("enabled") is False:
        return "the hook is disabled in Codex"
    return "" if state["trusted_hash"] == trust_digest(entry) else "Codex trusts an earlier form of the hook"


@check("guard")
def check_guard(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """The guard hook is intact and up to date, and no known setting disables it."""
    project = context.project
    installed_programs = installed_guard.find_programs(project)
    for name in installed_programs:
        yield from _check_entry(project, name)
    if not installed_programs:
        yield NOT_INSTALLED
        return
    if shutil.which("execplan") is None:
        message = "execplan is not on PATH; for an agent program that can't find it either, every call is denied"
        yield DoctorFinding(
            WARNING, "", message, "add the directory of execplan to PATH, or install it with pipx or uv tool"
        )
    yield from find_disabled_hooks(project, installed_programs, ERROR, "doesn't call the guard", guard_hook.open_file)
    yield from agent_program_limits.describe_installed(installed_programs)
    if not any(
        [_has_active_approval(listed.project, listed.ref) for listed in context.plans if not listed.ref.archived]
    ):
        yield "no plan is approved, so an agent may only read: execplan approve PLAN"


def _check_entry(project: Project, program: str) -> Iterator[DoctorFinding | str]:
    """Check that a guard entry or the guard's plugin is unedited and up to date."""
    if program not in PROGRAMS:
        install = partial(guard_hook.install, project, programs=[program])
        uninstall = partial(guard_hook.uninstall, project, programs=[program])
        yield from check_integration(project, guard_hook.NAME, install, uninstall)
        return
    agent_program = PROGRAMS[program]
    try:
        file = guard_hook.open_file(project, program)
    except ExecplanError as error:
        message = f"{error.message}; {agent_program.name} can't read it either, and doesn't call the guard"
        yield DoctorFinding(ERROR, agent_program.file, message, "repair the file", line=error.line)
        return
    if not file.entries:
        yield f"added to {file.display_path} by hand"
    elif file.is_edited:
        message = "the guard entry was edited by hand; the guard may not be called before every tool call"
        yield DoctorFinding(WARNING, file.display_path, message, f"review it, then update it: {_INSTALL} --force")
    elif not file.is_current:
        command = f"{_INSTALL} --for {program}"
        fix = make_fix(
            project, partial(guard_hook.install, project, force=False, programs=[program]), f"update it: {command}"
        )
        yield DoctorFinding(WARNING, file.display_path, "the part that execplan wrote is out of date", command, fix=fix)


def find_disabled_hooks(
    project: Project,
    programs: Sequence[str],
    level: str,
    consequence: str,
    open_file: Callable[[Project, str], HookFile],
) -> Iterator[DoctorFinding]:
    """Yield findings about settings that keep programs from running the repository's hooks, and the consequence."""
    if "claude" in programs:
        yield from _find_disabled_claude_hooks(project, level, consequence)
    if "codex" in programs:
        yield from _find_disabled_codex_hooks(project, level, consequence, open_file)
    if "gemini" in programs:
        yield from _find_disabled_gemini_hooks(project, level, consequence)


def _find_disabled_claude_hooks(project: Project, level: str, consequence: str) -> Iterator[DoctorFinding]:
    user_folder = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
    repository_file = os.path.join(project.root, PROGRAMS["claude"].file)
    local_file = os.path.join(project.root, ".claude", "settings.local.json")
    for path in (repository_file, local_file, os.path.join(user_folder, "settings.json"), *_MANAGED):
        document = _read_json(path)
        for key in ("disableAllHooks", *(["allowManagedHooksOnly"] if path in _MANAGED else [])):
            if document.get(key) is True:
                message = f"{key} disables the hooks of this repository, so Claude Code {consequence}"
                yield DoctorFinding(level, project.display_path(path), message, f"remove {key} from it")
    settings, display_path = _read_json(repository_file), project.display_path(repository_file)
    remedy = "correct it; `/hooks` in Claude Code shows which hooks it has read"
    if bad_entry := find_claude_problem(settings):
        message = f"{bad_entry} is malformed, so Claude Code ignores the whole file and {consequence}"
        yield DoctorFinding(level, display_path, message, remedy)
    elif events := find_unknown_claude_events(settings):
        version = agent_program_limits.find_version("claude")
        if version is None or version < _EVENTS_VERSION:
            message = (
                f"{events[0]} is unknown to Claude Code before 2.1, which ignores the whole file and {consequence}"
            )
            yield DoctorFinding(
                WARNING if version is None else level, display_path, message, "update Claude Code, or remove the event"
            )


def _find_disabled_codex_hooks(
    project: Project, level: str, consequence: str, open_file: Callable[[Project, str], HookFile]
) -> Iterator[DoctorFinding]:
    user_file = os.path.join(os.environ.get("CODEX_HOME") or os.path.expanduser("~/.codex"), "config.toml")
    for path in (os.path.join(project.root, ".codex", "config.toml"), user_file):
        features = _subtable(_read_toml(path), "features")
        if features.get("hooks", features.get("codex_hooks")) is False:
            message = f"this file disables hooks ([features] hooks = false), so Codex {consequence}"
            yield DoctorFinding(level, project.display_path(path), message, "remove that line from it")
    trust_level = _subtable(_subtable(_read_toml(user_file), "projects"), project.root).get("trust_level")
    if os.path.isdir(os.path.dirname(user_file)) and trust_level != "trusted":
        message = f"Codex doesn't trust this repository, so it runs none of its hooks and {consequence}"
        remedy = "start codex in it and trust it when asked; then also trust the hook: /hooks"
        yield DoctorFinding(WARNING, PROGRAMS["codex"].file, message, remedy)
        return
    hook_path = os.path.join(project.root, PROGRAMS["codex"].file)
    if problem := find_codex_problem(_read_bytes(hook_path).decode("utf-8", "replace")):
        message = f"{problem}, so Codex ignores the whole file and {consequence}"
        yield DoctorFinding(
            level, PROGRAMS["codex"].file, message, "correct it; `/hooks` in Codex shows which hooks it has read"
        )
    elif os.path.isdir(os.path.dirname(user_file)):
        with suppress(ExecplanError):  # a file that can't be read is reported by another check
            yield from _find_untrusted_entries(open_file(project, "codex"), _read_toml(user_file), consequence)


def _find_disabled_gemini_hooks(project: Project, level: str, consequence: str) -> Iterator[DoctorFinding]:
    file = PROGRAMS["gemini"].file
    for path in (os.path.join(project.root, file), os.path.expanduser(f"~/{file}")):
        if _subtable(_read_json(path), "hooksConfig").get("enabled") is False:
            message = f"hooksConfig.enabled disables all hooks, so Gemini CLI {consequence}"
            yield DoctorFinding(level, project.display_path(path), message, "remove it from the file")
        elif _subtable(_read_json(path), "hooksConfig").get("disabled"):
            message = f"hooksConfig.disabled names hooks; if it names this one, Gemini CLI {consequence}"
            yield DoctorFinding(WARNING, project.display_path(path), message, "check it: /hooks in Gemini CLI")


def _find_untrusted_entries(file: HookFile, config: dict[str, Any], consequence: str) -> Iterator[DoctorFinding]:
    for entry in file.entries if file.is_current else ():
        if problem := find_trust_problem(config, file.path, entry):
            message = f"{problem}, so it ignores the hook silently and {consequence}"
            yield DoctorFinding(WARNING, file.display_path, message, "start codex here, and trust the hook: /hooks")


def _has_active_approval(project: Project, ref: PlanRef) -> bool:
    """Return whether a plan has a valid approval or an active run."""
    if not approval_files.read_all(project, ref):
        return False
    run = run_statuses.find_last_run(project, ref)
    is_active = run is not None and run.state in (
        run_statuses.RUNNING,
        run_statuses.BY_AGENT,
        run_statuses.WAITING,
        run_statuses.CUT_SHORT,
    )
    return is_active or isinstance(approval_status.find_status(project, ref, with_programs=False), ApprovedPlan)


def _read_bytes(path: str) -> bytes:
    try:
        with open(file_access.open_regular(path), "rb") as file:
            return file.read(_MAX_BYTES)
    except OSError:
        return b""


def _read_json(path: str) -> dict[str, Any]:
    """Return the content of a JSON settings file, or an empty dictionary if it can't be read."""
    try:
        document = json.loads(_read_bytes(path) or b"{}")
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _read_toml(path: str) -> dict[str, Any]:
    """Return the content of a TOML settings file, or an empty dictionary if it can't be read."""
    try:
        return parse_toml(_read_bytes(path))
    except (ValueError, RecursionError):
        return {}


def _subtable(table: dict[str, Any], key: str) -> dict[str, Any]:
    subtable = table.get(key)
    return subtable if isinstance(subtable, dict) else {}


@check("session-hooks")
def check_session_hooks(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """The session hooks are intact and up to date, and no known setting disables them."""
    consequence = "doesn't give sessions an overview of the plan"
    yield from _check_optional_hooks(context, session_hooks, session_hooks.ALL_HOOKS, consequence)


@check("stop-gate")
def check_stop_gate(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """The hook of the stop gate is intact and up to date, and no known setting disables it."""
    yield from _check_optional_hooks(context, stop_gate, [STOP], "lets every session end")


@check("capture")
def check_capture_hooks(context: DoctorContext) -> Iterator[DoctorFinding | str]:
    """The hooks that capture plans are intact and up to date, and no known setting disables them."""
    yield from _check_optional_hooks(context, capture_hooks, capture_hooks.ALL_HOOKS, "captures no plans")


def _check_optional_hooks(
    context: DoctorContext, integration: ModuleType, hooks: Sequence[Hook], consequence: str
) -> Iterator[DoctorFinding | str]:
    """Check hooks without which sessions go on."""
    project = context.project
    installed_programs = [name for name in hook_file.PROGRAMS if hook_file.has_mark(project, name, hooks, {})]
    if not installed_programs:
        yield NOT_INSTALLED
        return
    install = partial(integration.install, project, programs=installed_programs)
    uninstall = partial(integration.uninstall, project, programs=installed_programs)
    yield from check_integration(project, integration.NAME, install, uninstall)
    if shutil.which("execplan") is None:
        remedy = "add the directory of execplan to PATH, or install it with pipx or uv tool"
        yield DoctorFinding(WARNING, "", integration.NOT_ON_PATH_WARNING, remedy)
    yield from find_disabled_hooks(project, installed_programs, WARNING, consequence, integration.open_file)
