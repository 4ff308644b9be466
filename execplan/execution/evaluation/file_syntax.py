"""Syntax errors of files, by their names: of Python, JSON, TOML, YAML, scripts of shells, and JavaScript."""

from __future__ import annotations

import warnings
from collections.abc import Callable

from execplan.core.text import fast_json
from execplan.core.text.plain_toml import parse_toml
from execplan.execution.world import World

_MAX_BYTES = 2 << 20
"""Maximum size of a text that is parsed, in bytes."""
_COMMENTED_JSON = ("tsconfig", "jsconfig", ".eslintrc", "devcontainer")
"""Prefixes of *.json file names that may contain comments."""
_SUFFIXES = {
    ".py": "python",
    ".pyi": "python",
    ".json": "json",
    ".toml": "toml",
    ".yml": "yaml",
    ".yaml": "yaml",
    ".sh": "sh",
    ".bash": "bash",
    ".zsh": "zsh",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
}
_TEMPLATE_MARKERS = (b"{{-", b"-}}", b"{%")
"""Markers in a YAML file that is a template and not yet valid YAML."""
_SHELLS = ("sh", "bash", "dash", "zsh")


def syntax_problem(path: str, data: bytes, world: World) -> str:
    """Return the language and the syntax error of a file, or an empty string if it is valid or can't be checked."""
    language = _detect_language(path, data)
    problem = _find_problem(language, data, world) if language and len(data) <= _MAX_BYTES else ""
    return f"{_LANGUAGE_NAMES.get(language, language)}: {problem}" if problem else ""


_LANGUAGE_NAMES = {"python": "Python", "json": "JSON", "toml": "TOML", "yaml": "YAML"}
"""Names of languages for people; a shell has the name of its program."""


def _detect_language(path: str, data: bytes | None) -> str:
    """Return the language of a file, or an empty string."""
    name = path.rpartition("/")[2]
    suffix = name[name.rfind(".") :] if "." in name else ""
    if suffix == ".json" and (name.startswith(_COMMENTED_JSON) or "/.vscode/" in f"/{path}"):
        return ""
    if suffix in (".yml", ".yaml") and any([sign in (data or b"") for sign in _TEMPLATE_MARKERS]):
        return ""
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    first_line = (data or b"").split(b"\n", 1)[0]
    if not first_line.startswith(b"#!"):
        return ""
    program = first_line.decode("utf-8", "replace").split()[-1].rpartition("/")[2]
    if program in _SHELLS:
        return program
    if program.startswith("python"):
        return "python"
    return ""


def _find_problem(language: str, data: bytes, world: World) -> str:
    """Return the syntax error, or an empty string."""
    parse = {"python": _parse_python, "json": _parse_json, "toml": parse_toml, "yaml": _parse_yaml}.get(language)
    if parse is None:
        return world.syntax(language, data) or ""
    return _parse_problem(parse, data)


def _parse_problem(parse: Callable[[bytes], object], data: bytes) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's own warnings about invalid escapes
            parse(data)
    except (RecursionError, MemoryError):
        return "it is nested too deeply"
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except ValueError as error:
        return " ".join(str(error).split())
    return ""


def _parse_python(data: bytes) -> None:
    import ast

    ast.parse(data, "it")


def _parse_json(data: bytes) -> None:
    fast_json.loads(data.decode("utf-8"))


def _parse_yaml(data: bytes) -> None:
    import yaml

    try:
        for _ in yaml.parse(data.decode("utf-8"), Loader=yaml.SafeLoader):
            pass
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None
