"""Every setting: what it takes, its default, where it may stand, and what it is for.

The checks of settings files, the file that `init` writes, the help and the documentation come from these rows.
"""

from __future__ import annotations

from execplan.errors import INPUT, ExecplanError
from execplan.named_tuple import NamedTuple
from execplan.project import setting_shapes as shapes
from execplan.project.setting_shapes import Shape, choice, is_text, list_of, number, shape, table_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Final

DEFAULT_BUDGET: Final = 8000
DEFAULT_DECISIONS: Final = 3
DEFAULT_ENHANCER_SECONDS: Final = 60
DEFAULT_ENHANCER_KILOBYTES: Final = 512
DEFAULT_DRAFTING_SECONDS: Final = 300
DEFAULT_DRAFTING_KILOBYTES: Final = 512
DEFAULT_DRAFTING_BUDGET: Final = 16_000


DIRECTORY_SETTINGS: Final = ("archive", "superseded", "layout", "name")
"""Settings of each further plans directory."""


class Setting(NamedTuple):
    """A setting: a row of the table."""

    name: str
    shape: Shape
    about: str
    """One sentence that says what the setting is for."""
    default: object = None
    """Default; None if there is none, and for the settings outside of tables, whose defaults are in `Settings`."""
    user_only: str = ""
    """Why only a user's own settings may have it, as it follows the name; empty if a repository's may have it, too."""


def load_settings_of(table: str) -> dict[str, Setting]:
    """Return the settings of a table by name; those outside of tables for an empty name."""
    return {setting.name: setting for setting in TABLES[table].settings()}


def check_table(
    table: str, values: Mapping[str, object], location: str, known_names: Sequence[str] | None = None
) -> None:
    """Raise ExecplanError for an unknown or wrong setting of a table at a location; all its settings are known by default."""
    settings = load_settings_of(table)
    known_names = tuple(settings) if known_names is None else known_names
    for name, value in values.items():
        if name not in known_names:
            raise unknown_setting_error(table, name, known_names, location)
        if problem := settings[name].shape.find_problem(value):
            raise ExecplanError("bad-setting", f"{location}.{name} {problem}", exit=INPUT, hint=_hint(table))


def unknown_setting_error(table: str, name: str, known_names: Sequence[str], location: str) -> ExecplanError:
    """Return the error for a name that a table, or a table in it, does not know."""
    from execplan.text.suggestions import did_you_mean

    message = f"{location} accepts only {', '.join(known_names)}, not {name!r}"
    return ExecplanError("unknown-setting", message, exit=INPUT, hint=did_you_mean(name, known_names) or _hint(table))


def _hint(table: str) -> str:
    return f"see the settings: execplan explain {'policy' if table == 'execution' else table or 'settings'}"


def _repository_settings() -> tuple[Setting, ...]:
    return (
        Setting("plans", shapes.DIRECTORY, "The directory of the plans."),
        Setting(
            "archive",
            shapes.ARCHIVE,
            "Where `archive` moves a finished plan; can end in `/{year}/{month}/{day}`.",
        ),
        Setting(
            "superseded",
            shapes.OPTIONAL_ARCHIVE,
            "A separate directory for abandoned and superseded plans; empty: none.",
        ),
        Setting("artifacts", shapes.DIRECTORY, "Contains a directory for each plan: transcripts, logs, screenshots."),
        Setting("archive_artifacts", shapes.DIRECTORY, "Where `archive` moves that directory."),
        Setting("guide", shapes.DIRECTORY, "The guide for authors."),
        Setting(
            "index_file",
            shapes.OPTIONAL_MARKDOWN,
            "The file with the plan index, which `index --write` writes; empty: one near the plans, if it has an index.",
        ),
        Setting("templates", shapes.DIRECTORY, "The repository's own plan templates."),
        Setting("template", shapes.TEMPLATE, "The template of `new`, or a plan that it copies."),
        Setting(
            "layout",
            shapes.LAYOUT,
            "`flat`: one file for each plan. `folder`: ID/ID.md, with its artifacts next to it. `ExecPlan.md`: ID/ExecPlan.md, likewise.",
        ),
        Setting(
            "name",
            shapes.NAME_FORM,
            "How plans are named: `{slug}` comes from the title, `{date}` is YYYY-MM-DD, `{day}` YYYYMMDD, `{number:04}` counts.",
        ),
        Setting(
            "directories",
            shapes.DIRECTORY_TABLES,
            "Other plans directories, each a table of `archive`, `superseded`, `layout` and `name`; all commands include them.",
        ),
        Setting(
            "dialects",
            shapes.DIALECT_TABLES,
            "Your own dialects, and changes of built-in ones, each a table with its name: execplan explain dialects.",
        ),
        Setting("files", shapes.MARKDOWN_FILES, "Single files that are plans."),
        Setting(
            "homes",
            shapes.PATHS,
            "Directories of nested projects below this one; `list`, `status`, `next` and `lint` include them.",
        ),
        Setting("commit", shapes.SWITCH, "Whether every edit is committed, as with `--commit`."),
        Setting(
            "message",
            shapes.MESSAGE_FORM,
            "The commit message, with the fields `{id}`, `{summary}`, `{verb}` and `{title}`.",
        ),
        Setting(
            "author",
            shapes.TEXT,
            "The author of decisions, unless `--author`, `--as` or EXECPLAN_AGENT names one; default: EXECPLAN_AUTHOR, your git name, your login.",
        ),
        Setting(
            "claims",
            shapes.CLAIMS,
            "What happens when you edit a task that someone else has claimed: `warn`, or `enforce`, which stops the edit.",
        ),
        Setting(
            "worktrees",
            shapes.WORKTREES,
            "The directory for the worktrees of plans, inside the repository or next to it; `{repository}` is the name of the repository's directory.",
        ),
        Setting(
            "worktree_branch",
            shapes.BRANCH_FORM,
            "The branch of a plan's worktree, with the fields `{slug}` and `{id}`.",
        ),
        Setting(
            "stalled_days",
            shapes.at_least(1),
            "Days without a timestamp, an edit or a commit after which an open plan is marked as stalled.",
        ),
        Setting(
            "follow",
            shapes.SWITCH,
            "Whether a commit that changes files in a plan's scope must also change the plan: EP508 of `lint --staged`.",
        ),
        Setting(
            "follow_files", shapes.at_least(0), "How many files a commit can change without a plan; 0: any number."
        ),
        Setting(
            "triage",
            shapes.TABLE,
            "Limits of the confidence that no plan is needed: `none` (0.95) or more means no plan, less than `plan` (0.70) means a plan.",
        ),
        Setting(
            "lint",
            shapes.TABLE,
            "Which rules `lint` runs: `profile`, `select`, `ignore`, `levels` and, for some plans, `paths`.",
        ),
        Setting(
            "execution",
            shapes.TABLE,
            "What can run and who must approve it; a repository can only tighten the policy: execplan explain policy.",
        ),
        Setting(
            "context",
            shapes.TABLE,
            "Settings of `context`: `budget`, `shares`, `decisions`, `model` and `models`: execplan explain context.",
        ),
    )


def _lint_settings() -> tuple[Setting, ...]:
    from execplan.linter.rule import LEVELS
    from execplan.linter.rule_selection import PROFILES

    codes = list_of("codes of rules", "must be a list of rule codes or their prefixes", is_text, quotes=False)
    problem = f"must map codes to {', '.join(LEVELS)}: levels = {{ EP204 = 'error' }}"
    levels = table_of("codes with levels", problem, lambda level: level in LEVELS, quotes=False)
    problem = "must be a table for each pattern: paths.'docs/old/*' = { ignore = ['EP2'] }"
    paths = table_of("patterns with tables", problem, lambda table: isinstance(table, dict), quotes=False)
    problem = "must be a list of files and entry points"
    rules = list_of("files and entry points", problem, lambda name: is_text(name) and bool(name), quotes=False)
    return (
        Setting("profile", choice(PROFILES, ", ".join(PROFILES)), "The rules that run by default.", "default"),
        Setting("select", codes, "The rules that run instead of those of the profile.", []),
        Setting("ignore", codes, "Rules that do not run.", []),
        Setting("levels", levels, "The levels of findings, by rule code.", {}),
        Setting("paths", paths, "`select`, `ignore` and `levels` for the plans whose paths match a pattern.", {}),
        Setting("rules", rules, "Your own rules: execplan explain own-rules.", [], "names code to run"),
    )


def _context_settings() -> tuple[Setting, ...]:
    from execplan.context.token_budget import DEFAULT_SHARES, MIN_BUDGET

    names = DEFAULT_SHARES._fields
    problem = f"must be a table of {' and '.join(names)}, as fractions of the budget"
    shares = table_of("parts of the budget", problem, lambda share: type(share) in (int, float), names)
    budget, decisions = number(MIN_BUDGET, 10_000_000, "whole number"), number(0, 100, "whole number")
    model = shape("the name of a model", "must be the name of a model", is_text)
    return (
        Setting("budget", budget, "Tokens for the system prompt, the pack and the response.", DEFAULT_BUDGET),
        Setting("decisions", decisions, "The number of last decisions that are never left out.", DEFAULT_DECISIONS),
        Setting("shares", shares, "Fractions of the budget that are not for the pack.", DEFAULT_SHARES._asdict()),
        Setting("model", model, "The model that reads the pack; empty: that of the session log.", ""),
        Setting("models", shapes.TABLES, "Models to add to the known ones, or to replace one.", []),
    )


def _triage_settings() -> tuple[Setting, ...]:
    from execplan.context.triage.triage_evaluation import Thresholds

    return (
        Setting("none", shapes.CONFIDENCE, "From this confidence on, no plan is needed.", Thresholds().none),
        Setting("plan", shapes.CONFIDENCE, "Below this confidence, a plan is needed; 0: never.", Thresholds().plan),
    )


def _execution_settings() -> tuple[Setting, ...]:
    from execplan.execution.attributes import LEVELS
    from execplan.execution.permission import NEVER, READ_POLICIES
    from execplan.execution.policy import CHANGED_PROGRAMS, PINS, ROLLBACK_CAUSES, SANDBOXES, Policy

    defaults = Policy()._asdict()
    is_cause = f"must be a list of {', '.join(ROLLBACK_CAUSES)}"
    causes = list_of("causes", is_cause, lambda cause: cause in ROLLBACK_CAUSES)
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
        limit("steps", 1000, "Maximum number of steps of a plan."),
        limit("files", 100_000, "Maximum number of files that the steps of a plan write or delete."),
        limit("megabytes", 100_000, "Maximum megabytes that the steps of a plan write."),
        limit("seconds", 604_800, "Maximum seconds for a whole run."),
        limit("memory_mb", 1_000_000, "Maximum memory of all processes of a step together."),
        limit("processes", 100_000, "Maximum number of processes of a step at the same time."),
        limit("file_mb", 1_000_000, "Maximum size of a file that a command writes, in megabytes."),
        limit("output_kb", 100_000, "How much of a command's output is kept."),
        option("sandbox", SANDBOXES, "Sandbox for steps: off, auto, required."),
        limit("checkpoint_interval", 1000, "Number of steps after which a run asks whether to continue."),
        Setting("rollback_on", causes, "When to roll back automatically.", list(ROLLBACK_CAUSES)),
        option("pin", PINS, '"tree": a later commit outside the plans makes an approval stale.'),
        option("programs", CHANGED_PROGRAMS, "If a program differs from the approved one: refuse or warn."),
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


_USER_PROGRAM_REASON: Final = "names code to run and what is sent to it"


def _user_program_settings(seconds: int, kilobytes: int, max_kilobytes: int) -> tuple[Setting, ...]:
    """Return the settings that limit a program of the user, with their defaults."""
    reason = _USER_PROGRAM_REASON
    return (
        Setting(
            "seconds",
            number(1, 3600),
            "The time limit; then the program and the processes that it started are terminated.",
            seconds,
            reason,
        ),
        Setting("kilobytes", number(1, max_kilobytes), "The maximum size of an answer.", kilobytes, reason),
        Setting(
            "environment",
            shapes.variables(quotes=False),
            "Variables that the program gets in addition to the usual ones.",
            [],
            reason,
        ),
    )


def _enhancer_settings() -> tuple[Setting, ...]:
    reason = _USER_PROGRAM_REASON
    problem = 'must be a list of fields, such as ["description", "steps.command"]'
    share = list_of("fields", problem, is_text, quotes=False)
    return (
        Setting("command", shapes.PROGRAM, "The program and its arguments; no shell parses them.", "", reason),
        *_user_program_settings(DEFAULT_ENHANCER_SECONDS, DEFAULT_ENHANCER_KILOBYTES, 5120),
        Setting("share", share, "The fields whose texts can be sent.", [], reason),
    )


def _drafting_settings() -> tuple[Setting, ...]:
    reason = _USER_PROGRAM_REASON
    problem = 'must be a table of commands: programs = { claude = "claude -p" }'
    programs = table_of(
        "names with commands", problem, lambda command: not shapes.PROGRAM.find_problem(command), quotes=False
    )
    return (
        Setting(
            "programs", programs, "Programs and their arguments, by the names that `--draft-with` takes.", {}, reason
        ),
        *_user_program_settings(DEFAULT_DRAFTING_SECONDS, DEFAULT_DRAFTING_KILOBYTES, 1024),
        Setting(
            "budget",
            number(1000, 1_000_000),
            "Tokens for the files and changes in a request.",
            DEFAULT_DRAFTING_BUDGET,
            reason,
        ),
    )


USER: Final = "user"
"""Key of the settings outside of tables in the user's own file."""


def _is_command_pattern(value: object) -> bool:
    from execplan.execution.shell.call_patterns import COMMAND, pattern_problem, split_pattern

    return isinstance(value, str) and not pattern_problem(value) and split_pattern(value)[0] == COMMAND


def _user_settings() -> tuple[Setting, ...]:
    problem = "must be a list of directories"
    directories = list_of("a list of directories", problem, lambda path: is_text(path) and bool(path), quotes=False)
    return (
        Setting(
            "projects",
            directories,
            "Your other projects, which `--all-projects` reads, and in which dependencies such as `parser:grammar` are looked up.",
            [],
            "names directories to read",
        ),
        Setting(
            "agent_checks",
            table_of(
                "directories with lists of commands",
                'must be a table of lists of commands: agent_checks = { "~/src/parser" = ["make test"] }',
                lambda commands: isinstance(commands, list) and all(map(_is_command_pattern, commands)),
                quotes=False,
            ),
            "Commands that agents under the guard may always run at the root of a repository, in the form of a step's `allow`.",
            {},
            "names commands that agents may always run",
        ),
    )


def _dialect_settings() -> tuple[Setting, ...]:
    return (
        Setting("about", shapes.TEXT, "A description in one line.", ""),
        Setting("directories", shapes.PATHS, "Its plans directories, at the root or in a package.", []),
        Setting("companions", shapes.PATHS, "What belongs to plans, next to a plans directory.", []),
        Setting(
            "archived_name",
            shapes.ARCHIVED_NAME_FORM,
            "How `archive` names a plan, with the fields `{id}`, `{slug}` and `{date}`.",
            "{id}",
        ),
        Setting("done_status", shapes.TEXT, "The status in the front matter that `archive` gives a finished plan.", ""),
        Setting("required_lines", shapes.TEXTS, "Beginnings of lines that `lint` demands of each open plan.", []),
    )


class SettingTable(NamedTuple):
    """A table of settings."""

    allowed_in: str
    """Where it may stand, in words, for the reference."""
    settings: Callable[[], tuple[Setting, ...]]


TABLES: Final = {
    "": SettingTable("Only in a repository's settings.", _repository_settings),
    USER: SettingTable("Only in your own settings, before all tables.", _user_settings),
    "dialects": SettingTable(
        "Only in a repository's settings, in a table for each dialect, such as `[dialects.harness]`.", _dialect_settings
    ),
    "lint": SettingTable("In a repository's settings; `rules` only in your own.", _lint_settings),
    "context": SettingTable("Only in a repository's settings.", _context_settings),
    "triage": SettingTable("Only in a repository's settings.", _triage_settings),
    "execution": SettingTable(
        "In your own settings; in a repository's settings, only to tighten the policy.", _execution_settings
    ),
    "enhancer": SettingTable("Only in your own settings.", _enhancer_settings),
    "drafting": SettingTable("Only in your own settings.", _drafting_settings),
}
