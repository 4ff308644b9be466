"""The architecture: imports go down the layers, without cycles, and some libraries have a single importer."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "execplan"
WINGS = {
    "core": (
        "clock errors features named_tuple trace",
        "installation",
        "text timestamps worker_processes",
        "documents files secrets",
        "plan",
        "project",
        "git",
        "plan_store",
        "edits plan_facts",
        "scaffold",
        "archive git_merge",
        "undo",
    ),
    "execution": (".", "approvals", "engine", "export"),
    "linter": (".", "checking"),
    "context": (".", "gathering search"),
    "team": ("dependencies history worktrees", "plan_index review staleness", "advice", "costs github plan_moves"),
    "library": (".",),
    "agents": ("capture", ".", "toolkit"),
    "exchange": (".",),
    "views": ("board charts", "site", "language_server server"),
    "cli": ("doctor", "."),
}
"""The wings from the bottom up, and their rooms in the same order: "." is everything in a wing that is not named.

A module imports from its own room, from rooms on lower lines of its wing, and from lower wings.
"""
LAYERS = (
    ["__init__"],
    *(
        [wing if room == "." else f"{wing}.{room}" for room in line.split()]
        for wing, lines in WINGS.items()
        for line in lines
    ),
    ["__main__"],
)
HEIGHT = {room: height for height, layer in enumerate(LAYERS) for room in layer}
SINGLE_IMPORTERS = {
    "git": {"core/git/git_commit.py"},
    "click": {"cli/"},
    "dask": {"execution/engine/executors/dask_executor.py"},
    "distributed": {"execution/engine/executors/dask_executor.py"},
    "lsprotocol": {"views/language_server/"},
    "mcp": {"agents/toolkit/mcp_server.py"},
    "opentelemetry": {"execution/engine/telemetry/span_export.py"},
    "requests": {"execution/engine/telemetry/span_export.py"},
    "mistune": {"core/text/inline_markdown.py", "core/text/markdown_html.py"},
    "textual": {"cli/board_app/"},
    "pygls": {"views/language_server/"},
    "pydantic": {"execution/approvals/tool_runner.py"},
    "starlette": {"views/server/"},
    "uvicorn": {"views/server/server_process.py"},
    "rich": {"cli/board_app/"},
    "yaml": {
        "agents/integrations/precommit_config.py",
        "agents/capture/native_text.py",
        "execution/evaluation/file_syntax.py",
        "execution/export/workflow_files.py",
        "core/plan/front_matter.py",
    },
}
HEAVY = frozenset(
    "click collections dataclasses datetime enum functools hashlib json logging pathlib re subprocess tomllib typing".split()
)
FAST_PATH = {
    "agents.guard": "any_program asked_calls call_file_changes call_queue call_recording claude codex codex_transcript command_comparison command_equivalence command_list compound_command execplan_calls execplan_commands file_comparison gemini grant_lookup guard_context guard_decision guard_entry mcp_tools opencode path_resolution plan_denials protected_paths quick_check read_policy read_script request_handler secret_patterns self_protection step_matching stored_denial tool_call typed_command",
    "agents.stop_gate": "*",
    "execution.approvals": "approval_key approval_paths approval_registry disk_world effective_policy file_watch program_resolution reserved_paths user_directories",
    "cli": "error_handler main plan_hints",
    "cli.formats": "concise github text",
    "cli.output": "lint_report progress_bar terminal_text",
    "core": "clock errors features named_tuple timestamps trace worker_processes",
    "context": "plan_overview quoted_text session_primer",
    "execution.engine.agent_runs": "guard_grant journal_watermark",
    "execution.engine.commands": "command_environment command_spec process_start processes sandbox_init supervisor supervisor_fork supervisor_parent",
    "execution.engine.journal": "entry_schema journal journal_entries",
    "execution.engine": "ordering_fields run_lock run_questions run_state step_order step_permission",
    "execution.engine.recovery": "failure_recovery",
    "execution.engine.run_records": "evidence_copies run_directories",
    "execution.annotations": "*",
    "execution": "attributes binding parsed_steps permission policy rare_features readiness states world",
    "execution.documents": "order_rules step_rules written_paths",
    "execution.evaluation": "patch unified_diff",
    "execution.risk": "*",
    "execution.shell": "*",
    "core.files": "*",
    "core.git": "git_command git_directory gitignore",
    "core.git_merge": "git_merge_driver three_way_merge",
    "linter": "*",
    "linter.checking": "batch_check check_targets custom_rules effective_rules lint_cache pending_check plan_check repository_trees stored_findings",
    "linter.rules": "*",
    "core.plan": "*",
    "core.plan.merge": "*",
    "core.plan_store": "author claims claims_file hint_reader implied_plan missing_plans plan_candidates plan_selection plan_store template_copy",
    "core.project": "builtin_templates dialects_data plan_dialects plan_directories project project_discovery project_settings project_state setting_checks setting_forms setting_shapes setting_table settings_file slug user_settings",
    "core.secrets": "certain_secrets password_detection secret_files secret_rules_data secret_table service_tokens",
    "core.text": "block_rules fast_json hmac_signature inline_markdown invisible_characters line_merge markdown_blocks message_parts plain_toml pure_paths sequence_alignment suggestions text_lines violation",
}
"""Modules of `lint FILE`, `prime`, the merge driver and the guard, by package: they import no heavy module when they are loaded.

"*" stands for all modules of a package. Only these modules set `TYPE_CHECKING = False` instead of importing `typing`.
"""
FILES = sorted(PACKAGE.rglob("*.py"))


def dotted(path: Path) -> str:
    """The dotted name of the module in a file."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imported(path: Path) -> set[str]:
    """The modules that a file imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path} imports relatively"
            names |= {node.module or "", *[f"{node.module}.{alias.name}" for alias in node.names]}
    return names


def room_of(module: str) -> str:
    """The room of a module: the longest name that fits."""
    parts = module.split(".")[1:]
    names = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
    return next((name for name in names if name in HEIGHT), "__init__")


def test_imports_go_down() -> None:
    violations = []
    for path in FILES:
        room = room_of(dotted(path))
        own_imports = {
            name for name in imported(path) if name.startswith("execplan.") and name != "execplan.__version__"
        }
        for name in sorted(own_imports) if path != PACKAGE / "__init__.py" else ():  # which loads names at first use
            imported_room = room_of(name)
            if imported_room != room and HEIGHT[imported_room] >= HEIGHT[room]:
                violations.append(f"{path.relative_to(PACKAGE)} imports {name}")
    assert violations == []


def test_libraries_have_one_importer() -> None:
    violations = []
    for path in FILES:
        relative_path = str(path.relative_to(PACKAGE))
        libraries = {name.split(".")[0] for name in imported(path)} & set(SINGLE_IMPORTERS)
        violations += [
            f"{relative_path} imports {library}"
            for library in sorted(libraries)
            if not relative_path.startswith(tuple(SINGLE_IMPORTERS[library]))
        ]
    assert violations == []


def test_the_document_names_each_room() -> None:
    page = (PACKAGE.parent / "docs/explanation/architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.+?`) \|", page, re.MULTILINE)
    documented = [name for row in rows for name in re.findall(r"`(.+?)`", row)]
    assert sorted(documented) == sorted(room for layer in LAYERS[1:-1] for room in layer)


def is_on_fast_path(module: str) -> bool:
    """Tell whether a module is declared to be on the fast path."""
    package, _, name = module.removeprefix("execplan").removeprefix(".").rpartition(".")
    return FAST_PATH.get(package) == "*" or name in FAST_PATH.get(package, "").split()


def imports_when_loaded(body: list[ast.stmt]) -> set[str]:
    """The modules that are imported while a module is loaded, not for type checkers or inside of functions."""
    names: set[str] = set()
    for node in body:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {
                name if (PACKAGE.parent / f"{name.replace('.', '/')}.py").exists() else str(node.module)
                for name in modules
            }
        elif isinstance(node, ast.Try):
            names |= imports_when_loaded(node.body)
        elif isinstance(node, ast.If):
            is_typing = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
            names |= imports_when_loaded(node.orelse if is_typing else [*node.body, *node.orelse])
    return names


def test_the_fast_path_imports_nothing_heavy() -> None:
    violations = []
    for path in [path for path in FILES if path.name != "__init__.py"]:
        source, module = path.read_text(encoding="utf-8"), dotted(path)
        if not is_on_fast_path(module):
            if "\nTYPE_CHECKING = False" in source:
                violations.append(f"{module}: import TYPE_CHECKING from typing, or declare the module in FAST_PATH")
            continue
        for name in sorted(imports_when_loaded(ast.parse(source).body)):
            if name.startswith("execplan."):
                is_package = (PACKAGE.parent / name.replace(".", "/")).is_dir()
                if not is_package and not is_on_fast_path(name):
                    violations.append(f"{module} imports {name}, which is not on the fast path")
            elif name != "collections.abc" and name.split(".")[0] in HEAVY:
                violations.append(f"{module} imports {name}")
    assert violations == []


def test_the_fast_path_names_modules_that_exist() -> None:
    modules = {dotted(path) for path in FILES}
    for package, names in FAST_PATH.items():
        for name in [] if names == "*" else names.split():
            assert ".".join(part for part in ("execplan", package, name) if part) in modules


def test_there_are_no_import_cycles() -> None:
    modules = {".".join(("execplan", *path.relative_to(PACKAGE).with_suffix("").parts)): path for path in FILES}
    imports = {
        name: {imported_name for imported_name in imported(path) if imported_name in modules}
        for name, path in modules.items()
    }
    visited: set[str] = set()

    def walk(name: str, importers: tuple[str, ...]) -> None:
        assert name not in importers, " -> ".join((*importers, name))
        if name not in visited:
            for imported_name in sorted(imports[name]):
                walk(imported_name, (*importers, name))
            visited.add(name)

    for name in modules:
        walk(name, ())


def imports_of_lint(plan: Path) -> set[str]:
    """The modules that are imported when a clean plan is linted."""
    code = (
        "import sys; from execplan.cli.main import main; sys.argv = ['execplan', 'lint', sys.argv[1]]; "
        "status = main(); print(status, *sys.modules)"
    )
    run = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r}); {code}", str(plan)]
    env = {**os.environ, "SOURCE_DATE_EPOCH": "1767225600"}  # the plan is not stalled yet
    out = subprocess.run(run, capture_output=True, check=True, text=True, env=env).stdout.split("\n")
    assert out[0] == "1 plan, no findings"
    status, *modules = out[1].split(" ")
    assert status == "0"
    return set(modules)


def test_lint_of_a_file_imports_little(tmp_path: Path) -> None:
    from tests.plans import CLEAN

    plan = tmp_path / "plan.md"
    plan.write_text(CLEAN, encoding="utf-8")
    modules = imports_of_lint(plan)
    assert not HEAVY & modules
    assert not [name for name in modules if name.startswith("execplan.execution.annotations.info_string")]
    assert (
        not {"execplan.core.plan.front_matter", "execplan.core.plan.plan_dependencies", "execplan.team.dependencies"}
        & modules
    )


def test_lint_of_a_file_with_steps_imports_no_models(tmp_path: Path) -> None:
    from tests.plans import CLEAN

    plan = tmp_path / "plan.md"
    step = '```sh {#test exit=0 task="Write the tests"}\nmake test\n```\n'
    plan.write_text(CLEAN.replace("## Validation", f"{step}\n## Validation"), encoding="utf-8")
    modules = imports_of_lint(plan)
    assert "execplan.execution.annotations.step_advice" in modules
    assert not {"click", "pydantic"} & modules


@pytest.mark.parametrize(
    "command", ["list", "status", "show", "next", "runs", "done 1", "undo", "archive", "rename p x"]
)
def test_commands_without_steps_import_no_models(tmp_path: Path, command: str) -> None:
    from tests.plans import CLEAN

    (tmp_path / ".agent" / "execplans").mkdir(parents=True)
    (tmp_path / ".agent" / "execplans" / "p.md").write_text(CLEAN, encoding="utf-8")
    code = (
        f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r}); sys.argv[0] = 'execplan'; "
        "from execplan.cli.main import main; main(); print(*sys.modules)"
    )
    run = [sys.executable, "-I", "-c", code, *command.split()]
    modules = subprocess.run(run, capture_output=True, check=True, text=True, cwd=tmp_path).stdout.split("\n")[-2]
    assert "click" in modules.split()
    assert not {"pydantic", "jinja2", "mistune", "git"} & set(modules.split())


def test_the_guard_of_an_agent_imports_little(tmp_path: Path) -> None:
    """By the warrant of a run that has begun: whether it allows, denies, or lets a call pass that only reads."""
    from tests.agents.guard.guard_repository import GuardRepository, as_sent
    from tests.in_process_repository import STEPS

    with pytest.MonkeyPatch.context() as patch:
        desk = GuardRepository(tmp_path / "work" / "repository", patch)
        desk.plan(STEPS.replace("#build", "#build max-invocations=2"))
        desk.approve()
        assert desk.ask("make parser").kind == "allow"
        for command in ("ls src", "make other", "make parser"):
            modules = imports_of_guard(desk.path, as_sent("claude", command, str(desk.path)))
            assert not HEAVY & modules
            assert not {"click", "pydantic", "hmac", "signal", "importlib.util"} & modules
            assert not {"execplan.agents.guard.full_check", "execplan.agents.guard.quick_check"} & modules
            assert _own_modules(modules) <= {"ls src": 86, "make other": 94, "make parser": 100}[command]
        assert desk.calls() == ["build", "build"]


def test_the_guard_without_an_approval_imports_little(tmp_path: Path) -> None:
    """Before anything was approved, and by the stored denial after the run has ended."""
    from execplan.execution.approvals import file_watch
    from tests.agents.guard.guard_repository import GuardRepository, as_sent

    with pytest.MonkeyPatch.context() as patch:
        desk = GuardRepository(tmp_path / "work" / "repository", patch)
        call = as_sent("claude", "make parser", str(desk.path))
        before = imports_of_guard(desk.path, call)
        desk.plan("# Build\n\n## Progress\n\n- [ ] Build\n\n## Concrete Steps\n\n```sh {#build}\nmake parser\n```\n")
        desk.approve()
        assert desk.ask("make parser").kind == "allow"
        assert desk.type("report", "build", "--status", "completed", "--result", "Done.").exit == 0
        patch.setattr(file_watch, "_MTIME_MARGIN_NS", -(10**18))
        assert desk.ask("make parser").kind == "deny"
        for modules in (before, imports_of_guard(desk.path, call)):
            assert not HEAVY & modules
            assert not {"click", "pydantic", "hmac", "signal"} & modules
            assert not {"execplan.agents.guard.full_check", "execplan.agents.guard.call_recording"} & modules
            assert _own_modules(modules) <= 83


def test_the_first_call_of_a_run_imports_only_what_a_run_needs(tmp_path: Path) -> None:
    from tests.agents.guard.guard_repository import GuardRepository, as_sent

    with pytest.MonkeyPatch.context() as patch:
        desk = GuardRepository(tmp_path / "work" / "repository", patch)
        desk.approve()
        modules = imports_of_guard(desk.path, as_sent("claude", "make parser", str(desk.path)))
        assert desk.calls() == ["build"]
        assert not {"click", "jinja2", "mistune", "git", "tomllib"} & modules
        unused = ("evaluate", "evaluation.checks.all_checks", "inference.block_inference", "inference.not_runnable")
        assert not {f"execplan.execution.{name}" for name in unused} & modules
        assert not {"execplan.core.edits.plan_writer", "execplan.core.edits.edit_journal"} & modules
        assert _own_modules(modules) <= 240  # seven of them replace pydantic, which was not counted


def _own_modules(modules: set[str]) -> int:
    """The number of modules of execplan, without the packages of wings, which have no code."""
    return sum([name.partition(".")[0] == "execplan" and name.count(".") != 1 for name in modules])


def test_git_is_started_in_one_place() -> None:
    """All that only reads goes through `git_command`, which switches off what a repository could run.

    Commits and merges run the repository's hooks, as they do when a person types them.
    """
    starts = [str(path.relative_to(PACKAGE)) for path in FILES if re.search(r"""\[\s*["']git["']""", path.read_text())]
    assert starts == ["core/git/git_command.py", "core/git/git_commit.py", "core/git/git_process.py"]


def imports_of_guard(folder: Path, call: bytes) -> set[str]:
    """The modules that are imported when a call is judged."""
    code = (
        f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r}); sys.argv = ['execplan', 'guard']; "
        "from execplan.cli.main import main; status = main(); print(status, *sys.modules, file=sys.stderr)"
    )
    completed = subprocess.run(
        [sys.executable, "-I", "-c", code], input=call, capture_output=True, check=True, cwd=folder
    )
    status, *modules = completed.stderr.decode().splitlines()[-1].split()
    assert status == ("2" if completed.stderr.startswith(b"execplan: ") else "0")
    return set(modules)
