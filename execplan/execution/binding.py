"""What an approval binds: the document's bytes, the state of each target and declared input before, programs, and the policy."""

from __future__ import annotations

from execplan.execution.documents.written_paths import diff_paths
from execplan.named_tuple import NamedTuple
from execplan.text.text_lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.execution.execution_plan import ExecutionPlan, Step
    from execplan.execution.policy import Policy
    from execplan.execution.world import Program, State, World

_KIND_NAMES = {
    "absent": "absent",
    "file": "a file",
    "folder": "a folder",
    "link": "a link",
    "other": "neither file nor folder",
    "outside": "outside the repository",
}


class Binding(NamedTuple):
    """What was approved, or what would be."""

    digest: str
    """SHA-256 of all the rest, of the programs only of those in the repository: whoever reads a plan elsewhere gets the same."""
    document: str
    """SHA-256 of its bytes."""
    states: dict[str, State]
    """By path; of a folder its kind and mode, not what lies in it."""
    policy: str
    """Its version."""
    programs: dict[str, Program] | None = None
    """By the name that is looked up; None where they were not looked at, as of an older approval."""


def bind(data: bytes, document: ExecutionPlan, world: World, policy: Policy) -> Binding:
    """What an approval of a document, given by its bytes too, would bind now."""
    from execplan.execution.program_lookup import resolve_programs

    paths = dict.fromkeys([path for step in document.steps for path in bound_paths(step)])
    states = {path: sanitize_state(world.state(path)) for path in paths}
    bound_programs = {name: sanitize_program(program) for name, program in resolve_programs(document, world).items()}
    combined_digest = binding_digest(digest(data), states, policy.version, bound_programs)
    return Binding(combined_digest, digest(data), states, policy.version, bound_programs)


def sanitize_program(program: Program) -> Program:
    """A program as a document can hold it: its paths need not be UTF-8."""
    path, real = [text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace") for text in program[:2]]
    return program._replace(path=path, real=real)


def sanitize_state(state: State) -> State:
    """A state as a document can hold it: what a link says need not be UTF-8."""
    return state._replace(link=state.link.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"))


def binding_digest(
    document: str, states: dict[str, State], policy: str, programs: dict[str, Program] | None = None
) -> str:
    """The digest of a binding's parts; a size is left out, which the bytes' own digest tells."""
    import json

    state_rows = {path: [state.kind, state.sha256, state.mode, state.link] for path, state in states.items()}
    content: dict[str, object] = {"document": document, "states": state_rows, "policy": policy}
    local_programs = {
        name: [program.path, program.sha256] for name, program in (programs or {}).items() if program.is_in_repository
    }
    if local_programs:
        content["programs"] = local_programs
    return digest(json.dumps(content, sort_keys=True, separators=(",", ":")).encode())


def bound_paths(step: Step) -> Iterator[str]:
    """The paths whose state before a step counts: its target, the files that its patch touches, its declared inputs."""
    if step.target is not None:
        yield step.target
    if step.patch is not None:
        yield from diff_paths(step.patch)
    yield from step.inputs


def drift(old: Binding, new: Binding) -> tuple[str, ...]:
    """What differs, a line each."""
    lines = []
    if old.document != new.document:
        lines.append(f"the execution plan: other bytes ({old.document[:12]} → {new.document[:12]})")
    for path, before in old.states.items():
        after = new.states.get(path)
        if after is not None and (why := describe_difference(before, after)):
            lines.append(f"{path}: {why}")
    if old.document == new.document:
        lines += [f"{path}: counts by now" for path in new.states.keys() - old.states.keys()]
    if old.programs and new.programs:
        from execplan.execution.program_lookup import describe_changed_programs

        lines += describe_changed_programs(old.programs, new.programs)
    if old.policy != new.policy:
        lines.append(f"the policy: another version ({old.policy[:12]} → {new.policy[:12]})")
    return tuple(lines)


def describe_difference(before: State, after: State) -> str:
    """How a path's state differs from what was bound, or nothing; a size is left out, which the bytes' digest tells."""
    if before.kind != after.kind:
        return f"was {_KIND_NAMES.get(before.kind, before.kind)}, is {_KIND_NAMES.get(after.kind, after.kind)}"
    differences = []
    if before.sha256 != after.sha256:
        differences.append(f"other bytes ({before.sha256[:12]} → {after.sha256[:12]})")
    if before.link != after.link:
        differences.append(f"links to {after.link}, not to {before.link}")
    if before.mode != after.mode:
        differences.append(f"mode {before.mode:o} → {after.mode:o}")
    return ", ".join(differences)
