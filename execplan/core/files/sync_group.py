"""Files that are synced together: each file and directory once, before something depends on them."""

from __future__ import annotations

import os
from _thread import get_ident

from execplan.core.files.file_access import file_error, sync_later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType


class UnsyncedFiles:
    """Files and directories that were written and not yet synced, each once."""

    def __init__(self) -> None:
        self._handles: dict[tuple[int, ...], int] = {}
        self._failure: OSError | None = None

    def add(self, handle: int) -> None:
        """Add an open file or directory, unless it is there already."""
        key = tuple(os.fstat(handle)[1:3])
        if key not in self._handles:
            self._handles[key] = os.dup(handle)

    def sync(self) -> None:
        """Sync all files that were added. Raises OSError, then and every time after.

        A file that another thread adds again meanwhile is synced again, because it may have been written since.
        """
        if (
            self._failure is not None
        ):  # the system forgets what it could not write: another try would only seem to succeed
            raise self._failure
        while self._handles:
            for key in list(self._handles):  # in this order, so that a name is on disk after what it names
                handle = self._handles.pop(key)
                try:
                    os.fsync(handle)
                except OSError as error:
                    self._failure = error
                    raise
                finally:
                    os.close(handle)

    def close(self) -> None:
        """Forget the files that are left."""
        while self._handles:
            os.close(self._handles.popitem()[1])


class SyncGroup:
    """What this thread writes in the context is synced at its end, or not at all if other files can replace it.

    Only for files on which nothing depends before: until then, a crash of the machine may leave them empty.
    """

    def __init__(self, unsynced: UnsyncedFiles | None = None, *, is_replaceable: bool = False) -> None:
        """`unsynced`: the files are added to it, and whoever owns it syncs them later."""
        self._is_own = unsynced is None
        self._is_replaceable = is_replaceable
        self._outer: Callable[[int], None] | None = None
        self._unsynced = UnsyncedFiles() if unsynced is None else unsynced

    def __enter__(self) -> None:
        self._outer = sync_later.get(get_ident())
        if self._outer is None or self._is_replaceable or not self._is_own:
            sync_later[get_ident()] = self._unsynced.add

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Sync, unless an error is raised anyway or somebody else does; raises ExecplanError."""
        if self._outer is None:
            del sync_later[get_ident()]
        else:
            sync_later[get_ident()] = self._outer
        if not self._is_own:
            return
        try:
            if error is None and not self._is_replaceable:
                self._unsynced.sync()
        except OSError as sync_error:
            raise file_error(sync_error, "new files", "write") from None
        finally:
            self._unsynced.close()
