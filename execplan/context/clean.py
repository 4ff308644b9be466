"""A pack without secrets: what is printed for a model may go anywhere."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.context.unit import Pack


def clean(pack: Pack, redact: Callable[[str], str]) -> Pack:
    """The pack with every text redacted; ids and paths, which name things, stay. To be done before anything is shortened."""
    units = [each._replace(content=redact(each.content), title=redact(each.title)) for each in pack.units]
    return pack._replace(
        title=redact(pack.title), task=redact(pack.task), purpose=redact(pack.purpose), units=tuple(units)
    )
