"""Open plans that name the same files."""

from __future__ import annotations

from tests.conftest import Folder
from tests.team.dependencies.plan_files import plan_text


def names(folder: Folder, *arguments: str) -> dict[str, list[str]]:
    """The files that several plans name, with the plans."""
    data = folder.run("overlaps", *arguments, "--json").json["data"]
    return {overlap["file"]: [plan["id"] for plan in overlap["plans"]] for overlap in data["overlaps"]}


def work(files: str) -> str:
    return f"\n## Plan of Work\n\nChange {files}.\n"


def test_the_same_file_in_two_plans(repo: Folder) -> None:
    repo.write("src/reader.py", "x = 1\n")
    repo.plan(plan_text("A", "x y", "z", extra=work("`src/reader.py:12` and `src/new.py`")), "a")
    repo.plan(plan_text("B", "y", extra=work("`./src/reader.py`, `src/new.py` and `src/other.py`")), "b")
    repo.plan(plan_text("C", "z", extra=work("`src/third.py` and `README.md`")), "c")
    assert names(repo) == {"src/new.py": ["a", "b"], "src/reader.py": ["a", "b"]}
    assert names(repo, "-p", "c") == {}
    assert repo.run("overlaps").exit == 0
    assert repo.run("overlaps", "--check").exit == 1
    assert repo.run("overlaps", "--check", "-p", "c").exit == 0


def test_finished_plans_do_not_collide(repo: Folder) -> None:
    repo.write("src/reader.py", "x = 1\n")
    repo.plan(plan_text("A", "x y", extra=work("`src/reader.py`")), "a")
    repo.plan(plan_text("B", "y", extra=work("`src/reader.py`")), "b")
    repo.write(".agent/execplans/archive/c.md", plan_text("C", "y", extra=work("`src/reader.py`")))
    assert names(repo) == {}


def test_logs_name_files_only_as_evidence(repo: Folder) -> None:
    repo.write("src/reader.py", "x = 1\n")
    log = "\n## Surprises & Discoveries\n\n- Observation: `src/reader.py` is slow.\n  Evidence: see there.\n"
    repo.plan(plan_text("A", "y", extra=log), "a")
    repo.plan(plan_text("B", "y", extra=work("`src/reader.py`")), "b")
    assert names(repo) == {}


def test_plans_in_order_do_not_collide(repo: Folder) -> None:
    repo.write("src/reader.py", "x = 1\n")
    repo.plan(plan_text("A", "y", extra=work("`src/reader.py`")), "a")
    repo.plan(plan_text("B", "y", needs="a"), "b")
    repo.plan(plan_text("C", "y", needs="b", extra=work("`src/reader.py`")), "c")
    result = repo.run("overlaps", "--json").json["data"]
    assert (result["overlaps"], result["ordered"]) == ([], [["a", "c"]])
    repo.plan(plan_text("D", "y", extra=work("`src/reader.py`")), "d")
    assert names(repo) == {"src/reader.py": ["a", "c", "d"]}


def test_names_outside_the_repository_and_hostile_ones_are_no_files(repo: Folder) -> None:
    for name in ("a", "b"):
        repo.plan(
            plan_text(
                name.upper(), "y", extra=work("`../x.py`, `/etc/passwd`, `a/../../x.py`, `src\x1b/x.py`, `.git/config`")
            ),
            name,
        )
    assert "passwd" not in repo.run("overlaps").out
    assert names(repo).keys() <= {".git/config"}


def test_a_plan_that_cannot_be_read_is_named(repo: Folder) -> None:
    repo.write("src/reader.py", "x = 1\n")
    repo.plan(plan_text("A", "y", extra=work("`src/reader.py`")), "a")
    (repo.path / ".agent/execplans/b.md").write_bytes(b"# B\n\n\xff\xfe `src/reader.py`\n")
    result = repo.run("overlaps")
    assert (result.exit, result.out) == (0, "no overlaps in 1 open plan\n")
    assert result.err == ("execplan: warning: not compared: .agent/execplans/b.md can't be read; see execplan lint\n")
    assert repo.run("overlaps", "--json").json["warnings"] == [
        "not compared: .agent/execplans/b.md can't be read; see execplan lint"
    ]
