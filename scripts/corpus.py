"""Run the reader and every writer over a folder of real plans and write docs/corpus.md, or with `--check` compare it."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpus_page import CREATED, PAGE, Report, new_report, page
from markdown_it import MarkdownIt
from markdown_it.token import Token

from execplan.errors import ExecplanError
from execplan.lint.runner import lint_plan
from execplan.plan import body, logs, outline, reader, reword, tasks
from execplan.plan.change import Change, Facts, facts
from execplan.plan.grammar import is_nothing, read_label
from execplan.plan.guidance import is_guidance
from execplan.plan.model import DONE, OPEN, OTHER, Plan, Section, Task
from execplan.plan.whole import rebased
from execplan.repo.amend import changed
from execplan.text.blocks import HEADING
from execplan.text.lines import Text

if TYPE_CHECKING:
    from execplan.plan.change import Changer

ROOT = Path(__file__).resolve().parent.parent
MOMENT = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)
DATE = "2026-01-02"
WORDS = (
    "Probe 7 of the corpus: - [ ] is no box here, ## no heading, ``` no fence, > no quote, --> no end, | no table "
    "and 1. no number, wherever the line may wrap"
)
WHY = "So that `a - b` stays as it is, - and so that # a long reason wraps where the plan wraps its own reasons, too"
AUTHOR = "Ann Example"
_MARKDOWN = MarkdownIt("commonmark", {"maxNesting": 1000}).disable("inline")
_REPLACING = ("done", "reopen", "reword", "split", "set")
"""Writers that put lines in the place of others."""
_BOX = re.compile(r"\[(.)\](\s|$)")


def counted_again(data: bytes) -> list[tuple[int, str]]:
    """The line and the state of each task, as markdown-it-py sees the text."""
    found: list[tuple[int, str]] = []
    within = quotes = 0
    tokens = _MARKDOWN.parse(data.decode("utf-8").removeprefix("\ufeff"))
    for at, token in enumerate(tokens):
        if token.type in ("blockquote_open", "blockquote_close"):
            quotes += token.nesting
        elif token.type == "heading_open" and not token.level and token.tag in ("h1", "h2"):
            if within:
                break
            within = token.tag == "h2" and _is_progress(tokens[at + 1].content)
        elif within and not quotes and token.type == "list_item_open" and tokens[at + 1].type == "paragraph_open":
            box = _BOX.match(tokens[at + 2].content)
            if box:
                found.append((_first_line(token), {" ": OPEN, "x": DONE, "X": DONE}.get(box[1], OTHER)))
    return found


def _is_progress(title: str) -> bool:
    return re.sub(r"\(.*\)\s*$", "", title.partition(" / ")[0]).strip(" *_:").lower() == "progress"


def _first_line(token: Token) -> int:
    return token.map[0] if token.map else -1


def holds_place(line: str) -> bool:
    """Whether a line may give way to a first entry."""
    label = read_label(line)
    return is_guidance(line) or is_nothing(label[1] if label else line.strip().lstrip("-*+ "))


def one_more(before: tuple[Any, ...], after: tuple[Any, ...], new: object) -> bool:
    """Whether the second is the first with the new one put in somewhere."""
    return any(after == (*before[:at], new, *before[at:]) for at in range(len(before) + 1))


class Probe:
    """One plan, and what was found out about it."""

    def __init__(self, name: str, data: bytes) -> None:
        self.data = data
        self.plan = reader.read(data)
        self.facts = facts(self.plan)
        self.report = new_report(name)
        self.undone: set[str] = set()
        """The writers whose edits were taken back."""

    def fail(self, line: int, why: str) -> None:
        """Keep what is wrong, with the line that it is about, from 0."""
        self.report.failures.append(f"{self.report.name}:{line + 1}: {why}")

    def read(self) -> None:
        """Check that the plan joins back and that its tasks are those of another reader, and count what it holds."""
        plan = self.plan
        if Text.from_bytes(self.data).to_bytes() != self.data:
            self.fail(0, "the lines do not join back to the same bytes")
        ours, theirs = [(task.start, task.state) for task in plan.tasks], counted_again(self.data)
        if ours != theirs:
            line = min(set(ours).symmetric_difference(theirs))[0]
            self.fail(line, f"{len(ours)} tasks, but markdown-it-py has {len(theirs)}, or not the same")
        self.report.counts.update(
            plans=1, bytes=len(self.data), lines=len(plan.text.lines), sections=len(plan.sections),
            decisions=len(plan.decisions), discoveries=len(plan.discoveries), outcomes=len(plan.outcomes),
            revisions=len(plan.revisions), checklists=len(plan.checklists), **plan.counts(),
        )  # fmt: skip
        self.report.findings.update(finding.code for finding in lint_plan(plan))

    def write(self, writer: str, make: Callable[[], Changer], data: bytes | None = None) -> tuple[bytes, Plan] | None:
        """Make a change and make it again; the bytes and the plan that come of it, or None when it is refused."""
        old = self.data if data is None else data
        try:
            new, change = changed(old, make())
        except ExecplanError as error:
            self.report.refused[error.code, writer] += 1
            return None
        self.report.made[writer] += 1
        self.own_lines(writer, old, new, change)
        if writer not in self.undone:
            self.undone.add(writer)
            self.report.made["undo"] += 1
            if changed(new, lambda plan: rebased(plan, new, old, "undo", "undone", ""))[0] != old:
                self.fail(change.edits[0].start, f"undo does not give back the bytes from before {writer}")
        if changed(new, make())[0] != new:
            self.fail(change.edits[0].start, f"{writer} changes the plan when it is done again")
        return new, reader.read(new)

    def own_lines(self, writer: str, old: bytes, new: bytes, change: Change) -> None:
        """Check that all lines but those of the one edit are the same, with their ends."""
        if len(change.edits) != 1:
            self.fail(0, f"{writer} made {len(change.edits)} edits")
            return
        start, end, lines, _ = change.edits[0]
        before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
        ended = old.endswith((b"\n", b"\r"))
        if start == end == len(before) and not ended:
            before[-1] += before[0][len(before[0].rstrip(b"\r\n")) :]  # what follows makes it end like the others
        below = len(before) - end
        if before[:start] != after[:start] or before[end:] != after[len(after) - below :]:
            self.fail(start, f"{writer} changed lines that are not its own")
        if len(after) - len(before) != len(lines) - (end - start) or new.endswith((b"\n", b"\r")) != ended:
            self.fail(start, f"{writer} changed the number of lines, or the last line's end")
        if end > start and writer not in _REPLACING:
            self.report.replaced[writer] += 1
            if not all(holds_place(line.decode("utf-8")) for line in before[start:end]):
                self.fail(start, f"{writer} replaced words")

    def expect(self, writer: str, after: Plan, line: int, **meant: object) -> None:
        """Check that a plan says what it said, but for the fields that were meant to change."""
        said, wanted = facts(after), self.facts._replace(**meant)  # type: ignore[arg-type]  # fields by name
        for field, is_said, is_wanted in zip(Facts._fields, said, wanted, strict=True):
            if is_said != is_wanted:
                self.fail(line, f"after {writer} the plan's {field} are not as meant")


def mark_tasks(probe: Probe) -> None:
    """Tick and reopen every task, and compare the bytes where they should come back."""
    for task in probe.plan.tasks:
        ticked = None if task.state == DONE else _mark(probe, task, "done")
        if task.state != OPEN:
            _mark(probe, task, "reopen")
        elif ticked is not None and task.stamp is None:
            _mark_back(probe, task, ticked)


def _mark_back(probe: Probe, task: Task, ticked: bytes) -> None:
    """Reopen a task that was just ticked."""
    back = probe.write("reopen", lambda: tasks.reopen([str(task.number)]), ticked)
    probe.report.made["done, then reopen"] += 1
    if back is None or back[0] != probe.data:
        probe.fail(task.box, "done and then reopen does not give the same bytes")


def _mark(probe: Probe, task: Task, writer: str) -> bytes | None:
    """Tick or reopen a task and check how it reads then."""
    query = [str(task.number)]
    made = probe.write(writer, lambda: tasks.tick(query, MOMENT) if writer == "done" else tasks.reopen(query))
    if made is None:
        return None
    mark = "x" if writer == "done" else " "
    marks = tuple((mark if each is task else each.mark, each.text) for each in probe.plan.tasks)
    probe.expect(writer, made[1], task.box, tasks=marks)
    stamp = made[1].tasks[task.number - 1].stamp
    if (stamp and stamp.date) != (DATE if writer == "done" else None):
        probe.fail(task.box, f"after {writer} the task's stamp is {stamp}")
    return made[0]


def add_tasks(probe: Probe) -> None:
    """Add a task at the end, behind other tasks, and under each sub-heading of Progress."""
    plan = probe.plan
    _add(probe, "add")
    for number in sorted({1, (len(plan.tasks) + 1) // 2, len(plan.tasks)} if plan.tasks else ()):
        after = _add(probe, "add --after", after=str(number))
        if after is not None:
            behind = number + sum(task.start < plan.tasks[number - 1].stop for task in plan.tasks[number:])
            if after.tasks[behind].text != WORDS:
                probe.fail(plan.tasks[number - 1].start, "add --after put the task elsewhere")
    section = plan.section(outline.PROGRESS)
    for block in plan.blocks[section.first : section.last] if section else []:
        if block.kind == HEADING and not block.depth:
            under = _add(probe, "add --under", under=block.text)
            if under is not None and next(each for each in under.tasks if each.text == WORDS).heading != block.text:
                probe.fail(block.start, "add --under put the task under another heading")


def _add(probe: Probe, writer: str, **where: str) -> Plan | None:
    """Add a task and check it, by markdown-it-py too."""
    made = probe.write(writer, lambda: tasks.add(WORDS, MOMENT, **where))  # type: ignore[arg-type]  # after or under
    if made is None:
        return None
    new, plan = made
    line = next((task.start for task in plan.tasks if task.text == WORDS), 0)
    probe.expect(writer, plan, line, tasks=facts(plan).tasks)
    if not one_more(probe.facts.tasks, facts(plan).tasks, (" ", WORDS)):
        probe.fail(line, f"{writer} did not add one task")
    if counted_again(new) != [(task.start, task.state) for task in plan.tasks]:
        probe.fail(line, f"{writer} added something that markdown-it-py does not read as a task")
    return plan


def reword_tasks(probe: Probe) -> None:
    """Say tasks in other words, and split those that are not done."""
    before = probe.facts.tasks
    for task in _some(probe.plan.tasks):
        made = probe.write("reword", partial(reword.reword, str(task.number), WORDS))
        if made is not None:
            at = task.number - 1
            probe.expect("reword", made[1], task.box, tasks=(*before[:at], (task.mark, WORDS), *before[at + 1 :]))
    for task in _some([each for each in probe.plan.tasks if each.state != DONE]):
        made = probe.write("split", partial(reword.split, str(task.number), WORDS, WHY, MOMENT))
        if made is not None:
            at = task.number - 1
            parts = (("x", WORDS), (" ", WHY))
            probe.expect("split", made[1], task.box, tasks=(*before[:at], *parts, *before[at + 1 :]))
            if counted_again(made[0]) != [(each.start, each.state) for each in made[1].tasks]:
                probe.fail(task.box, "split left something that markdown-it-py does not read as a task")


def _some(found: Sequence[Task]) -> list[Task]:
    """The first, the middle and the last."""
    return [found[at] for at in sorted({0, len(found) // 2, len(found) - 1})] if found else []


def fill_bodies(probe: Probe) -> None:
    """Add a note with an excerpt, and put a body into every section: its own, which changes nothing, and another."""

    def note(create: bool) -> Changer:
        return body.note([WORDS], ["$ make test", "```", "# 12 passed"], create=create)

    made = probe.write("note", lambda: note(False))
    if made is None and probe.report.refused["no-such-section", "note"]:
        made = probe.write("note" + CREATED, lambda: note(True))
    if made is not None:
        probe.expect("note", made[1], 0, sections=facts(made[1]).sections)
    for section in probe.plan.sections:
        _set(probe, section)


def _set(probe: Probe, section: Section) -> None:
    """Put a section's own body in its place, and then another."""
    own = "\n".join(probe.plan.text.lines[section.body : section.room])
    lines = Text.from_str(re.sub(r"\A(\s*\n)+|\s+\Z", "", own)).lines
    if not any(lines):
        return
    made = probe.write("set", partial(body.set_body, section.title, [WHY, "", "- and an item"]))
    if made is not None:
        titles = [[each.title for each in plan.sections] for plan in (probe.plan, made[1])]
        if titles[0] != titles[1] or made[1].text.lines.count(WHY) != 1:
            probe.fail(section.start, "set changed other sections")
        if changed(probe.data, body.set_body(section.title, lines))[0] != probe.data:
            probe.fail(section.start, "set with a section's own body changes the plan")


def fill_logs(probe: Probe) -> None:
    """Add a decision, with and without one that it supersedes, a discovery, an outcome and a revision note."""
    decided = (WORDS, WHY, DATE, AUTHOR, None)
    _log(probe, "decide", "decisions", lambda create: logs.decide(WORDS, WHY, AUTHOR, MOMENT, create=create), decided)
    if probe.plan.decisions:
        old = probe.plan.decisions[-1]
        told = f"{old.text} ({old.date})" if old.date else old.text

        def overrule(create: bool) -> Changer:
            return logs.decide(WORDS, WHY, AUTHOR, MOMENT, supersedes=old.text, create=create)

        _log(probe, "decide --supersedes", "decisions", overrule, (*decided[:4], told))
    _log(probe, "discover", "discoveries", lambda create: logs.discover(WORDS, WHY, create=create), (WORDS, WHY))
    _log(probe, "outcome", "outcomes", lambda create: logs.outcome(WORDS, create=create), WORDS)
    _log(probe, "revision note", "revisions", lambda create: logs.revise(WORDS, MOMENT), WORDS)


def _log(probe: Probe, writer: str, field: str, make: Callable[[bool], Changer], new: object) -> None:
    """Add an entry, with its section where that is missing, and check it."""
    made = probe.write(writer, lambda: make(False))
    sections = probe.facts.sections
    if made is None and probe.report.refused["no-such-section", writer]:
        made = probe.write(writer + CREATED, lambda: make(True))
        if made is not None:
            sections = facts(made[1]).sections
            if not any(one_more(probe.facts.sections, sections, name) for name in outline.LIVING):
                probe.fail(0, f"{writer} --create did not add one section")
    if made is None:
        return
    line = next((each.start for each in getattr(made[1], field) if each.text == WORDS), 0)
    before, after = getattr(probe.facts, field), getattr(facts(made[1]), field)
    if not one_more(before, tuple(_to_the_day(entry) for entry in after), new):
        probe.fail(line, f"{writer} did not add what was meant")
    probe.expect(writer, made[1], line, **{field: after, "sections": sections})


def _to_the_day(entry: Any) -> Any:
    """An entry as it is, but for a new decision's time, which is written where its neighbours have one."""
    if entry[0] != WORDS or len(entry) != 5:
        return entry
    return (*entry[:2], entry[2][:10], *entry[3:])


def examine(named: tuple[str, Path]) -> Report:
    """All that comes of one plan."""
    name, path = named
    try:
        probe = Probe(name, path.read_bytes())
    except ExecplanError as error:
        return new_report(name)._replace(failures=[f"{name}:{error.line}: not read: {error.message}"])
    for part in (Probe.read, mark_tasks, add_tasks, reword_tasks, fill_logs, fill_bodies):
        try:
            part(probe)
        except Exception as error:  # noqa: BLE001 - a crash is a finding about this plan like any other
            probe.fail(0, f"{type(error).__name__}: {error}")
    return probe.report


def plans(folder: Path) -> list[tuple[str, Path]]:
    """The plans below a folder, each with its path from there."""
    return [(path.relative_to(folder).as_posix(), path) for path in sorted(folder.rglob("*.md"))]


def main() -> int:
    """Examine every plan; exit 1 for a failure, or for a page that would change under `--check`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="default: $EXECPLAN_CORPUS, else ../shared/corpus")
    parser.add_argument("--check", action="store_true", help="write nothing; say whether docs/corpus.md would change")
    given = parser.parse_args()
    folder = given.folder or Path(os.environ.get("EXECPLAN_CORPUS") or ROOT.parent / "shared" / "corpus")
    if not folder.is_dir():
        print(f"no corpus in {folder}: nothing was checked")
        return 0
    with Pool() as pool:
        reports = pool.map(examine, plans(folder), chunksize=4)
    failures = [failure for report in reports for failure in report.failures]
    for failure in failures:
        print(failure, file=sys.stderr)
    text = page(reports)
    stale = not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text
    if stale and not given.check and not failures:
        PAGE.write_text(text, encoding="utf-8")
    outcome = "; docs/corpus.md " + ("is stale" if given.check else "written") if stale and not failures else ""
    print(f"{len(reports)} plans, {len(failures)} failures{outcome}")
    return 1 if failures or (stale and given.check) else 0


if __name__ == "__main__":
    sys.exit(main())
