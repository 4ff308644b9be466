"""Shapes of setting values: each says what a setting takes, and finds the problem with a value."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.project.setting_forms import (
    DATE_FIELDS,
    MESSAGE_FIELDS,
    fill_fields,
    find_archived_name_problem,
    find_branch_problem,
    find_field_problem,
    find_name_problem,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

_REPOSITORY_FIELD = "{repository}"
_MAX_DEPTH = 32
"""Maximum depth of a path in the settings, which also limits how many missing directories are created."""
_MAX_TEXT_BYTES = 1024
"""Maximum bytes of a text in the settings; an operating system path has at most 4096, including the repository's."""
_MAX_QUOTED = 100
"""Maximum characters of a wrong value that a message quotes."""
_MAX_NAME_BYTES = 200
"""Maximum bytes of a name in a path; file systems allow 255, part of which a temporary suffix needs."""


class Shape(NamedTuple):
    """What a setting takes."""

    takes: str
    """Its values in words, for the reference."""
    find_problem: Callable[[object], str]
    """Returns the problem with a value, as it follows the name of the setting in a message; empty if there is none."""


def shape(takes: str, problem: str, is_valid: Callable[[object], bool], *, quotes: bool = True) -> Shape:
    """Return a shape with one condition; a message quotes the wrong value unless it may be private or long."""
    return Shape(takes, lambda value: "" if is_valid(value) else f"{problem}{_quote(value) if quotes else ''}")


def _quote(value: object) -> str:
    """Return the end of a message about a wrong value."""
    text = repr(value)
    return f", not {text if len(text) < _MAX_QUOTED else f'{text[:_MAX_QUOTED]}…'}"


def number(minimum: int, maximum: int, noun: str = "number") -> Shape:
    """Return the shape of an integer in a range."""
    problem = f"must be a {noun} from {minimum} to {maximum:,}"
    return shape(
        f"{minimum:,} to {maximum:,}", problem, lambda value: type(value) is int and minimum <= value <= maximum
    )


def choice(values: Sequence[str], listed: str = "") -> Shape:
    """Return the shape of one of several texts, which a message lists."""
    listed = listed or ", ".join(map(repr, values))
    return shape(
        " · ".join([f"`{value}`" if value else "nothing" for value in values]),
        f"must be one of {listed}",
        values.__contains__,
    )


def list_of(takes: str, problem: str, is_valid: Callable[[object], bool], *, quotes: bool = True) -> Shape:
    """Return the shape of a list with valid elements."""
    return shape(
        takes,
        problem,
        lambda value: isinstance(value, list) and all([is_valid(element) for element in value]),
        quotes=quotes,
    )


def table_of(
    takes: str,
    problem: str,
    is_valid: Callable[[object], bool],
    names: Sequence[str] | None = None,
    *,
    quotes: bool = True,
) -> Shape:
    """Return the shape of a table with valid values; all its names are known unless some are given."""
    return shape(
        takes,
        problem,
        lambda value: (
            isinstance(value, dict)
            and (names is None or value.keys() <= set(names))
            and all([is_valid(element) for element in value.values()])
        ),
        quotes=quotes,
    )


def variables(*, quotes: bool = True) -> Shape:
    """Return the shape of a list of names of environment variables."""
    return list_of(
        "names of variables",
        "must be a list of variable names",
        lambda name: isinstance(name, str) and name.isascii() and name.isidentifier(),
        quotes=quotes,
    )


def is_text(value: object) -> bool:
    """Return whether a value is a string."""
    return isinstance(value, str)


def _typed(takes: str, kind: type, noun: str, find_problem: Callable[[Any], str] | None = None) -> Shape:
    """Return the shape of a type, with limits for the texts in it, and perhaps a condition."""

    def problem_of(value: object) -> str:
        if type(value) is not kind:
            return f"must be {noun}"
        if any([len(text.encode("utf-8", "replace")) > _MAX_TEXT_BYTES for text in _texts(value)]):
            return f"can have at most {_MAX_TEXT_BYTES} bytes{_quote(value)}"
        problem = find_problem(value) if find_problem else ""
        return f"{problem}{_quote(value)}" if problem else ""

    return Shape(takes, problem_of)


def _path_shape(takes: str, find_problem: Callable[[Any], str], kind: type = str, noun: str = "a string") -> Shape:
    """Return the shape of a text or of texts that become paths or parts of paths."""

    def problem_of(value: object) -> str:
        if all(map(_is_valid_path_text, _texts(value))):
            return find_problem(value)
        return f"can't have control characters, or a name of more than {_MAX_NAME_BYTES} bytes"

    return _typed(takes, kind, noun, problem_of)


def at_least(minimum: int) -> Shape:
    """Return the shape of an integer with a minimum."""
    problem = f"must be at least {minimum}"
    return _typed(f"{minimum} or more", int, "a whole number", lambda value: problem if value < minimum else "")


def _inside_problem(value: str) -> str:
    """Return the problem with a path that should stay below its base."""
    parts = value.split("/")
    is_inside = value and not value.startswith("/") and not {"..", ".git"} & set(parts) and len(parts) <= _MAX_DEPTH
    return "" if is_inside else f"must be a path inside the repository, of at most {_MAX_DEPTH} directories"


def _archive_problem(value: str) -> str:
    if problem := _inside_problem(value) or find_field_problem(value, DATE_FIELDS):
        return problem
    head = value.partition("/{")[0]
    is_last = "{" not in head and not fill_fields(value, DATE_FIELDS)[len(head) :].strip("/-_.")
    return "" if is_last else "can contain fields only as its last directories"


def _markdown_problem(value: str) -> str:
    return _inside_problem(value) or ("" if value.endswith(".md") else "must end in .md")


def _paths_problem(paths: tuple[str, ...]) -> str:
    problem = f"must be paths inside the repository, of at most {_MAX_DEPTH} directories"
    return problem if any(map(_inside_problem, paths)) else ""


def _template_problem(value: str) -> str:
    if value.endswith(".md"):
        return _inside_problem(value)
    return "must be a name from `execplan new --list-templates`" if not value or "/" in value else ""


def _markdown_files_problem(paths: tuple[str, ...]) -> str:
    return "must be paths inside the repository that end in .md" if any(map(_markdown_problem, paths)) else ""


def _layout_problem(value: str) -> str:
    is_valid = value in ("flat", "folder") or (value.endswith(".md") and "/" not in value)
    return "" if is_valid else "must be flat, folder or a file name that ends in .md"


def _worktrees_problem(value: str) -> str:
    """Return the problem with a directory in which worktrees are created: it must not be just anywhere."""
    rest = value.removeprefix("../")
    first = rest.split("/")[0]
    is_next_to_it = value == rest or (first.startswith(_REPOSITORY_FIELD) and first != _REPOSITORY_FIELD)
    if not is_next_to_it or _inside_problem(rest):
        return (
            f'must be a path inside the repository, or next to it and begin with "../{_REPOSITORY_FIELD}" and a suffix'
        )
    return find_field_problem(value, {"repository": ""})


def _texts(value: object) -> list[str]:
    """Return the texts of a value: itself, or the elements of a list."""
    if isinstance(value, tuple):
        return [element for element in value if isinstance(element, str)]
    return [value] if isinstance(value, str) else []


def _is_valid_path_text(text: str) -> bool:
    try:
        sizes = [len(part.encode()) for part in text.split("/")]
    except UnicodeEncodeError:
        return False
    return (text.isprintable() or not any([char < " " or "\x7f" <= char < "\xa0" for char in text])) and max(
        sizes
    ) <= _MAX_NAME_BYTES


_PATH = "a path inside the repository"
TABLE = _typed("a table", dict, "a table")
SWITCH = _typed("`true` · `false`", bool, "true or false")
TEXT = _typed("a text", str, "a string")
TEXTS = _typed(
    "a list of texts",
    tuple,
    "a list of strings",
    lambda texts: "" if all(text.strip() for text in texts) else "can't have an empty text",
)
DIRECTORY = _path_shape(_PATH, _inside_problem)
ARCHIVE = _path_shape(_PATH, _archive_problem)
OPTIONAL_ARCHIVE = _path_shape(_PATH, lambda value: _archive_problem(value) if value else "")
OPTIONAL_MARKDOWN = _path_shape("a path that ends in `.md`", lambda value: _markdown_problem(value) if value else "")
PATHS = _path_shape("a list of paths", _paths_problem, tuple, "a list of strings")
MARKDOWN_FILES = _path_shape("a list of paths that end in `.md`", _markdown_files_problem, tuple, "a list of strings")
TEMPLATE = _path_shape("a name, or a path that ends in `.md`", _template_problem)
LAYOUT = _path_shape("`flat` · `folder` · a file name", _layout_problem)
NAME_FORM = _path_shape("a file name with fields", find_name_problem)
ARCHIVED_NAME_FORM = _path_shape("a file name with fields", find_archived_name_problem)
MESSAGE_FORM = _typed("a text with fields", str, "a string", lambda form: find_field_problem(form, MESSAGE_FIELDS))
CLAIMS = _typed(
    "`warn` · `enforce`",
    str,
    "a string",
    lambda value: "" if value in ("warn", "enforce") else "must be warn or enforce",
)
WORKTREES = _path_shape("a path, with the field `{repository}`", _worktrees_problem)
BRANCH_FORM = _path_shape("a branch name with fields", find_branch_problem)
DIRECTORY_TABLES = table_of(
    "directories with tables",
    "must be a table for each directory: directories.'docs/plans' = { archive = 'docs/plans/completed' }",
    lambda table: isinstance(table, dict),
)
DIALECT_TABLES = table_of(
    "names with tables",
    'must be a table for each dialect: dialects.ours = { directories = ["docs/rfcs"] }',
    lambda table: isinstance(table, dict),
)
ROLE_TABLE = table_of(
    "roles with lists of titles",
    'must be a table of lists of titles: roles = { tasks = ["Work packages"] }',
    lambda _: True,
)
TABLES = list_of("tables", "must be a list of tables", lambda value: isinstance(value, dict))
TOOLS = list_of(
    "names of tools",
    "must be a list of names of tools",
    lambda name: isinstance(name, str) and name.isprintable() and bool(name.strip(" *")),
)
COMMAND = shape("a command", "must be a command", lambda value: isinstance(value, str) and "\0" not in value)
PROGRAM = shape(
    "a command",
    'must be a command, such as "claude -p"',
    lambda value: isinstance(value, str) and bool(value.strip()) and "\0" not in value,
    quotes=False,
)
CONFIDENCE = shape(
    "0 to 1",
    "must be a number from 0 to 1",
    lambda value: isinstance(value, int | float) and type(value) is not bool and 0 <= value <= 1,
)
