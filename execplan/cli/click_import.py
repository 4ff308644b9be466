"""The first import of click, without three modules of the standard library that it hardly uses.

`inspect`, `uuid` and `gettext`, with what they import, take almost half of the time in which click is loaded. click calls
`inspect` for the help of options, `uuid` only for a type of parameters that execplan doesn't have, and `gettext` for
translations of its messages, of which there are none: execplan's own messages are in English.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _DeferredInspect(ModuleType):
    """Stands in for `inspect` within click."""

    def cleandoc(self, text: str) -> str:
        """Return a text without indentation; the help of nearly all options is a line without any."""
        if "\n" not in text and "\t" not in text and not text.startswith(" "):
            return text
        cleaned: str = self.__getattr__("cleandoc")(text)
        return cleaned

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get("inspect") is self:  # a module that click imports needs more of it
            del sys.modules["inspect"]
        import inspect

        return getattr(inspect, name)


class _DeferredGettext(ModuleType):
    """Stands in for `gettext` within click."""

    @staticmethod
    def gettext(message: str) -> str:
        """Return a message as it is."""
        return message

    @staticmethod
    def ngettext(singular: str, plural: str, count: int) -> str:
        """Return the form of a message for a number of things."""
        return singular if count == 1 else plural


class _DeferredUuid(ModuleType):
    """Stands in for `uuid` within click."""

    class UUID:
        """Type of the parameters that execplan doesn't have."""


_STAND_INS = {"inspect": _DeferredInspect, "uuid": _DeferredUuid, "gettext": _DeferredGettext}


def import_click() -> None:
    """Import click, which keeps the stand-ins; other modules get the real ones."""
    stand_ins = [kind(name) for name, kind in _STAND_INS.items() if name not in sys.modules]
    sys.modules.update({stand_in.__name__: stand_in for stand_in in stand_ins})
    try:
        import click.termui  # noqa: F401 - loads click and all its modules that have the stand-ins
    finally:
        for stand_in in stand_ins:
            if sys.modules.get(stand_in.__name__) is stand_in:
                del sys.modules[stand_in.__name__]
