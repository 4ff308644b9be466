"""One plan checked: its bytes, what the rules are told of its place, and what they found."""

from __future__ import annotations

from execplan.clock import this_minute
from execplan.errors import ExecplanError
from execplan.lint.facts import Clock
from execplan.lint.rule import ERROR, Finding, Given
from execplan.lint.runner import lint_bytes, unreadable
from execplan.lint.selection import Selection
from execplan.record import NamedTuple
from execplan.repo import shelf
from execplan.repo.checking.selected import levels, wanted
from execplan.repo.checking.tree import Trees

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.lint.facts import History
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


class Target(NamedTuple):
    """A plan to check."""

    home: Home
    ref: Ref
    named: str
    """As a terminal shows it: as it was named, else from the current folder."""


class Checked(NamedTuple):
    """A plan and what was found in it."""

    path: str
    """As documents show it: from the root."""
    named: str
    findings: list[Finding]
    data: bytes
    """What was checked, or nothing when it could not be read."""
    fails: str = ERROR
    """The least level at which a finding makes the answer no."""
    plan: bool = True
    """Whether it is a plan, and not something else in its home."""
    error: ExecplanError | None = None
    """What kept it from being read."""


class Way(NamedTuple):
    """How plans are checked."""

    hook: bool = False
    """Whether a draft may still hold guidance and no task."""
    selection: Selection = Selection()
    """What was asked for; what the settings of a plan's home say stands under it."""
    trees: Trees | None = None
    """What the plans of this run share of what they ask of the files around them."""
    histories: dict[str, History] | None = None
    """What git knows of plans, by their absolute paths; None where nobody asked."""


def check(target: Target, way: Way) -> Checked:
    """Check one plan as it is on disk; what keeps it from being read is a finding."""
    home, ref, named = target
    path = home.shown(ref.path)
    fails = wanted(home, way.selection).fails
    try:
        data = shelf.open_bytes(home, ref.path)
    except ExecplanError as error:
        return Checked(path, named, [unreadable(error)], b"", fails, error=error)
    return Checked(path, named, lint_bytes(data, given(home, ref, way), levels(home, way.selection, path)), data, fails)


def given(home: Home, ref: Ref, way: Way) -> Given:
    """What the rules are told of a plan's place.

    A file that lies neither in a repository nor in a home has nothing around it that could be asked.
    """
    somewhere = home.git is not None or home.exists
    at_home = home.exists and not ref.archived and home.place(ref.path)[0] == home.plans
    return Given(
        archived=ref.archived and not home.given_up(ref.path),
        given_up=home.given_up(ref.path),
        at_home=at_home,
        draft_is_fine=way.hook,
        path=home.shown(ref.path),
        id=ref.id,
        form=home.settings.name if at_home else "",
        stalled_days=home.settings.stalled_days,
        clock=Clock(this_minute()),
        tree=(way.trees or Trees()).of(home) if somewhere else None,
        history=way.histories.get(ref.path) if way.histories is not None else None,
    )
