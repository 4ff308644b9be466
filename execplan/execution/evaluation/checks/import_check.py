"""Check that modules imported by new or changed files exist, are declared dependencies, or belong to the language."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Iterator

from execplan.core.errors import ExecplanError
from execplan.core.text.lazy_pattern import lazy_pattern
from execplan.execution.evaluation.checks.check_registry import WARNING, CheckContext, EvaluationFinding, check
from execplan.execution.evaluation.projected_files import normalize_paths, parent_directories
from execplan.execution.evaluation.trial import target_paths, written_texts
from execplan.execution.execution_plan import Type
from execplan.execution.world import FILE, FOLDER

_PYTHON = (".py", ".pyi")
_JAVASCRIPT = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
_MAX_BYTES = 1 << 20
"""Maximum size of a file that is parsed, in bytes."""
_REQUIREMENTS = (
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "Pipfile",
    "environment.yml",
    "requirements.txt",
    "requirements.in",
    "requirements-dev.txt",
    "requirements-test.txt",
    "dev-requirements.txt",
    "test-requirements.txt",
    "requirements/base.txt",
    "requirements/dev.txt",
    "requirements/test.txt",
)
"""Files that declare the dependencies of a Python project."""
_DISTRIBUTIONS = {
    "PIL": "pillow",
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv",
    "dateutil": "python_dateutil",
    "docx": "python_docx",
    "dotenv": "python_dotenv",
    "fitz": "pymupdf",
    "git": "gitpython",
    "jose": "python_jose",
    "jwt": "pyjwt",
    "magic": "python_magic",
    "OpenSSL": "pyopenssl",
    "pkg_resources": "setuptools",
    "psycopg2": "psycopg2_binary",
    "serial": "pyserial",
    "skimage": "scikit_image",
    "sklearn": "scikit_learn",
    "usb": "pyusb",
    "win32api": "pywin32",
    "yaml": "pyyaml",
    "zmq": "pyzmq",
}
"""Distributions of modules with a different name, written with `_` for `-`."""
_BUNDLED_MODULES = {"_pytest": "pytest", "mypy_extensions": "mypy", "pydantic_core": "pydantic", "starlette": "fastapi"}
"""Modules that belong to the distribution of another module."""
_NODE_BUILTINS = frozenset(
    (
        "assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain events fs http "
        "http2 https inspector module net os path perf_hooks process punycode querystring readline repl stream string_decoder "
        "timers tls trace_events tty url util v8 vm wasi worker_threads zlib"
    ).split()
)
_IMPORT = lazy_pattern(r"""(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\()\s*["']([^"'\n]+)["']""")


@check("imports")
def imports(context: CheckContext) -> Iterator[EvaluationFinding]:
    """Every module that a new or changed Python or JavaScript file imports exists or is declared as a dependency."""
    resolver = _ImportResolver(context)
    for trial in context.trials:
        for change in written_texts(trial):
            if change.after is None or len(change.after) > _MAX_BYTES:
                continue
            before, after = [_imported_modules(change.path, data or b"") for data in (change.before, change.after)]
            for module in dict.fromkeys([name for name in after if name not in before]):
                if problem := resolver.find_problem(change.path, module):
                    hint = "add it to the project's dependencies, or correct the import"
                    yield EvaluationFinding(WARNING, f"{change.path} imports {module}: {problem}", hint, trial.step)


def _imported_modules(path: str, data: bytes) -> list[str]:
    """Return the modules that a file imports, as written; a relative Python import starts with its dots."""
    text = data.decode("utf-8", "replace")
    if path.endswith(_PYTHON):
        return _python_modules(text)
    return _IMPORT.findall(text) if path.endswith(_JAVASCRIPT) else []


def _python_modules(text: str) -> list[str]:
    """Return the imports that must succeed: none in a `try` or for type checkers, and none of an invalid text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    modules: list[str] = []
    nodes: list[ast.AST] = [tree]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules.append("." * node.level + (node.module or ""))
        if not isinstance(node, ast.Try) and not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)):
            nodes += ast.iter_child_nodes(node)
    return sorted([module for module in modules if module.strip(".")])


class _ImportResolver:
    """Resolves imports in the repository as it will be once the plan has run."""

    def __init__(self, context: CheckContext) -> None:
        self.world = context.world
        self.planned_files = {
            path for step in context.document.steps for path in normalize_paths([*target_paths(step), *step.outputs])
        }
        self.planned_folders = {
            folder for path in self.planned_files for folder in parent_directories(path)
        } | self.planned_files
        self.install_commands = " ".join(
            [step.command or "" for step in context.document.steps if step.type is Type.INSTALL]
        )
        self._texts: dict[str, str] = {}

    def find_problem(self, path: str, module: str) -> str:
        """Return why an import of a module fails, or an empty string."""
        if path.endswith(_PYTHON):
            return self._python_problem(path, module)
        return self._javascript_problem(path, module)

    def _python_problem(self, path: str, module: str) -> str:
        name = module.lstrip(".")
        parts = name.split(".")
        if module.startswith("."):
            folder = path.split("/")[: -(len(module) - len(name))]
            relative = "/".join([*folder, *parts])
            return "" if self._is_python(relative) else f"there is no {relative}.py"
        if parts[0] in sys.stdlib_module_names or parts[0] == "__future__":
            return ""
        for root in _search_directories(path):
            if self._is_python(root + parts[0]):
                modules = [root + "/".join(parts[:length]) for length in range(2, len(parts) + 1)]
                missing = next((candidate for candidate in modules if not self._is_python(candidate)), "")
                return f"there is no {missing}.py" if missing else ""
        if self._is_declared(path, parts[0]):
            return ""
        return "the project neither contains it nor declares it as a dependency"

    def _is_python(self, path: str) -> bool:
        return self._is_file(f"{path}.py") or self._is_file(f"{path}.pyi") or self._is_folder(path)

    def _is_declared(self, path: str, module: str) -> bool:
        """Return whether a dependency file or an install step names the distribution of a module."""
        texts = [
            self.install_commands,
            *[self._read_text(f"{folder}{name}") for folder in _search_directories(path) for name in _REQUIREMENTS],
        ]
        declared_names = {
            token.lower().replace("-", "_") for text in texts for token in re.findall(r"[A-Za-z0-9][\w.-]*", text)
        }
        distribution_names = {module.lower(), _DISTRIBUTIONS.get(module, ""), _BUNDLED_MODULES.get(module, "")} - {""}
        suffixes = tuple([end for name in distribution_names for end in (f"_{name}", f"py{name}")])
        prefixes = tuple([f"{name}_" for name in distribution_names])
        return any(
            [
                declared in distribution_names or declared.startswith(prefixes) or declared.endswith(suffixes)
                for declared in declared_names
            ]
        )

    def _javascript_problem(self, path: str, module: str) -> str:
        if module.startswith(("./", "../", ".")):
            parts = path.split("/")[:-1]
            for segment in module.split("/"):
                if segment == "..":
                    del parts[-1:]
                elif segment not in ("", "."):
                    parts.append(segment)
            target = "/".join(parts)
            stem = target.rpartition(".")[0] if target.endswith(_JAVASCRIPT) else target
            candidates = [
                target,
                *[f"{base}{end}" for base in (target, stem) for end in (*_JAVASCRIPT, ".json", ".d.ts")],
            ]
            exists = any([self._is_file(candidate) for candidate in candidates]) or self._is_folder(target)
            return "" if exists else f"there is no {target}"
        name = "/".join(module.split("/")[: 1 + module.startswith("@")])
        if module.startswith(("node:", "bun:", "npm:", "jsr:", "http:", "https:", "@/", "~", "#", "/", "virtual:")):
            return ""
        if name in _NODE_BUILTINS:
            return ""
        packages = [text for folder in _search_directories(path) if (text := self._read_text(f"{folder}package.json"))]
        if not packages or any([f'"{name}"' in text for text in packages]) or name in self.install_commands:
            return ""
        aliases = [
            self._read_text(f"{folder}{config}")
            for folder in _search_directories(path)
            for config in ("tsconfig.json", "deno.json", "vite.config.ts")
        ]
        return "" if any([f'"{name}' in text for text in aliases]) else "package.json doesn't declare it"

    def _read_text(self, path: str) -> str:
        if path not in self._texts:
            try:
                is_file = self.world.state(path).kind == FILE
                self._texts[path] = self.world.read(path).decode("utf-8", "replace") if is_file else ""
            except ExecplanError:
                self._texts[path] = ""
        return self._texts[path]

    def _is_file(self, path: str) -> bool:
        return path in self.planned_files or self.world.state(path).kind == FILE

    def _is_folder(self, path: str) -> bool:
        return path in self.planned_folders or self.world.state(path).kind == FOLDER


def _search_directories(path: str) -> list[str]:
    """Return the directories that are searched for modules: the file's own, its parents, and their `src` and `lib`."""
    folders = ["", *[f"{folder}/" for folder in parent_directories(path) if folder != "."]]
    return [*reversed(folders), *[f"{folder}{name}/" for folder in folders for name in ("src", "lib")]]
