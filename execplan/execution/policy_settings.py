"""The `execution` table of the settings: its valid values and the policy that they define."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from execplan.core.errors import ExecplanError
from execplan.core.project import setting_shapes as shapes
from execplan.core.project import user_settings
from execplan.core.project.setting_shapes import Shape, choice, list_of, number, table_of
from execplan.core.project.setting_table import (
    Setting,
    SettingTable,
    check_table,
    load_settings_of,
    unknown_setting_error,
)
from execplan.execution.attributes import LEVELS
from execplan.execution.permission import NEVER, READ_POLICIES
from execplan.execution.policy import (
    CHANGED_PROGRAMS,
    CHECK_NAMES,
    PINS,
    ROLLBACK_CAUSES,
    SANDBOXES,
    Policy,
    is_looser,
    tighten,
)
from execplan.execution.risk.risk_table import CATEGORIES

_USER_SETTINGS_FILE = "~/.config/execplan/config.toml"


def combine_tables(user_table: dict[str, object], repository_table: dict[str, object]) -> Policy:
    """Return the policy of a user's table, tightened by that of a repository. Raises ExecplanError if they are invalid."""
    check_user_table(user_table)
    policy = tighten(Policy()._replace(**policy_values(user_table)), policy_values(repository_table))
    if policy.person_for and policy.person_from == NEVER:
        policy = policy._replace(person_from=LEVELS[-1])  # there must be a level to which such steps are raised
    checks_on = {**check_switches(user_table), **check_switches(repository_table)}
    policy = policy._replace(
        off=tuple(sorted([name for name, is_on in checks_on.items() if not is_on])),
        notify=str(user_table.get("notify", "")),
    )
    risk_table = None
    for rows, may_lower in ((user_table.get("risk", ()), True), (repository_table.get("risk", ()), False)):
        if isinstance(rows, list) and rows:
            from execplan.execution.risk import command_risk

            risk_table = command_risk.extend_table(
                risk_table or command_risk.builtin_table(), rows, may_lower=may_lower
            )
    return policy._replace(table=risk_table)


def policy_values(table: dict[str, object]) -> dict[str, Any]:
    """Return the policy values of a checked table, except for checks, risk rows and `notify`."""
    policy_fields: dict[str, Any] = {name: value for name, value in table.items() if name in Policy._fields}
    policy_fields.pop("notify", None)
    for name in ("environment", "person_for", "tools"):
        if isinstance(names := table.get(name), list):
            policy_fields[name] = tuple(sorted(set(names)))
    if isinstance(causes := table.get("rollback_on"), list):
        policy_fields["rollback_on"] = tuple([cause for cause in ROLLBACK_CAUSES if cause in causes])
    return policy_fields


def check_switches(table: dict[str, object]) -> dict[str, bool]:
    """Return the checks that a checked table names, and whether each is on."""
    switches = table.get("checks", {})
    return switches if isinstance(switches, dict) else {}


def check_execution_table(table: dict[str, object], location: str, *, may_loosen: bool) -> None:
    """Raise ExecplanError for an invalid `execution` table, or one that loosens the policy without permission."""
    check_table("execution", table, f"{location}: execution")
    if switches := check_switches(table):
        for name in switches:
            if name not in CHECK_NAMES:
                raise unknown_setting_error("execution", name, CHECK_NAMES, f"{location}: execution.checks")
    if isinstance(rows := table.get("risk"), list):
        from execplan.execution.risk import command_risk

        command_risk.extend_table(command_risk.builtin_table(), rows, may_lower=may_loosen)
    if not may_loosen:
        _ensure_not_looser(table, location)


def _ensure_not_looser(table: dict[str, object], location: str) -> None:
    """Raise ExecplanError for settings that a repository may not make."""
    settings = load_settings_of("execution")
    shared_values = {name: value for name, value in policy_values(table).items() if not settings[name].user_only}
    looser_settings = [f"{name} = {table[name]!r}" for name, value in shared_values.items() if is_looser(name, value)]
    looser_settings += [f"checks.{name} = false" for name, is_on in check_switches(table).items() if not is_on]
    looser_settings += [f"{name} {settings[name].user_only}" for name in table if settings[name].user_only]
    if looser_settings:
        raise ExecplanError(
            "loosened-policy",
            f"{location}: a repository can only tighten the policy, but execution.{', execution.'.join(looser_settings)}",
            hint=f"remove it; only your own settings can loosen the policy: {_USER_SETTINGS_FILE}, under [execution]",
        )


def check_user_table(table: dict[str, object]) -> None:
    """Raise ExecplanError for an invalid table of the user's settings, which may loosen the policy as well as tighten it."""
    check_execution_table(table, user_settings.path(), may_loosen=True)


def _check_repository_table(table: dict[str, object], source: str) -> None:
    check_execution_table(table, source, may_loosen=False)


def _settings() -> tuple[Setting, ...]:
    defaults = Policy()._asdict()
    is_cause = f"must be a list of {', '.join(ROLLBACK_CAUSES)}"
    causes = list_of("causes", is_cause, lambda cause: cause in ROLLBACK_CAUSES)
    is_category = f"must be a list of {', '.join(CATEGORIES)}"
    categories = list_of("categories", is_category, lambda category: category in CATEGORIES)
    problem = "must be a table of checks, each true or false"
    checks = table_of("checks with `true` or `false`", problem, lambda switch: type(switch) is bool)

    def limit(name: str, maximum: int, about: str, user_only: str = "") -> Setting:
        return Setting(name, number(1, maximum), about, defaults[name], user_only)

    def option(name: str, values: Sequence[str], about: str) -> Setting:
        return Setting(name, choice(values), about, defaults[name])

    def names(name: str, shape: Shape, about: str, user_only: str) -> Setting:
        return Setting(name, shape, about, [], user_only)

    return (
        option(
            "person_from", (*LEVELS, NEVER), "Steps of this risk or more need a person's approval; NEVER: no step does."
        ),
        Setting("person_for", categories, "Steps with a reason of these categories need a person at any level.", []),
        limit("steps", 1000, "Maximum number of steps of a plan."),
        limit("files", 100_000, "Maximum number of files that the steps of a plan write or delete."),
        limit("megabytes", 100_000, "Maximum megabytes that the steps of a plan write."),
        limit("seconds", 604_800, "Maximum seconds for a whole run."),
        limit("timeout", 86_400, "Maximum seconds for a step without a timeout."),
        limit("memory_mb", 1_000_000, "Maximum memory of all processes of a step together."),
        limit("processes", 100_000, "Maximum number of processes of a step at the same time."),
        limit("file_mb", 1_000_000, "Maximum size of a file that a command writes, in megabytes."),
        limit("output_kb", 100_000, "How much of a command's output is kept."),
        option("sandbox", SANDBOXES, "Sandbox for steps: off, auto, required."),
        limit("checkpoint_interval", 1000, "Number of steps after which a run asks whether to continue."),
        Setting(
            "rollback_on",
            causes,
            "When to roll back automatically.",
            list(Policy().rollback_on),
        ),
        option("pin", PINS, '"tree": a later commit outside the plans makes an approval stale.'),
        option(
            "programs",
            CHANGED_PROGRAMS,
            "If a program, or code that it reads, differs from the approved one: refuse or warn.",
        ),
        Setting("checks", checks, "Turns checks on or off: { syntax = false }.", {}),
        Setting("risk", shapes.TABLES, "Rows of the risk table: execplan explain risk."),
        option("reads", READ_POLICIES, "What agents can read without asking: anywhere, inside, ask or none."),
        Setting("commit_plans", shapes.SWITCH, "Whether agents can commit files of plans.", default=True),
        Setting(
            "commit_steps",
            shapes.SWITCH,
            "Whether agents can commit files that steps changed.",
            default=True,
        ),
        Setting(
            "require_checks",
            shapes.SWITCH,
            "Whether a task with a check can be done only with `done --verify`.",
            default=False,
        ),
        names(
            "environment",
            shapes.variables(),
            "More variables that commands can see.",
            "names variables that commands can see",
        ),
        names(
            "tools",
            shapes.TOOLS,
            "Tools that an agent can use outside the plan.",
            "names tools that an agent can use outside the plan",
        ),
        Setting("notify", shapes.COMMAND, "A command to run when a run ends.", "", "names code to run"),
        limit(
            "backup_days", 3650, "Days for which the backups of a run are kept.", "sets when your backups are deleted"
        ),
    )


TABLE: Final = SettingTable(
    "In your own settings; in a repository's settings, only to tighten the policy.",
    _settings(),
    _check_repository_table,
)
