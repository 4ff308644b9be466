"""What is on the shelf while others move plans."""

from __future__ import annotations

from tests.conftest import Folder


def test_a_plan_that_was_moved_meanwhile_is_left_out_and_a_dead_link_is_not(repo: Folder) -> None:
    from execplan.repo import homes, shelf
    from execplan.repo.life import PlanActivity

    moved, kept = repo.plan(name="moved"), repo.plan(name="kept")
    (kept.parent / "dead.md").symlink_to("nowhere.md")
    project = homes.find(str(repo.path))
    refs = shelf.refs(project)
    (before,) = [each for each in shelf.load_all(project, refs) if each.ref.id == "moved"]
    moved.unlink()
    states = {each.ref.id: each.state for each in shelf.load_all(project, refs)}
    assert states == {"kept": "active", "dead": "broken"}
    assert before.plan is not None
    assert not PlanActivity().is_stalled(project, before.ref.path, before.plan)
