"""The key that signs approvals: 32 random bytes in the user's config directory, readable only by the user."""

from __future__ import annotations

import os
import stat

from execplan.core import trace
from execplan.core.errors import ExecplanError
from execplan.core.files.file_access import NO_FOLLOW, NotRegularError, file_error, is_own, open_regular
from execplan.execution.approvals import user_directories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.core.project.project import Project

_FILE_NAME = "key"
_KEY_BYTES = 32


def path(project: Project) -> str:
    """Return the path of the key, existing or not. Raises ExecplanError if it would be in the repository."""
    return os.path.join(user_directories.config_directory(project), _FILE_NAME)


def read(project: Project) -> bytes | None:
    """Read the key of approvals; None before the first approval.

    Raises ExecplanError if others can read the key or it is not a valid key.
    """
    key_path = path(project)
    trace.log(f"read {key_path}")
    try:
        descriptor = open_regular(key_path, os.O_RDONLY | NO_FOLLOW)
    except FileNotFoundError:
        return None
    except NotRegularError:
        raise _unsafe_key_error(
            key_path, "is not a regular file", "remove it; execplan then creates a new key"
        ) from None
    except OSError as error:
        if os.path.islink(key_path):
            raise _unsafe_key_error(
                key_path,
                "is a symbolic link",
                "replace it with the file itself, or remove it; execplan then creates a new key",
            ) from None
        raise file_error(error, key_path, "read") from None
    try:
        status = os.fstat(descriptor)
        if not is_own(status):
            raise _unsafe_key_error(
                key_path, f"belongs to another user (uid {status.st_uid})", "remove it; execplan then creates a new key"
            )
        if status.st_mode & 0o077:
            reason = f"can be read or written by others (mode {stat.S_IMODE(status.st_mode):o})"
            raise _unsafe_key_error(
                key_path, reason, f"if nobody has read it: chmod 600 {key_path}; otherwise remove it and approve again"
            )
        data = os.read(descriptor, _KEY_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(data) != _KEY_BYTES:
        message = f"{key_path} is not a key: it has {len(data) if len(data) < _KEY_BYTES else 'more than 32'} bytes, not {_KEY_BYTES}"
        raise ExecplanError("bad-key", message, hint="remove it and approve again; execplan then creates a new key")
    return data


def get_or_create(project: Project) -> bytes:
    """Return the key of approvals; create it if there is none.

    Concurrent callers get the same key. Raises ExecplanError.
    """
    key_path = path(project)
    existing_key = read(project)
    if existing_key is not None:
        return existing_key
    from execplan.core.files import atomic_files
    from execplan.execution.approvals import approval_registry

    with approval_registry.lock(project):
        atomic_files.create(key_path, os.urandom(_KEY_BYTES), mode=0o600, make_directories=True)
    existing_key = read(project)
    if existing_key is None:
        raise ExecplanError("bad-key", f"{key_path} was removed while it was being created", hint="try again")
    return existing_key


def _unsafe_key_error(key_path: str, reason: str, hint: str) -> ExecplanError:
    return ExecplanError("unsafe-key", f"key {key_path} {reason}", hint=hint)
