"""Steps from fences with attributes."""

from __future__ import annotations

from execplan.execution.attributes import EXECUTE, EXPECT, COMMAND_TYPES, SHELLS
from execplan.execution.draft import ANNOTATED, INFERRED, StepDraft, ParsedSteps, StepProblem
from execplan.execution.written.fences import Fence, fences
from execplan.execution.written.transcript import Typed, commands
from execplan.execution.written.values import WrongValueError, parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from execplan.plan.model import Plan

LAST = ("expect", "exit", "outputs", "test-after", "task", "checkpoint")
"""What is true of a fence of several commands when all of them have run, and so goes to the last of their steps."""


def find_annotated(plan: Plan) -> ParsedSteps:
    """The steps that fences with attributes tell, in the order of their lines; those with a flaw as far as it goes."""
    seen = fences(plan)
    drafts = [draft for fence in seen.steps for draft in _drafts(fence)]
    flaws: list[StepProblem] = []
    for fence in seen.steps:
        flaws += _flaws(fence)
        if fence.expect is not None:
            flaws += [*_flaws(fence.expect), *_alone(fence.expect)]
    for fence in seen.loose:
        message = f"a fence marked {{{EXPECT}}} stands below the step that prints it; there is none above this one"
        flaws += [*_flaws(fence), place(fence, "EP603", message)]
    return ParsedSteps(numbered(drafts), seen.left, tuple(flaws))


def place(fence: Fence, kind: str, message: str, start: int | None = None, end: int | None = None) -> StepProblem:
    """A problem at columns of a fence's info string, or at all of its attributes."""
    words = [*fence.info.given, *([fence.info.id] if fence.info.id else [])]
    if start is None or end is None:
        start, end = min([each.start for each in words], default=0), max([each.end for each in words], default=1)
    return StepProblem(kind, fence.line, fence.column + start, fence.column + end, message)


def numbered(drafts: Iterable[StepDraft]) -> tuple[StepDraft, ...]:
    """The drafts by line; a fence without an ID is called by its number, `step-3`. Inferred steps have their names.

    What needs an id that a fence of several commands has needs the last of its steps.
    """
    ordered = sorted(drafts, key=lambda each: each.start)
    written = {each.id for each in ordered if "id" in each.attributes or each.origin == INFERRED}
    names: dict[tuple[str, str], str] = {}
    for number, draft in enumerate(ordered, 1):
        if "id" not in draft.attributes and draft.origin != INFERRED:
            name = f"step-{number}"
            while name in written:
                name += "-x"
            names[draft.origin, draft.id] = name
    ends = last_ids(ordered)
    return tuple(
        [
            draft._replace(
                id=names.get((draft.origin, draft.id), draft.id),
                needs=tuple([ends.get(each, names.get((draft.origin, each), each)) for each in draft.needs]),
            )
            for draft in ordered
        ]
    )


def last_ids(drafts: Sequence[StepDraft]) -> dict[str, str]:
    """The last step of each id that a fence has."""
    return {draft.attributes["id"]: draft.id for draft in drafts if "id" in draft.attributes}


def _drafts(fence: Fence) -> Iterator[StepDraft]:
    """The steps of one fence."""
    info = fence.info
    attributes = {each.name: each.value for each in info.given}
    if info.id is not None:
        attributes["id"] = info.id.value
    if attributes.get("shell") == "true" and info.language in SHELLS:
        attributes["shell"] = info.language
    runs = attributes.get("type", EXECUTE) in COMMAND_TYPES
    typed = commands(fence.body) if runs and "shell" not in attributes else ()
    typed = typed or (Typed("\n".join(fence.body) if runs and "shell" in attributes else ""),)
    base = info.id.value if info.id is not None else f"@{fence.line}"
    shown = "\n".join(fence.expect.body).rstrip("\n") if fence.expect is not None else None
    end = fence.expect.end if fence.expect is not None else fence.end
    cwd = attributes.get("cwd", ".")
    needs = _needs(attributes)
    for number, each in enumerate(typed, 1):
        last = number == len(typed)
        own = attributes if last else {name: value for name, value in attributes.items() if name not in LAST}
        name = base if len(typed) == 1 else f"{base}.{number}"
        expect = own.get("expect", shown) if last else None
        expect = each.printed if expect is None else expect
        where = (ANNOTATED, fence.phase, fence.line, end)
        yield StepDraft(*where, name, own, fence.body, each.command, needs, cwd, expect)
        needs = (name,)


def _needs(attributes: dict[str, str]) -> tuple[str, ...]:
    try:
        return tuple(parts(attributes.get("needs", "")))
    except WrongValueError:
        return ()


def _flaws(fence: Fence) -> Iterator[StepProblem]:
    """What of its info string can't be read."""
    for flaw in fence.info.flaws:
        yield place(fence, "EP601", flaw.message, flaw.start, flaw.end)
    if not fence.closed:
        yield place(fence, "EP601", "this fence is never closed")


def _alone(fence: Fence) -> Iterator[StepProblem]:
    """An expectation has no attributes of its own."""
    for each in (*fence.info.given, *([fence.info.id] if fence.info.id else [])):
        yield place(fence, "EP603", f"a fence marked {{{EXPECT}}} has no attributes", each.start, each.end)
