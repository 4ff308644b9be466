"""Which units are printed whole, which shortened, and which not at all, so that all of it fits."""

from __future__ import annotations

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.context.unit import Unit


class Item(NamedTuple):
    """A unit, and what becomes of it."""

    unit: Unit
    action: str
    text: str
    """What is printed of its content; nothing where it is pruned."""
    tokens: int
    """Of all that is printed of it; 0 where it is pruned."""
    original_tokens: int
    """The same if it were printed whole."""
    priority: int
    """From 0 to 100."""
    reason: str
    filtered: bool = False
    """Whether it was pruned because it is not relevant, room or not."""
