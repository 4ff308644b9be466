"""`set` finds what its reader means: a section of a plan in another form, or a key of the metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conftest import Folder


def test_a_standard_name_means_the_section_with_its_role(repo: Folder) -> None:
    created = repo.ok("new", "Read lines", "--template", "plain")
    for options in ((), ("--create",)):
        repo.ok("set", "Purpose", f"Lines are read. {options}", "-p", created["id"], *options)
    text = (repo.path / created["path"]).read_text()
    assert "## Purpose" not in text
    assert "## Goal\n\nLines are read. ('--create',)\n" in text


def test_the_hints_of_a_new_plan_in_another_form_work_without_an_editor(repo: Folder) -> None:
    for template in ("plain", "backlog", "planning-with-files"):
        commands = repo.run("new", f"Read {template}", "--template", template, "--json").json["next"]
        assert commands[0].startswith("execplan set ")


def test_a_key_of_the_metadata_leads_to_its_option(repo: Folder) -> None:
    repo.plan()
    hint = repo.run("set", "owner", "Ann Ew", "--json").json["error"]["hint"]
    assert hint == "for the plan's metadata: execplan set --meta 'owner=Ann Ew' -p 2026-01-01_parser"
