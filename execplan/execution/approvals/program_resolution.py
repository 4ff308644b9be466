"""Resolution of program names on this machine, and detection of scripts."""

from __future__ import annotations

import os

from execplan.core.files.file_access import open_regular
from execplan.core.text.text_lines import sha256_constructor
from execplan.execution.world import Program

_MAX_SHEBANG_BYTES = 256
"""Number of bytes of a script's first line that the kernel reads."""
_MAX_CODE_BYTES = 16 << 20
"""Size limit in bytes for a file with code that an approval binds: it is read again after each step."""


def find_program(root: str, name: str, cwd: str, path: str, first_directory: str) -> Program:
    """Find the program for a name in a working directory relative to the root, as it would be passed to execve(2)."""
    if "/" in name:
        candidate = os.path.join(root, cwd, name)
        return describe_program(root, candidate) if _is_executable(candidate) else Program()
    search_path = (path or os.environ.get("PATH", os.defpath)).split(os.pathsep)
    for directory in [os.path.join(root, first_directory), *search_path] if first_directory else search_path:
        candidate = os.path.join(root, cwd, directory, name)
        if _is_executable(candidate):
            return describe_program(root, candidate)
    return Program()


def script_interpreter(path: str) -> str:
    """Return the program in a script's first line, skipping `env`; empty if the file is not a script."""
    try:
        with open(open_regular(path), "rb") as file:
            line = file.read(_MAX_SHEBANG_BYTES).partition(b"\n")[0]
    except OSError:
        return ""
    args = os.fsdecode(line[2:]).split() if line.startswith(b"#!") else []
    if args and os.path.basename(args[0]) == "env":
        args = [arg for arg in args[1:] if not arg.startswith("-") and "=" not in arg]
    return args[0] if args else ""


def find_code_file(root: str, path: str) -> Program:
    """Find a file that a program reads as code; the path counts from the root. Large files get no digest."""
    code_path = os.path.join(root, path)
    try:
        size = os.stat(code_path).st_size if os.path.isfile(code_path) else -1
    except (OSError, ValueError):
        size = -1
    if size < 0:
        return Program()
    return describe_program(root, code_path, is_hashed=size <= _MAX_CODE_BYTES)


def describe_program(root: str, program_path: str, *, with_digest: bool = False, is_hashed: bool = True) -> Program:
    """Return the location of a program, with its digest if it is in the repository or if that is requested."""
    path, real_path, real_root = os.path.normpath(program_path), os.path.realpath(program_path), os.path.realpath(root)
    real_relative = _relative_path(real_path, real_root)
    is_hashed = is_hashed and (with_digest or not real_relative.startswith("/"))
    sha256 = _file_digest(real_path) if is_hashed else ""
    return Program(_relative_path(_relative_path(path, real_root), os.path.normpath(root)), real_relative, sha256)


def _relative_path(path: str, root: str) -> str:
    return path.removeprefix(f"{root.rstrip('/')}/")


def _file_digest(path: str) -> str:
    """Return the SHA-256 of a file; empty if it can be run but not read."""
    sha256 = sha256_constructor()()
    try:
        with open(open_regular(path), "rb", buffering=0) as file:
            while chunk := file.read(1 << 20):
                sha256.update(chunk)
    except OSError:
        return ""
    return str(sha256.hexdigest())


def _is_executable(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)
