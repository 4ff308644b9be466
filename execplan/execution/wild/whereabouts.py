"""Where a reader of the plan stands who types its commands one after the other."""

from __future__ import annotations

import re

from execplan.execution.wild.folders import ROOT, Folders, Told
from execplan.execution.wild.line import masked
from execplan.execution.wild.said import sentences
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.execution.wild.places import Place
    from execplan.plan.model import Plan

_WORDS = "runs in a folder that is told in words, or that lies outside the repository"
_FOR_SOME = re.compile(r"\b(?:the (?:first|second|third|last|final|other|remaining)|except)\b(?! time)", re.IGNORECASE)
"""Words that give one folder to some commands and another to others."""
_NOT_TOLD = "comes behind steps in another folder, and none is told"
_UNSURE = "runs in a folder that is not sure"


class Typed(NamedTuple):
    """A command without the `cd` before it."""

    folder: str | None
    """None when that is not sure."""
    command: str


class Stand(NamedTuple):
    """A folder to type commands in."""

    plain: str | None
    """For a command as it stands; None when it is not sure."""
    base: str | None
    """For one with a `cd` of its own before it: plans write these as if each began at the same place."""
    why: str
    """Why it is not sure."""


class Whereabouts:
    """The folder that the plan is in, as far as was read."""

    def __init__(self, plan: Plan) -> None:
        self.folders = Folders(plan)
        self._here = Stand(ROOT, ROOT, "")
        self._stale: frozenset[str] = frozenset()
        """Words that told a folder before a block went to another, and so tell nothing of what follows."""
        self._home: str | None = None
        """Where every block begins, when the plan says so of all commands."""
        self._heads: tuple[int, ...] = ()
        self._head = -1
        """The heading under which the folder was told that the plan is in."""
        self._last = ""
        """The folder that the last commands were left in."""
        self._went = ""
        """The first part of the folder that was gone to from the root: who names it again counts from the root again."""

    def next_section(self) -> None:
        """Go on to another section: a folder other than the root is not taken along."""
        if self._here.plain != ROOT:
            self._here = Stand(None, self._home, _NOT_TOLD)

    def heard(self, told: Told) -> None:
        """Take note of a sentence that tells a folder for what follows."""
        if told.lasting or told.folder == ROOT:
            self._here = self.at(told)
            self._head = self._heads[-1] if self._heads else -1
            self._stale = frozenset()

    def under(self, heads: tuple[int, ...]) -> None:
        """Go on under these headings: a folder that was told under another one is not taken along."""
        if self._head >= 0 and self._head not in heads:
            if self._here.plain not in (None, ROOT):
                self._here = Stand(None, None, _NOT_TOLD)
            self._home = ROOT if self._home == ROOT else None
            self._head = -1
        self._heads = heads

    def told(self, place: Place) -> Told | None:
        """The folder that the words around a place tell, the nearest first."""
        for words in place.context:
            if words in self._stale:
                continue
            told = [found for each in sentences(words) if (found := self.folders.told(each)) is not None]
            if len({each.folder for each in told}) > 1 and _FOR_SOME.search(words):
                return Told(None)
            if told:
                return told[-1]
        return None

    def at(self, told: Told | None) -> Stand:
        """Where commands are typed of which words tell that, or nothing."""
        if told is None:
            return self._here
        if told.always:
            self._home = told.folder
        return Stand(told.folder, told.folder, "" if told.folder is not None else _WORDS)

    def noted(self, comment: str, stand: Stand) -> Stand:
        """Where commands are typed behind a comment of their block, which may tell a folder."""
        told = self.folders.told(comment)
        return stand if told is None else Stand(told.folder, told.folder, "" if told.folder is not None else _WORDS)

    def behind(self, place: Place, told: Told | None, start: Stand, end: Stand) -> None:
        """Take note of where the commands of a place have led."""
        if end.plain == ROOT and start.plain != ROOT and told is None:
            self.heard(Told(ROOT))
        elif end != start or (told is not None and told.folder != ROOT and not told.lasting):
            folder = f"goes to {end.plain}" if end.plain else "goes to another folder"
            why = end.why or f"comes behind line {place.start + 1}, which {folder}, and none is told"
            self._here = Stand(None, end.base if end.plain is None else self._home, why)
            self._last = end.plain or ""
            self._went = end.plain.partition("/")[0] if end.plain else self._went
            said = " ".join([line for _, line in place.lines])
            self._stale = frozenset((*place.context, said))
        elif told is not None:
            self.heard(told)

    def stray(self, place: Place, folder: str) -> None:
        """Take note of a fence with attributes: what follows one in another folder may be meant to run there too."""
        if folder not in (ROOT, self._here.plain):
            why = f"comes behind line {place.start + 1}, which runs in {folder}, and none is told"
            self._here = Stand(None, self._home, why)
            self._stale = frozenset(place.context)

    def gone(self, target: str, stand: Stand, start: Stand) -> str | None:
        """Where `cd` leads; a second one that goes deeper may mean a folder from where the block began."""
        target = target.strip()
        if target[:1] in "/~" or target[1:3] == ":\\":
            return self.folders.resolved(target)
        if stand.plain != start.plain and not target.startswith(".."):
            return None
        return self.folders.resolved(target, stand.plain if stand != start else self._begin(target, stand))

    def _begin(self, target: str, stand: Stand) -> str | None:
        """From where a `cd` leads with which a block begins."""
        if stand.plain is None and self._last and target.startswith("..") and self.folders.resolved(target) is None:
            return self._last  # from the root it would lead out of the repository
        if stand.plain is not None:
            return ROOT if self.folders.resolved(target) == stand.plain else stand.plain
        first = target.strip("\"'").removeprefix("./").partition("/")[0]
        return ROOT if first and first == self._went else stand.base

    def typed(self, command: str, stand: Stand) -> Typed:
        """A command without the `cd` that begins it, and where it is typed; such a `cd` is for its own line only."""
        inner = command
        shown = masked(inner) or inner
        if shown.startswith("(") and shown.endswith(")") and shown.count("(") == 1:
            inner, shown = inner[1:-1].strip(), shown[1:-1].strip()
        if not shown.startswith("cd ") or "&&" not in shown:
            return Typed(stand.plain, command)
        at = shown.index("&&")
        target = inner[3:at].strip()
        told = stand.base is None or stand.base == stand.plain == self.folders.resolved(target)
        folder = self.folders.resolved(target, self._begin(target, stand) if told else stand.base)
        return Typed(folder, inner[at + 2 :].strip())


def gone_from(stand: Stand, line: int) -> Stand:
    """Where whoever typed a lone `cd` stands then."""
    return Stand(None, stand.base, f"comes behind line {line + 1}, which goes to another folder, and none is told")


def names_folder(typed: Typed) -> str:
    """Why a folder that words tell may be that of what the command names, and not where it is run; or nothing."""
    inside = f"{typed.folder}/"
    words = [word.strip("\"'").removeprefix("./") for word in typed.command.split()]
    if typed.folder in (None, ROOT) or not any([word.startswith(inside) for word in words]):
        return ""
    return f"names {inside} itself, and so may run in the folder above"


def unsure(stand: Stand) -> str:
    """Why a folder is not sure."""
    return stand.why or _UNSURE
