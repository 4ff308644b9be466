"""What an approval binds: document bytes, target and input states, programs and the policy."""

from __future__ import annotations

from execplan.core import features
from execplan.core.named_tuple import NamedTuple
from execplan.core.text.text_lines import digest
from execplan.execution import rare_features
from execplan.execution.documents.written_paths import diff_paths, new_path
from execplan.execution.policy import SSH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.execution.execution_plan import ExecutionPlan, Step
    from execplan.execution.policy import Policy
    from execplan.execution.world import Program, State, World

_KIND_NAMES = {
    "absent": "absent",
    "file": "a file",
    "folder": "a directory",
    "link": "a link",
    "other": "neither file nor directory",
    "outside": "outside the repository",
}


class Binding(NamedTuple):
    """The document, file states, policy and programs that an approval binds, or would bind now."""

    digest: str
    """SHA-256 of all other fields; of the programs only those in the repository, so it is equal on every machine."""
    document: str
    """SHA-256 of the document's bytes."""
    states: dict[str, State]
    """States by path; for a directory its kind and mode, not its content."""
    policy: str
    """Version of the policy."""
    programs: dict[str, Program] | None = None
    """Programs by the name that is looked up; None if they were not recorded, as in an older approval."""


def bind(data: bytes, document: ExecutionPlan, world: World, policy: Policy, *, with_programs: bool = True) -> Binding:
    """Return what an approval of a document would bind now; `data` is the document's bytes.

    Without programs, none is looked up, and the digest is not that of an approval.
    """
    found_document = features.load(rare_features.FOUND_FILES)(document, world) if document.finds_files else document
    paths = dict.fromkeys([path for step in found_document.steps for path in bound_paths(step)])
    states = {path: sanitize_state(world.state(path)) for path in paths}
    if policy.signatures == SSH:
        states = {path: state._replace(mode=portable_mode(state)) for path, state in states.items()}
    bound_programs = _bind_programs(document, world) if with_programs else None
    combined_digest = binding_digest(digest(data), states, policy.version, bound_programs)
    return Binding(combined_digest, digest(data), states, policy.version, bound_programs)


def _bind_programs(document: ExecutionPlan, world: World) -> dict[str, Program]:
    from execplan.execution.program_lookup import resolve_programs

    return {name: sanitize_program(program) for name, program in resolve_programs(document, world).items()}


def sanitize_program(program: Program) -> Program:
    """Return a program that can be stored in a document: its paths may not be UTF-8."""
    path, real = [text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace") for text in program[:2]]
    return program._replace(path=path, real=real)


def sanitize_state(state: State) -> State:
    """Return a state that can be stored in a document: a link target may not be UTF-8."""
    return state._replace(link=state.link.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"))


def portable_mode(state: State) -> int:
    """Return the mode of a path as git has it, which is the same in every checkout, whatever its umask is."""
    if not state.mode:
        return 0
    return 0o755 if state.mode & 0o100 else 0o644


def binding_digest(
    document: str, states: dict[str, State], policy: str, programs: dict[str, Program] | None = None
) -> str:
    """Return the digest of a binding's parts; sizes are left out, because the digest of the bytes covers them."""
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
    """Yield the paths whose state before a step is bound: its target, the files of its patch, its declared inputs.

    They include the files that it has found, and the paths that these get.
    """
    if step.from_ is not None:
        yield step.from_
        yield from [new_path(path, step.from_, step.target or "") for path in step.files]
    yield from step.files
    if step.target is not None:
        yield step.target
    if step.patch is not None:
        yield from diff_paths(step.patch)
    yield from step.inputs


def drift(old: Binding, new: Binding) -> tuple[str, ...]:
    """Return the differences between two bindings, one line each."""
    lines = []
    if old.document != new.document:
        lines.append(f"the execution plan: different content ({old.document[:12]} → {new.document[:12]})")
    for path, before in old.states.items():
        after = new.states.get(path)
        if after is not None and (why := describe_difference(before, after)):
            lines.append(f"{path}: {why}")
    if old.document == new.document:
        lines += [f"{path}: is now covered" for path in sorted(new.states.keys() - old.states.keys())]
        lines += [f"{path}: is no longer covered" for path in sorted(old.states.keys() - new.states.keys())]
    if old.programs and new.programs:
        from execplan.execution.program_lookup import describe_changed_programs

        lines += describe_changed_programs(old.programs, new.programs)
    if old.policy != new.policy:
        lines.append(f"the policy: different version ({old.policy[:12]} → {new.policy[:12]})")
    return tuple(lines)


def describe_difference(before: State, after: State) -> str:
    """Return how a path's state differs from the bound one, or an empty string.

    The size is not compared, because the digest of the bytes covers it.
    """
    if before.kind != after.kind:
        return f"was {_KIND_NAMES.get(before.kind, before.kind)} and is now {_KIND_NAMES.get(after.kind, after.kind)}"
    differences = []
    if before.sha256 != after.sha256:
        differences.append(f"different content ({before.sha256[:12]} → {after.sha256[:12]})")
    if before.link != after.link:
        differences.append(f"links to {after.link}, not to {before.link}")
    if before.mode != after.mode:
        differences.append(f"mode {before.mode:o} → {after.mode:o}")
    return ", ".join(differences)
