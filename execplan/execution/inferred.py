"""Steps of plans that have no attributes: commands in blocks of code, in list items and in sentences that tell to run them.

What is not sure is left, with the reason: a step that is missing costs a person a line, a wrong one more.
"""

from __future__ import annotations

import re

from execplan.execution.draft import INFERRED, VALIDATE, WORK, Draft, Found, Left
from execplan.execution.fence import attributes_of
from execplan.execution.typed import PROMPTS, SHELLS
from execplan.execution.wild.folders import ROOT, Folders, Told
from execplan.execution.wild.line import goes_on, joined, masked, split_comment, without_prompt
from execplan.execution.wild.orders import orders
from execplan.execution.wild.places import LINES, Place, is_shown, places, spoken
from execplan.execution.wild.said import CHOICE, doubt, doubt_around, doubt_behind, sentences
from execplan.execution.wild.unfit import is_typed, needs_server, unfit
from execplan.plan import outline
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.model import Plan

_WINDOWS = frozenset("powershell ps1 pwsh ps cmd bat batch".split())
_SETS = (
    "export ",
    "source ",
    ". ",
    "conda activate",
    "mamba activate",
    "nvm use",
    "eval ",
    "alias ",
    "set ",
    "unset ",
    "pushd",
    "popd",
    "trap ",
    "ulimit",
    "umask",
    "shopt",
    "direnv",
)
_HARMLESS = ("set -e", "set -u", "set -x", "set -o pipefail")


_VALUES = re.compile(r"(?:[A-Za-z_]\w*=(?:\$\([^()]*\)|[^\s;&|()]*)(?:\s+|;\s*|$))+")


class _Line(NamedTuple):
    """One command of a block, continued lines joined."""

    start: int
    end: int
    text: str
    comment: str
    """Behind it, or in the lines above it."""


class _Reader:
    """What was found so far, and the folder that the reader of the plan is in."""

    def __init__(self, plan: Plan, taken: frozenset[int]) -> None:
        self.plan = plan
        self.taken = taken
        self.folders = Folders(plan)
        self.drafts: list[Draft] = []
        self.left: list[Left] = []
        self.here: str | None = ROOT
        self.why = ""
        self.phase = WORK
        self.started = False
        """Whether something was left that would have to keep running."""

    def read(self, name: str, phase: str) -> None:
        """All of a section."""
        section = self.plan.section(name)
        if section is None:
            return
        self.phase = phase
        guided = set(self.plan.guidance)
        broken = set(self.plan.conflicts)
        for place in places(self.plan, section):
            inside = range(place.start, place.end)
            if not self.taken.isdisjoint(inside):
                self._pass(place)
                continue
            if not guided.isdisjoint(inside) or not broken.isdisjoint(inside):
                continue
            if place.kind == LINES:
                self._block(place)
            else:
                self._words(place)

    def _pass(self, place: Place) -> None:
        """Go by a fence with attributes: what follows one in another folder may be meant to run there too."""
        info = attributes_of(place.fence.text) if place.fence is not None else None
        given = info.get("cwd") if info is not None and not info.mark else None
        folder = given.value if given is not None else ROOT
        if folder not in (ROOT, self.here):
            self.here, self.why = None, f"comes behind line {place.start + 1}, which runs in {folder}, and none is told"

    def _leave(self, line: int, text: str, why: str) -> None:
        self.left.append(Left(line, text, why))
        self.started = self.started or "until somebody stops it" in why or "background" in why or "keeps running" in why

    def _take(self, start: int, end: int, command: str, folder: str, needs: tuple[str, ...], item: int) -> str:
        """Keep a command as a step; its id."""
        last = self.drafts[-1] if self.drafts else None
        if last is not None and item >= 0 and last.start >= item and (last.command, last.cwd) == (command, folder):
            return last.id  # an item names what the block below it shows
        name = f"inferred-{len(self.drafts) + 1}"
        self.drafts.append(Draft(INFERRED, self.phase, start, end, name, {}, (command,), command, needs, folder))
        return name

    # Where

    def _told(self, place: Place) -> Told | None:
        """The folder that the words around a place tell, the nearest first."""
        for words in place.context:
            told = [found for each in sentences(words) if (found := self.folders.told(each)) is not None]
            if told:
                return told[-1]
        return None

    def _at(self, place: Place) -> tuple[str | None, str]:
        """The folder of a place, or None and why it is not known."""
        told = self._told(place)
        if told is None:
            return self.here, self.why
        if told.folder is None:
            return None, "runs in a folder that is told in words, or that lies outside the repository"
        return told.folder, ""

    # Blocks

    def _block(self, place: Place) -> None:
        first = next(((at, line) for at, line in place.lines if line), None)
        if first is None:
            return
        prompted = [line for _, line in place.lines if line.startswith(PROMPTS)]
        if place.language in _WINDOWS:
            return self._leave(*first, "is for Windows")
        if not is_shown(place) and place.language not in SHELLS:
            return self._leave(*first, f"is {place.language}, no command: give it a type if it is a step")
        lines = _lines(place, prompted=bool(prompted))
        commands = [line for line in lines if is_typed(line.text)]
        sure = [line for line in lines if _is_sure(line.text, place, bool(prompted), bool(commands))]
        if not commands or (len(sure) < len(lines) and not prompted):
            why = "stands among lines that are no commands" if commands else "is no command: output, a listing or text"
            for line in commands or lines[:1]:
                self._leave(line.start, line.text, why)
            return None
        why = doubt_around(place.context) or doubt_behind(place.tail)
        if why:
            for line in lines:
                self._leave(line.start, line.text, why)
            return None
        if prompted:
            for at, line in place.lines:
                if line and not line.startswith(PROMPTS):
                    self._leave(at, line, "is what is printed: mark it `expect` if it always is")
                    break
        return self._commands(place, lines)

    def _commands(self, place: Place, lines: list[_Line]) -> None:
        """The commands of a block, with the folder that its lines go to."""
        told = self._told(place)
        folder, lost = self._at(place)
        start, before = folder, folder
        needs: tuple[str, ...] = ()
        stop = ""
        doubtful = ""
        for line in lines:
            command = line.text
            if line.comment:
                doubtful = doubt(line.comment) if not _is_plain(line.comment) else ""
            shown = masked(command) or command
            if stop or doubtful:
                self._leave(line.start, command, stop or doubtful)
                continue
            if shown.startswith("cd ") and not any([each in shown for each in ("&", ";", "|")]):
                target = command[3:].strip()
                new = before if target == "-" else self._gone(target, folder, start)
                if new is None:
                    stop = lost = f"comes behind `{command}`, and where that leads is not sure"
                    folder = None
                else:
                    before, folder = folder, new
                continue
            if command.startswith(_SETS) or _only_sets(shown):
                if not command.startswith(_HARMLESS):
                    stop = f"depends on `{command}` in line {line.start + 1}"
                    self._leave(line.start, command, "changes the shell that reads it, and a step has its own")
                continue
            why = unfit(command)
            at, typed = self._split(command, folder, start)
            if not why and at is None:
                why = lost or "runs in a folder that is not sure"
            if not why and self.started and needs_server(command):
                why = "needs what was to be started, and that is not a step"
            if why:
                self._leave(line.start, command, why)
                if why.startswith(("has a quote", "has a here", "is a part")):
                    stop = f"comes behind what is not understood in line {line.start + 1}"
                continue
            assert at is not None
            needs = (self._take(line.start, line.end, typed, at, needs, place.item),)
        self._move(place, told, start, folder)

    def _gone(self, target: str, folder: str | None, start: str | None) -> str | None:
        """Where `cd` leads; a second one that goes deeper may mean a folder from where the block began."""
        if target[:1] in "/~" or target[1:3] == ":\\":
            return self.folders.resolved(target)
        if folder != start and not target.startswith(".."):
            return None
        return self.folders.resolved(target, folder)

    def _split(self, command: str, folder: str | None, start: str | None) -> tuple[str | None, str]:
        """A command without the `cd` that begins it, and the folder that it is then run in."""
        inner = command
        if inner.startswith("(") and inner.endswith(")") and (masked(inner) or "").count("(") == 1:
            inner = inner[1:-1].strip()
        shown = masked(inner) or inner
        if not shown.startswith("cd ") or "&&" not in shown:
            return folder, command
        at = shown.index("&&")
        target = inner[3:at].strip()
        return self._gone(target, folder, start), inner[at + 2 :].strip()

    def _move(self, place: Place, told: Told | None, start: str | None, folder: str | None) -> None:
        """Where the reader is behind a block."""
        if told is not None and told.folder is None:
            self.here, self.why = None, "comes behind a block that runs in another folder, and none is told"
        elif folder == start and (told is None or told.lasting or folder == ROOT):
            if told is not None:
                self.here, self.why = folder, ""
        elif folder == ROOT:
            self.here, self.why = ROOT, ""
        elif told is not None and told.lasting and folder == start:
            self.here, self.why = folder, ""
        else:
            where = folder or "another folder"
            self.here = None
            self.why = f"comes behind line {place.start + 1}, which goes to {where}, and none is told"

    # Sentences

    def _words(self, place: Place) -> None:
        said = list(spoken(place))
        around = doubt_around(place.context[:2])
        listed = bool(place.context) and _calls_commands(place.context[0])
        if place.tail and doubt_behind(place.tail) == CHOICE:
            around = around or CHOICE
        item: set[str] = set()
        for at, sentence in enumerate(said):
            behind = doubt_behind(said[at + 1].words) if at + 1 < len(said) else ""
            found = orders(sentence, whole=place.alone and len(said) == 1, listed=listed)
            told = self.folders.told(sentence.words)
            for span, why in found.left:
                self._leave(span.start, span.code, why)
            needs: tuple[str, ...] = ()
            for span in found.taken:
                command = without_prompt(span.code)
                if command in item or self._is_told_below(place, self._split(command, ROOT, ROOT)[1]):
                    continue
                item.add(command)
                why = (
                    around
                    or behind
                    or unfit(command)
                    or (
                        "changes the shell that reads it"
                        if command.startswith((*_SETS, "cd ")) and "&&" not in command
                        else ""
                    )
                )
                folder, lost = (told.folder, "runs in a folder that is told in words") if told else self._at(place)
                folder, typed = self._split(command, folder, folder)
                if not why and folder is None:
                    why = lost or "runs in a folder that is not sure"
                if not why and self.started and needs_server(command):
                    why = "needs what was to be started, and that is not a step"
                if why:
                    self._leave(span.start, span.code, why)
                    continue
                assert folder is not None
                needs = (self._take(span.start, span.end, typed, folder, needs, place.item),)
            if (
                told is not None
                and not found.taken
                and told.folder is not None
                and (told.lasting or told.folder == ROOT)
            ):
                self.here, self.why = told.folder, ""

    def _is_told_below(self, place: Place, command: str) -> bool:
        """Whether a fence with attributes in the same item, or right behind a paragraph, holds the command."""
        lines = self.plan.text.lines
        end = place.inner
        if end < 0:
            end = place.end
            while end < len(lines) and (end in self.taken or not lines[end].strip()):
                end += 1
        return any([at in self.taken and lines[at].strip() == command for at in range(place.end, end)])


def find_inferred(plan: Plan, taken: frozenset[int]) -> Found:
    """The steps that a plan shows without attributes, and what looks like one and was not taken.

    `taken` are the lines of fences with attributes; nothing is inferred from them.
    """
    reader = _Reader(plan, taken)
    reader.read(outline.STEPS, WORK)
    if reader.here != ROOT:
        reader.here, reader.why = None, "comes behind steps in another folder, and none is told"
    reader.read(outline.VALIDATION, VALIDATE)
    drafts = sorted(reader.drafts, key=lambda each: each.start)
    return Found(tuple(drafts), tuple(sorted(reader.left)), ())


def _lines(place: Place, *, prompted: bool) -> list[_Line]:
    """The commands of a block: continued lines joined, comments taken off."""
    found: list[_Line] = []
    comment = ""
    at = 0
    while at < len(place.lines):
        number, line = place.lines[at]
        at += 1
        if prompted and not line.startswith(PROMPTS):
            continue
        line = without_prompt(line)
        if not line:
            comment = ""
            continue
        if line.startswith("#"):
            comment = f"{comment} {line.lstrip('# ')}".strip()
            continue
        while at < len(place.lines) and goes_on(line):
            line = joined(line, place.lines[at][1].removeprefix("> ") if prompted else place.lines[at][1])
            at += 1
        line, behind = split_comment(line)
        last = place.lines[at - 1][0] + 1
        found.append(_Line(number, last, line, f"{comment} {behind}".strip()))
        comment = ""
    return found


def _is_sure(line: str, place: Place, prompted: bool, among: bool) -> bool:
    """Whether a line of a block is a command: its words show it, or the language of its fence and the lines around it."""
    if prompted or is_typed(line, told=among) or line.startswith("cd "):
        return True
    return place.language in SHELLS and line[:1] not in "[{<|>+-*" and not line[:1].isupper()


def _only_sets(shown: str) -> bool:
    """Whether a line only gives variables values."""
    return _VALUES.fullmatch(shown) is not None


def _is_plain(comment: str) -> bool:
    """Whether a comment says only that something was done, as those do that a writer leaves behind."""
    return comment.strip(" .").lower() in ("done", "ok", "passes", "pass")


def _calls_commands(lead: str) -> bool:
    words = lead.lower()
    return any([each in words for each in ("run", "command", "execut", "check", "validat", "verif", "gate", "test")])
