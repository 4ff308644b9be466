"""Attributes for the steps that were inferred, written into the plan for its author to check."""

from __future__ import annotations

from execplan.execution.command.typed import PROMPTS, SHELLS
from execplan.execution.draft import Draft
from execplan.execution.wild.inferred import find_inferred
from execplan.execution.wild.line import split_comment
from execplan.execution.wild.names import Names
from execplan.execution.wild.places import LINES, Place, places, spoken
from execplan.execution.written.annotated import find_annotated
from execplan.execution.written.fences import fences
from execplan.plan import outline
from execplan.plan.change import Change, facts, stop_conflicts, stop_unclosed
from execplan.plan.reader import read_text
from execplan.text.edit import Edit, apply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.plan.model import Plan, Section

_LANGUAGE = "sh"


def annotate(plan: Plan) -> Change:
    """Turn blocks that are wholly inferred steps into fences with attributes, and give items that name commands such fences.

    A place is left as it is when the fences would not tell the same commands and folders. Raises ExecplanError for a plan
    that can't be edited.
    """
    stop_conflicts(plan)
    found = [each for each in (plan.section(name) for name in (outline.STEPS, outline.VALIDATION)) if each is not None]
    if found:
        stop_unclosed(plan, max([section.end for section in found]))
    drafts = find_inferred(plan, fences(plan).taken).drafts
    names = Names([each.attributes["id"] for each in find_annotated(plan).drafts if "id" in each.attributes])
    edits = [edit for section in found for edit in _edits(plan, section, drafts, names)]
    told = _told(plan)
    kept = list(edits) if not edits or _told(plan, edits) == told else _kept(plan, edits, told)
    then = read_text(apply(plan.text, kept)) if kept else plan
    count = len(drafts) - (len(find_inferred(then, fences(then).taken).drafts) if kept else len(drafts))
    if not drafts:
        said = "nothing to annotate: no step is inferred"
    else:
        rest = "" if count == len(drafts) else "; the others are left to you"
        said = f"annotated: {count} of {len(drafts)} inferred step{'s' * (len(drafts) > 1)}{rest}"
    return Change(tuple(kept), facts(plan), f"annotate {count} step{'s' * (count != 1)}", (said,))


def _kept(plan: Plan, edits: Sequence[Edit], told: list[tuple[str, str, str]]) -> list[Edit]:
    """Those of the edits after which the plan tells the same commands in the same folders."""
    kept: list[Edit] = []
    for edit in edits:
        if _told(plan, [*kept, edit]) == told:
            kept.append(edit)
    return kept


def _told(plan: Plan, edits: Sequence[Edit] = ()) -> list[tuple[str, str, str]]:
    """Phase, folder and command of every step once the edits are made; nothing when the plan then says other things."""
    then = read_text(apply(plan.text, edits)) if edits else plan
    if edits and facts(then) != facts(plan):
        return []
    drafts = [*find_annotated(then).drafts, *find_inferred(then, fences(then).taken).drafts]
    return [(each.phase, each.cwd, each.command) for each in sorted(drafts, key=lambda each: each.start)]


def _edits(plan: Plan, section: Section, drafts: Sequence[Draft], names: Names) -> list[Edit]:
    """An edit for each place of a section whose steps can be told by fences."""
    edits: list[Edit] = []
    for place in places(plan, section):
        own = [each for each in drafts if place.start <= each.start < place.end]
        if own:
            edit = _block(plan, place, own, names) if place.kind == LINES else _words(plan, place, own, names)
            if edit is not None:
                edits.append(edit)
    return edits


def _head(language: str, draft: Draft, names: Names) -> str:
    folder = f'"{draft.cwd}"' if " " in draft.cwd else draft.cwd
    return f"{language} {{#{names.new(draft.command)}{'' if draft.cwd == '.' else f' cwd={folder}'}}}"


def _block(plan: Plan, place: Place, drafts: Sequence[Draft], names: Names) -> Edit | None:
    """A block as one fence, or None when it holds more than steps in one folder."""
    if len({each.cwd for each in drafts}) > 1:
        return None
    starts = {each.start: each for each in drafts}
    inside = {line for each in drafts for line in range(each.start + 1, each.end)}
    body: list[str] = []
    shift = 0
    for at, line in place.lines:
        raw = plan.text.lines[at].expandtabs(4)
        column = len(raw) - len(raw.lstrip(" "))
        if at in inside:
            body.append(" " * max(column - shift, 0) + line)
        elif at in starts:
            shift = column
            _, comment = split_comment(line)
            whole = starts[at].end == at + 1
            if not whole and (comment or not _begins(starts[at].command, line)):
                return None
            body += [f"# {comment}"] if comment else []
            body.append(starts[at].command if whole else line)
        elif not line or line.startswith("#"):
            body.append(line)
        elif not line.startswith("cd ") or "&" in line:
            return None
    while body and not body[0]:
        body.pop(0)
    indent = " " * place.indent
    if place.fence is not None:
        first = plan.text.lines[place.start]
        mark = place.fence.mark * place.fence.level
        language = place.fence.text.split(" ")[0] if place.language in SHELLS else _LANGUAGE
        head = first[: first.index(mark)] + mark + _head(language, drafts[0], names)
        last = plan.text.lines[place.end - 1]
        indent = " " * place.fence.column
        return Edit(place.start, place.end, (head, *[f"{indent}{line}".rstrip() for line in body], last))
    return Edit(place.start, place.end, tuple(_fence(indent, _head(_LANGUAGE, drafts[0], names), body)))


def _begins(command: str, line: str) -> bool:
    """Whether a command that goes on over several lines begins with the first of them as it stands."""
    return not line.startswith(PROMPTS) and command.startswith(line.removesuffix("\\").rstrip())


def _fence(indent: str, head: str, body: Sequence[str]) -> list[str]:
    return [f"{indent}```{head}", *[f"{indent}{line}".rstrip() for line in body], f"{indent}```"]


def _words(plan: Plan, place: Place, drafts: Sequence[Draft], names: Names) -> Edit | None:
    """Fences in place of an item that is only commands, or below the words that tell to run them."""
    groups: list[list[Draft]] = []
    for draft in drafts:
        if groups and groups[-1][0].cwd == draft.cwd:
            groups[-1].append(draft)
        else:
            groups.append([draft])
    indent = " " * place.indent
    lines = [
        line
        for group in groups
        for line in _fence(indent, _head(_LANGUAGE, group[0], names), [each.command for each in group])
    ]
    first = plan.text.lines[place.start]
    said = list(spoken(place))
    shown = place.lines[0][1]
    bare = place.alone and len(said) == 1 and len(said[0].spans) == len(drafts)
    if bare and set(said[0].shape) <= set("\x01 .;,") and _starts_item(first, shown):
        return Edit(place.start, place.end, (first[: -len(shown)] + lines[0][place.indent :], *lines[1:]))
    if place.inner < 0:
        behind = plan.text.lines[place.end : place.end + 1]
        return Edit(place.end, place.end, ("", *lines, *([""] if behind and behind[0].strip() else [])))
    return Edit(place.end, place.end, tuple(lines))


def _starts_item(line: str, shown: str) -> bool:
    """Whether nothing but the mark of an item stands before these words on a line."""
    return line.endswith(shown) and line[: -len(shown)].rstrip()[-1:] in ("-", "*", "+", ".", ")") and "\t" not in line
