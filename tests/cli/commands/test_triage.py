"""`execplan triage`, typed: requests from everywhere, what is staged, what has changed since, and what is refused."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.in_process_repository import InProcessRepository


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository with a plan, all of it committed."""
    return InProcessRepository(tmp_path / "desk", monkeypatch)


def test_a_request_from_everywhere(desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    request = "Migrate all accounts to the new database"
    desk.write("request.txt", f"\n{request}\n\n")
    data = desk.data("triage", request)
    assert data["verdict"] == "plan"
    assert data["confidence"] < 0.7
    assert desk.data("triage", "@request.txt") == data
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(request.encode())))
    assert desk.data("triage", "-") == data
    assert desk.data("triage", "@@home is a typo")["verdict"] == "none"


def test_a_plan_that_is_needed_has_its_command(desk: InProcessRepository) -> None:
    assert desk.type("triage", "Migrate it's database", "--json").json["next"] == [
        """execplan new 'Migrate it'"'"'s database'"""
    ]
    assert desk.type("triage", "Migrate it " * 20, "--json").json["next"] == ["execplan new 'Title'"]
    assert desk.type("triage", "Fix a typo", "--json").json["next"] == []


@pytest.mark.parametrize("words", ["", "  \n ", "...", "- [ ]", "!?"])
def test_a_request_without_a_word(desk: InProcessRepository, words: str) -> None:
    desk.refused(2, "no-words", "triage", words)


@pytest.mark.parametrize("arguments", [[], ["--staged", "--since", "HEAD"], ["Fix", "it"]])
def test_usage(desk: InProcessRepository, arguments: list[str]) -> None:
    desk.refused(2, "usage", "triage", *arguments)


def test_what_is_staged_and_nothing_else(desk: InProcessRepository) -> None:
    assert desk.data("triage", "--staged")["changes"]["files"] == 0
    desk.write("src/other.py", "y = 2\n")
    desk.git("add", "-A")
    for number in range(9):
        desk.write(f"part{number}/a.py", "x\n" * 90)
    data = desk.data("triage", "--staged")
    assert data["verdict"] == "none"
    assert (data["changes"]["files"], data["changes"]["added"], data["changes"]["removed"]) == (1, 1, 1)
    desk.git("add", "-A")
    data = desk.data("triage", "--staged")
    assert data["verdict"] == "plan"
    assert data["request"] is None
    assert len(data["changes"]["parts"]) == 10


def test_what_has_changed_since(desk: InProcessRepository) -> None:
    desk.git("checkout", "-q", "-b", "work")
    desk.write("src/other.py", "y = 3\n")
    desk.commit()
    desk.git("checkout", "-q", "main")
    desk.write("elsewhere.py", "z\n" * 900)
    desk.commit()
    desk.git("checkout", "-q", "work")
    desk.write("new\nline.py", b"1\n2\n3")
    desk.write("picture.bin", b"\0\n\n\n")
    (desk.path / "link.py").symlink_to("Makefile")
    changes = desk.data("triage", "--since", "main")["changes"]
    assert (changes["files"], changes["added"], changes["removed"]) == (
        4,
        4,
        1,
    )  # what main has gained is not this branch's
    assert desk.data("triage", "--since", "HEAD")["changes"]["files"] == 3
    desk.refused(3, "no-such-revision", "triage", "--since", "nothing")


def test_plans_and_their_artifacts_are_no_change_that_is_evaluated(desk: InProcessRepository) -> None:
    for number in range(9):
        desk.write(f".agent/execplans/artifacts/2026-01-01_parser/{number}.log", "x\n" * 500)
    desk.git("add", "-A")
    assert desk.data("triage", "--staged")["changes"]["files"] == 0
    assert desk.data("triage", "--since", "HEAD")["changes"]["files"] == 0


def test_a_request_that_names_parts_of_this_repository(desk: InProcessRepository) -> None:
    for name in ("reader", "engine", "writer"):
        desk.write(f"src/{name}/a.py", "x\n")
    desk.git("add", "-A")
    request = "Adjust how reader, engine and writer wait"
    (evidence,) = [
        evidence
        for criterion in desk.data("triage", request)["criteria"]
        for evidence in criterion["evidence"]
        if "this repository" in evidence["why"]
    ]
    assert evidence["what"] == "src/engine, src/reader, src/writer"


def test_without_git_or_a_project(desk: InProcessRepository, plain_folder: Path) -> None:
    result = desk.type("triage", "Migrate the database", "-C", str(plain_folder), "--json")
    assert result.json["data"]["verdict"] == "plan"
    assert result.json["next"] == [f"execplan -C {plain_folder} init"]
    assert list(plain_folder.iterdir()) == []
    desk.refused(6, "no-repository", "triage", "--staged", "-C", str(plain_folder))


@pytest.fixture
def plain_folder(tmp_path: Path) -> Path:
    """A folder in no repository."""
    path = tmp_path / "plain"
    path.mkdir()
    return path


def test_the_settings_say_how_sure_it_must_be(desk: InProcessRepository) -> None:
    request = "Fix the login"
    assert desk.data("triage", request)["verdict"] == "unclear"
    desk.write(".agent/execplan.toml", "[triage]\nnone = 0.9\n")
    data = desk.data("triage", request)
    assert (data["verdict"], data["thresholds"]) == ("none", {"none": 0.9, "plan": 0.7})
    desk.write(".agent/execplan.toml", "[triage]\nnone = 1\nplan = 0.99\n")
    assert desk.data("triage", request)["verdict"] == "plan"
    desk.write(".agent/execplan.toml", "[triage]\nplan = 0\n")
    assert desk.data("triage", "Migrate all accounts")["verdict"] == "unclear"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("triage = 0.9\n", "bad-setting"),
        ("[triage]\nsome = 0.9\n", "unknown-setting"),
        ("[triage]\nnone = 1.1\n", "bad-setting"),
        ("[triage]\nnone = nan\n", "bad-setting"),
        ("[triage]\nnone = true\n", "bad-setting"),
        ("[triage]\nnone = '0.9'\n", "bad-setting"),
        ("[triage]\nplan = 0.96\n", "bad-setting"),
    ],
)
def test_settings_that_say_nothing(desk: InProcessRepository, text: str, code: str) -> None:
    desk.write(".agent/execplan.toml", text)
    desk.refused(3, code, "triage", "Fix it")


def test_what_is_printed(desk: InProcessRepository) -> None:
    output = desk.type("triage", "Put a cache in front of it").out
    assert output.startswith("unclear: it is unclear whether a plan is needed (confidence that none is needed: 0.")
    assert '\n  risk: "cache" may break something else\n' in output
    assert output.rstrip().endswith("?")
