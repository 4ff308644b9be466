"""Files that are synced together: each file and directory once, before something depends on them."""

from __future__ import annotations

import os
from _thread import get_ident

from execplan.core.files.file_access import file_error, sync_later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType


class SyncGroup:
    """What this thread writes in the context is synced at its end, or not at all if other files can replace it.

    Only for files on which nothing depends before: until then, a crash of the machine may leave them empty.
    """

    def __init__(self, *, is_replaceable: bool = False) -> None:
        self._is_replaceable = is_replaceable
        self._outer: Callable[[int], None] | None = None
        self._handles: dict[tuple[int, ...], int] = {}

    def __enter__(self) -> None:
        self._outer = sync_later.get(get_ident())
        if self._outer is None or self._is_replaceable:
            sync_later[get_ident()] = self._add

    def _add(self, handle: int) -> None:
        key = tuple(os.fstat(handle)[1:3])
        if key not in self._handles:
            self._handles[key] = os.dup(handle)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Sync, unless an error is raised anyway or a group around this one does; raises ExecplanError."""
        if self._outer is None:
            del sync_later[get_ident()]
        else:
            sync_later[get_ident()] = self._outer
        try:
            for handle in self._handles.values() if error is None and not self._is_replaceable else ():
                os.fsync(handle)
        except OSError as sync_error:
            raise file_error(sync_error, "new files", "write") from None
        finally:
            for handle in self._handles.values():
                os.close(handle)
