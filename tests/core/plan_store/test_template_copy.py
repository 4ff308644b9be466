"""A plan that is only a copy of the repository's template is unfilled, though no mark says so."""

from __future__ import annotations

import pytest

from tests.conftest import Folder

TEMPLATE = """\
---
status: draft
---

# Title

This ExecPlan is a living document.

## Purpose / Big Picture

Say what people can do then.

## Progress

- [ ] First step
- [ ] Second step

## Surprises & Discoveries

None.

## Decision Log

None.

## Outcomes & Retrospective

None yet.

## House rules

Run the tests before each commit.
"""
PATH = ".agent/execplans/template.md"


@pytest.fixture
def repo(repo: Folder) -> Folder:
    """A repository whose plans are copies of a template without marks."""
    repo.write(PATH, TEMPLATE)
    settings = repo.path / ".agent/execplan.toml"
    settings.write_text(f'{settings.read_text() if settings.exists() else ""}\ntemplate = "{PATH}"\n')
    repo.ok("new", "Build the line parser")
    return repo


def test_an_unfilled_copy_is_a_draft_that_is_not_archived(repo: Folder) -> None:
    assert repo.ok("show", "parser")["state"] == "draft"
    assert repo.run("next", "parser").out.splitlines()[-1].startswith("next: fill in 2 sections, ")
    repo.ok("done", "1", "2", "-p", "parser")
    repo.ok("outcome", "It works", "-p", "parser")
    assert "no open tasks, but placeholder text" in repo.run("status").out
    error = repo.run("archive", "parser", "--json").json["error"]
    assert error["code"] == "not-finished"
    assert [reason.partition(" ")[0] for reason in error["candidates"]] == ["EP109"]
    assert "fill in 2 sections" in error["hint"]


def test_with_a_line_of_its_own_the_rest_of_the_template_may_stay(repo: Folder) -> None:
    repo.ok("set", "Purpose / Big Picture", "People read lines.", "-p", "parser")
    assert repo.ok("show", "parser")["state"] == "active"
    repo.ok("done", "1", "2", "-p", "parser")
    repo.ok("outcome", "It works", "-p", "parser")
    repo.ok("archive", "parser")


def test_with_a_task_of_its_own_a_plan_is_no_copy(repo: Folder) -> None:
    repo.ok("add", "Read lines", "-p", "parser")
    assert repo.ok("show", "parser")["state"] == "active"


@pytest.mark.parametrize("template", [None, b"\0", b"# Another\n\n## Tasks\n\n- [ ] Other\n"])
def test_a_template_that_is_gone_or_other_tells_nothing(repo: Folder, template: bytes | None) -> None:
    path = repo.path / PATH
    path.unlink() if template is None else path.write_bytes(template)
    assert repo.ok("show", "parser")["state"] == "active"
