"""What is on the shelf while others move plans."""

from __future__ import annotations

from tests.conftest import Folder


def test_a_plan_that_was_moved_meanwhile_is_left_out_and_a_dead_link_is_not(repo: Folder) -> None:
    from execplan.core.plan_store import plan_store
    from execplan.core.plan_store.plan_activity import PlanActivity
    from execplan.core.project import project_discovery

    moved, remaining = repo.plan(name="moved"), repo.plan(name="kept")
    (remaining.parent / "dead.md").symlink_to("nowhere.md")
    project = project_discovery.find(str(repo.path))
    refs = plan_store.refs(project)
    (before,) = [stored for stored in plan_store.load_all(project, refs) if stored.ref.id == "moved"]
    moved.unlink()
    states = {stored.ref.id: stored.state for stored in plan_store.load_all(project, refs)}
    assert states == {"kept": "active", "dead": "broken"}
    assert before.plan is not None
    assert not PlanActivity().is_stalled(project, before.ref.path, before.plan)
