"""What a command gets of the environment: what is allowed, what the user's settings name, what its step says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from execplan.execution.engine.commands.command_environment import ALLOWED, build_environment, public_variables


@pytest.fixture(autouse=True)
def fixed_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        monkeypatch.delenv(name)
    for name, value in {
        "PATH": "/bin",
        "HOME": "/home/ann",
        "LC_TIME": "C",
        "TERM": "xterm",
        "AWS_SECRET_ACCESS_KEY": "canary",
        "LD_PRELOAD": "/evil.so",
        "PYTHONPATH": "/evil",
        "GIT_DIR": "/evil",
        "BASH_ENV": "/evil",
        "JAVA_HOME": "/java",
    }.items():
        monkeypatch.setenv(name, value)


def test_only_what_is_allowed() -> None:
    assert build_environment({}, ()) == {"PATH": "/bin", "HOME": "/home/ann", "LC_TIME": "C", "TERM": "dumb"}


def test_every_variable_that_the_page_names(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[4] / "docs/how-to/use-the-sandbox.md").read_text()
    sentence = " ".join(page.partition("A command gets the variables ")[2].partition(", `TERM=dumb`")[0].split())
    names = [word.replace("*", "ALL") for word in sentence.split(", ")]
    for name in names:
        monkeypatch.setenv(name, "x")
    assert {name for name, value in build_environment({}, ()).items() if value == "x"} == {*names}
    assert {*names} - {"LC_ALL"} | {"TERM"} == ALLOWED


def test_what_the_settings_name_and_what_the_step_says() -> None:
    env = build_environment({"PATH": "/own", "GIT_DIR": "x"}, ("JAVA_HOME", "NOT_SET"))
    assert (env["PATH"], env["GIT_DIR"], env["JAVA_HOME"]) == ("/own", "x", "/java")
    assert "NOT_SET" not in env


def test_there_is_always_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PATH")
    assert build_environment({}, ())["PATH"] == os.defpath


def test_what_may_be_shown() -> None:
    names = public_variables({"LC_TIME": "", "EXECPLAN_SESSION": "", "JAVA_HOME": "", "API_TOKEN": ""})
    assert {"PATH", "LC_TIME", "EXECPLAN_SESSION", "GIT_AUTHOR_NAME"} <= names
    assert not {"JAVA_HOME", "API_TOKEN"} & names
