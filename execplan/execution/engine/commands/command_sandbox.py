"""The sandbox of commands: bubblewrap with the machine visible and only the repository writable."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from typing import TYPE_CHECKING

from execplan.core.errors import ExecplanError
from execplan.core.files.agent_files import CONFIGURATION
from execplan.core.named_tuple import NamedTuple
from execplan.core.project.project import common_git_dir
from execplan.execution.engine.commands.command_spec import PACKAGE, CommandSpec, python_argv

if TYPE_CHECKING:
    from collections.abc import Mapping

    from execplan.core.project.project import Project
    from execplan.execution.policy import Policy

_TEMPORARY_FOLDERS = ("/tmp", "/var/tmp", "/run")  # noqa: S108 - these are what a command gets empty ones of
"""Directories that are empty when a command begins and removed when it ends."""
_PACKAGE_MOUNT = "/run/execplan"
"""Path of the execplan package in the sandbox, whose first process belongs to it."""
_CACHES = {"XDG_CACHE_HOME": "/tmp/.cache", "npm_config_cache": "/tmp/.cache/npm"}  # noqa: S108 - as above
"""Cache directories of programs that fail if they cannot write there."""
_RESOLVER = "/etc/resolv.conf"
_READ_ONLY_PROC = [f"/proc/{name}" for name in ("sys", "sysrq-trigger", "fs", "scsi", "acpi", "dynamic_debug")]
"""Kernel settings in /proc that root can change, even a root user without capabilities."""


class Sandbox(NamedTuple):
    """The sandbox settings for the commands of a project."""

    program: str
    """Path of the bwrap program."""
    can_limit_size: bool
    """Whether bwrap can limit the size of an in-memory directory; versions before 0.7 cannot."""
    project: Project
    hidden_folders: tuple[str, ...]
    """Directories of the key and the approval registry."""
    triggers: tuple[str, ...] = ()
    """Paths from which Git runs programs or reads its settings."""

    @property
    def name(self) -> str:
        """Return the name of the sandbox for journal entries."""
        return os.path.basename(self.program)

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """Return an environment with the sandbox's temporary and cache directories, unless the step sets others."""
        moved = {"TMPDIR": "/tmp"} if env.get("TMPDIR") == os.environ.get("TMPDIR") else {}  # noqa: S108 - as above
        return {**_CACHES, **env, **moved}

    def argv(self, spec: CommandSpec) -> list[str]:
        """Return the command of the sandbox's first process; its file descriptors are appended as arguments."""
        root = os.path.realpath(self.project.root)
        argv = [self.program, *_base_argv(spec.limits.memory_mb << 20 if self.can_limit_size else 0)]
        argv += ["--share-net"] if spec.network or spec.loopback else []
        argv += self._visible_options(spec)
        argv += ["--ro-bind" if spec.only_reads else "--bind", root, root]
        protected_paths = [
            path for path in self._protected_paths() if path.startswith(f"{root}/") and not spec.only_reads
        ]
        for path in _folders_between(root, protected_paths):
            argv += ["--bind", path, path]  # a mount point cannot be moved away together with its contents
        for path in protected_paths:
            argv += ["--ro-bind", path, path]
        for path in self.hidden_folders:
            if os.path.isdir(path):
                argv += ["--tmpfs", os.path.realpath(path)]
        return [
            *argv,
            "--ro-bind",
            PACKAGE,
            f"{_PACKAGE_MOUNT}/execplan",
            "--",
            *python_argv("sandbox_init", _PACKAGE_MOUNT),
        ]

    def _visible_options(self, spec: CommandSpec) -> list[str]:
        """Return the options for needed paths that are below an emptied temporary directory."""
        needed_paths = [sys.prefix, sys.base_prefix, os.path.dirname(os.path.realpath(sys.executable))]
        needed_paths += [os.path.expanduser("~"), spec.env.get("HOME", ""), spec.env.get("VIRTUAL_ENV", "")]
        needed_paths += [
            _installation_root(folder)
            for folder in [os.path.dirname(spec.argv[0]), *spec.env.get("PATH", "").split(":")]
        ]
        needed_paths += spec.readable_folders
        needed_paths += [self.project.git, common_git_dir(self.project.git)] if self.project.git else []
        needed_paths += [_RESOLVER] if spec.network else []
        argv = []
        for path in sorted({os.path.realpath(path) for path in needed_paths if path.startswith("/")}):
            argv += ["--ro-bind", path, path] if _is_in_temporary_folder(path) and os.path.exists(path) else []
        last_link = ""
        for path in sorted(set(needed_paths)):  # a link stays a link here, and its target is mounted once
            target = os.path.realpath(path)
            if (
                _is_in_temporary_folder(path)
                and target != path
                and not (last_link and path.startswith(f"{last_link}/"))
            ):
                argv += ["--symlink", target, path]
                last_link = path
        return argv

    def _protected_paths(self) -> list[str]:
        """Return the repository's paths that are reserved for Git, execplan or agent programs, outer ones first."""
        from execplan.execution.approvals import reserved_paths

        project = self.project
        paths = [os.path.join(directory, name) for directory in self._agent_directories() for name in CONFIGURATION]
        paths += [*reserved_paths.existing_tool_paths(project), *self.triggers, os.path.join(project.root, ".git")]
        paths += [project.git, common_git_dir(project.git)] if project.git else []
        return sorted({os.path.realpath(path) for path in paths if os.path.exists(path)})

    def _agent_directories(self) -> list[str]:
        """Return the directories of the repository in which people start agent programs: the root and those in it."""
        root = self.project.root
        with os.scandir(root) as entries:
            directories = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        return list(dict.fromkeys([root, self.project.base, *sorted(directories)]))


def find_sandbox(project: Project, policy: Policy) -> tuple[Sandbox | None, str]:
    """Return the sandbox that a policy requests, or the reason that there is none.

    Raises ExecplanError if a required sandbox is missing.
    """
    if policy.sandbox == "off":
        return None, "the settings disable it"
    program, why = _find_bwrap(project)
    if not why:
        why, can_limit_size = _test_bwrap(program)
        if not why:
            from execplan.execution.approvals import git_triggers, user_directories

            hidden_folders = (user_directories.config_directory(project), user_directories.state_directory(project))
            return Sandbox(
                program, can_limit_size, project, hidden_folders, git_triggers.find_triggers(project).git_paths
            ), ""
    if policy.sandbox == "required":
        raise ExecplanError(
            "sandbox-missing",
            f"the policy requires a sandbox for commands, but {why}",
            hint='install bubblewrap (Linux), or set sandbox = "auto"; see where: execplan explain policy',
        )
    return None, why


def _find_bwrap(project: Project) -> tuple[str, str]:
    """Return the path of bwrap, or the reason that there is none."""
    from shutil import which

    program = os.path.realpath(which("bwrap") or "")
    if not which("bwrap"):
        return "", "bwrap is not installed"
    if program.startswith(os.path.realpath(project.root) + "/"):
        return "", f"{program} is in the repository itself"
    return program, ""


@cache
def _test_bwrap(program: str) -> tuple[str, bool]:
    """Return why bwrap does not work here, empty if it does, and whether it can limit in-memory directories."""
    stderr_text = ""
    for size in (1 << 20, 0):
        command = [program, *_base_argv(size), "--", "true"]
        try:
            completed = subprocess.run(  # noqa: S603 - found in the user's own PATH
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False
            )
        except subprocess.TimeoutExpired as error:
            return f"bwrap does not work here: {error}", False
        except OSError as error:
            return f"bwrap does not work here: {os.strerror(error.errno or 0).lower()}", False
        if not completed.returncode:
            return "", bool(size)
        stderr_text = " ".join(completed.stderr.decode("utf-8", "replace").split())[:200]
    return f"bwrap does not work here: {stderr_text}", False


def _base_argv(size: int) -> list[str]:
    """Return the bwrap options for every command; `size` limits in-memory directories in bytes, 0 for no limit."""
    argv = "--unshare-all --die-with-parent --new-session --as-pid-1 --cap-drop ALL --ro-bind / / --dev /dev".split()
    argv += ["--proc", "/proc"]
    for path in _READ_ONLY_PROC:
        argv += ["--ro-bind", path, path] if os.path.exists(path) else []
    for folder in _TEMPORARY_FOLDERS:
        if os.path.isdir(folder) and not os.path.islink(folder):
            argv += [*(["--size", str(size)] if size else []), "--tmpfs", folder]
    return argv


def _is_in_temporary_folder(path: str) -> bool:
    return path.startswith(tuple([f"{folder}/" for folder in _TEMPORARY_FOLDERS]))


def _folders_between(root: str, paths: list[str]) -> list[str]:
    """Return the directories between the root and these paths, outer ones first."""
    folders = set()
    for path in paths:
        parent = os.path.dirname(path)
        while parent != root:
            folders.add(parent)
            parent = os.path.dirname(parent)
    return sorted(folders - set(paths))


def _installation_root(folder: str) -> str:
    """Return the installation, such as a virtual environment, that a program directory belongs to."""
    parent = os.path.dirname(folder)
    return parent if os.path.basename(folder) == "bin" and parent not in ("/", *_TEMPORARY_FOLDERS) else folder
