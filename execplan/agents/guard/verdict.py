"""How a call compares with one step."""

from __future__ import annotations

from execplan.record import NamedTuple


class Verdict(NamedTuple):
    """Whether it is of the step, or how near it comes."""

    why: str = ""
    """Why it is not of the step; nothing: it is."""
    near: int = 0
    """How like the step it is, from 0 to 100."""
    further: bool = False
    """Whether the call is not the step's own, but one that its `allow` permits besides."""


SAME = Verdict(near=100)
FURTHER = Verdict(near=100, further=True)
