"""Modules that a new or changed file imports: part of the project, declared as a dependency, or built into the language."""

from __future__ import annotations

import ast
import re
import sys
import warnings

from execplan.errors import ExecplanError
from execplan.execution.evaluation.after import above, inside
from execplan.execution.evaluation.checks.check import WARNING, Case, Finding, check
from execplan.execution.evaluation.trial import targets, texts
from execplan.execution.model import Type
from execplan.execution.world import FILE, FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_PYTHON = (".py", ".pyi")
_JAVASCRIPT = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
_LARGEST = 1 << 20
"""Bytes of the largest file that is parsed."""
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
"""Files that declare what a Python project depends on."""
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
"""Modules whose distribution has another name, spelled with `_` for `-`."""
_WITH_OTHERS = {"_pytest": "pytest", "mypy_extensions": "mypy", "pydantic_core": "pydantic", "starlette": "fastapi"}
"""Modules that come with the distribution of another."""
_BUILT_INTO_NODE = frozenset(
    (
        "assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain events fs http "
        "http2 https inspector module net os path perf_hooks process punycode querystring readline repl stream string_decoder "
        "timers tls trace_events tty url util v8 vm wasi worker_threads zlib"
    ).split()
)
_IMPORT = re.compile(r"""(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\()\s*["']([^"'\n]+)["']""")


@check("imports")
def imports(case: Case) -> Iterator[Finding]:
    """Every module that a new or changed Python or JavaScript file imports exists or is declared as a dependency."""
    project = _Project(case)
    for trial in case.trials:
        for change in texts(trial):
            if change.after is None or len(change.after) > _LARGEST:
                continue
            before, after = [_modules(change.path, data or b"") for data in (change.before, change.after)]
            for module in dict.fromkeys([each for each in after if each not in before]):
                if problem := project.problem(change.path, module):
                    hint = "add it to the project's dependencies, or correct the import"
                    yield Finding(WARNING, f"{change.path} imports {module}: {problem}", hint, trial.step)


def _modules(path: str, data: bytes) -> list[str]:
    """The modules that a file imports, as written; a Python import that is relative begins with its dots."""
    text = data.decode("utf-8", "replace")
    if path.endswith(_PYTHON):
        return _python_modules(text)
    return _IMPORT.findall(text) if path.endswith(_JAVASCRIPT) else []


def _python_modules(text: str) -> list[str]:
    """The imports that must succeed: none in a `try`, none for type checkers only; none of a text that does not parse."""
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
    return sorted([each for each in modules if each.strip(".")])


class _Project:
    """What can be imported in the repository once the plan has run."""

    def __init__(self, case: Case) -> None:
        self.world = case.world
        self.made = {path for step in case.document.steps for path in inside([*targets(step), *step.outputs])}
        self.folders = {folder for path in self.made for folder in above(path)} | self.made
        self.installs = " ".join([step.command or "" for step in case.document.steps if step.type is Type.INSTALL])
        self._read: dict[str, str] = {}

    def problem(self, path: str, module: str) -> str:
        """Why an import of a module fails, or nothing."""
        if path.endswith(_PYTHON):
            return self._python(path, module)
        return self._javascript(path, module)

    def _python(self, path: str, module: str) -> str:
        name = module.lstrip(".")
        parts = name.split(".")
        if module.startswith("."):
            folder = path.split("/")[: -(len(module) - len(name))]
            relative = "/".join([*folder, *parts])
            return "" if self._is_python(relative) else f"there is no {relative}.py"
        if parts[0] in sys.stdlib_module_names or parts[0] == "__future__":
            return ""
        for root in _roots(path):
            if self._is_python(root + parts[0]):
                modules = [root + "/".join(parts[:length]) for length in range(2, len(parts) + 1)]
                missing = next((each for each in modules if not self._is_python(each)), "")
                return f"there is no {missing}.py" if missing else ""
        return "" if self._is_declared(path, parts[0]) else "the project neither has it nor declares it as a dependency"

    def _is_python(self, path: str) -> bool:
        return self._is_file(f"{path}.py") or self._is_file(f"{path}.pyi") or self._is_folder(path)

    def _is_declared(self, path: str, module: str) -> bool:
        """Whether a file that declares dependencies, or a step that installs some, names the distribution of a module."""
        texts = [self.installs, *[self._text(f"{folder}{name}") for folder in _roots(path) for name in _REQUIREMENTS]]
        words = {word.lower().replace("-", "_") for text in texts for word in re.findall(r"[A-Za-z0-9][\w.-]*", text)}
        wanted = {module.lower(), _DISTRIBUTIONS.get(module, ""), _WITH_OTHERS.get(module, "")} - {""}
        ends = tuple([end for each in wanted for end in (f"_{each}", f"py{each}")])
        starts = tuple([f"{each}_" for each in wanted])
        return any([word in wanted or word.startswith(starts) or word.endswith(ends) for word in words])

    def _javascript(self, path: str, module: str) -> str:
        if module.startswith(("./", "../", ".")):
            parts = path.split("/")[:-1]
            for piece in module.split("/"):
                parts = parts[:-1] if piece == ".." else parts if piece in ("", ".") else [*parts, piece]
            place = "/".join(parts)
            stem = place.rpartition(".")[0] if place.endswith(_JAVASCRIPT) else place
            named = [place, *[f"{each}{end}" for each in (place, stem) for end in (*_JAVASCRIPT, ".json", ".d.ts")]]
            found = any([self._is_file(each) for each in named]) or self._is_folder(place)
            return "" if found else f"there is no {place}"
        name = "/".join(module.split("/")[: 1 + module.startswith("@")])
        if module.startswith(("node:", "bun:", "npm:", "jsr:", "http:", "https:", "@/", "~", "#", "/", "virtual:")):
            return ""
        if name in _BUILT_INTO_NODE:
            return ""
        packages = [text for folder in _roots(path) if (text := self._text(f"{folder}package.json"))]
        if not packages or any([f'"{name}"' in text for text in packages]) or name in self.installs:
            return ""
        aliases = [
            self._text(f"{folder}{config}")
            for folder in _roots(path)
            for config in ("tsconfig.json", "deno.json", "vite.config.ts")
        ]
        return "" if any([f'"{name}' in text for text in aliases]) else "package.json does not declare it"

    def _text(self, path: str) -> str:
        if path not in self._read:
            try:
                is_file = self.world.state(path).kind == FILE
                self._read[path] = self.world.read(path).decode("utf-8", "replace") if is_file else ""
            except ExecplanError:
                self._read[path] = ""
        return self._read[path]

    def _is_file(self, path: str) -> bool:
        return path in self.made or self.world.state(path).kind == FILE

    def _is_folder(self, path: str) -> bool:
        return path in self.folders or self.world.state(path).kind == FOLDER


def _roots(path: str) -> list[str]:
    """The folders in which modules are looked for: that of the file, those above it, and their `src` and `lib`."""
    folders = ["", *[f"{folder}/" for folder in above(path) if folder != "."]]
    return [*reversed(folders), *[f"{folder}{name}/" for folder in folders for name in ("src", "lib")]]
