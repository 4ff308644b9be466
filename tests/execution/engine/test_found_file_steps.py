"""Steps that find their files, from the plan to the rollback: replacements, copies and moves."""

from __future__ import annotations

import os
import random
import re
import signal
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from execplan.core import features
from execplan.execution import rare_features
from execplan.execution.engine.steps.file_writes import undo_changes
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from tests.conftest import Folder
from tests.execution.engine.step_repository import StepRepository
from tests.in_process_repository import NAME, InProcessRepository

REPLACE = '```diff {#rename type=replace paths="src/**" count=COUNT}\n-get_user\n+fetch_user\n```\n\n'
MOVE = "```text {#move type=move from=lib target=pkg/inner}\nBetter.\n```\n\n"
COPY = "```text {#copy type=copy from=lib target=copies}\n```\n\n"
HEAD = "# Rename\n\n## Progress\n\n- [ ] Rename it.\n\n## Concrete Steps\n\n"
Entries = dict[str, tuple[str, int, bytes]]


def read_entries(folder: Path) -> Entries:
    """Every file, link and directory, but git's and those of plans, with its kind, mode and content."""
    entries: Entries = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name.split("/")[0] in (".git", ".agent", "README.md"):
            continue
        if path.is_symlink():
            entries[name] = ("link", 0, os.fsencode(os.readlink(path)))
        elif path.is_dir():
            entries[name] = ("folder", stat.S_IMODE(path.stat().st_mode), b"")
        else:
            entries[name] = ("file", stat.S_IMODE(path.stat().st_mode), path.read_bytes())
    return entries


def write_bytes(repo: Folder, name: str, data: bytes, mode: int = 0o644) -> None:
    """Write a file."""
    path = repo.path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)


def fill_at_random(repo: Folder, seed: int) -> int:
    """Write files of any kind; the number of places at which the text is to be replaced."""
    chance, places = random.Random(seed), 0
    for number in range(chance.randint(3, 8)):
        words = [
            chance.choice(["get_user", "forget_users", "é", " ", "\n", "(1)"]) for _ in range(chance.randint(0, 12))
        ]
        end = chance.choice(["\n", "\r\n"])
        data = "".join(words).replace("\n", end).encode()
        kind = chance.choice(["text", "text", "text", "binary", "outside"])
        folder = {"outside": "other"}.get(kind, chance.choice(["src", "src/a", "src/a/b c"]))
        data = data + b"\0" if kind == "binary" else data
        write_bytes(repo, f"{folder}/{number}.txt", data, chance.choice([0o644, 0o755, 0o600]))
        places += data.count(b"get_user") if kind == "text" else 0
    return places


@pytest.mark.parametrize("seed", range(12))
def test_a_text_is_replaced_in_random_trees_and_comes_back(repo: Folder, seed: int) -> None:
    count = fill_at_random(repo, seed)
    before = read_entries(repo.path)
    expected = {
        name: (kind, mode, data.replace(b"get_user", b"fetch_user"))
        if name.startswith("src/") and b"\0" not in data
        else (kind, mode, data)
        for name, (kind, mode, data) in before.items()
    }
    step_repo = StepRepository(repo, REPLACE.replace("COUNT", str(count or 1)))
    result = step_repo.perform("rename")
    assert result.ok == bool(count), result
    assert read_entries(repo.path) == expected
    undo_changes(step_repo.context, result.changes, result.folders)
    assert read_entries(repo.path) == before
    if count:
        wrong = StepRepository(repo, REPLACE.replace("COUNT", str(count + 1))).perform("rename")
        assert (wrong.ok, wrong.cause) == (False, "error")
        assert f"occurs {count} time" in wrong.reason
        assert read_entries(repo.path) == before


def make_library(repo: Folder) -> None:
    """A directory with files of different modes, a link, and a file that git ignores."""
    write_bytes(repo, ".gitignore", b"*.pyc\n")
    write_bytes(repo, "lib/a.py", b"a = 1\n", 0o755)
    write_bytes(repo, "lib/sub/b.bin", b"\0\1\2", 0o600)
    write_bytes(repo, "lib/sub/deep/c.txt", b"no end")
    (repo.path / "lib/link").symlink_to("sub/deep")
    (repo.path / "lib/sub").chmod(0o750)


@pytest.mark.parametrize("step", [MOVE, COPY])
def test_a_directory_is_moved_or_copied_with_modes_and_links(repo: Folder, step: str) -> None:
    make_library(repo)
    before = read_entries(repo.path)
    step_repo = StepRepository(repo, step)
    name, target = ("move", "pkg/inner") if step == MOVE else ("copy", "copies")
    result = step_repo.perform(name)
    assert result.ok, result
    after = read_entries(repo.path)
    files = {path: entry for path, entry in before.items() if path.startswith("lib/") and entry[0] != "folder"}
    for path, entry in files.items():
        assert after[target + path[3:]] == entry
    assert any([path.split("/")[0] == "lib" for path in after]) == (name == "copy")
    undo_changes(step_repo.context, result.changes, result.folders)
    assert read_entries(repo.path) == before


def test_what_git_ignores_stays_where_it_is(repo: Folder) -> None:
    make_library(repo)
    write_bytes(repo, "lib/sub/x.pyc", b"x")
    step_repo = StepRepository(repo, MOVE)
    result = step_repo.perform("move")
    assert result.ok, result
    assert [path for path in read_entries(repo.path) if path.startswith("lib")] == ["lib", "lib/sub", "lib/sub/x.pyc"]


def block(kind: str, attributes: str, body: str = "") -> str:
    """A step."""
    return f"```text {{#it type={kind} {attributes}}}\n{body}```\n"


REFUSED: dict[str, tuple[str, str]] = {
    "nothing there": (block("move", "from=gone target=x"), "file not found: gone"),
    "target is there": (block("copy", "from=lib/a.py target=keep.txt"), "keep.txt already exists; set overwrite"),
    "target is a directory": (block("copy", "from=lib/a.py target=full overwrite"), "full is a directory that exists"),
    "parent is a file": (block("move", "from=lib target=keep.txt/lib"), "keep.txt is a file, not a directory"),
    "through a link": (block("copy", "from=lib/link/c.txt target=x"), "leads through the symbolic link"),
    "out of the repository": (block("copy", "from=../x target=x"), "leads outside the repository"),
    "git's own": (block("copy", "from=lib/a.py target=.git/hooks/pre-commit"), "git's own"),
    "only ignored files": (block("move", "from=ignored target=x"), "ignored has no file that Git keeps"),
    "no file matches": (block("replace", 'paths="lib/*.rs" count=1', "-a\n+b\n"), "occurs 0 times, not 1"),
    "outside pattern": (block("replace", 'paths="../*" count=1', "-a\n+b\n"), "leads outside the repository"),
    "pattern of git's own": (block("replace", 'paths=".git/*" count=1', "-a\n+b\n"), "git's own"),
    "absolute pattern": (block("replace", 'paths="/etc/*" count=1', "-a\n+b\n"), "is absolute"),
    "not UTF-8": (block("replace", 'paths="latin.txt" count=1', "-get\n+b\n"), "latin.txt is not text in UTF-8"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_blocked_before_anything_changes(repo: Folder, name: str) -> None:
    make_library(repo)
    write_bytes(repo, ".gitignore", b"ignored/\n")
    write_bytes(repo, "ignored/x", b"x")
    write_bytes(repo, "keep.txt", b"kept\n")
    write_bytes(repo, "full/x.txt", b"x")
    write_bytes(repo, "latin.txt", b"get \xe9\n")
    steps, message = REFUSED[name]
    repo.plan(HEAD + steps)
    result = repo.run("evaluate")
    assert result.exit == 1, result
    assert message in result.out, result.out


def test_a_file_is_overwritten_only_if_the_step_says_so_and_comes_back(repo: Folder) -> None:
    write_bytes(repo, "a.txt", b"new\n", 0o755)
    write_bytes(repo, "b.txt", b"old\n")
    before = read_entries(repo.path)
    step_repo = StepRepository(repo, block("move", "from=a.txt target=b.txt overwrite"))
    result = step_repo.perform("it")
    assert read_entries(repo.path) == {"b.txt": ("file", 0o755, b"new\n")}
    undo_changes(step_repo.context, result.changes, result.folders)
    assert read_entries(repo.path) == before


def test_letter_case_alone_makes_another_name_where_the_disk_says_so(repo: Folder) -> None:
    write_bytes(repo, "Notes.md", b"x\n")
    result = StepRepository(repo, block("move", "from=Notes.md target=NOTES.md")).perform("it")
    assert result.ok or "letter case" in result.reason
    assert [name.casefold() for name in read_entries(repo.path)] == ["notes.md"]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository whose plan renames a function, then moves its directory, then renames another."""
    desk = InProcessRepository(tmp_path / "repo", monkeypatch)
    for number in range(4):
        write_bytes(desk, f"lib/{number}.py", b"get_user(1)\r\n" * number + b"x = 'get_user'\r\n", 0o640)
    (desk.path / "lib/link").symlink_to("1.py")
    replace = REPLACE.replace("src/**", "lib/*.py").replace("COUNT", "10")
    again = '```diff {#again type=replace paths="pkg/**/*.py" count=4 regex=true}\n-^x = \'(\\w+)\'$\n+y = "\\1"\n```\n'
    desk.plan(HEAD + replace + MOVE + again, NAME)
    desk.commit()
    return desk


def approve(desk: InProcessRepository) -> None:
    """Approve the plan as it is."""
    desk.data("approve", "--digest", desk.data("evaluate")["digest"])


def test_an_approval_is_valid_only_for_the_files_that_were_found(desk: InProcessRepository) -> None:
    approve(desk)
    desk.write("lib/new.py", "get_user()\n")
    error = desk.refused(4, "stale-approval", "run")
    assert "lib/new.py: is now covered" in error["candidates"]
    (desk.path / "lib/new.py").unlink()
    desk.write("lib/other.txt", "nothing to replace\n")  # but the move takes it along
    assert "lib/other.txt: is now covered" in desk.refused(4, "stale-approval", "run")["candidates"]
    (desk.path / "lib/other.txt").unlink()
    desk.write("unrelated.py", "get_user()\n")
    kept = (desk.path / "lib/2.py").read_bytes()
    (desk.path / "lib/2.py").unlink()
    candidates = desk.refused(4, "stale-approval", "run")["candidates"]
    assert "lib/2.py: is no longer covered" in candidates
    write_bytes(desk, "lib/2.py", kept, 0o640)
    assert desk.data("run")["status"] == "completed"


def test_a_file_that_comes_between_the_steps_stops_the_run(desk: InProcessRepository) -> None:
    plan = desk.path / f".agent/execplans/{NAME}.md"
    text = plan.read_text().replace(
        "```text {#move", "```sh {#gen effect=idempotent}\nsh gen.sh\n```\n\n```text {#move"
    )
    plan.write_text(text)
    desk.write("gen.sh", "echo new > lib/generated.txt\n")
    approve(desk)
    error = desk.type("run", "--json").json["error"]
    assert "lib/generated.txt: the step would use it too, but nobody approved that" in str(error)
    assert (desk.path / "lib/0.py").exists()


def test_the_run_and_its_rollback(desk: InProcessRepository) -> None:
    before = read_entries(desk.path)
    approve(desk)
    assert desk.data("run")["status"] == "completed"
    after = read_entries(desk.path)
    assert after["pkg/inner/2.py"] == ("file", 0o640, b"fetch_user(1)\r\n" * 2 + b'y = "fetch_user"\r\n')
    assert after["pkg/inner/link"] == ("link", 0, b"1.py")
    assert "lib" not in after
    steps = desk.data("audit")["records"]
    assert any(["get_user" in str(record) and "lib/*.py" in str(record) for record in steps])
    desk.data("rollback")
    assert read_entries(desk.path) == before


METHODS = ("write", "link", "remove", "remove_folder")


def run_until_killed(desk: InProcessRepository, number: int) -> bool:
    """Run the plan in a process that is killed before so manieth change of a file; whether it came to its end."""
    pid = os.fork()
    if pid == 0:
        count = [0]

        def dying(call: Callable[..., Any], *arguments: Any) -> Any:
            count[0] += 1
            if count[0] == number:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments)

        for name in METHODS:
            method = getattr(WorkspaceFiles, name)
            setattr(WorkspaceFiles, name, lambda *arguments, method=method: dying(partial(method), *arguments))
        status = desk.type("run").exit
        os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@pytest.mark.parametrize("command", ["resume", "rollback"])
def test_killed_between_any_two_files_it_is_resumed_or_rolled_back(desk: InProcessRepository, command: str) -> None:
    before = read_entries(desk.path)
    ended, number, after = False, 0, before
    while not ended:
        number += 1 if command == "rollback" else 2
        approve(desk)
        ended = run_until_killed(desk, number)
        if command == "resume" and not ended:
            assert desk.data("resume")["status"] == "completed", number
            after = read_entries(desk.path)
            assert "lib" not in after
            assert after["pkg/inner/3.py"][2] == b"fetch_user(1)\r\n" * 3 + b'y = "fetch_user"\r\n'
        desk.data("rollback")
        assert read_entries(desk.path) == before, number
    assert number > 15


def test_names_of_what_is_searched_are_no_patterns(repo: Folder) -> None:
    write_bytes(repo, "odd [1]/a*.txt", b"x\n")
    write_bytes(repo, "odd 1/ab.txt", b"y\n")
    result = StepRepository(repo, block("move", 'from="odd [1]" target=plain')).perform("it")
    assert result.ok, result
    assert {name: entry[2] for name, entry in read_entries(repo.path).items() if entry[0] == "file"} == {
        "odd 1/ab.txt": b"y\n",
        "plain/a*.txt": b"x\n",
    }


def test_the_risk_is_that_of_what_a_step_does(repo: Folder) -> None:
    make_library(repo)
    write_bytes(repo, ".env", b"TOKEN=1\n")
    steps = [
        block("copy", "from=lib target=copies").replace("#it", "#copy"),
        block("copy", "from=lib/a.py target=lib/sub/b.bin overwrite").replace("#it", "#over"),
        block("move", "from=lib target=pkg").replace("#it", "#move"),
        block("copy", "from=.env target=public.txt").replace("#it", "#secret"),
        block("replace", 'paths="lib/*.py" count=1', "-a\n+b\n").replace("#it", "#replace"),
    ]
    repo.plan(HEAD + "\n".join(steps))
    levels = {step["id"]: step["risk"]["level"] for step in repo.ok("compile")["steps"]}
    assert levels["copy"] == "LOW"
    assert levels["over"] == levels["replace"] == "MEDIUM"
    assert levels["move"] == "HIGH"
    assert levels["secret"] in ("HIGH", "CRITICAL")
    assert re.search("credentials|secret", str(repo.run("evaluate").out))


def test_the_examples_of_the_documentation_run(repo: Folder) -> None:
    text = (Path(__file__).parents[3] / "docs/how-to/write-steps.md").read_text(encoding="utf-8")
    examples = re.findall(r"^````md\n(```\w+ \{#\w+ type=(?:replace|move) .*?)^````$", text, re.MULTILINE | re.DOTALL)
    assert len(examples) == 2
    for number in range(4):
        write_bytes(repo, f"src/{'helpers/' * (number % 2)}{number}.py", b"get_user(1)\n")
    step_repo = StepRepository(repo, "\n".join(examples))
    assert step_repo.perform("rename").ok
    assert step_repo.perform("move").ok
    assert {path: data for path, (kind, _, data) in read_entries(repo.path).items() if kind == "file"} == dict.fromkeys(
        ("src/0.py", "src/2.py", "src/users/1.py", "src/users/3.py"), b"fetch_user(1)\n"
    )


def test_an_agent_does_the_work_and_reports_it(desk: InProcessRepository) -> None:
    plan = desk.path / f".agent/execplans/{NAME}.md"
    text = plan.read_text().replace("## Concrete Steps\n", "## Concrete Steps\n\n```text {execution mode=agent}\n```\n")
    plan.write_text(text)
    before = read_entries(desk.path)
    approve(desk)
    handoff = desk.data("handoff")
    assert handoff["steps"][0]["files"] == [f"lib/{number}.py" for number in range(4)]
    for path in desk.path.glob("lib/*.py"):
        path.write_bytes(path.read_bytes().replace(b"get_user", b"fetch_user"))
    desk.data("report", "rename", "--status", "completed", "--result", "Done")
    (desk.path / "pkg").mkdir()
    (desk.path / "lib").rename(desk.path / "pkg/inner")
    desk.data("report", "move", "--status", "completed", "--result", "Done")
    assert "differs from the plan" in str(desk.type("report", "again", "--status", "completed", "--result", "Done"))
    desk.data("rollback")
    assert read_entries(desk.path) == before


def test_an_exported_plan_keeps_what_follows_in_the_same_job(desk: InProcessRepository) -> None:
    plan = desk.path / f".agent/execplans/{NAME}.md"
    plan.write_text(plan.read_text() + "\n```sh {#last outputs=made.txt}\nmake made.txt\n```\n")
    desk.commit()
    approve(desk)
    jobs = desk.data("export", "--to", "make", "--out", "Steps.mk")["jobs"]
    assert [job["steps"] for job in jobs] == [["rename", "move", "again", "last"]]


def test_every_rare_feature_can_be_loaded() -> None:
    names = [value for name, value in vars(rare_features).items() if name.isupper() and isinstance(value, str)]
    assert len(names) > 10
    assert all([callable(features.load(name)) for name in names])
