"""Compile the lower layers with mypyc while a wheel is built: hatchling's build hook, and the plugin of mypy that it needs.

Hatchling runs the hook if HATCH_BUILD_HOOKS_ENABLE is set, as in `make wheel-compiled`. Other packages are imported
where they are used, because hatchling reads this file before it installs them.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy.plugin import ClassDefContext, Plugin

LAYERS = ("clock.py", "text", "plan", "linter")
INTERPRETED = {
    "linter/checking": "of a higher layer, which waits for files, git and worker processes",
    "linter/rule_facts.py": "callers and tests derive classes from what rules may ask",
    "linter/phrase_table.py": "a generated table, which bytecode loads faster",
    "plan/placeholder_lines.py": "a generated table, which bytecode loads faster",
    "plan/section_roles.py": "reads the file beside it: compiled, it has another path in `__file__`",
    "text/fast_json.py": "the C scanner of json reads the attributes of a Python class",
    "text/lazy_pattern.py": "its class stands for another one and adds attributes: compiled, it crashes",
    "text/markdown_html.py": "its class extends one of mistune, which is Python: compiled, it crashes",
    "text/strict_json.py": "mypyc rejects a lone surrogate in a string; the time is spent in re and json anyway",
}
"""Modules of `LAYERS` that are not compiled, and why. `errors` and `named_tuple` are base classes of Python classes."""
SHARED_LIBRARY = "execplan.native"
"""Name of the library with the code of all compiled modules; in the package, which the guard protects."""
_OPTIMIZATION = "1"
_SETTINGS = """\
[mypy]
plugins = {plugin}
cache_dir = {cache}
follow_imports = skip
ignore_missing_imports = True
"""
"""Settings of mypy: it does not read other modules, so their types are Any and other packages need not be installed."""
_RECORDS = """\
from typing import Any, Self

class _RecordMeta(type): ...

class NamedTuple(tuple[Any, ...], metaclass=_RecordMeta):
    _fields: tuple[str, ...]
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def _replace(self, **changes: Any) -> Self: ...
    def _asdict(self) -> dict[str, Any]: ...
    @classmethod
    def _make(cls, values: Any) -> Self: ...
"""
"""What mypyc sees as `execplan.named_tuple`. For classes of `typing.NamedTuple` it would import typing at run time."""


class CompiledWheelHook(BuildHookInterface[Any]):
    """Adds a library for each compiled module to a wheel; the sources stay in it for tracebacks and help topics."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the modules, unless the installation is editable."""
        if version == "editable":
            return
        self._scratch = TemporaryDirectory()
        libraries = Path(self._scratch.name, "libraries")
        compile_modules(Path(self.root), libraries, Path(self._scratch.name))
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["force_include"] |= {
            str(path): str(path.relative_to(libraries)) for path in sorted(libraries.rglob("*.so"))
        }

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Delete the files that were copied into the wheel."""
        if version != "editable":
            self._scratch.cleanup()


def compiled_modules(package: Path) -> list[Path]:
    """Return the source files of a package that are compiled."""
    layers = [package / layer for layer in LAYERS]
    interpreted = {package / path for path in INTERPRETED}
    return [
        path
        for layer in layers
        for path in (sorted(layer.rglob("*.py")) if layer.is_dir() else [layer])
        if path.name != "__init__.py" and not interpreted & {path, path.parent}
    ]


def compile_modules(root: Path, libraries: Path, scratch: Path) -> None:
    """Compile the modules of the checkout `root` into libraries below the directory `libraries`."""
    from mypyc.build import mypycify
    from setuptools import Distribution
    from setuptools.command.build_ext import build_ext

    class ParallelBuild(build_ext):  # type: ignore[misc] # setuptools has no type information
        def build_extensions(self) -> None:
            compile_sources = self.compiler.compile

            def compile_each(sources: list[str], **options: Any) -> list[str]:
                with ThreadPoolExecutor(os.cpu_count()) as pool:
                    objects = pool.map(lambda source: compile_sources([source], **options), sources)
                    return [name for names in objects for name in names]

            self.compiler.compile = compile_each
            super().build_extensions()

    os.chdir(root)  # mypy derives the names of modules from relative paths
    settings = scratch / "mypy.ini"
    settings.write_text(_SETTINGS.format(plugin=Path(__file__).resolve(), cache=scratch / "cache"), encoding="utf-8")
    modules = [str(path) for path in compiled_modules(Path("execplan"))]
    records = scratch / "types" / "execplan" / "named_tuple.pyi"
    records.parent.mkdir(parents=True)
    records.with_name("__init__.pyi").touch()
    records.write_text(_RECORDS, encoding="utf-8")
    extensions = mypycify(
        [f"--config-file={settings}", str(records), *modules],
        only_compile_paths=modules,
        opt_level=_OPTIMIZATION,
        debug_level="0",
        multi_file=True,  # a compiler takes many times as long for a single file of half a million lines
        group_name=SHARED_LIBRARY,
        target_dir=str(scratch / "c"),
    )
    for extension in extensions:  # where mypyc puts the headers of a library with a dot in its name
        extension.include_dirs.append(str(scratch / "c" / "execplan"))
    command = ParallelBuild(Distribution({"name": "execplan", "ext_modules": extensions}))
    command.build_lib, command.build_temp = str(libraries), str(scratch / "objects")
    command.ensure_finalized()
    command.run()


def plugin(_version: str) -> type[Plugin]:
    """Return the plugin of mypy, which keeps mypyc from evaluating the annotations of records when a module is loaded.

    Their types are imported only for type checkers. mypyc evaluates every annotation that isn't a string.
    """
    from mypy.nodes import AssignmentStmt
    from mypy.plugin import Plugin
    from mypy.types import UnboundType

    def quote_annotations(context: ClassDefContext) -> None:
        for statement in context.cls.defs.body:
            if isinstance(statement, AssignmentStmt) and isinstance(statement.unanalyzed_type, UnboundType):
                statement.unanalyzed_type.original_str_expr = statement.unanalyzed_type.name

    class QuotingPlugin(Plugin):
        def get_base_class_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
            return quote_annotations if fullname == "execplan.named_tuple.NamedTuple" else None

    return QuotingPlugin
