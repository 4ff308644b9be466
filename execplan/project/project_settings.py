"""Settings of a repository, from `[tool.execplan]` in pyproject.toml or from `.agent/execplan.toml`."""

from __future__ import annotations

import os

from execplan.errors import INPUT, ExecplanError
from execplan.files import file_access
from execplan.named_tuple import NamedTuple


def parse_table(data: bytes | None, path: str, *names: str) -> dict[str, object] | None:
    """Parse a TOML document, and return the named table, or all of it without a name; None if the table is missing.

    Raises ExecplanError for invalid TOML, or a value that is not a table.
    """
    import tomllib

    try:
        parsed: object = tomllib.loads((data or b"").decode("utf-8"))
    except RecursionError:
        raise ExecplanError("bad-toml", f"{path}: it is nested too deeply", exit=INPUT, hint="fix the file") from None
    except ValueError as error:  # also raised for a number that is too long
        raise ExecplanError("bad-toml", f"{path}: {error}", exit=INPUT, hint="fix the file") from None
    for name in names:
        if not isinstance(parsed, dict) or name not in parsed:
            return None
        parsed = parsed[name]
    if not isinstance(parsed, dict):
        raise ExecplanError("bad-setting", f"{path}: {'.'.join(names)} is no table", exit=INPUT, hint="fix the file")
    _ensure_no_nul(parsed, path)
    return parsed


def _ensure_no_nul(table: dict[str, object], path: str) -> None:
    """Raise ExecplanError for a NUL character, which paths and program arguments can't contain."""
    values: list[object] = [table]
    for value in values:
        if isinstance(value, dict):
            values += [*value, *value.values()]
        elif isinstance(value, list):
            values += value
        elif isinstance(value, str) and "\0" in value:
            message = f"{path}: {value!r} holds a NUL character"
            raise ExecplanError("bad-setting", message, exit=INPUT, hint="take it out of the file")


SETTINGS_FILE = os.path.join(".agent", "execplan.toml")
PYPROJECT_FILE = "pyproject.toml"
_MAX_BYTES = 1 << 20
_TYPE_NAMES = {
    str: "a string",
    bool: "true or false",
    int: "a whole number",
    tuple: "a list of strings",
    dict: "a table",
}
_EMPTY_TABLE: dict[str, object] = {}
FLAT_LAYOUT = "flat"
FOLDER_LAYOUT = "folder"
NON_PLAN_FILES = frozenset(("readme.md", "index.md", "plans.md", "agents.md", "claude.md"))
"""Names of files in a plans directory that are not plans, in lower case."""


class Settings(NamedTuple):
    """Settings with their defaults; paths are relative to the directory of the settings."""

    plans: str = ".agent/execplans"
    archive: str = ".agent/execplans/archive"
    superseded: str = ""
    artifacts: str = ".agent/execplans/artifacts"
    archive_artifacts: str = ".agent/execplans/archive/artifacts"
    guide: str = ".agent/PLANS.md"
    templates: str = ".agent/templates"
    template: str = "plan"
    layout: str = FLAT_LAYOUT
    name: str = "{date}_{slug}"
    homes: tuple[str, ...] = ()
    commit: bool = False
    message: str = "plan({id}): {summary}"
    author: str = ""
    claims: str = "warn"
    stalled_days: int = 14
    follow: bool = False
    follow_files: int = 20
    triage: dict[str, object] = _EMPTY_TABLE
    lint: dict[str, object] = _EMPTY_TABLE
    execution: dict[str, object] = _EMPTY_TABLE
    context: dict[str, object] = _EMPTY_TABLE


DESCRIPTIONS = {
    "plans": "The folder of the plans.",
    "archive": "Where `archive` moves a finished plan; may end in `/{year}/{month}/{day}`.",
    "superseded": "Another folder of archived plans, for those that were given up; empty: there is none.",
    "artifacts": "Holds a folder for each plan: transcripts, logs, screenshots.",
    "archive_artifacts": "Where `archive` moves that folder.",
    "guide": "The guide for authors.",
    "templates": "The repository's own templates of plans.",
    "template": "The template that `new` takes where `--template` names none.",
    "layout": "`flat`: a file a plan. `folder`: ID/ID.md, with its artifacts beside it. `ExecPlan.md`: ID/ExecPlan.md, likewise.",
    "name": "How plans are named: `{slug}` comes from the title, `{date}` is YYYY-MM-DD, `{day}` YYYYMMDD, `{number:04}` counts.",
    "homes": "Folders below with homes of their own, which `list`, `status`, `next` and `lint` take in from here.",
    "commit": "Whether every edit is committed, as with `--commit`.",
    "message": "The commit message; `{id}`, `{summary}`, `{verb}` and `{title}` are filled in.",
    "author": "The author of decisions, unless `--author`, `--as` or EXECPLAN_AGENT names one; default: EXECPLAN_AUTHOR, your git name, the login.",
    "claims": "What happens when you edit a task that somebody else has claimed: `warn`, or `enforce`, which stops the edit.",
    "stalled_days": "Days without a timestamp, an edit or a commit after which an open plan is marked as stalled.",
    "follow": "Whether a commit that changes what a plan is about, and no plan, is asked for one: EP508 of `lint --staged`.",
    "follow_files": "How many files a commit may change without a plan; 0: any number.",
    "triage": "How sure it must be that no plan is needed: `none` (0.95) and more: none is; below `plan` (0.70): one is due.",
    "lint": "Which rules `lint` runs: `profile`, `select`, `ignore`, `levels` and, for some of the plans, `paths`.",
    "execution": "What may run and who must say so; it may only tighten the policy: execplan explain policy.",
    "context": "What `context` goes by: `budget`, `shares`, `decisions`, `model` and `models`: execplan explain context.",
}
"""Description of each setting, used in the settings file, the README and `init`."""


class LoadedSettings(NamedTuple):
    """Settings that were loaded from a file."""

    file: str
    """Path of the settings file from the project directory."""
    settings: Settings


def load(base: str) -> LoadedSettings | None:
    """Load the settings of a directory; return None if no file contains any.

    Raises ExecplanError if there are two settings files, unknown keys or wrong values, or if a file can't be read.
    """
    settings_data = read_settings_file(os.path.join(base, SETTINGS_FILE))
    pyproject_data = read_settings_file(os.path.join(base, PYPROJECT_FILE))
    values = None
    if pyproject_data is not None and may_have_table(pyproject_data):
        values = parse_table(pyproject_data, os.path.join(base, PYPROJECT_FILE), "tool", "execplan")
    if values is not None:
        if settings_data is not None:
            raise ExecplanError(
                "two-settings",
                f"both {PYPROJECT_FILE} and {SETTINGS_FILE} hold settings",
                exit=INPUT,
                hint=f"move all of them into one, and remove {SETTINGS_FILE} or the table tool.execplan",
            )
        return LoadedSettings(PYPROJECT_FILE, _parse_settings(values, PYPROJECT_FILE))
    if settings_data is None:
        return None
    if not has_content(settings_data):
        return LoadedSettings(SETTINGS_FILE, Settings())

    return LoadedSettings(
        SETTINGS_FILE,
        _parse_settings(parse_table(settings_data, os.path.join(base, SETTINGS_FILE)) or {}, SETTINGS_FILE),
    )


def may_have_table(data: bytes) -> bool:
    """Return whether a pyproject.toml may contain the table `tool.execplan`, so that most need not be parsed."""
    if b"execplan" not in data:
        return False
    header = b""
    for raw in data.split(b"\n"):
        line = raw.strip()
        if line.startswith(b"["):
            header = line.strip(b"[] \t")
            if b"tool" in header and b"execplan" in header:
                return True
        elif b"=" in line and b"execplan" in line and (not header or header.strip(b"\"'") == b"tool"):
            return True
    return False


def has_content(data: bytes) -> bool:
    """Return whether a settings file contains anything except comments."""
    return any([line.strip() and not line.strip().startswith(b"#") for line in data.split(b"\n")])


def read_settings_file(path: str) -> bytes | None:
    """Read the bytes of a settings file; return None if it does not exist. Raises ExecplanError if it can't be read."""
    try:
        handle = file_access.open_regular(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if isinstance(error, file_access.NotRegularError) and os.path.isdir(path):
            return None
        raise file_access.file_error(error, path, "read") from None
    try:
        data = os.read(handle, _MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            hint = "is it the right file? settings are a few lines"
            raise ExecplanError("too-large", f"{path} has more than {_MAX_BYTES:,} bytes", exit=INPUT, hint=hint)
        return data
    except OSError as error:
        raise file_access.file_error(error, path, "read") from None
    finally:
        os.close(handle)


def _parse_settings(values: dict[str, object], source: str) -> Settings:
    """Check the values and apply them over the defaults. Raises ExecplanError for invalid settings."""
    defaults = Settings()._asdict()
    for name, raw_value in values.items():
        if name == "enhancer":
            raise ExecplanError(
                "loosened-policy",
                f"{source}: {name} names code to run and what is sent to it, which no repository may do",
                exit=INPUT,
                hint="take it out; your own stands in ~/.config/execplan/config.toml, under [enhancer]",
            )
        if name not in defaults:
            from execplan.project.policy_settings import SETTING_NAMES
            from execplan.text.suggestions import did_you_mean

            suggestion = f"did you mean execution.{name}?" if name in SETTING_NAMES else did_you_mean(name, defaults)
            raise ExecplanError(
                "unknown-setting",
                f"{source}: there is no setting {name}",
                exit=INPUT,
                hint=suggestion or f"one of {', '.join(defaults)}",
            )
        expected_type = type(defaults[name])
        value = raw_value
        if isinstance(raw_value, list) and all([type(element) is str for element in raw_value]):
            value = tuple(raw_value)
        if type(value) is not expected_type:
            type_name = _TYPE_NAMES[expected_type]
            raise ExecplanError(
                "bad-setting", f"{source}: {name} takes {type_name}", exit=INPUT, hint=DESCRIPTIONS[name]
            )
        check_value(name, value, source)
        defaults[name] = value
    return Settings(**defaults)


def check_value(name: str, value: object, source: str) -> None:
    """Raise ExecplanError for an invalid value of a setting."""
    from execplan.project.setting_values import find_problem

    message = find_problem(name, value, source)
    if message:
        raise ExecplanError("bad-setting", message, exit=INPUT, hint=DESCRIPTIONS[name])


def toml_literal(value: object) -> str:
    """Format the value of a setting as TOML."""
    import json

    if isinstance(value, tuple):
        return f"[{', '.join([toml_literal(element) for element in value])}]"
    return json.dumps(value, ensure_ascii=False)
