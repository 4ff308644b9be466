"""`set` finds what its reader means: a section of a plan in another form, or a key of the metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conftest import Folder


def test_a_missing_section_leads_to_the_one_with_its_role(repo: Folder) -> None:
    created = repo.ok("new", "Read lines", "--template", "plain")
    text = (repo.path / created["path"]).read_text()
    hint = repo.run("set", "Purpose", "Lines are read.", "-p", created["id"], "--json").json["error"]["hint"]
    assert hint.startswith("this plan has Goal for that: execplan set Goal 'New text' -p ")
    assert repo.run("set", "Plan of Work", "x", "-p", created["id"]).exit == 3, "Tasks are no section for that"
    assert (repo.path / created["path"]).read_text() == text


def test_the_hints_of_a_new_plan_in_another_form_work_without_an_editor(repo: Folder) -> None:
    for template in ("plain", "backlog", "planning-with-files"):
        commands = repo.run("new", f"Read {template}", "--template", template, "--json").json["next"]
        assert commands[0].startswith("execplan set ")


def test_a_key_of_the_metadata_leads_to_its_option(repo: Folder) -> None:
    repo.plan()
    hint = repo.run("set", "owner", "Ann Ew", "--json").json["error"]["hint"]
    assert hint == "for the plan's metadata: execplan set --meta 'owner=Ann Ew' -p 2026-01-01_parser"
