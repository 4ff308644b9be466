"""Validation of setting values: paths, forms, names and numbers."""

from __future__ import annotations

_PATH_SETTINGS = ("plans", "archive", "superseded", "artifacts", "archive_artifacts", "guide", "templates")
_DATE_FIELDS: dict[str, str | int] = dict.fromkeys(("year", "month", "day"), "")
_FORM_FIELDS: dict[str, dict[str, str | int]] = {
    "name": {"date": "", "day": "", "number": 0, "slug": ""},
    "message": dict.fromkeys(("id", "summary", "verb", "title"), ""),
    "archive": _DATE_FIELDS,
    "superseded": _DATE_FIELDS,
}
_MINIMUMS = {"stalled_days": 1, "follow_files": 0}
_CLAIM_MODES = ("warn", "enforce")
_NAME_SETTINGS = ("homes", "name", "layout", "template")
"""Settings that become parts of paths, in addition to the path settings."""
_MAX_DEPTH = 32
"""Maximum depth of a path in the settings, which also limits how many missing directories are created."""
_MAX_TEXT_BYTES = 1024
"""Maximum bytes of a text in the settings; an operating system path has at most 4096, including the repository's."""
_MAX_QUOTED = 100
"""Maximum characters of a wrong value that a message quotes."""
_MAX_NAME_BYTES = 200
"""Maximum bytes of a name in a path; file systems allow 255, part of which a temporary suffix needs."""


def find_problem(name: str, value: object, source: str) -> str:
    """Return the problem with a setting's value, or an empty string. Raises ExecplanError for a problem in a table."""
    if isinstance(value, dict):
        _check_table_setting(name, value, source)
        return ""
    reason = _text_problem(name, value) or _value_problem(name, value, str(value))
    quoted = repr(value) if len(repr(value)) < _MAX_QUOTED else f"{repr(value)[:_MAX_QUOTED]}…"
    return f"{source}: {name} {reason}, not {quoted}" if reason else ""


def _value_problem(name: str, value: object, text: str) -> str:
    """Return the problem with a value, or an empty string.

    Paths must stay inside the repository, and forms must have the required fields and no others.
    """
    if name in _PATH_SETTINGS and (not _is_inside_path(text) if text else name != "superseded"):
        return f"is a path inside the repository, of at most {_MAX_DEPTH} directories"
    if name == "homes" and isinstance(value, tuple) and not all([_is_inside_path(path) for path in value]):
        return f"are paths inside the repository, of at most {_MAX_DEPTH} directories"
    if name == "name" and ("{slug}" not in text or "/" in text):
        return "is a file name without .md that holds {slug}"
    if name == "template" and (not text or "/" in text):
        return "is a name of `execplan new --list-templates`"
    if name == "claims" and text not in _CLAIM_MODES:
        return f"is {' or '.join(_CLAIM_MODES)}"
    if name == "layout" and text not in ("flat", "folder") and (not text.endswith(".md") or "/" in text):
        return "is flat, folder, or a file name that ends in .md"
    if isinstance(value, int) and value < _MINIMUMS.get(name, value):
        return f"is at least {_MINIMUMS[name]}"
    if name in _FORM_FIELDS:
        return _form_problem(name, text)
    return ""


def _check_table_setting(name: str, value: dict[str, object], source: str) -> None:
    """Raise ExecplanError for an invalid table."""
    if name == "lint":
        from execplan.project.lint_settings import check_lint_table

        check_lint_table(value, source)
    elif name == "context":
        from execplan.project.context_settings import parse_context_settings

        parse_context_settings(value, source)
    elif name == "triage":
        from execplan.project.triage_settings import check_thresholds

        check_thresholds(value, source)
    else:
        from execplan.project.policy_settings import check_execution_table

        check_execution_table(value, source, may_loosen=False)


def _form_problem(name: str, text: str) -> str:
    """Return the problem with a text that contains fields, or an empty string."""
    from execplan.project.template_fields import fill

    width = text.partition("{number")[2].partition("}")[0].removeprefix(":") if name == "name" else ""
    if width.strip("0123456789") or len(width) > 2:
        return "takes a width of digits for the number, as in {number:04}"
    try:
        filled = fill(text, _FORM_FIELDS[name])
    except ValueError:
        return f"knows the fields {', '.join(['{' + field + '}' for field in _FORM_FIELDS[name]])}"
    if name == "name":
        if {"{", "}"} & set(filled):
            return "takes no brace that is not one of a field"
        repeated = [field for field in _FORM_FIELDS[name] if text.count("{" + field) > 1]
        return f"holds {{{repeated[0]}}} once at most" if repeated else ""
    head = text.partition("/{")[0]
    if name in _PATH_SETTINGS and ("{" in head or filled[len(head) :].strip("/-_.")):
        return "holds fields only as its last folders"
    return ""


def _text_problem(name: str, value: object) -> str:
    """Return the problem with the texts of a value, or an empty string; paths and parts of paths have limits."""
    texts = _text_values(value)
    if any([len(text.encode("utf-8", "replace")) > _MAX_TEXT_BYTES for text in texts]):
        return f"has at most {_MAX_TEXT_BYTES} bytes"
    if name in (*_PATH_SETTINGS, *_NAME_SETTINGS) and not all([_is_valid_path_text(text) for text in texts]):
        return f"has no control characters, and no name of more than {_MAX_NAME_BYTES} bytes"
    return ""


def _text_values(value: object) -> list[str]:
    """Return the texts of a value: itself, or the elements of a list."""
    if isinstance(value, tuple):
        return [element for element in value if isinstance(element, str)]
    return [value] if isinstance(value, str) else []


def _is_valid_path_text(text: str) -> bool:
    """Return whether a text can be a part of a path: printable, encodable, and within the limits of file systems."""
    try:
        sizes = [len(part.encode()) for part in text.split("/")]
    except UnicodeEncodeError:
        return False
    return (text.isprintable() or not any([char < " " or "\x7f" <= char < "\xa0" for char in text])) and max(
        sizes
    ) <= _MAX_NAME_BYTES


def _is_inside_path(path: str) -> bool:
    """Return whether a relative path stays below its base and is not too deep."""
    parts = path.split("/")
    return bool(path) and not path.startswith("/") and not {"..", ".git"} & set(parts) and len(parts) <= _MAX_DEPTH
