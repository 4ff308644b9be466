"""What a job of a workflow installs before its steps, as far as their programs and the repository's files tell."""

from __future__ import annotations

import os
from shlex import join
from typing import Any, Final

from execplan.core.named_tuple import NamedTuple
from execplan.core.project.project import Project
from execplan.execution.approvals.disk_world import DiskWorld
from execplan.execution.execution_plan import Step
from execplan.execution.program_lookup import resolve_step_programs
from execplan.execution.shell.command_line import parse_command
from execplan.execution.shell.shell_parser import BUILTINS
from execplan.execution.world import Program


class _Language(NamedTuple):
    """A language that an action sets up."""

    action: str
    programs: frozenset[str]
    version_files: dict[str, str]
    """Files that say which version, each with the setting of the action that names it."""
    default: dict[str, str] | None
    """Settings without such a file; None if the version can't be known then."""
    commands: tuple[str, ...] = ()
    settings: dict[str, str] = {}  # noqa: RUF012 - never changed
    """Further settings of the action."""


_LANGUAGES: Final = (
    _Language(
        "actions/setup-python@v5",
        frozenset("python python3 pip pip3 pytest tox nox ruff mypy black".split()),
        {".python-version": "python-version-file"},
        {},  # execplan runs with Python, so it is there
    ),
    _Language(
        "actions/setup-node@v4",
        frozenset("node npm npx corepack yarn pnpm".split()),
        dict.fromkeys((".nvmrc", ".node-version"), "node-version-file"),
        {"node-version": "lts/*"},
        ("corepack enable",),
    ),
    _Language(
        "actions/setup-go@v5", frozenset(("go", "gofmt")), {"go.mod": "go-version-file"}, {"go-version": "stable"}
    ),
    _Language("astral-sh/setup-uv@v5", frozenset(("uv", "uvx")), {}, {}),
    _Language(
        "actions/setup-java@v4",
        frozenset("java javac jar mvn gradle".split()),
        {".java-version": "java-version-file"},
        None,
        settings={"distribution": "temurin"},
    ),
    _Language("ruby/setup-ruby@v1", frozenset("ruby bundle gem rake".split()), {".ruby-version": "ruby-version"}, None),
    _Language("actions/setup-dotnet@v4", frozenset(("dotnet",)), {"global.json": "global-json-file"}, None),
)
_ON_RUNNER: Final = frozenset(
    (
        "[ awk base64 basename bash bunzip2 bzip2 cargo cat cc chgrp chmod chown clang cmake cmp comm cp curl cut dash date dd df "
        "diff dirname docker du echo egrep env expand expr false fgrep file find fold g++ gcc gh git grep gunzip gzip head "
        "hostname id install join jq kill less ln ls make md5sum mkdir mkfifo mktemp mv nice nl nohup openssl paste patch "
        "perl php pipx printenv printf ps pwd readlink realpath rm rmdir rsync rustc rustup sed seq sh sha256sum shellcheck "
        "shuf sleep sort split ssh stat sudo sync tail tar tee test time timeout touch tr true truncate tsort tty uname "
        "unexpand uniq unxz unzip wc wget which xargs xz yes yq zip zsh"
    ).split()
)
"""Programs of GitHub's own machines with Ubuntu, besides those of languages."""


class JobSetup(NamedTuple):
    """What a job installs, and what must be there."""

    steps: tuple[dict[str, Any], ...] = ()
    """Steps of a workflow of GitHub."""
    unknown: tuple[str, ...] = ()
    """Programs that nothing installs, and that the machine may not have."""


def find_setup(project: Project, steps: tuple[Step, ...]) -> JobSetup:
    """Return what the programs of some steps need. Raises ExecplanError if a disk fails."""
    resolved: dict[str, Program] = {}
    for step in steps:
        resolve_step_programs(step, DiskWorld(project), resolved)
    names = {
        os.path.basename(key.partition(" (")[0])
        for key, program in resolved.items()
        if not program.is_in_repository and " (read by " not in key
    }
    names = names.union(*map(_wrapping_programs, steps)) - BUILTINS
    setup_steps: list[dict[str, Any]] = []
    unknown = set(names) - _ON_RUNNER
    for language in _LANGUAGES:
        used = names & language.programs
        settings = _find_settings(project, language)
        if not used or settings is None:
            continue
        unknown -= used
        if settings or language.default is None or not language.version_files:
            with_settings = {"with": {**language.settings, **settings}} if language.settings or settings else {}
            setup_steps.append({"uses": language.action, **with_settings})
        setup_steps += [{"run": command} for command in language.commands if used & {"yarn", "pnpm"}]
    return JobSetup(tuple(setup_steps), tuple(sorted(unknown)))


def _wrapping_programs(step: Step) -> set[str]:
    """Return the programs that only start others, such as `uv` and `python3` in `uv run pytest` and `python3 -m pytest`."""
    text = step.command if step.shell is not None else join(step.argv or ())
    wrappers = [wrapper for command in parse_command(text or "").simple_commands for wrapper in command.via]
    return {wrapper.split()[0] for wrapper in wrappers if wrapper[:1].isalpha()}


def _find_settings(project: Project, language: _Language) -> dict[str, str] | None:
    """Return the settings for the version of a language, or None if it can't be known."""
    for name, setting in language.version_files.items():
        if os.path.isfile(os.path.join(project.root, name)):
            return {setting: name}
    return language.default
