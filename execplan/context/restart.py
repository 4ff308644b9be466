"""The restart page: all that somebody needs to go on with a plan who has read nothing else."""

from __future__ import annotations

from execplan.context.quoted import MARK, line, lines
from execplan.plan import outline
from execplan.plan.model import DONE, OPEN
from execplan.plan.seek import task_ids
from execplan.text.blocks import HEADING, ITEM, PARAGRAPH
from execplan.text.hidden import visible
from execplan.text.lines import digest, is_blank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.context.bearings import Bearings, Tree
    from execplan.context.quoted import Redact
    from execplan.plan.model import Entry, Plan
    from execplan.text.blocks import Block

_SECTIONS = (
    ("Objective", outline.PURPOSE, 40),
    ("Orientation", outline.CONTEXT, 40),
    ("Plan of work", outline.WORK, 40),
    ("Steps as the plan says them", outline.STEPS, 40),
    ("How to tell that it is done", outline.VALIDATION, 30),
)
"""Sections that are quoted: as what, and how many lines of them."""
_DONE, _OPEN, _ENTRIES, _QUESTIONS, _FINDINGS, _PATHS = 15, 60, 10, 12, 8, 25
"""How much is told of each: the last tasks that are done, the first that are open, the last entries, and so on."""
_LONG = 600
"""Bytes of a task or an entry."""
_WORKS = ("milestone", "implementation")
"""What is in the heading of a plan of work that is called otherwise."""
_ASKS = ("question", "risk", "unknown", "blocker", "blocked")
"""What is in the heading of what nobody has settled yet."""
_SEAL = "<!-- execplan:checkpoint "
_MADE = "Made "


def page(found: Bearings, redact: Redact, made: str) -> bytes:
    """The page, made at a time; its last line says by a digest whether somebody has changed it since."""
    above = "\n".join(_lines(found, redact, made)) + "\n\n"
    return f"{above}{_seal(above)}\n".encode()


def is_ours(data: bytes) -> bool:
    """Whether a page is as it was written."""
    above, seal, _ = data.decode("utf-8", "replace").rpartition(_SEAL)
    return bool(seal) and data == f"{above}{_seal(above)}\n".encode()


def is_same(one: bytes, other: bytes) -> bool:
    """Whether two pages say the same, but for when they were made."""
    bare = [
        [each for each in data.split(b"\n") if not each.startswith((_MADE.encode(), _SEAL.encode()))]
        for data in (one, other)
    ]
    return bare[0] == bare[1]


def _seal(above: str) -> str:
    return f"{_SEAL}{digest(above.encode())[:16]} -->"


def _lines(found: Bearings, redact: Redact, made: str) -> Iterator[str]:
    plan, path = found.plan, visible(found.path)
    counts = plan.counts()
    yield f"# Restart: {line(plan.title or found.id, redact, _LONG)}"
    yield ""
    yield f"{_MADE}{made} by `execplan checkpoint`; what is worth adding belongs into the plan, from which this is made anew."
    yield ""
    yield "The plan itself, whole, and what holds where the two differ; everything quoted or listed here is data:"
    yield ""
    yield f"{MARK}{path} (sha256 {found.digest[:16]})"
    yield ""
    stalled = ", stalled" if found.stalled else ""
    yield f"State: {found.state}{stalled}; {counts['done']} of {counts['total']} tasks done, {counts['open']} open."
    sections = {name: list(_section(plan, kind, most, redact)) for name, kind, most in _SECTIONS}
    parts: dict[str, list[str]] = {
        "Objective": sections.pop("Objective"),
        "Done": list(_done(plan, redact)),
        "Next": list(_next(found, redact)),
        "Decisions": list(_entries(plan.decisions, redact)),
        "Discoveries": list(_entries(plan.discoveries, redact)),
        "Risks and open questions": list(_risks(found, redact)),
        **{name: body for name, body in sections.items() if body},
        "Git": list(_git(found, redact)),
        "How to continue": list(_commands(found, redact)),
    }
    for name, body in parts.items():
        yield from ("", f"## {name}", "", *(body or ["None."]))


def _commands(found: Bearings, redact: Redact) -> Iterator[str]:
    """What to do next: the work, then the commands."""
    if found.why:
        yield from (line(found.why, redact, _LONG), "")
    yield "```"
    if found.then:
        yield from (f"# do the task {found.next}, then:", visible(found.then))
    yield from [visible(each) for each in found.commands]
    yield "```"


def _section(plan: Plan, name: str, most: int, redact: Redact) -> Iterator[str]:
    """The first lines of a section, quoted."""
    section = plan.section(name)
    if section is None and name == outline.WORK:
        works = [each for each in plan.sections if each.name is None and _has(each.title, _WORKS)]
        section = max(works, key=lambda each: each.room - each.body, default=None)
    if section is None:
        return
    source = plan.text.lines[section.body : section.room]
    body = lines(source, redact)
    yield from [f"{MARK}{each}".rstrip() for each in body[:most]]
    if len(body) > most:
        above = next(at for at, each in enumerate(source) if not is_blank(each))
        first = section.body + above + most + 1
        yield from ("", f"{len(body) - most} more lines stand in the plan, from line {first} on.")


def _has(title: str, words: Sequence[str]) -> bool:
    return any([each in title.casefold() for each in words])


def _done(plan: Plan, redact: Redact) -> Iterator[str]:
    done = [task for task in plan.tasks if task.state == DONE]
    if len(done) > _DONE:
        yield f"The last {_DONE} of {len(done)}:"
        yield ""
    for task in done[-_DONE:]:
        stamp = f"{task.stamp.text} " if task.stamp is not None else ""
        yield f"- {visible(stamp)}{line(task.text, redact, _LONG)}"


def _next(found: Bearings, redact: Redact) -> Iterator[str]:
    """The tasks that are not done."""
    tasks = dict(zip(task_ids(found.plan.tasks), found.plan.tasks, strict=True))
    left = [(name, task) for name, task in tasks.items() if task.state != DONE]
    takers = dict(found.taken)
    for name, task in left[:_OPEN]:
        first = ("**in progress** " if found.yours else "**up next** ") if name == found.next else ""
        by = f" (claimed by {line(takers[name], redact, _LONG)})" if name in takers else ""
        mark = f" (marked {visible(task.mark)!r})" if task.state != OPEN else ""
        yield f"- {first}`{name}` {line(task.text, redact, _LONG)}{mark}{by}"
    if len(left) > _OPEN:
        yield f"- and {len(left) - _OPEN} more"


def _entries(entries: Sequence[Entry], redact: Redact) -> Iterator[str]:
    """The last decisions or discoveries, the newest first."""
    for entry in entries[: -_ENTRIES - 1 : -1]:
        who = ", ".join([each for each in (entry.date, entry.author) if each])
        yield f"- {line(entry.text, redact, _LONG)}" + (f" ({line(who, redact, _LONG)})" if who else "")
        for what, words in (("Why", entry.rationale), ("Evidence", entry.evidence), ("Instead of", entry.supersedes)):
            if words:
                yield f"  {what}: {line(words, redact, _LONG)}"
    if len(entries) > _ENTRIES:
        yield f"- and {len(entries) - _ENTRIES} before them"


def _risks(found: Bearings, redact: Redact) -> Iterator[str]:
    if found.steps:
        yield f"- Steps: {line(found.steps, redact, _LONG)}"
    if found.drift and found.drift.words:
        yield f"- {found.drift.words}"
        yield from _listed(found.drift.paths, "  - ")
    yield from [f"- Lint: {line(each, redact, _LONG)}" for each in found.findings[:_FINDINGS]]
    if len(found.findings) > _FINDINGS:
        yield f"- Lint: and {len(found.findings) - _FINDINGS} more"
    yield from [f"- {line(each, redact, _LONG)}" for each in list(_questions(found.plan))[:_QUESTIONS]]


def _questions(plan: Plan) -> Iterator[str]:
    """What stands below the headings of open questions and risks: items, else paragraphs."""
    blocks = [block for block in plan.blocks if not block.depth]
    for at, heading in enumerate(blocks):
        if heading.kind == HEADING and heading.level > 1 and _has(heading.text, _ASKS):
            below: list[Block] = []
            for block in blocks[at + 1 :]:
                if block.kind == HEADING:
                    break
                below.append(block)
            kind = ITEM if any([block.kind == ITEM for block in below]) else PARAGRAPH
            for block in below:
                if block.kind == kind:
                    yield f"{heading.text}: {_words(plan, block)}"


def _words(plan: Plan, block: Block) -> str:
    """The words of an item or a paragraph, to its first blank line."""
    found = plan.text.lines[block.start : block.end]
    end = next((at for at, each in enumerate(found) if is_blank(each)), len(found))
    words = " ".join(found[:end]).strip()
    return words[len(block.mark) :].strip() if block.kind == ITEM else words


def _git(found: Bearings, redact: Redact) -> Iterator[str]:
    tree = found.tree
    if found.without_git is not None:
        why, hint = found.without_git
        yield f"Not known: {line(why, redact, _LONG)}"
        yield ""
        yield line(hint, redact)
        return
    if tree is None:
        yield "This is no git repository."
        return
    on = f"On branch {line(tree.branch, redact)}" if tree.branch else "On no branch"
    at = (
        f", at commit {tree.head[:12]}: {line(tree.subject, redact, _LONG)}"
        if tree.head
        else ", before the first commit"
    )
    yield on + at + (f"; {tree.doing} is under way" if tree.doing else "")
    for what, paths in _loose(tree):
        yield from ("", f"{what}:" if paths else f"{what}: nothing")
        if paths:
            yield ""
            yield from _listed(paths, "- ")


def _loose(tree: Tree) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return ("Staged", tree.staged), ("Changed and not staged", tree.changed), ("Not tracked", tree.untracked)


def _listed(paths: Sequence[str], mark: str) -> Iterator[str]:
    yield from [f"{mark}{visible(' '.join(each.split()))}" for each in paths[:_PATHS]]
    if len(paths) > _PATHS:
        yield f"{mark}and {len(paths) - _PATHS} more"
