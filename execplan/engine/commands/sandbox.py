"""The sandbox of commands: bubblewrap, in which they see the machine and change nothing but the repository."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache

from execplan.engine.commands.order import PACKAGE, Order, python
from execplan.errors import ENVIRONMENT, ExecplanError
from execplan.record import NamedTuple
from execplan.repo.home import common

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from execplan.execution.policy import Policy
    from execplan.repo.home import Home

_FRESH = ("/tmp", "/var/tmp", "/run")  # noqa: S108 - these are what a command gets empty ones of
"""Folders that are empty when a command begins, and gone when it has ended."""
_PLACE = "/run/execplan"
"""Where the sandbox has the package, of which its first process is a part."""
_CACHES = {"XDG_CACHE_HOME": "/tmp/.cache", "npm_config_cache": "/tmp/.cache/npm"}  # noqa: S108 - as above
"""Where programs keep what they could make anew: they fail where they can't write there."""
_RESOLVER = "/etc/resolv.conf"
_MACHINE = [f"/proc/{name}" for name in ("sys", "sysrq-trigger", "fs", "scsi", "acpi", "dynamic_debug")]
"""What of the kernel root can set there, also a root without any rights."""


class Sandbox(NamedTuple):
    """How commands of a home are kept in."""

    program: str
    """The path of bwrap."""
    sized: bool
    """Whether it can limit what is written to a folder in memory; versions before 0.7 can't."""
    home: Home
    hidden: tuple[str, ...]
    """The folders of the key and of the register of approvals."""
    triggers: tuple[str, ...] = ()
    """What of the tree git runs by itself, or takes its settings from."""

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """An environment with folders for passing things where the sandbox has them, unless its step names others."""
        moved = {"TMPDIR": "/tmp"} if env.get("TMPDIR") == os.environ.get("TMPDIR") else {}  # noqa: S108 - as above
        return {**_CACHES, **env, **moved}

    def argv(self, order: Order) -> list[str]:
        """What runs the first process of the sandbox; the descriptors that it is to use come behind."""
        root = os.path.realpath(self.home.root)
        argv = [self.program, *_base(order.limits.memory_mb << 20 if self.sized else 0)]
        argv += ["--share-net"] if order.network else []
        argv += self._visible(order)
        argv += ["--bind", root, root]
        guarded = [path for path in self._guarded() if path.startswith(f"{root}/")]
        for path in _between(root, guarded):
            argv += ["--bind", path, path]  # what is mounted can't be moved away with what is in it
        for path in guarded:
            argv += ["--ro-bind", path, path]
        for path in self.hidden:
            if os.path.isdir(path):
                argv += ["--tmpfs", os.path.realpath(path)]
        return [*argv, "--ro-bind", PACKAGE, f"{_PLACE}/execplan", "--", *python("inner", _PLACE)]

    def _visible(self, order: Order) -> list[str]:
        """Options for what lies in a folder that is a fresh one, and is needed nevertheless."""
        wanted = [sys.prefix, sys.base_prefix, os.path.dirname(os.path.realpath(sys.executable))]
        wanted += [os.path.expanduser("~"), order.env.get("HOME", ""), order.env.get("VIRTUAL_ENV", "")]
        wanted += [_tree(folder) for folder in [os.path.dirname(order.argv[0]), *order.env.get("PATH", "").split(":")]]
        wanted += order.needs
        wanted += [self.home.git, common(self.home.git)] if self.home.git else []
        wanted += [_RESOLVER] if order.network else []
        argv = []
        for path in sorted({os.path.realpath(path) for path in wanted if path.startswith("/")}):
            argv += ["--ro-bind", path, path] if _is_fresh(path) and os.path.exists(path) else []
        made = ""
        for path in sorted(set(wanted)):  # what is a link there is one here, and what lies behind it is there once
            target = os.path.realpath(path)
            if _is_fresh(path) and target != path and not (made and path.startswith(f"{made}/")):
                argv += ["--symlink", target, path]
                made = path
        return argv

    def _guarded(self) -> list[str]:
        """What of the repository is git's or the tool's own; outer ones first."""
        from execplan.repo.execution import protected

        home = self.home
        own = [*protected.kept(home), *self.triggers, os.path.join(home.root, ".git")]
        own += [home.git, common(home.git)] if home.git else []
        return sorted({os.path.realpath(path) for path in own if os.path.exists(path)})


def find(home: Home, policy: Policy) -> tuple[Sandbox | None, str]:
    """The sandbox that a policy asks for, or why there is none; raises ExecplanError where there must be one."""
    if policy.sandbox == "off":
        return None, "the settings switch it off"
    program, why = _program(home)
    if not why:
        why, sized = _trial(program)
        if not why:
            from execplan.repo.execution import private, triggers

            hidden = (private.config(home), private.state(home))
            return Sandbox(program, sized, home, hidden, triggers.triggers(home).own), ""
    if policy.sandbox == "required":
        raise ExecplanError(
            "sandbox-missing",
            f"the policy wants commands to run in a sandbox, and {why}",
            exit=ENVIRONMENT,
            hint='install bubblewrap (Linux), or set sandbox = "auto"; execplan explain policy says where',
        )
    return None, why


def _program(home: Home) -> tuple[str, str]:
    """The path of bwrap, or why there is none."""
    from shutil import which

    program = os.path.realpath(which("bwrap") or "")
    if not which("bwrap"):
        return "", "bwrap is not installed"
    if program.startswith(os.path.realpath(home.root) + "/"):
        return "", f"{program} lies in the repository itself"
    return program, ""


@cache
def _trial(program: str) -> tuple[str, bool]:
    """Why bwrap does not work here, or nothing, and whether it can limit folders in memory."""
    words = ""
    for size in (1 << 20, 0):
        command = [program, *_base(size), "--", "true"]
        try:
            done = subprocess.run(  # noqa: S603 - found in the user's own PATH
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"bwrap does not work here: {error}", False
        if not done.returncode:
            return "", bool(size)
        words = " ".join(done.stderr.decode("utf-8", "replace").split())[:200]
    return f"bwrap does not work here: {words}", False


def _base(size: int) -> list[str]:
    """What holds for every command; folders in memory of at most so many bytes, 0 for any."""
    argv = "--unshare-all --die-with-parent --new-session --as-pid-1 --cap-drop ALL --ro-bind / / --dev /dev".split()
    argv += ["--proc", "/proc"]
    for path in _MACHINE:
        argv += ["--ro-bind", path, path] if os.path.exists(path) else []
    for folder in _FRESH:
        if os.path.isdir(folder) and not os.path.islink(folder):
            argv += [*(["--size", str(size)] if size else []), "--tmpfs", folder]
    return argv


def _is_fresh(path: str) -> bool:
    return path.startswith(tuple([f"{each}/" for each in _FRESH]))


def _between(root: str, paths: list[str]) -> list[str]:
    """The folders between the root and these paths, outer ones first."""
    found = set()
    for path in paths:
        above = os.path.dirname(path)
        while above != root:
            found.add(above)
            above = os.path.dirname(above)
    return sorted(found - set(paths))


def _tree(folder: str) -> str:
    """The folder of a whole installation that a folder of programs belongs to, such as a virtual environment."""
    above = os.path.dirname(folder)
    return above if os.path.basename(folder) == "bin" and above not in ("/", *_FRESH) else folder
