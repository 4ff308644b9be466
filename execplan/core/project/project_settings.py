"""Settings of a repository, from `[tool.execplan]` in pyproject.toml or from `.agent/execplan.toml`."""

from __future__ import annotations

import os

from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.files.agent_files import INSTRUCTIONS
from execplan.core.named_tuple import NamedTuple
from execplan.core.text.plain_toml import parse_toml


def parse_table(data: bytes | None, path: str, *names: str) -> dict[str, object] | None:
    """Parse a TOML document, and return the named table, or all of it without a name; None if the table is missing.

    Raises ExecplanError for invalid TOML, or a value that is not a table.
    """
    try:
        parsed: object = parse_toml(data or b"")
    except RecursionError:
        raise ExecplanError("bad-toml", f"{path}: it is nested too deeply", hint="fix the file") from None
    except ValueError as error:  # also raised for a number that is too long
        raise ExecplanError("bad-toml", f"{path}: {error}", hint="fix the file") from None
    for name in names:
        if not isinstance(parsed, dict) or name not in parsed:
            return None
        parsed = parsed[name]
    if not isinstance(parsed, dict):
        raise ExecplanError("bad-setting", f"{path}: {'.'.join(names)} is not a table", hint="fix the file")
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
            message = f"{path}: {value!r} contains a NUL character"
            raise ExecplanError("bad-setting", message, hint="remove it from the file")


SETTINGS_FILE = os.path.join(".agent", "execplan.toml")
BASELINE_FILE = os.path.join(".agent", "lint-baseline.json")
"""The baseline of `lint`, from the base of a project."""
PYPROJECT_FILE = "pyproject.toml"
_MAX_BYTES = 1 << 20
_EMPTY_TABLE: dict[str, object] = {}
_NO_ROLES: dict[str, list[str]] = {}
FLAT_LAYOUT = "flat"
FOLDER_LAYOUT = "folder"
NON_PLAN_FILES = {
    **dict.fromkeys(("readme.md", "index.md", "plans.md"), "README, index or guide"),
    **dict.fromkeys(("tech-debt-tracker.md", "tech_debt_tracker.md"), "tracker of technical debt"),
    **dict.fromkeys(
        (
            "template.md _template.md plan-template.md plan_template.md plans-template.md plans_template.md "
            "execplan-template.md execplan_template.md exec-plan-template.md exec_plan_template.md"
        ).split(),
        "template",
    ),
    **dict.fromkeys([name for name in INSTRUCTIONS if name.endswith(".md")], "instructions for agents"),
}
"""Names of files in a plans directory that are not plans, in lower case, each with what it is."""


PART_ENDINGS = (".progress.md", ".notes.md", ".findings.md", ".log.md", ".summary.md")
"""Endings of the names of files that belong to a plan, as `parser.progress.md` to `parser.md`."""


def is_plan_name(name: str) -> bool:
    """Return whether a file in a plans directory can be a plan by its name."""
    if not name.endswith(".md") or name.startswith("."):
        return False
    lowered_name = name.lower()
    return lowered_name not in NON_PLAN_FILES and not lowered_name.endswith(PART_ENDINGS)


def non_plan_names_regex() -> str:
    """Return a regular expression for the names, without `.md`, of files that are not plans."""
    return "|".join(sorted([name.removesuffix(".md").replace(".", r"\.") for name in NON_PLAN_FILES]))


class Settings(NamedTuple):
    """Settings with their defaults; paths are relative to the directory of the settings."""

    plans: str = ".agent/execplans"
    archive: str = ".agent/execplans/archive"
    superseded: str = ""
    artifacts: str = ".agent/execplans/artifacts"
    archive_artifacts: str = ".agent/execplans/archive/artifacts"
    guide: str = ".agent/PLANS.md"
    index_file: str = ""
    templates: str = ".agent/templates"
    template: str = "plan"
    layout: str = FLAT_LAYOUT
    name: str = "{date}_{slug}"
    directories: dict[str, object] = _EMPTY_TABLE
    dialects: dict[str, object] = _EMPTY_TABLE
    roles: dict[str, list[str]] = _NO_ROLES
    files: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()
    commit: bool = False
    message: str = "plan({id}): {summary}"
    author: str = ""
    claims: str = "warn"
    worktrees: str = "../{repository}.worktrees"
    worktree_branch: str = "plan/{slug}"
    stalled_days: int = 14
    follow: bool = False
    follow_files: int = 20
    triage: dict[str, object] = _EMPTY_TABLE
    lint: dict[str, object] = _EMPTY_TABLE
    execution: dict[str, object] = _EMPTY_TABLE
    approval: dict[str, object] = _EMPTY_TABLE
    context: dict[str, object] = _EMPTY_TABLE


def for_directory(settings: Settings, directory: str) -> Settings:
    """Return the settings for one of the further plans directories in `directories`."""
    values = settings.directories[directory]
    assert isinstance(values, dict)
    archive = values.get("archive", f"{directory}/archive")
    return settings._replace(
        plans=directory,
        archive=archive,
        superseded=values.get("superseded", ""),
        artifacts=f"{directory}/artifacts",
        archive_artifacts=f"{archive.partition('/{')[0]}/artifacts",
        layout=values.get("layout", FLAT_LAYOUT),
        name=values.get("name", Settings().name),
        files=(),
        index_file="",
        directories=_EMPTY_TABLE,
        homes=(),
    )


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
                f"both {PYPROJECT_FILE} and {SETTINGS_FILE} contain settings",
                hint=f"move all settings into one file, and remove {SETTINGS_FILE} or the table tool.execplan",
            )
        return LoadedSettings(PYPROJECT_FILE, _parse_settings(values, PYPROJECT_FILE, pyproject_data or b""))
    if settings_data is None:
        return None
    if not has_content(settings_data):
        return LoadedSettings(SETTINGS_FILE, Settings())

    return LoadedSettings(
        SETTINGS_FILE,
        _parse_settings(
            parse_table(settings_data, os.path.join(base, SETTINGS_FILE)) or {}, SETTINGS_FILE, settings_data
        ),
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
            hint = "check that this is the right file; settings are only a few lines"
            raise ExecplanError("too-large", f"{path} has more than {_MAX_BYTES:,} bytes", hint=hint)
        return data
    except OSError as error:
        raise file_access.file_error(error, path, "read") from None
    finally:
        os.close(handle)


def _parse_settings(values: dict[str, object], source: str, data: bytes) -> Settings:
    """Check the values of a file with this content and apply them over the defaults. Raises ExecplanError for invalid ones."""
    from execplan.core.project.setting_checks import check_settings

    settings = Settings(**check_settings(values, source, data))  # type: ignore[arg-type] # each value was checked by its name
    if settings.plans in (settings.archive, settings.superseded):
        hint = f"name another one for finished plans, such as {settings.plans}/archive"
        raise ExecplanError("bad-setting", f"{source}: archive or superseded is the directory of the plans", hint=hint)
    return settings
