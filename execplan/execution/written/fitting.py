"""Whether the attributes of a fence, their values and its body fit what the step does."""

from __future__ import annotations

from os.path import normpath

from execplan.execution.attributes import ATTRIBUTES_BY_NAME, EXECUTE, COMMAND_TYPES, SHELLS, TOOL, TYPES
from execplan.execution.documents.touched import diff_paths
from execplan.execution.written.annotated import place
from execplan.execution.written.fields import parameters
from execplan.execution.written.values import WrongValueError, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from execplan.execution.draft import StepDraft, StepProblem
    from execplan.execution.written.fence import Given
    from execplan.execution.written.fences import Fence

_TARGETED = ("create_file", "modify_file", "delete_file")
USED = {
    "target": (*_TARGETED, "install_package"),
    "lines": ("modify_file",),
    "syntax-check": ("create_file", "modify_file", "refactor_code"),
    "tool": (TOOL,),
    **dict.fromkeys(("shell", "exit"), COMMAND_TYPES),
    **dict.fromkeys(("cwd", "env", "network", "expect"), (*COMMAND_TYPES, TOOL)),
}
"""The types that have a use for an attribute, where not all do."""
_TYPED = ("", *SHELLS, "shell", "ksh", "console", "terminal", "shell-session", "shellsession")
"""The languages of a fence that holds commands, where it does not say so."""
PATCHES = ("diff", "patch")
"""The languages of a fence that holds a patch."""


def unfitting(fence: Fence, drafts: list[StepDraft], *, near: bool = True) -> Iterator[StepProblem]:
    """What is wrong with one fence on its own: unknown attributes, wrong values, what is missing or of no use.

    `near` is whether the attribute that may be meant is named.
    """
    info = fence.info
    if info.id is not None:
        yield from _wrong(fence, info.id, "id", info.id.value)
    kind = drafts[0].attributes.get("type", EXECUTE)
    for each in info.given:
        if each.name not in ATTRIBUTES_BY_NAME or each.name == "id":
            yield place(fence, "EP602", _unknown(each.name, near=near), each.start, each.end)
            continue
        yield from _wrong(fence, each, each.name, each.value)
        if kind in TYPES and kind not in USED.get(each.name, TYPES):
            yield place(fence, "EP603", f"{kind} has no use for {each.name}", each.start, each.end)
    if kind in TYPES and not info.flaws:
        for message in _missing(fence, drafts, kind):
            yield place(fence, "EP603", message)
        target = info.get("target")
        if target is not None and kind in _TARGETED and (target.value.endswith("/") or normpath(target.value) == "."):
            code = "EP612" if kind == "delete_file" else "EP603"
            yield place(
                fence, code, f"{target.value} is a folder, and {kind} is about one file", target.start, target.end
            )


def _wrong(fence: Fence, given: Given, name: str, text: str) -> Iterator[StepProblem]:
    try:
        value(name, text)
    except WrongValueError as error:
        yield place(fence, "EP603", str(error), given.start, given.end)


def _unknown(name: str, *, near: bool) -> str:
    """That there is no such attribute, and the one that is meant: named by its field, or misspelled."""
    from difflib import get_close_matches

    known = {each.field.rpartition(".")[2]: each.name for each in ATTRIBUTES_BY_NAME.values()}
    known |= {each: each for each in ATTRIBUTES_BY_NAME}
    like = get_close_matches(name, known, n=1, cutoff=0.6) if near else []
    meant = known.get(name) or (known[like[0]] if like else "")
    hint = f"; did you mean {meant}?" if meant else ""
    return f"there is no attribute {name}" + ("; an id is written #NAME" if meant == "id" else hint)


def _missing(fence: Fence, drafts: list[StepDraft], kind: str) -> Iterator[str]:
    """What a step of a type must have, and what can't stand beside it."""
    given = drafts[-1].attributes
    if kind in _TARGETED and "target" not in given:
        yield f"{kind} needs a target: target=PATH"
    if "type" not in given and fence.info.language.lower() not in _TYPED:
        yield f"{fence.info.language} is no language of commands: say what it does by type=, or write sh"
    elif kind in COMMAND_TYPES:
        if not any([each.command.strip() for each in drafts]):
            yield f"{kind} holds no command"
    elif kind == TOOL:
        yield from _uncallable(given.get("tool", ""), drafts[-1])
    elif fence.expect is not None:
        yield f"{kind} prints nothing that could be expected"
    if fence.expect is not None and "expect" in given:
        yield "what it prints is given twice: by expect, and by the fence below"
    yield from _unwritten(fence, kind, given)


def _unwritten(fence: Fence, kind: str, given: Mapping[str, str]) -> Iterator[str]:
    """What is wrong with how a change of files is written."""
    patch = fence.info.language in PATCHES
    if kind == "modify_file" and patch == ("lines" in given):
        yield "modify_file is a fence of the language diff, or has lines=A-B and holds the new lines" + (
            ", not both" if patch else ""
        )
    if kind == "refactor_code" and not patch:
        yield "refactor_code is a fence of the language diff: a patch of all its files"
    if patch and (kind == "refactor_code" or (kind == "modify_file" and "lines" not in given)):
        yield from _unpatched(fence, kind, given.get("target", ""))


def _uncallable(tool: str, draft: StepDraft) -> Iterator[str]:
    """What is wrong with a call that can be seen without knowing the tool."""
    from execplan.execution.documents.rules_parts import is_own_tool

    if not tool:
        yield f"{TOOL} needs a tool: tool=domain.tool"
    elif tool.count(".") != 1 or not all([part.replace("-", "_").isidentifier() for part in tool.split(".")]):
        yield f"{tool} is no name of a tool: domain.tool, with one dot"
    elif is_own_tool(tool):
        yield f"{tool} is in a domain of execplan's own: no installed tool is named so"
    if parameters(draft.body) is None:
        yield 'its parameters are a JSON object, such as {"city": "Bern"}, or nothing'


def _unpatched(fence: Fence, kind: str, target: str) -> Iterator[str]:
    """What is wrong with a patch that can be seen without the files."""
    files = diff_paths("\n".join(fence.body))
    if not any([line.startswith("@@ ") for line in fence.body]):
        yield "the patch holds no hunk: lines below a line such as `@@ -1,3 +1,4 @@`"
    elif kind == "refactor_code" and not files:
        yield "the patch names no file: `--- a/PATH` and `+++ b/PATH` above its hunks"
    elif kind == "modify_file" and target and [each for each in files if normpath(each) != normpath(target)]:
        yield f"the patch is for {', '.join(files)}, and the target is {target}"
