"""Policy on what may run and who must approve it: built in, from the user, and tightened by a repository."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.text.text_lines import digest
from execplan.execution.attributes import DEFAULT_TIMEOUT_S, LEVELS
from execplan.execution.permission import NEVER, PLANS, READ_POLICIES, STEPS, needs_person

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from execplan.execution.risk.command_risk import RiskTable

SANDBOXES = ("off", "auto", "required")
"""Whether steps run in a sandbox: never, if one is available, or only with one; the strictest value is last."""
PINS = ("", "tree")
"""What an approval binds besides the document and its files: nothing, or every file outside the plan directories."""
CHANGED_PROGRAMS = ("warn", "refuse")
"""What happens if a name resolves to another program than at approval: the run starts with a warning, or not at all."""
CHECK_NAMES = (
    "dependencies",
    "existence",
    "expectation",
    "hidden",
    "imports",
    "limits",
    "paths",
    "patterns",
    "permissions",
    "resources",
    "services",
    "shell",
    "syntax",
)
"""Names of the checks of `evaluate`, which can be turned off."""
ROLLBACK_CAUSES = ("failure", "validation", "timeout", "limit", "cancellation")
"""Causes for which a run may be rolled back automatically.

They are: a failed step, wrong content or output of a step, a time limit, a resource limit, and a person who stops the
run at a question. A signal only pauses a run.
"""
SSH = "ssh"
SIGNATURES = ("machine", SSH)
"""Which key signs approvals: the machine's, or the SSH key of whoever approves; the strictest value is last."""
_LATER_SETTINGS = (
    *("person_for", "programs", "timeout", "commit_plans", "commit_steps", "require_checks"),
    *("signatures", "groups", "approval"),
)
"""Settings that count in the version only if they differ from their default: older approvals stay valid."""


class ApproverRule(NamedTuple):
    """Who must approve the steps that a rule is for, among those that need a person."""

    approvers: int = 1
    """Number of different people."""
    required: tuple[str, ...] = ()
    """Groups of which somebody must be among them."""
    paths: tuple[str, ...] = ()
    """Patterns of paths that a step writes; none means every step."""
    level: str = LEVELS[0]
    """Lowest risk level of the steps."""


class Policy(NamedTuple):
    """Settings that apply to every execution plan of a project."""

    person_from: str = "MEDIUM"
    """Lowest risk level that needs a person; the policy approves lower levels itself."""
    person_for: tuple[str, ...] = ()
    """Categories of reasons for which a person is needed, even if the level of the risk is lower."""
    steps: int = 100
    files: int = 200
    """Maximum number of files that the steps of a plan write or delete, as they declare."""
    megabytes: int = 50
    """Maximum size of what a plan writes, in megabytes."""
    seconds: int = 14_400
    """Time limit for a whole run, in seconds."""
    timeout: int = DEFAULT_TIMEOUT_S
    """Time limit of a step whose plan sets none, in seconds."""
    memory_mb: int = 4096
    """Memory limit for all processes of a step together, in megabytes."""
    processes: int = 512
    """Maximum number of processes of a step at the same time."""
    file_mb: int = 1024
    """Maximum size of each file that a command writes, in megabytes."""
    output_kb: int = 1024
    """Maximum amount of a command's output that is kept, in kilobytes."""
    sandbox: str = "auto"
    backup_days: int = 30
    """Number of days that unused backups of a run are kept; has no effect on what may run."""
    checkpoint_interval: int = 10
    """Number of completed steps after which a run asks whether to continue."""
    rollback_on: tuple[str, ...] = ("cancellation",)
    """Causes of failure after which a run is rolled back automatically; after the others, it can be replanned or resumed."""
    pin: str = ""
    programs: str = "refuse"
    """What to do if programs changed: one of CHANGED_PROGRAMS."""
    off: tuple[str, ...] = ()
    """Names of the disabled `evaluate` checks."""
    table: RiskTable | None = None
    """Risk table for commands and paths; None means the built-in table."""
    environment: tuple[str, ...] = ()
    """Additional environment variables for commands; only a user's own settings can name any."""
    reads: str = "inside"
    """What an agent may read without a plan: one of READ_POLICIES."""
    commit_plans: bool = True
    """Whether an agent may commit files of plans."""
    commit_steps: bool = True
    """Whether an agent may commit the files that its completed steps changed."""
    require_checks: bool = False
    """Whether a task that has a check can be checked off only after the check has passed."""
    tools: tuple[str, ...] = ()
    """Tools of an agent program that it may use freely; only a user's own settings can name any."""
    signatures: str = SIGNATURES[0]
    groups: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Names of groups with their members, as the allowed signers name them."""
    approval: tuple[ApproverRule, ...] = ()
    notify: str = ""
    """Command to run when a run ends; it has no effect on what may run and is not part of the version."""

    @property
    def commits(self) -> tuple[str, ...]:
        """What an agent may commit: PLANS, STEPS, both, or nothing."""
        switches = ((PLANS, self.commit_plans), (STEPS, self.commit_steps))
        return tuple([kind for kind, is_on in switches if is_on])

    @property
    def depends_on_commits(self) -> bool:
        """Whether a commit can decide whether an approval is valid: one of files, or one of allowed signers."""
        return bool(self.pin) or self.signatures == SSH

    @property
    def risk_table(self) -> RiskTable:
        """The effective risk table of the policy."""
        from execplan.execution.risk.command_risk import builtin_table

        return builtin_table() if self.table is None else self.table

    @property
    def version(self) -> str:
        """Digest of all settings that determine what may run."""
        import json

        settings = {**self._asdict(), "table": self.risk_table.version, "notify": ""}
        del settings["backup_days"]
        for name in _LATER_SETTINGS:
            if settings[name] == getattr(Policy(), name):
                del settings[name]
        return digest(json.dumps(settings, sort_keys=True, separators=(",", ":")).encode())

    def step_seconds(self, timeout_s: int) -> int:
        """Return the time limit of a step, in seconds: that of the plan, or of the policy if the plan sets none."""
        return self.timeout if timeout_s == DEFAULT_TIMEOUT_S else timeout_s

    def needs_person(self, level: str) -> bool:
        """Return whether a person must approve a step with this risk level."""
        return needs_person(self.person_from, level)


def tighten(policy: Policy, settings: Mapping[str, object]) -> Policy:
    """Return the policy with a repository's stricter settings applied; their values have the right types."""
    tightened: dict[str, Any] = {
        name: _tighter_value(name, getattr(policy, name), value) for name, value in settings.items()
    }
    return policy._replace(**tightened)


def is_looser(name: str, value: object) -> bool:
    """Return whether a repository's value is looser than the built-in policy."""
    built_in = getattr(Policy(), name)
    return bool(_tighter_value(name, built_in, value) != value)


def _tighter_value(name: str, first: object, second: object) -> object:
    """Return the stricter of two values of a setting."""
    if name == "require_checks":
        return bool(first) or bool(second)
    if name == "groups" and isinstance(first, tuple) and isinstance(second, tuple):
        return tuple(sorted({**dict(first), **dict(second)}.items()))
    if name in ("person_for", "approval") and isinstance(first, tuple) and isinstance(second, tuple):
        return tuple(sorted({*first, *second}))
    if isinstance(first, tuple) and isinstance(second, tuple):
        return tuple([cause for cause in ROLLBACK_CAUSES if cause in (*first, *second)])
    if isinstance(first, int) and isinstance(second, int):
        return min(first, second)
    order = {
        "person_from": (NEVER, *reversed(LEVELS)),
        "sandbox": SANDBOXES,
        "signatures": SIGNATURES,
        "pin": PINS,
        "programs": CHANGED_PROGRAMS,
        "reads": READ_POLICIES,
    }[name]
    return max(first, second, key=lambda value: order.index(str(value)))
