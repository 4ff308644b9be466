"""What was cut short and what was kept, until `intent` and `recovered` are there: one function each."""

from __future__ import annotations

import os
from importlib import import_module

from execplan.repo import state
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from execplan.repo.home import Home


def _module(name: str) -> ModuleType | None:
    try:
        return import_module(f"execplan.repo.{name}")
    except ModuleNotFoundError:
        return None


def pending(home: Home) -> str | None:
    """The move that is half done, in words."""
    module = _module("intent")
    found = module.pending(home) if module is not None else None
    return str(found.line) if found is not None else None


def settle(home: Home) -> list[str]:
    """Finish or reverse it; what was done. Raises ExecplanError."""
    module = _module("intent")
    return list(module.settle(home)) if module is not None else []


def every(home: Home) -> list[str]:
    """The recovery files that are kept."""
    module = _module("recovered")
    if module is not None:
        return list(module.every(home))
    folder = os.path.join(home.state, "recovered")
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))] if os.path.isdir(folder) else []


def keep(home: Home, path: str, data: bytes) -> str:
    """Keep bytes that belong to a plan; the path of the file. Raises ExecplanError."""
    module = _module("recovered")
    if module is not None:
        return str(module.keep(home, path, data))
    from itertools import count

    state.folder(home, "recovered")
    names = (os.path.join(home.state, "recovered", f"{number}-{os.path.basename(path)}") for number in count(1))
    return next(name for name in names if disk.create(name, data))
