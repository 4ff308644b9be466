"""Steps of plans that have no attributes: commands in blocks of code, in list items and in sentences that tell to run them.

What is not sure is left, with the reason: a step that is missing costs a person a line, a wrong one more.
"""

from __future__ import annotations

import re

from execplan.execution.command.parse import parse
from execplan.execution.command.typed import PLAIN, PROMPTS, SHELLS
from execplan.execution.draft import INFERRED, VALIDATE, WORK, StepDraft, ParsedSteps, SkippedLine
from execplan.execution.wild.block import Line, activates, is_harmless, is_plain, is_sure, lines_of, printed_below, sets
from execplan.execution.wild.folders import ROOT
from execplan.execution.wild.line import masked, without_prompt
from execplan.execution.wild.orders import orders
from execplan.execution.wild.places import LINES, Place, places, spoken, without_commands
from execplan.execution.wild.printed import Printer, expected_of
from execplan.execution.wild.said import (
    CHOICE,
    DONE,
    ELSEWHERE,
    KEEPS_RUNNING,
    PRINTED,
    WRITTEN,
    doubt,
    doubt_around,
    doubt_behind,
    is_record,
)
from execplan.execution.wild.stays import IN_BACKGROUND, UNTIL_STOPPED, detaches, needs_server
from execplan.execution.wild.unfit import is_typed, unfit
from execplan.execution.wild.whereabouts import Stand, Typed, Whereabouts, gone_from, names_folder, unsure
from execplan.execution.wild.work import changes
from execplan.execution.written.fence import attributes_of
from execplan.plan import outline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from execplan.plan.model import Plan

_WINDOWS = frozenset("powershell ps1 pwsh ps cmd bat batch".split())


_FOLDER_FIRST = re.compile(
    r"\W*(?:\d+[.)]\W*)?(?:(?:then|next|finally|now|still|also|and),? )?(?:in|inside|within|from|at|under)\b",
    re.IGNORECASE,
)
"""Who reads such a sentence goes there and stays; `run this from there` is only about this."""


class _Reader:
    """What was found so far, and the folder that the reader of the plan is in."""

    def __init__(self, plan: Plan, taken: frozenset[int]) -> None:
        self.plan = plan
        self.taken = taken
        self.where = Whereabouts(plan)
        self.drafts: list[StepDraft] = []
        self.left: list[SkippedLine] = []
        self.phase = WORK
        self.changed = ""
        """Why what stands below may not do the same: a block or an item that changes the shell for it was left."""
        self.printer = Printer()
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
            self.where.under(place.heads)
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
        self.where.stray(place, given.value if given is not None else ROOT)

    def _leave(self, line: int, text: str, why: str) -> None:
        self.left.append(SkippedLine(line, text, why))
        self.started = self.started or why in (UNTIL_STOPPED, KEEPS_RUNNING, IN_BACKGROUND, ELSEWHERE)

    def _take(self, start: int, end: int, typed: Typed, needs: tuple[str, ...], item: int) -> str:
        """Keep a command as a step; its id."""
        command, folder = typed.command, typed.folder or ROOT
        last = self.drafts[-1] if self.drafts else None
        if last is not None and item >= 0 and last.start >= item and (last.command, last.cwd) == (command, folder):
            return last.id  # an item names what the block below it shows
        name = f"inferred-{len(self.drafts) + 1}"
        self.drafts.append(StepDraft(INFERRED, self.phase, start, end, name, {}, (command,), command, needs, folder))
        return name

    # Blocks

    def _block(self, place: Place) -> None:
        first = next(((at, line) for at, line in place.lines if line), None)
        if first is None or self._prints(self.printer.below(self.plan, place)):
            return
        before = len(self.drafts), len(self.left)
        self._read_block(place, first)
        if (len(self.drafts), len(self.left)) == (before[0] + 1, before[1]):
            self.printer.ran(before[0], self.drafts[-1], place)

    def _prints(self, found: tuple[int, str] | None) -> bool:
        """Give a step what it prints, where that was found; whether it was."""
        if found is not None:
            self.drafts[found[0]] = self.drafts[found[0]]._replace(expect=found[1])
        return found is not None

    def _read_block(self, place: Place, first: tuple[int, str]) -> None:
        if place.language in _WINDOWS:
            self._leave(*first, "is for Windows")
        elif place.language in SHELLS | PLAIN:
            self._typed(place)
        else:
            self._leave(*first, f"is {place.language}, no command: give it a type if it is a step")

    def _typed(self, place: Place) -> None:
        """A block in the language of a shell, or of no language."""
        printed = [(at, line) for at, line in place.lines if line and not line.startswith(PROMPTS)]
        prompted = len(printed) < len([line for _, line in place.lines if line])
        lines = lines_of(place, prompted=prompted)
        commands = [line for line in lines if is_typed(line.text)]
        mixed = not all([is_sure(line.text, place, prompted, bool(commands)) for line in lines])
        if not commands or mixed:
            why = "stands among lines that are no commands" if commands else "is no command: output, a listing or text"
            self._leave_all(commands or lines[:1], why)
        elif why := (self._doubt(place, lines) or doubt_behind(place.tail, [line.text for line in lines])):
            self._leave_all(lines, why)
        elif is_record(place.context, place.tail):
            self._leave_all(lines, DONE)
        else:
            shown = {line.start: expected_of(printed_below(self.plan, place, line.end)) for line in lines}
            if prompted and printed and not any(shown.values()):
                self._leave(*printed[0], "is printed, and no line of it is sure to be the same in every run")
            count = len(self.drafts)
            self._commands(place, lines)
            for at, draft in enumerate(self.drafts[count:] if prompted else (), count):
                self.drafts[at] = draft._replace(expect=shown.get(draft.start))

    def _doubt(self, place: Place, lines: list[Line]) -> str:
        """What the words above say against a block; commands that edit files may stand below words that tell to edit."""
        why = doubt_around(place.context, ends=all([detaches(line.text) for line in lines]))
        return "" if why == WRITTEN and all([changes(line.text) for line in lines]) else why

    def _leave_all(self, lines: Iterable[Line], why: str) -> None:
        for line in lines:
            self._leave(line.start, line.text, why)

    def _commands(self, place: Place, lines: list[Line]) -> None:
        """The commands of a block, with the folder that its lines go to."""
        told = self.where.told(place)
        start = stand = self.where.at(told)
        before: str | None = None
        needs: tuple[str, ...] = ()
        stop = self.changed
        doubtful = ""
        for line in lines:
            command = line.text
            if line.comment:
                doubtful = doubt(line.comment) if not is_plain(line.comment) else ""
                doubtful = "" if doubtful == PRINTED else doubtful
                stand = self.where.noted(line.comment, stand)
            shown = masked(command) or command
            if stop or doubtful:
                self._leave(line.start, command, stop or doubtful)
            elif shown.startswith("cd ") and not any([each in shown for each in "&;|"]):
                target = command[3:].strip()
                new = before if target == "-" else self.where.gone(target, stand, start)
                stop = "" if new is not None else f"comes behind `{command}`, and where that leads is not sure"
                before, stand = stand.plain, Stand(new, new, stop)
            elif sets(command):
                if not is_harmless(command):
                    stop = f"depends on `{command}` in line {line.start + 1}"
                    if activates(command) or all([sets(each.text) and "&&" not in each.text for each in lines]):
                        self.changed = stop
                    self._leave(line.start, command, "changes the shell that reads it, and a step has its own")
            else:
                typed = self.where.typed(command, stand)
                why = self._why_not(typed, stand) or (
                    names_folder(typed) if typed.command == command and stand == start else ""
                )
                if why:
                    self._leave(line.start, command, why)
                    if why.startswith(("has a quote", "has a here", "is a part")):
                        stop = f"comes behind what is not understood in line {line.start + 1}"
                else:
                    needs = (self._take(line.start, line.end, typed, needs, place.item),)
        self.where.behind(place, told, start, stand)

    def _why_not(self, typed: Typed, stand: Stand) -> str:
        """Why a command is not taken that the words around it tell to run, or nothing."""
        why = unfit(typed.command)
        problem = "" if why else parse(typed.command).problem
        if problem and not problem.startswith("a character"):  # one that can't be seen is refused, not left
            why = f"can't be read: {problem}"
        if not why and typed.folder is None:
            why = unsure(stand)
        if not why and self.started and needs_server(typed.command):
            why = "needs what was to be started, and that is not a step"
        return why

    # Sentences

    def _words(self, place: Place) -> None:
        said = list(spoken(place))
        self._prints(self.printer.told(place, said[0]) if said else None)
        around = _doubt_above(place)
        listed = bool(place.context) and _calls_commands(place.context[0])
        free = not place.context or not place.context[0].endswith((":", "："))
        item: set[str] = set()
        for at, sentence in enumerate(said):
            behind = doubt_behind(said[at + 1].words) if at + 1 < len(said) else ""
            own = self.where.folders.told(without_commands(sentence))
            whole = place.alone and len(said) == 1
            found = orders(sentence, whole=whole, listed=listed, free=free, placed=own is not None)
            for span, why in found.left:
                self._leave(span.start, span.code, why)
            if not found.taken:
                if own is not None:
                    self.where.heard(own)
                continue
            here = self.where.at(None)
            start = stand = self.where.at(own or self.where.told(place))
            gone = False
            needs: tuple[str, ...] = ()
            for span in found.taken:
                command = without_prompt(span.code)
                typed = self.where.typed(command, stand)
                if command in item or self._is_told_below(place, typed.command):
                    continue
                item.add(command)
                if typed.command == command and (sets(command) or command.startswith("cd ")):
                    why = "changes the shell that reads it, and a step has its own"
                    gone = gone or command.startswith("cd ")
                    if activates(command):
                        self.changed = f"depends on `{command}` in line {span.start + 1}"
                else:
                    why = around or behind or self.changed or self._why_not(typed, stand)
                    why = why or (names_folder(typed) if typed.command == command and stand == start else "")
                if why:
                    self._leave(span.start, span.code, why)
                else:
                    self.printer.forget()
                    needs = (self._take(span.start, span.end, typed, needs, place.item),)
            moves = own if own is not None and _FOLDER_FIRST.match(sentence.words) else None
            self.where.behind(place, moves, *((here, gone_from(here, place.start)) if gone else (start, stand)))

    def _is_told_below(self, place: Place, command: str) -> bool:
        """Whether a fence with attributes in the same item, or right behind a paragraph, holds the command."""
        lines = self.plan.text.lines
        end = place.inner
        if end < 0:
            end = place.end
            while end < len(lines) and (end in self.taken or not lines[end].strip()):
                end += 1
        return any([at in self.taken and lines[at].strip() == command for at in range(place.end, end)])


def find_inferred(plan: Plan, taken: frozenset[int]) -> ParsedSteps:
    """The steps that a plan shows without attributes, and what looks like one and was not taken.

    `taken` are the lines of fences with attributes; nothing is inferred from them.
    """
    reader = _Reader(plan, taken)
    reader.read(outline.STEPS, WORK)
    reader.where.next_section()
    reader.read(outline.VALIDATION, VALIDATE)
    drafts = sorted(reader.drafts, key=lambda each: each.start)
    return ParsedSteps(tuple(drafts), tuple(sorted(reader.left)), ())


def _calls_commands(lead: str) -> bool:
    words = lead.lower()
    return any([each in words for each in ("run", "command", "execut", "check", "validat", "verif", "gate", "test")])


def _doubt_above(place: Place) -> str:
    """Why what a paragraph tells to run may not be meant: by the words above it, or as one of several ways."""
    near = place.context[:2]
    if not place.alone and near and near[0].endswith((".", "。")) and doubt_around(near[:1]) == WRITTEN:
        near = near[1:]  # what a paragraph tells to write ends with it
    return doubt_around(near) or (CHOICE if doubt_behind(place.tail) == CHOICE else "")
