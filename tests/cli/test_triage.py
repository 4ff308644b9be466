"""`execplan triage`, typed: requests from everywhere, what is staged, what has changed since, and what is refused."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.repo.approving import Desk


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A repository with a plan, all of it committed."""
    return Desk(tmp_path / "desk", monkeypatch)


def test_a_request_from_everywhere(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    words = "Migrate all accounts to the new database"
    desk.write("request.txt", f"\n{words}\n\n")
    told = desk.data("triage", words)
    assert told["verdict"] == "plan"
    assert told["confidence"] < 0.7
    assert desk.data("triage", "@request.txt") == told
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(words.encode())))
    assert desk.data("triage", "-") == told
    assert desk.data("triage", "@@home is a typo")["verdict"] == "none"


def test_a_plan_that_is_due_has_its_command(desk: Desk) -> None:
    assert desk.type("triage", "Migrate it's database", "--json").json["next"] == [
        """execplan new 'Migrate it'"'"'s database'"""
    ]
    assert desk.type("triage", "Migrate it " * 20, "--json").json["next"] == ["execplan new 'Its title'"]
    assert desk.type("triage", "Fix a typo", "--json").json["next"] == []


@pytest.mark.parametrize("words", ["", "  \n ", "...", "- [ ]", "!?"])
def test_a_request_without_a_word(desk: Desk, words: str) -> None:
    desk.refused(2, "no-words", "triage", words)


@pytest.mark.parametrize("arguments", [[], ["--staged", "--since", "HEAD"], ["Fix", "it"]])
def test_usage(desk: Desk, arguments: list[str]) -> None:
    desk.refused(2, "usage", "triage", *arguments)


def test_what_is_staged_and_nothing_else(desk: Desk) -> None:
    assert desk.data("triage", "--staged")["changes"]["files"] == 0
    desk.write("src/other.py", "y = 2\n")
    desk.git("add", "-A")
    for number in range(9):
        desk.write(f"part{number}/a.py", "x\n" * 90)
    told = desk.data("triage", "--staged")
    assert told["verdict"] == "none"
    assert (told["changes"]["files"], told["changes"]["added"], told["changes"]["removed"]) == (1, 1, 1)
    desk.git("add", "-A")
    told = desk.data("triage", "--staged")
    assert told["verdict"] == "plan"
    assert told["request"] is None
    assert len(told["changes"]["parts"]) == 10


def test_what_has_changed_since(desk: Desk) -> None:
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
    told = desk.data("triage", "--since", "main")["changes"]
    assert (told["files"], told["added"], told["removed"]) == (4, 4, 1)  # what main has gained is not this branch's
    assert desk.data("triage", "--since", "HEAD")["changes"]["files"] == 3
    desk.refused(3, "no-such-revision", "triage", "--since", "nothing")


def test_plans_and_their_artifacts_are_no_change_that_is_judged(desk: Desk) -> None:
    for number in range(9):
        desk.write(f".agent/execplans/artifacts/2026-01-01_parser/{number}.log", "x\n" * 500)
    desk.git("add", "-A")
    assert desk.data("triage", "--staged")["changes"]["files"] == 0
    assert desk.data("triage", "--since", "HEAD")["changes"]["files"] == 0


def test_a_request_that_names_parts_of_this_repository(desk: Desk) -> None:
    for name in ("reader", "engine", "writer"):
        desk.write(f"src/{name}/a.py", "x\n")
    desk.git("add", "-A")
    words = "Adjust how reader, engine and writer wait"
    (evidence,) = [
        each
        for one in desk.data("triage", words)["criteria"]
        for each in one["evidence"]
        if "this repository" in each["why"]
    ]
    assert evidence["what"] == "src/engine, src/reader, src/writer"


def test_without_git_or_a_home(desk: Desk, plain_folder: Path) -> None:
    told = desk.type("triage", "Migrate the database", "-C", str(plain_folder), "--json")
    assert told.json["data"]["verdict"] == "plan"
    assert told.json["next"] == ["execplan init"]
    assert list(plain_folder.iterdir()) == []
    desk.refused(6, "no-repository", "triage", "--staged", "-C", str(plain_folder))


@pytest.fixture
def plain_folder(tmp_path: Path) -> Path:
    """A folder in no repository."""
    path = tmp_path / "plain"
    path.mkdir()
    return path


def test_the_settings_say_how_sure_it_must_be(desk: Desk) -> None:
    words = "Fix the login"
    assert desk.data("triage", words)["verdict"] == "unclear"
    desk.write(".agent/execplan.toml", "[triage]\nnone = 0.9\n")
    told = desk.data("triage", words)
    assert (told["verdict"], told["thresholds"]) == ("none", {"none": 0.9, "plan": 0.7})
    desk.write(".agent/execplan.toml", "[triage]\nnone = 1\nplan = 0.99\n")
    assert desk.data("triage", words)["verdict"] == "plan"
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
def test_settings_that_say_nothing(desk: Desk, text: str, code: str) -> None:
    desk.write(".agent/execplan.toml", text)
    desk.refused(3, code, "triage", "Fix it")


def test_what_is_printed(desk: Desk) -> None:
    told = desk.type("triage", "Put a cache in front of it").out
    assert told.startswith("unclear: it is unclear whether a plan is due (confidence that none is needed: 0.")
    assert '\n  risk: "cache" may break something else\n' in told
    assert told.rstrip().endswith("?")
