"""Dangers in Python code, by what it calls: names are followed through imports, aliases and assignments of constants."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from shlex import join
from textwrap import dedent

from execplan.core.named_tuple import NamedTuple
from execplan.execution.risk.command_risk import CRITICAL, RiskTable, rate_command
from execplan.execution.risk.dangers_data import DATA
from execplan.execution.shell.command_table import SHELLS
from execplan.execution.shell.simple_command import is_outside_path

_MAX_BYTES = 1 << 20
_TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108 - no file is made here
_COMPUTED_MODULES = ("os", "subprocess", "builtins", "shutil", "pty", "sys.modules")
_HOMES = ("pathlib.Path.home", "os.path.expanduser")
_MAX_DEPTH = 20


class _Rule(NamedTuple):
    functions: tuple[str, ...]
    effect: str
    required_call: str
    when: str
    keyword: tuple[tuple[str, bool], ...]


_RULES = [_Rule(*fields) for fields in DATA["python"]]
_BUILTINS = ("eval", "exec", "getattr", "__import__", "open")
_PATH = "pathlib.Path."
_FIRST_ARGUMENTS = ("args", "cmd", "command", "path", "name", "src", "file", "filename", "fd")
"""Names of the first parameter of the functions in the rules."""
_MAX_VALUES = 5
"""Maximum number of values of a name that are followed."""


def find_python_dangers(text: str, table: RiskTable) -> list[str] | None:
    """Return the dangerous effects of a program, one for each call; None if it can't be parsed.

    Added lines of a diff are parsed without their common indentation.
    """
    if len(text) > _MAX_BYTES:
        return None
    for source in (text, dedent(text)):
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        try:
            return list(_Program(tree, table).dangers())
        except RecursionError:
            return None
    return None


class _Program:
    """The calls of a program, with what its names mean."""

    def __init__(self, tree: ast.Module, table: RiskTable) -> None:
        self._table = table
        nodes = list(ast.walk(tree))
        self._calls = [node for node in nodes if isinstance(node, ast.Call)]
        self._names: dict[str, str] = {}
        """Full names of imported modules and functions, and of what is assigned to a name."""
        self._values: dict[str, list[ast.expr | None]] = {}
        """Values that are assigned to a name; None for a parameter, a function or a class."""
        self._uses_builtins = any([isinstance(node, ast.Name) and node.id == "__builtins__" for node in nodes])
        for node in nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._read_import(node)
            else:
                self._read_definition(node)

    def dangers(self) -> Iterator[str]:
        """Yield the effects of all calls."""
        named_calls = [(call, self._full_name(call.func)) for call in self._calls]
        called_names = {name for _, name in named_calls}
        for call, name in named_calls:
            for rule in _RULES:
                if name in rule.functions and (not rule.required_call or rule.required_call in called_names):
                    yield from self._effects(call, name, rule)
        if self._uses_builtins:
            yield "reaches built-in functions by `__builtins__`"

    def _read_import(self, node: ast.Import | ast.ImportFrom) -> None:
        """Record the full names of what a statement imports."""
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                self._names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
            elif alias.asname:
                self._names[alias.asname] = alias.name
            else:
                first_name = alias.name.partition(".")[0]
                self._names[first_name] = first_name
            if alias.name == "*" and isinstance(node, ast.ImportFrom):
                functions = [function.rpartition(".") for rule in _RULES for function in rule.functions]
                self._names |= {name: f"{module}.{name}" for module, _, name in functions if module == node.module}

    def _read_definition(self, node: ast.AST) -> None:
        """Record what a statement assigns to names."""
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    self._values.setdefault(target.id, []).append(node.value)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self._values.setdefault(node.name, []).append(None)
        elif isinstance(node, ast.arg):
            self._values.setdefault(node.arg, []).append(None)

    def _full_name(self, node: ast.expr | None, depth: int = 0) -> str:
        """Return the full name of what an expression may be, such as `os.system`; empty if it is not known."""
        if node is None or depth > _MAX_DEPTH:
            return ""
        if isinstance(node, ast.Name):
            if node.id in _BUILTINS or node.id in self._names:
                return self._names.get(node.id, node.id)
            names = [self._full_name(value, depth + 1) for value in self._values.get(node.id, ())[:_MAX_VALUES]]
            return next(filter(None, names), "")
        if isinstance(node, ast.Attribute):
            owner = self._full_name(node.value, depth + 1)
            return f"{owner}.{node.attr}" if owner else ""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            return self._full_name(node.left, depth + 1)
        return self._returned_name(node, depth) if isinstance(node, ast.Call) else ""

    def _returned_name(self, call: ast.Call, depth: int) -> str:
        """Return the full name of what a call may return, for functions that return a module, a function or a path."""
        function, args = self._full_name(call.func, depth + 1), call.args
        if function in ("__import__", "importlib.import_module") and args:
            return self._text(args[0]) or ""
        if function == "getattr" and len(args) == 2:
            owner, name = self._full_name(args[0], depth + 1), self._text(args[1])
            return f"{owner}.{name}" if owner and name else ""
        if function == "ctypes.CDLL":
            return function
        return "pathlib.Path" if function in ("pathlib.Path", "pathlib.Path.home") else ""

    def _effects(self, call: ast.Call, name: str, rule: _Rule) -> Iterator[str]:
        """Yield the effect of a call of the function with this name if it meets the conditions of a rule."""
        if not all([self._has_keyword(call, keyword, value=value) for keyword, value in rule.keyword]):
            return
        if rule.when == "shell":
            yield rule.effect
            first = _find_argument(call)
            script = self._text(first) if first is not None else None
            if script is not None:
                yield from self._critical_effects(script, is_script=True)
        elif rule.when == "command":
            yield from self._command_effects(call, is_mode_first=name.startswith("os.spawn"))
        elif rule.when in ("outside", "written"):
            owner = call.func.value if name.startswith(_PATH) and isinstance(call.func, ast.Attribute) else None
            if rule.when == "outside" or self._is_written(call, mode_index=0 if owner is not None else 1):
                path = self._path(owner if owner is not None else _find_argument(call))
                if path is not None and is_outside_path(path) and not _is_temporary(path):
                    yield f"{rule.effect} `{path}`, outside the repository"
        elif rule.when == "computed":
            is_computed = len(call.args) >= 2 and self._text(call.args[1]) is None
            if is_computed and self._full_name(call.args[0]) in _COMPUTED_MODULES:
                yield rule.effect
        else:
            yield rule.effect

    def _is_written(self, call: ast.Call, mode_index: int) -> bool:
        """Return whether a call opens a file for more than reading; the mode is the argument with this index, or named."""
        modes = [*call.args[mode_index : mode_index + 1], *[word.value for word in call.keywords if word.arg == "mode"]]
        texts = [self._text(mode) for mode in modes]
        return any([text is None or not set("wax+").isdisjoint(text) for text in texts])

    def _has_keyword(self, call: ast.Call, name: str, *, value: bool) -> bool:
        """Return whether a call has a keyword argument with a value, or with one that is not known and may be true."""
        for keyword in call.keywords:
            if keyword.arg == name:
                argument = self._constant(keyword.value)
                return bool(argument.value) is value if argument is not None else value
        return False

    def _command_effects(self, call: ast.Call, *, is_mode_first: bool) -> Iterator[str]:
        """Yield the effects of a command that is given as a list or as arguments, perhaps after a mode."""
        first = _find_argument(call)
        arguments = call.args[is_mode_first:] or ([first] if first is not None and not is_mode_first else [])
        if not arguments:
            return
        words = self._words(arguments)
        if len(words) > 1 and words[0].rpartition("/")[2] in SHELLS and words[1].startswith("-") and "c" in words[1]:
            yield "runs a command in a shell"
        yield from self._critical_effects(join(words), is_script=False)

    def _critical_effects(self, command: str, *, is_script: bool) -> Iterator[str]:
        risk = rate_command(command, self._table, is_script=is_script) if command else None
        if risk is not None and risk.level == CRITICAL:
            yield f"runs `{command}`: {risk.reasons[0]}"

    def _words(self, arguments: list[ast.expr]) -> list[str]:
        """Return the words of a command up to the first that is not known."""
        first = self._resolved(arguments[0])
        if isinstance(first, ast.Call) and (text := self._split_text(first)) is not None:
            return text.split()
        if isinstance(first, ast.List | ast.Tuple):
            elements = first.elts
        else:
            second = self._resolved(arguments[1]) if len(arguments) > 1 else None
            elements = second.elts if isinstance(second, ast.List | ast.Tuple) else arguments
        words = []
        for element in elements:
            word = self._path(element)
            if word is None:
                break
            words.append(word)
        return words

    def _split_text(self, call: ast.Call) -> str | None:
        """Return the text that a call splits into words: `"a b".split()` or `shlex.split("a b")`."""
        if self._full_name(call.func) == "shlex.split" and call.args:
            return self._text(call.args[0])
        is_split = isinstance(call.func, ast.Attribute) and call.func.attr == "split" and not call.args
        return self._text(call.func.value) if is_split and isinstance(call.func, ast.Attribute) else None

    def _resolved(self, node: ast.expr) -> ast.expr:
        """Return the value of a name that is assigned once, or the expression itself."""
        for _ in range(_MAX_DEPTH):
            values = self._values.get(node.id, ()) if isinstance(node, ast.Name) else ()
            if len(values) != 1 or values[0] is None:
                break
            node = values[0]
        return node

    def _constant(self, node: ast.expr) -> ast.Constant | None:
        resolved = self._resolved(node)
        return resolved if isinstance(resolved, ast.Constant) else None

    def _text(self, node: ast.expr, depth: int = 0) -> str | None:
        """Return the text that an expression is, or None; `"a" + "b"` is one, too."""
        resolved = self._resolved(node)
        if isinstance(resolved, ast.Constant) and isinstance(resolved.value, str):
            return resolved.value
        if isinstance(resolved, ast.BinOp) and isinstance(resolved.op, ast.Add) and depth < _MAX_DEPTH:
            left, right = self._text(resolved.left, depth + 1), self._text(resolved.right, depth + 1)
            return left + right if left is not None and right is not None else None
        return None

    def _path(self, node: ast.expr | None, depth: int = 0) -> str | None:
        """Return the path that an expression is, or how it starts, or None."""
        if node is None or depth > _MAX_DEPTH:
            return None
        resolved = self._resolved(node)
        if isinstance(resolved, ast.Call):
            function = self._full_name(resolved.func)
            if function in _HOMES:
                return self._path(resolved.args[0], depth + 1) if resolved.args else "~"
            is_joined = function in ("pathlib.Path", "os.path.join", "str", "os.fspath")
            return self._path(resolved.args[0], depth + 1) if is_joined and resolved.args else None
        if isinstance(resolved, ast.Subscript) and self._full_name(resolved.value) == "os.environ":
            return "~" if self._text(resolved.slice) == "HOME" else None
        if isinstance(resolved, ast.JoinedStr):
            return self._path(resolved.values[0], depth + 1) if resolved.values else ""
        if isinstance(resolved, ast.BinOp) and isinstance(resolved.op, ast.Div):
            return self._path(resolved.left, depth + 1)
        return self._text(resolved)


def _find_argument(call: ast.Call) -> ast.expr | None:
    """Return the first argument of a call, also if it is named."""
    keyword_values = [keyword.value for keyword in call.keywords if keyword.arg in _FIRST_ARGUMENTS]
    return next(iter([*call.args, *keyword_values]), None)


def _is_temporary(path: str) -> bool:
    return path in _TEMPORARY or path.startswith(tuple([f"{directory}/" for directory in _TEMPORARY]))
