"""`install pre-commit`: a hook spliced into a configuration of any form, and taken out to the byte."""

from __future__ import annotations

import re
import shlex
import sys
from typing import Any

import pytest
import yaml

from execplan.core.project.plan_path_pattern import plan_paths_regex
from execplan.core.project.project_discovery import find
from tests.agents.integrations.file_tree import tree
from tests.conftest import Folder

FILE = ".pre-commit-config.yaml"
OTHER_REPOSITORY = "repo: https://example.org/hooks\n"
FORMS = {
    "none": None,
    "empty": "",
    "comments": "# Hooks\n",
    "document": "---\n# Hooks\n",
    "other key": "default_stages: [pre-commit]\n",
    "no end": "ci: {}",
    "null": "ci: {}\nrepos:\nexclude: x\n",
    "null with comment": "repos: # none\n",
    "tilde": "repos: ~\n",
    "empty list": "repos: []\n",
    "empty list, spaces and comment": "---\nrepos:  [ ]   # none yet \nfail_fast: true\n",
    "empty list, no end": "repos: []",
    "empty list, quoted": '"repos": []\r\n',
    "bom": "\ufeffrepos: []\n",
    "flush": f"repos:\n- {OTHER_REPOSITORY}  hooks:\n  - id: x\n",
    "flush, no end": f"repos:\n- {OTHER_REPOSITORY}  hooks:\n  - id: x",
    "indented": f"repos:\n    - {OTHER_REPOSITORY}      hooks:\n          - id: x # that one\n          # - id: y\n\n# The end\nci: {{}}\n",
    "four": f"repos:\n-   {OTHER_REPOSITORY}    rev: v1\n    hooks:\n    -   id: x\n\n\n",
    "crlf": f"repos:\n  - {OTHER_REPOSITORY}    hooks: [{{id: x}}]\n\nci: {{}}\n".replace("\n", "\r\n"),
    "cr": f"repos:\n  - {OTHER_REPOSITORY}    hooks: [{{id: x}}]\nci: {{}}\n".replace("\n", "\r"),
    "literal": f"repos:\n- {OTHER_REPOSITORY}  hooks:\n  - id: x\n    exclude: |\n      (?x)^(\n        # no\n      )$\n\nci: {{}}\n",
    "literal, last": f"repos:\n- {OTHER_REPOSITORY}  hooks:\n  - id: x\n    exclude: |+\n      y\n\n",
    "literal, no end": f"repos:\n- {OTHER_REPOSITORY}  hooks:\n  - id: x\n    exclude: |-\n      y",
    "alias": f"x: &x [a]\nrepos:\n- {OTHER_REPOSITORY}  hooks: *x\n# end\n",
    "null item": "repos:\n-\n",
    "null value": f"repos:\n- {OTHER_REPOSITORY}  hooks:\n# end\n",
    "wrapped": f"repos:\n- {OTHER_REPOSITORY}  hooks:\n  - id: x\n    name: one\n      and two\nci: {{}}\n",
    "quoted, wrapped": f"repos:\n- {OTHER_REPOSITORY}  hooks:\n  - id: 'x\n\n      y'   # z\n",
    "not last": f"exclude: x\nrepos:\n- {OTHER_REPOSITORY}  hooks: []\nfiles: y\n",
    "unicode": f'repos:\n- {OTHER_REPOSITORY}  hooks:\n  - id: x\n    name: "„ä“ 😀\u2028x"\n',
    "nested repos": f"ci:\n  repos: []\nrepos:\n- {OTHER_REPOSITORY}  hooks: []\n",
}


def config(folder: Folder) -> Any:
    """What the configuration says."""
    return yaml.safe_load((folder.path / FILE).read_bytes().decode())


def hook(folder: Folder) -> dict[str, Any]:
    """The hook that was added, the last of the list."""
    last = config(folder)["repos"][-1]
    assert last["repo"] == "local"
    added_hook: dict[str, Any] = last["hooks"][0]
    return added_hook


@pytest.mark.parametrize("form", FORMS)
def test_every_form_there_and_back(repo: Folder, form: str) -> None:
    content = FORMS[form]
    if content is not None:
        repo.write(FILE, content).chmod(0o600)
    before = tree(repo.path)
    original_config = config(repo) if content else None
    repo.ok("install", "pre-commit")
    assert hook(repo)["id"] == "execplan-lint"
    installed_config = config(repo)
    installed_config["repos"].pop()
    assert {**installed_config, "repos": installed_config["repos"] or None} == {
        "repos": None,
        **(original_config or {}),
        **({} if installed_config["repos"] else {"repos": None}),
    }
    assert repo.ok("install", "pre-commit")["changed"] is False
    repo.ok("uninstall", "pre-commit")
    assert tree(repo.path) == before


def test_it_stands_behind_the_last_item_with_its_indent(repo: Folder) -> None:
    repo.write(FILE, FORMS["indented"] or "")
    repo.ok("install", "pre-commit")
    lines = (repo.path / FILE).read_text().splitlines()
    at = lines.index("          # - id: y")
    assert lines[at + 1].startswith("    # execplan:begin ")
    assert lines[at + 2] == "    - repo: local"
    assert lines[at + 10 :] == ["    # execplan:end", "", "# The end", "ci: {}"]


def test_the_entry_names_the_interpreter_by_its_path(repo: Folder) -> None:
    repo.ok("install", "pre-commit")
    entry = shlex.split(hook(repo)["entry"])
    assert entry == [sys.executable, "-P", "-m", "execplan", "lint", "--hook"]
    assert hook(repo)["language"] == "system"


def test_the_files_are_the_plans(repo: Folder) -> None:
    repo.write(".agent/execplan.toml", 'plans = "docs/c++ plans/it\'s"\narchive = "old"\n')
    repo.ok("install", "pre-commit")
    files = hook(repo)["files"]
    for path in ("docs/c++ plans/it's/a.md", "old/ä b.md", "old/README-2.md"):
        assert re.search(files, path), path
    for path in (
        "docs/c++ plans/it's/README.md",
        "old/agents.MD",
        "old/x/a.md",
        "old/.a.md",
        "old/a.txt",
        "x/old/a.md",
    ):
        assert not re.search(files, path), path


def test_the_pattern_and_the_plan_store_agree(repo: Folder) -> None:
    from execplan.core.plan_store import plan_store

    names = ["a.md", "README.md", "readme.md", ".b.md", "c.txt", "index.md", "artifacts/d/e.md", "archive/f.md", "ü.md"]
    for name in names:
        repo.write(f".agent/execplans/{name}", "x")
    project = find(str(repo.path))
    matched = {name for name in names if re.search(plan_paths_regex(project), f".agent/execplans/{name}")}
    assert matched == {"a.md", "ü.md", "archive/f.md"}
    assert matched == {
        project.display_path(ref.path).removeprefix(".agent/execplans/") for ref in plan_store.all_refs(project)
    }


@pytest.mark.parametrize(
    "settings",
    [
        'plans = "docs/active"\narchive = "docs/done"\nsuperseded = "docs/dropped"\n',
        'plans = "docs/active"\narchive = "docs/done/{year}/{month}/{day}"\n',
        'plans = "docs/active"\narchive = "docs/done"\nlayout = "folder"\n',
        'plans = "docs/active"\narchive = "docs/done/{year}"\nlayout = "folder"\n',
        'plans = "docs/active"\narchive = "docs/done"\nlayout = "ExecPlan.md"\n',
        'homes = ["packages/a", "packages/b"]\n',
    ],
)
def test_the_pattern_and_the_plan_store_agree_in_every_layout(repo: Folder, settings: str) -> None:
    from execplan.core.plan_store import plan_store
    from execplan.core.project import project_discovery

    repo.write(".agent/execplan.toml", settings)
    repo.write("packages/a/.agent/execplan.toml", 'plans = "docs/active"\nlayout = "folder"\n')
    repo.write("packages/b/.agent/execplan.toml", 'plans = "plans"\nlayout = "folder"\n')
    ends = ["a.md", "README.md", "a/a.md", "c/x_c.md", "a/notes.md", "a/ExecPlan.md", "2026/01/02/b.md", "2026/c/c.md"]
    names = [
        f"{folder}/{end}"
        for folder in (
            ".agent/execplans", "docs/active", "docs/done", "docs/dropped", "docs",
            "packages/a/docs/active", "packages/b/plans", "packages/b/.agent/execplans",
        )
        for end in ends
    ]  # fmt: skip
    for name in names:
        repo.write(name, "x")
    project = find(str(repo.path))
    matched = {name for name in names if re.search(plan_paths_regex(project), name)}
    assert matched
    assert matched == {
        project.display_path(ref.path)
        for nested_project in project_discovery.with_nested_projects(project)
        for ref in plan_store.all_refs(nested_project)
    }


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("repos: [\n", f"{FILE}:2: "),
        ("- repo: x\n", "is not a mapping"),
        ("repos: x\n", "is not a list"),
        ("a: 1\n---\nrepos: []\n", f"{FILE}:2: "),
        ("a: !!python/name:os.system x\n", f"{FILE}:1: "),
        (b"\xff\n", "utf-8"),
        ("repos: [{repo: local, hooks: []}]\n", "repos"),
        ("repos: [\n]\n", "repos"),
        ("{repos: []}\n", "repos"),
        ("{}\n", "repos"),
        ("repos: []\nrepos: []\n", "repos"),
        ("a: 1\n...\n", "repos"),
        ("  a: 1\n", "repos"),
        ("[" * 5000, FILE),
    ],
)
def test_what_can_not_be_added_to_is_refused_with_the_lines_to_paste(
    repo: Folder, content: str | bytes, words: str
) -> None:
    path = repo.write(FILE, content)
    before = path.read_bytes()
    result = repo.run("install", "pre-commit", "--json")
    assert result.exit == 3
    error = result.json["error"]
    assert words in error["message"]
    pasted = yaml.safe_load("\n".join(error["candidates"]))
    assert pasted[0]["hooks"][0]["id"] == "execplan-lint"
    assert path.read_bytes() == before


def test_a_hook_that_was_put_there_by_hand_is_left_alone(repo: Folder) -> None:
    repo.write(FILE, f"repos:\n- {OTHER_REPOSITORY}  hooks:\n  - id: execplan-lint\n")
    result = repo.run("install", "pre-commit")
    assert "by hand" in result.out
    assert repo.ok("install", "pre-commit")["changed"] is False
    assert repo.ok("uninstall", "pre-commit")["changed"] is False


@pytest.mark.parametrize("form", ["none", "empty", "empty list", "null", "indented", "flush, no end"])
def test_what_others_add_below_stays(repo: Folder, form: str) -> None:
    content = FORMS[form]
    if content is not None:
        repo.write(FILE, content)
    repo.ok("install", "pre-commit")
    path = repo.path / FILE
    text = path.read_text()
    begin = re.search(r"^( *)# execplan:begin", text, re.MULTILINE)
    assert begin
    path.write_text(text.replace("# execplan:end", f"# execplan:end\n{begin[1]}- {begin[1]}{OTHER_REPOSITORY}", 1))
    added = config(repo)
    assert added["repos"][-1] == yaml.safe_load(OTHER_REPOSITORY)
    repo.ok("uninstall", "pre-commit")
    remaining = config(repo)
    assert remaining["repos"] == [repository for repository in added["repos"] if repository["repo"] != "local"]
    assert {**remaining, "repos": 0} == {**added, "repos": 0}


def test_a_renewed_hook_stays_where_it_is(repo: Folder) -> None:
    repo.write(FILE, FORMS["indented"] or "")
    before = tree(repo.path)
    repo.ok("install", "pre-commit")
    repo.write(".agent/execplan.toml", 'plans = "docs"\n')
    assert repo.ok("install", "pre-commit")["changed"] is True
    assert "docs" in hook(repo)["files"]
    (repo.path / ".agent/execplan.toml").unlink()
    repo.ok("uninstall", "pre-commit")
    assert tree(repo.path) == before


def test_an_edit_inside_is_kept(repo: Folder) -> None:
    repo.ok("install", "pre-commit")
    path = repo.path / FILE
    path.write_text(path.read_text().replace("types:", "verbose: true\n    types:"))
    result = repo.run("install", "pre-commit")
    assert "edited by hand" in result.err
    assert hook(repo)["verbose"] is True
    assert repo.run("uninstall", "pre-commit").exit == 1
    repo.ok("install", "pre-commit", "--force")
    assert "verbose" not in hook(repo)
    path.write_text(path.read_text().replace("- repo: local", "nonsense:"))
    repo.ok("uninstall", "pre-commit", "--force")
    assert not path.exists()


def test_what_the_marker_remembers_may_be_damaged(repo: Folder) -> None:
    path = repo.write(FILE, "ci: {}\nrepos: [] # none\n")
    repo.ok("install", "pre-commit")
    path.write_text(path.read_text().replace('instead of "', "instead of "))
    assert repo.run("uninstall", "pre-commit").exit == 1
    repo.ok("uninstall", "pre-commit", "--force")
    assert config(repo) == {"ci": {}}
    path.write_text("ci: {}\nrepos: [] # none\n")
    repo.ok("install", "pre-commit")
    path.write_text(path.read_text().replace("types:", "verbose: true\n    types:"))
    repo.ok("uninstall", "pre-commit", "--force")
    assert path.read_text() == "ci: {}\nrepos: [] # none\n"


def test_a_configuration_that_breaks_without_the_hook_is_left_alone(repo: Folder) -> None:
    repo.write(FILE, "repos: []\n")
    repo.ok("install", "pre-commit")
    path = repo.path / FILE
    path.write_text(path.read_text() + "  - broken\n x: [\n")
    before = path.read_bytes()
    assert repo.run("uninstall", "pre-commit").exit == 3
    assert path.read_bytes() == before


def test_without_git_it_is_refused(plain: Folder) -> None:
    (plain.path / ".agent/execplans").mkdir(parents=True)
    result = plain.run("install", "pre-commit")
    assert result.exit == 6
    assert "git init" in result.err
    assert not (plain.path / FILE).exists()
