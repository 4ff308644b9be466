"""Settings: what each takes, its default, where it may stand, and what it is for.

The checks of settings files, the file that `init` writes, the help and the documentation come from these rows. Those of a
feature are in a module of the feature, which `execplan.core.features` names.
"""

from __future__ import annotations

from execplan.core import features
from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.project import setting_shapes as shapes
from execplan.core.project.setting_shapes import Shape, is_text, list_of, table_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Final

USER: Final = "user"
"""Key of the settings outside of tables in the user's own file."""
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


class SettingTable(NamedTuple):
    """A table of settings."""

    allowed_in: str
    """Where it may stand, in words, for the reference."""
    settings: tuple[Setting, ...]
    check_of_repository: Callable[[dict[str, object], str], object] | None = None
    """Raises ExecplanError for a table in a repository's settings that is wrong, or returns what it means; gets the table and the file. None: only users have it."""


def load_table(name: str) -> SettingTable:
    """Return a table; for an empty name, the settings of a repository outside of tables."""
    if name in _CORE_TABLES:
        return _CORE_TABLES[name]
    table: SettingTable = features.load(features.SETTING_TABLES[name])
    return table


def load_settings_of(table: str) -> dict[str, Setting]:
    """Return the settings of a table by name; those outside of tables for an empty name."""
    return {setting.name: setting for setting in load_table(table).settings}


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
            raise ExecplanError("bad-setting", f"{location}.{name} {problem}", hint=_hint(table))


def unknown_setting_error(table: str, name: str, known_names: Sequence[str], location: str) -> ExecplanError:
    """Return the error for a name that a table, or a table in it, does not know."""
    from execplan.core.text.suggestions import did_you_mean

    message = f"{location} accepts only {', '.join(known_names)}, not {name!r}"
    return ExecplanError("unknown-setting", message, hint=did_you_mean(name, known_names) or _hint(table))


def _hint(table: str) -> str:
    topic = {"": "settings", "execution": "policy"}.get(table, table)
    return f"see the settings: execplan explain {topic}"


def _is_command_pattern(value: object) -> bool:
    is_command_pattern: Callable[[object], bool] = features.load(features.COMMAND_PATTERN_CHECK)
    return is_command_pattern(value)


_REPOSITORY_SETTINGS: Final = (
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
        "The file of the plan index; empty: one near the plans, if it has an index.",
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
        "Your own dialects, and changes of built-in ones: execplan explain dialects.",
    ),
    Setting(
        "roles",
        shapes.ROLE_TABLE,
        "What titles of sections mean in your plans: execplan explain roles.",
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
    Setting("follow_files", shapes.at_least(0), "How many files a commit can change without a plan; 0: any number."),
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
    Setting("approval", shapes.TABLE, "Who must approve, and with which keys: execplan explain signatures."),
    Setting(
        "context",
        shapes.TABLE,
        "Settings of `context`: `budget`, `shares`, `decisions`, `model` and `models`: execplan explain context.",
    ),
)

_USER_SETTINGS: Final = (
    Setting(
        "projects",
        list_of(
            "a list of directories",
            "must be a list of directories",
            lambda path: is_text(path) and bool(path),
            quotes=False,
        ),
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
_DIALECT_SETTINGS: Final = (
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
    Setting("restored_status", shapes.TEXT, "The status that `restore` gives such a plan.", ""),
    Setting("required_lines", shapes.TEXTS, "Beginnings of lines that `lint` demands of each open plan.", []),
)
_ROLE_SETTINGS: Final = tuple(
    [
        Setting(role, shapes.TEXTS, about, [])
        for role, about in (
            ("purpose", "What the plan is for."),
            ("tasks", "The work, so that a table or a list with statuses below it has tasks."),
            ("validation", "How the result is checked; checkboxes below it are no tasks, if there are others."),
            ("decisions", "What was decided, and why."),
            ("discoveries", "What was found out."),
            ("outcomes", "What was achieved."),
            ("context", "What a reader must know first."),
            ("scope", "What belongs to the work, and what does not."),
            ("risks", "What can go wrong."),
            ("next_step", "What to do next."),
            ("status", "How far the plan is; also a label, such as `Stand: erledigt`, and the title of a column."),
        )
    ]
)

_CORE_TABLES: Final = {
    "": SettingTable("Only in a repository's settings.", _REPOSITORY_SETTINGS),
    USER: SettingTable("Only in your own settings, before all tables.", _USER_SETTINGS),
    "dialects": SettingTable(
        "Only in a repository's settings, in a table for each dialect, such as `[dialects.harness]`.", _DIALECT_SETTINGS
    ),
    "roles": SettingTable(
        "Only in a repository's settings. Each has a list of titles of sections, in addition to those that are known.",
        _ROLE_SETTINGS,
    ),
}
TABLE_NAMES: Final = ("", USER, "dialects", "roles", *features.SETTING_TABLES)
"""The names of all tables, in the order of the reference."""
