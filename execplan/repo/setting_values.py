"""Which values a setting may have."""

from __future__ import annotations

_PATHS = ("plans", "archive", "superseded", "artifacts", "archive_artifacts", "guide", "templates")
_DAY: dict[str, str | int] = dict.fromkeys(("year", "month", "day"), "")
_FIELDS: dict[str, dict[str, str | int]] = {
    "name": {"date": "", "day": "", "number": 0, "slug": ""},
    "message": dict.fromkeys(("id", "summary", "verb", "title"), ""),
    "archive": _DAY,
    "superseded": _DAY,
}
_LEAST = {"stalled_days": 1, "follow_files": 0}
_CLAIMS = ("warn", "enforce")
_NAMES = ("homes", "name", "layout", "template")
"""Settings beside the paths that become parts of paths."""
_DEEPEST = 32
"""Directories of a path in the settings: as many are made where they are missing."""
_LONGEST_TEXT = 1024
"""Bytes of a text in the settings. A path of the operating system has at most 4096, the repository's own included."""
_SHOWN = 100
"""Characters of a wrong value that a message quotes."""
_LONGEST_PART = 200
"""Bytes of a name in a path: file systems allow 255, of which the end of a temporary name takes some."""


def problem(name: str, value: object, where: str) -> str:
    """What is wrong with the value of a setting, or nothing; raises ExecplanError for what is wrong in a table."""
    if isinstance(value, dict):
        _check_dict(name, value, where)
        return ""
    why = _why_not_text(name, value) or _why_not_value(name, value, str(value))
    shown = repr(value) if len(repr(value)) < _SHOWN else f"{repr(value)[:_SHOWN]}…"
    return f"{where}: {name} {why}, not {shown}" if why else ""


def _why_not_value(name: str, value: object, text: str) -> str:
    """What is wrong with a value, or nothing: paths stay inside, and forms have the fields that they need and no other."""
    if name in _PATHS and (not _is_inside(text) if text else name != "superseded"):
        return f"is a path inside the repository, of at most {_DEEPEST} directories"
    if name == "homes" and isinstance(value, tuple) and not all([_is_inside(each) for each in value]):
        return f"are paths inside the repository, of at most {_DEEPEST} directories"
    if name == "name" and ("{slug}" not in text or "/" in text):
        return "is a file name without .md that holds {slug}"
    if name == "template" and (not text or "/" in text):
        return "is a name of `execplan new --list-templates`"
    if name == "claims" and text not in _CLAIMS:
        return f"is {' or '.join(_CLAIMS)}"
    if name == "layout" and text not in ("flat", "folder") and (not text.endswith(".md") or "/" in text):
        return "is flat, folder, or a file name that ends in .md"
    if isinstance(value, int) and value < _LEAST.get(name, value):
        return f"is at least {_LEAST[name]}"
    if name in _FIELDS:
        return _why_not_form(name, text)
    return ""


def _check_dict(name: str, value: dict[str, object], where: str) -> None:
    """Refuse a table that says what it can't; raises ExecplanError."""
    if name == "lint":
        from execplan.repo.checking.table import check_table

        check_table(value, where)
    elif name == "context":
        from execplan.repo.gathering.terms import terms

        terms(value, where)
    elif name == "triage":
        from execplan.repo.thresholds import check_table as check_thresholds

        check_thresholds(value, where)
    else:
        from execplan.repo.execution.terms import check_table as check_policy

        check_policy(value, where, may_loosen=False)


def _why_not_form(name: str, text: str) -> str:
    """What is wrong with a text that holds fields, or nothing."""
    from execplan.repo.placeholders import fill

    width = text.partition("{number")[2].partition("}")[0].removeprefix(":") if name == "name" else ""
    if width.strip("0123456789") or len(width) > 2:
        return "takes a width of digits for the number, as in {number:04}"
    try:
        said = fill(text, _FIELDS[name])
    except ValueError:
        return f"knows the fields {', '.join(['{' + each + '}' for each in _FIELDS[name]])}"
    if name == "name":
        if {"{", "}"} & set(said):
            return "takes no brace that is not one of a field"
        twice = [each for each in _FIELDS[name] if text.count("{" + each) > 1]
        return f"holds {{{twice[0]}}} once at most" if twice else ""
    head = text.partition("/{")[0]
    if name in _PATHS and ("{" in head or said[len(head) :].strip("/-_.")):
        return "holds fields only as its last folders"
    return ""


def _why_not_text(name: str, value: object) -> str:
    """What is wrong with the texts of a value, or nothing: a path is bounded, and so is what becomes a part of one."""
    texts = _texts(value)
    if any([len(each.encode("utf-8", "replace")) > _LONGEST_TEXT for each in texts]):
        return f"has at most {_LONGEST_TEXT} bytes"
    if name in (*_PATHS, *_NAMES) and not all([_is_plain(each) for each in texts]):
        return f"has no control characters, and no name of more than {_LONGEST_PART} bytes"
    return ""


def _texts(value: object) -> list[str]:
    """The texts of a value: itself, or those of a list."""
    if isinstance(value, tuple):
        return [each for each in value if isinstance(each, str)]
    return [value] if isinstance(value, str) else []


def _is_plain(text: str) -> bool:
    """Whether a text can be a part of a path: printable, encodable, and no part longer than file systems allow."""
    try:
        sizes = [len(part.encode()) for part in text.split("/")]
    except UnicodeEncodeError:
        return False
    return (text.isprintable() or not any([char < " " or "\x7f" <= char < "\xa0" for char in text])) and max(
        sizes
    ) <= _LONGEST_PART


def _is_inside(path: str) -> bool:
    """Whether a path leads to something below the folder that it counts from, and not too deep."""
    parts = path.split("/")
    return bool(path) and not path.startswith("/") and not {"..", ".git"} & set(parts) and len(parts) <= _DEEPEST
