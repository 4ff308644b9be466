"""The key that seals approvals: 32 random bytes in the user's settings folder, for the user's eyes only."""

from __future__ import annotations

import os
import stat

from execplan import trace
from execplan.errors import INPUT, POLICY, ExecplanError
from execplan.repo.execution import private, register
from execplan.text.disk import NotRegularError, open_regular, trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Project

_NAME = "key"
_LENGTH = 32


def path(home: Project) -> str:
    """The file, whether it is there or not; raises ExecplanError when it would lie in the repository."""
    return os.path.join(private.config(home), _NAME)


def read(home: Project) -> bytes | None:
    """The key, None before the first approval; raises ExecplanError for one that others can read, or that is none."""
    file = path(home)
    trace.tell(f"read {file}")
    try:
        handle = open_regular(file, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    except NotRegularError:
        raise _unfit(file, "is no regular file", "remove it: a new key is made then") from None
    except OSError as error:
        if os.path.islink(file):
            raise _unfit(file, "is a link", "put the file itself there, or remove it: a new key is made then") from None
        raise trouble(error, file, "read") from None
    try:
        status = os.fstat(handle)
        if status.st_uid != os.geteuid():
            raise _unfit(file, f"belongs to another user (uid {status.st_uid})", "remove it: a new key is made then")
        if status.st_mode & 0o077:
            why = f"can be read or written by others (mode {stat.S_IMODE(status.st_mode):o})"
            raise _unfit(file, why, f"if nobody has read it: chmod 600 {file}; else remove it, and approve again")
        data = os.read(handle, _LENGTH + 1)
    finally:
        os.close(handle)
    if len(data) != _LENGTH:
        what = f"{file} is no key: it has {len(data) if len(data) < _LENGTH else 'more than 32'} bytes, not {_LENGTH}"
        raise ExecplanError("bad-key", what, exit=INPUT, hint="remove it, and approve again: a new key is made then")
    return data


def make(home: Project) -> bytes:
    """The key, made if there is none; of many who make it at once all have the same. Raises ExecplanError."""
    file = path(home)
    found = read(home)
    if found is not None:
        return found
    from execplan.text.files import temporary
    from execplan.text.folder import Folder

    with register.lock(home), Folder(os.path.dirname(file), make=True) as folder:
        beside = temporary(_NAME)
        try:
            folder.unlink(beside)  # what a killed maker has left was never the key
            folder.write(beside, os.urandom(_LENGTH), 0o600)
            try:
                folder.link(beside, _NAME)
            except FileExistsError:
                pass
            finally:
                folder.unlink(beside)
            folder.sync()
        except OSError as error:
            raise trouble(error, file, "write") from None
    found = read(home)
    if found is None:
        raise ExecplanError("bad-key", f"{file} was removed while it was made", exit=INPUT, hint="try again")
    return found


def _unfit(file: str, why: str, hint: str) -> ExecplanError:
    return ExecplanError("unsafe-key", f"the key {file} {why}", exit=POLICY, hint=hint)
