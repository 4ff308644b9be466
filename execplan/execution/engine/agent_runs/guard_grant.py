"""The guard grant of an agent's run: a full check, signed when issued, so that each call is evaluated quickly.

It is in the state directory. It is valid as long as its signature matches and every file that it depends on is
unchanged: settings, approval, registry, document and plan. A caller that finds it invalid repeats the full check.
"""

from __future__ import annotations

import os

from execplan import __version__
from execplan.core.files import file_access
from execplan.core.named_tuple import NamedTuple
from execplan.core.project import project_settings, project_state, user_settings
from execplan.core.project.project import Project
from execplan.core.project.project_settings import Settings
from execplan.core.text import fast_json
from execplan.core.text.hmac_signature import sign, signatures_match
from execplan.core.text.text_lines import digest
from execplan.execution.approvals import approval_key
from execplan.execution.permission import ApprovalTerms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Final

    from execplan.execution.approvals.approved_plan import ApprovedPlan
    from execplan.execution.engine.run_records.run_directories import RunPaths
    from execplan.execution.execution_plan import ExecutionPlan
    from execplan.execution.policy import Policy

FOLDER: Final = "warrants"
_LIMIT: Final = 64 << 20
_ABSENT: Final = "absent"
_SIGNATURE_CONTEXT: Final = b"execplan-warrant-1\n"
"""Prefix of the signed data, so that a signature of another kind is not accepted here."""


class GrantedStep(NamedTuple):
    """A step of the approved document, as the guard checks it."""

    step: dict[str, Any]
    """JSON form of the step, including default values."""
    level: str
    """Effective risk level of the step."""
    told: str
    """One-line summary of the step without secrets, safe to store."""


class GuardGrant(NamedTuple):
    """The grant against which the guard evaluates an agent's calls."""

    plan: str
    path: str
    """Absolute path of the plan's file."""
    run: str
    folder: str
    """Directory of the run's evidence."""
    working: str
    """Directory of the run's working state."""
    home: Project
    revision: int
    document: str
    """SHA-256 of the document's bytes."""
    steps: tuple[GrantedStep, ...]
    constraints: dict[str, Any]
    terms: ApprovalTerms
    interval: int
    """Number of completed steps after which a run asks whether to continue."""
    reads: str
    """The policy's rule for what may be read."""
    tools: tuple[str, ...]
    """Tools that the user's own settings allow."""
    commits: tuple[str, ...]
    """What the agent may commit, as in `Policy.commits`."""
    hidden: tuple[str, ...]
    """Secrets in the document, redacted from every reason."""
    witnesses: dict[str, str]
    """SHA-256 of each file that the grant depends on, by path, or a marker that it was absent."""

    @property
    def run_paths(self) -> RunPaths:
        """Return the paths of the granted run."""
        from execplan.execution.engine.run_records.run_directories import RunPaths

        return RunPaths(self.run, self.folder, self.working, self.home, self.plan, self.path)


def issue(run_paths: RunPaths, approved_plan: ApprovedPlan) -> GuardGrant:
    """Write the grant of a run that may continue with an approved plan. Raises ExecplanError.

    The caller holds the lock of runs and has checked that the approval is sufficient and bound to this run.
    """
    from execplan.core.files import atomic_files

    grant = _build_grant(run_paths, approved_plan)
    body = fast_json.write(_to_json(grant)).encode("utf-8", "backslashreplace")
    path = path_of(run_paths.project, run_paths.ref.id)
    key = approval_key.get_or_create(run_paths.project)
    _update_watermark(run_paths, key)
    data = sign(key, _SIGNATURE_CONTEXT + body) + b"\n" + body
    atomic_files.replace(path, data, mode=0o600, durable=False)  # a torn grant is invalid and is issued again
    return grant


def revoke(project: Project, plan: str) -> None:
    """Remove the grant of a plan, if there is one. Raises ExecplanError."""
    try:
        file_access.remove_if_exists(path_of(project, plan))
    except OSError as error:
        raise file_access.file_error(error, path_of(project, plan), "remove") from None


def load(project: Project, plan: str) -> GuardGrant | None:
    """Load the grant of a plan by ID; None if there is none, or if its signature or a checksum does not match."""
    grant = load_file(project, path_of(project, plan))
    return grant if grant is not None and grant.plan == plan else None


def load_file(project: Project, path: str) -> GuardGrant | None:
    """Load the grant in a file of this project's state, with the checks of `load`.

    Of `project`, only the root and the location of Git need to be known.
    """
    from execplan.core.errors import ExecplanError

    try:
        data, size = file_access.read(path, _LIMIT)
        key = approval_key.read(project)
        signature, newline, body = data.partition(b"\n")
        if (
            size > _LIMIT
            or key is None
            or not newline
            or not signatures_match(signature, sign(key, _SIGNATURE_CONTEXT + body))
        ):
            return None
        grant = _from_json(fast_json.read(body.decode(), allow_surrogates=True))
        belongs_here = grant.home.root == project.root and path == path_of(grant.home, grant.plan)
        if belongs_here and all([_file_checksum(file) == checksum for file, checksum in grant.witnesses.items()]):
            return grant
        return None
    except (ExecplanError, OSError, ValueError, KeyError, TypeError):
        return None


def path_of(project: Project, plan: str) -> str:
    """Return the path of a plan's grant."""
    return os.path.join(project.state, FOLDER, f"{project_state.path_key(plan)}.json")


def list_files(state_folder: str) -> list[str]:
    """List the grant files in a state directory, valid or not."""
    try:
        names = os.listdir(os.path.join(state_folder, FOLDER))
    except OSError:
        return []
    return sorted([os.path.join(state_folder, FOLDER, name) for name in names if name.endswith(".json")])


def _build_grant(run_paths: RunPaths, approved_plan: ApprovedPlan) -> GuardGrant:
    document, policy = approved_plan.document, approved_plan.policy
    secrets = find_secrets(document)
    return GuardGrant(
        plan=run_paths.ref.id,
        path=run_paths.ref.path,
        run=run_paths.id,
        folder=run_paths.folder,
        working=run_paths.state,
        home=run_paths.project,
        revision=document.revision,
        document=approved_plan.binding.document,
        steps=tuple(_granted_steps(document, policy, secrets)),
        constraints=document.constraints.model_dump(),
        terms=approved_plan.terms,
        interval=policy.checkpoint_interval,
        reads=policy.reads,
        tools=policy.tools,
        commits=policy.commits,
        hidden=secrets,
        witnesses={path: _file_checksum(path) for path in _dependency_paths(run_paths, approved_plan)},
    )


def _granted_steps(document: ExecutionPlan, policy: Policy, secrets: tuple[str, ...]) -> Iterator[GrantedStep]:
    from execplan.execution.risk.step_risk import effective_risk

    for step in document.steps:
        summary = " ".join((step.command or step.action or step.target or step.tool).split())
        step_json = step.model_dump()
        yield GrantedStep(step_json, effective_risk(step, policy).level, redact_secrets(summary, secrets)[:500])


def _update_watermark(run_paths: RunPaths, key: bytes) -> None:
    """Raise ExecplanError if the journal was altered; otherwise record its current length."""
    from execplan.execution.engine.agent_runs import journal_watermark

    data = file_access.read_if_exists(run_paths.journal, _LIMIT) or b""
    journal_watermark.check(run_paths, data, key)
    journal_watermark.write(run_paths, data, key)


def redact_secrets(text: str, secrets: tuple[str, ...]) -> str:
    """Return a text without the known secrets."""
    for secret in secrets:
        text = text.replace(secret, "[redacted]")
    return text


def find_secrets(document: ExecutionPlan) -> tuple[str, ...]:
    """Return the secrets in a document's texts, longest first."""
    from execplan.execution.engine.commands.command_environment import make_redaction

    redactor, texts, pending = make_redaction(), set(), [document.model_dump()["steps"]]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            pending += node.values()
        elif isinstance(node, list):
            pending += node
        elif isinstance(node, str):
            texts.add(node)
    secrets = {text[start:end] for text in texts for start, end in redactor.spans(text)}
    return tuple(sorted(secrets, key=lambda secret: (-len(secret), secret)))


def _dependency_paths(run_paths: RunPaths, approved_plan: ApprovedPlan) -> Iterator[str]:
    """Iterate over the files that a grant depends on."""
    from execplan.execution.approvals import approval_paths, approval_registry, artifact_store

    project, ref = run_paths.project, run_paths.ref
    yield user_settings.path()
    yield os.path.join(project.base, project_settings.SETTINGS_FILE)
    yield os.path.join(project.base, project_settings.PYPROJECT_FILE)
    for approval in approved_plan.approvals:
        yield approval_paths.file_path(project, ref, approval.file_name)
        for approval_id in (approval.id, *approval.origins):
            yield from approval_registry.entry_paths(project, approval_id)
    yield artifact_store.path_of(project, ref)
    yield ref.path
    yield run_paths.kept_path


def _file_checksum(path: str) -> str:
    """Return the checksum of a file, or of a link to no file, or a marker that it is absent."""
    if not os.path.exists(path):
        return digest(os.fsencode(os.readlink(path))) if os.path.islink(path) else _ABSENT
    data, size = file_access.read(path, _LIMIT)
    return digest(data) if size <= _LIMIT else ""


def _install_paths() -> list[str]:
    """Return the other dependencies of a grant: the release and the user's paths, which variables can change."""
    return [__version__, user_settings.path(), os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")]


def _to_json(grant: GuardGrant) -> dict[str, Any]:
    project = grant.home._asdict() | {
        name: None if settings is None else settings._asdict()
        for name, settings in (("settings", grant.home.settings), ("all_settings", grant.home.all_settings))
    }
    steps = [step._asdict() for step in grant.steps]
    grant_json = grant._asdict() | {"home": project, "steps": steps, "terms": grant.terms._asdict()}
    return grant_json | {"places": _install_paths()}


def _from_json(grant_json: dict[str, Any]) -> GuardGrant:
    """Build a grant from its JSON form.

    Raises KeyError, TypeError, and ValueError if it is from another release or for other user paths.
    """
    if grant_json.pop("places") != _install_paths():
        raise ValueError("issued by another release, or for other user directories")
    project = grant_json["home"]
    project |= {
        name: None
        if project[name] is None
        else Settings(**(project[name] | {key: tuple(project[name][key]) for key in ("files", "homes")}))
        for name in ("settings", "all_settings")
    }
    terms = grant_json["terms"]
    step_ids = terms["steps"]
    fields = grant_json | {
        "home": Project(**(project | {"shared_archives": tuple(project["shared_archives"])})),
        "steps": tuple([GrantedStep(**step) for step in grant_json["steps"]]),
        "terms": ApprovalTerms(**(terms | {"steps": None if step_ids is None else tuple(step_ids)})),
        "tools": tuple(grant_json["tools"]),
        "commits": tuple(grant_json["commits"]),
        "hidden": tuple(grant_json["hidden"]),
    }
    return GuardGrant(**fields)
