"""A pack without secrets: what is printed for a model may go anywhere."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.context.unit import ContextPack


def redact_pack(pack: ContextPack, redact: Callable[[str], str]) -> ContextPack:
    """The pack with every text redacted; ids and paths, which name things, stay. To be done before anything is shortened."""
    units = [unit._replace(content=redact(unit.content), title=redact(unit.title)) for unit in pack.units]
    return pack._replace(
        title=redact(pack.title), task=redact(pack.task), purpose=redact(pack.purpose), units=tuple(units)
    )
