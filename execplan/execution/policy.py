"""What may run and who must say so: the built-in policy, a user's own, and the tighter one of a repository."""

from __future__ import annotations

import json

from execplan.execution.attributes import LEVELS
from execplan.execution.permission import NEVER, READ_POLICIES, needs_person
from execplan.named_tuple import NamedTuple
from execplan.text.text_lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from execplan.execution.risk.command_risk import RiskTable

SANDBOXES = ("off", "auto", "required")
"""Whether steps run inside a sandbox: never, where there is one, or not at all without; the tightest last."""
PINS = ("", "tree")
"""What an approval binds beside the document and its files: nothing, or every file outside the plans' folders."""
CHANGED_PROGRAMS = ("warn", "refuse")
"""What follows where a name leads to another program than at the approval: the run begins with a warning, or not at all."""
ROLLBACK_CAUSES = ("failure", "validation", "timeout", "limit", "cancellation")
"""What a run may be rolled back on by itself: a step that failed, what a step wrote or printed that is not right, a time
limit, a limit of resources, a person who stops the run at a question. A signal only pauses it."""


class Policy(NamedTuple):
    """What holds for every execution plan of a home."""

    person_from: str = "MEDIUM"
    """The lowest level of risk that needs a person; the policy itself approves what is below."""
    steps: int = 100
    files: int = 200
    """Files that the steps of a plan write or delete, by what they declare."""
    megabytes: int = 50
    """Of what a plan writes."""
    seconds: int = 14_400
    """For a whole run."""
    memory_mb: int = 4096
    """Of all processes of a step together."""
    processes: int = 512
    """Of a step at the same time."""
    file_mb: int = 1024
    """Of each file that a command writes."""
    output_kb: int = 1024
    """Of what a command prints that is kept."""
    sandbox: str = "auto"
    backup_days: int = 30
    """For how many days the backups of a run are kept that nobody uses; decides nothing that runs."""
    checkpoint_interval: int = 10
    """Completed steps behind which a run asks whether it is to go on."""
    rollback_on: tuple[str, ...] = ROLLBACK_CAUSES
    pin: str = ""
    programs: str = "refuse"
    """One of CHANGED_PROGRAMS."""
    off: tuple[str, ...] = ()
    """Checks of `evaluate` that are switched off."""
    table: RiskTable | None = None
    """What commands and paths are rated by; None: the built-in table."""
    environment: tuple[str, ...] = ()
    """Variables that commands get besides those that all do; only a user's own settings name any."""
    reads: str = "inside"
    """What an agent may read that is not planned: one of READS."""
    tools: tuple[str, ...] = ()
    """Tools of an agent's program that it may use as it likes; only a user's own settings name any."""
    notify: str = ""
    """A command that is run when a run ends; it decides nothing, and is no part of the version."""

    @property
    def risk_table(self) -> RiskTable:
        """The table of risk."""
        from execplan.execution.risk.command_risk import builtin_table

        return builtin_table() if self.table is None else self.table

    @property
    def version(self) -> str:
        """The digest of all that decides what may run."""
        settings = {**self._asdict(), "table": self.risk_table.version, "notify": ""}
        del settings["backup_days"]
        if settings["programs"] == Policy().programs:
            del settings["programs"]  # approvals from before there was this setting still hold
        return digest(json.dumps(settings, sort_keys=True, separators=(",", ":")).encode())

    def needs_person(self, level: str) -> bool:
        """Whether a step of this risk is for a person to approve."""
        return needs_person(self.person_from, level)


def tighten(policy: Policy, settings: Mapping[str, object]) -> Policy:
    """The policy with what a repository says where that is tighter; its values have the right types."""
    tightened: dict[str, Any] = {
        name: _tighter_value(name, getattr(policy, name), value) for name, value in settings.items()
    }
    return policy._replace(**tightened)


def is_looser(name: str, value: object) -> bool:
    """Whether a repository's value is looser than the built-in policy."""
    built_in = getattr(Policy(), name)
    return bool(_tighter_value(name, built_in, value) != value)


def _tighter_value(name: str, first: object, second: object) -> object:
    """The tighter of two values."""
    if isinstance(first, tuple) and isinstance(second, tuple):
        return tuple([cause for cause in ROLLBACK_CAUSES if cause in (*first, *second)])
    if isinstance(first, int) and isinstance(second, int):
        return min(first, second)
    order = {
        "person_from": (NEVER, *reversed(LEVELS)),
        "sandbox": SANDBOXES,
        "pin": PINS,
        "programs": CHANGED_PROGRAMS,
        "reads": READ_POLICIES,
    }[name]
    return max(first, second, key=lambda value: order.index(str(value)))
