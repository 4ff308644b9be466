"""Paths of plans come to the layouts that FORMAT.md names."""

from __future__ import annotations

import pytest

from execplan.core.project.project_settings import Settings
from execplan.core.scaffold.plan_layouts import detect_layouts


def _with_parents(*paths: str) -> set[str]:
    """The paths, and the folders above them."""
    all_paths = set(paths)
    for path in paths:
        parts = path.split("/")
        all_paths |= {"/".join(parts[:at]) for at in range(1, len(parts))}
    return all_paths


def _settings(*plans: str, also: tuple[str, ...] = ()) -> dict[str, object]:
    """What the settings of the one layout say other than the defaults."""
    layouts = detect_layouts(plans, _with_parents(*plans, *also).__contains__)
    assert len(layouts.selected) == 1, layouts
    assert layouts.others == ()
    assert set(layouts.selected[0].plans) == set(plans)
    default = Settings()._asdict()
    return {name: value for name, value in layouts.selected[0].settings._asdict().items() if value != default[name]}


def _flat(folder: str, archive: str, artifacts: str, **settings: object) -> dict[str, object]:
    artifact_settings = {"artifacts": f"{artifacts}/artifacts", "archive_artifacts": f"{archive}/artifacts"}
    return {"plans": folder, "archive": archive, **artifact_settings, **settings}


def test_the_default_is_no_setting() -> None:
    plans = (".agent/execplans/2026-01-01_parser.md", ".agent/execplans/archive/2025-01-01_lexer.md")
    assert _settings(*plans) == {}


@pytest.mark.parametrize(
    ("plans", "also", "settings"),
    [
        (
            ("docs/exec-plans/active/2026-01-01-a.md", "docs/exec-plans/completed/2025-01-01-b.md"),
            (),
            _flat("docs/exec-plans/active", "docs/exec-plans/completed", "docs/exec-plans", name="{date}-{slug}"),
        ),
        (
            ("docs/exec-plans/completed/b.md",),
            (),
            _flat("docs/exec-plans/active", "docs/exec-plans/completed", "docs/exec-plans", name="{slug}"),
        ),
        (
            ("docs/execplans/execplan_a.md", "docs/execplans/execplan_b.md"),
            (),
            _flat("docs/execplans", "docs/execplans/archive", "docs/execplans", name="execplan_{slug}"),
        ),
        (
            ("docs/execplans/a.md", "docs/execplans/completed/b.md"),
            (),
            _flat("docs/execplans", "docs/execplans/completed", "docs/execplans", name="{slug}"),
        ),
        (
            ("docs/execplans/active/0012-a.md", "docs/execplans/completed/0001-b.md"),
            (),
            _flat("docs/execplans/active", "docs/execplans/completed", "docs/execplans", name="{number:04}-{slug}"),
        ),
        (
            ("plans/FP-0001-a.md", "plans/FP-0112-b.md"),
            ("plans/README.md",),
            _flat("plans", "plans/archive", "plans", name="FP-{number:04}-{slug}"),
        ),
        (
            ("execplans/active/a.md", "execplans/completed/b.md", "execplans/superseded/c.md"),
            (),
            _flat(
                "execplans/active",
                "execplans/completed",
                "execplans",
                name="{slug}",
                superseded="execplans/superseded",
            ),
        ),
        ((".agent/plans/a.md",), (), _flat(".agent/plans", ".agent/plans/archive", ".agent/plans", name="{slug}")),
        (
            (".agent/plans/a.md", ".agent/plans/archive/b.md"),
            (),
            _flat(".agent/plans", ".agent/plans/archive", ".agent/plans", name="{slug}"),
        ),
        (
            (".agents/execplans/a.md", ".agents/done/b.md"),
            (),
            _flat(".agents/execplans", ".agents/done", ".agents/execplans", name="{slug}"),
        ),
        (
            (".agents/execplans/a.md",),
            (".agents/done/.gitkeep",),
            _flat(".agents/execplans", ".agents/done", ".agents/execplans", name="{slug}"),
        ),
        (
            (".agents/done/b.md",),
            (),
            _flat(".agents/execplans", ".agents/done", ".agents/execplans", name="{slug}"),
        ),
        (
            ("openspec/changes/archive/2025-01-01-dark-mode/tasks.md",),
            (),
            {
                "plans": "openspec/changes",
                "archive": "openspec/changes/archive",
                "layout": "tasks.md",
                "name": "{slug}",
            },
        ),
        (
            (".agents/exec-plans/active/progress-bar-plan.md",),
            (),
            _flat(".agents/exec-plans/active", ".agents/exec-plans/completed", ".agents/exec-plans", name="{slug}"),
        ),
        (
            (".agent/exec_plans/active/EP-7_a/EP-7_a.md", ".agent/exec_plans/archive/EP-6_b/EP-6_b.md"),
            (),
            {
                "plans": ".agent/exec_plans/active",
                "archive": ".agent/exec_plans/archive",
                "layout": "folder",
                "name": "EP-{number:01}_{slug}",
            },
        ),
        (
            (
                ".agent/exec_plans/active/refresh/EP-20260306-002_refresh.md",
                ".agent/exec_plans/complete/2026/02/21/EP-20260221-001_b/EP-20260221-001_b.md",
            ),
            (),
            {
                "plans": ".agent/exec_plans/active",
                "archive": ".agent/exec_plans/complete/{year}/{month}/{day}",
                "layout": "folder",
                "name": "EP-{day}-{number:03}_{slug}",
            },
        ),
        (
            ("docs/epics/hosted-control-plane/ExecPlan.md",),
            ("docs/epics/README.md",),
            {"plans": "docs/epics", "archive": "docs/epics/archive", "layout": "ExecPlan.md", "name": "{slug}"},
        ),
        (
            ("docs/epics/a/plan.md", "docs/epics/b/plan.md"),
            (),
            {"plans": "docs/epics", "archive": "docs/epics/archive", "layout": "plan.md", "name": "{slug}"},
        ),
        (
            ("docs/plans/2026-04-15-a.md",),
            (),
            _flat("docs/plans", "docs/plans/archive", "docs/plans", name="{date}-{slug}"),
        ),
        ((".plans/a b, c.md",), (), _flat(".plans", ".plans/archive", ".plans", name="{slug}")),
        (
            (".agent/execplans/2026-01-01_parser.md",),
            ("docs/PLANS.md",),
            {"guide": "docs/PLANS.md"},
        ),
    ],
)
def test_layout(plans: tuple[str, ...], also: tuple[str, ...], settings: dict[str, object]) -> None:
    assert _settings(*plans, also=also) == settings


def test_the_same_name_in_active_and_completed_is_no_layout_of_folders() -> None:
    plans = ("plans/active/a.md", "plans/completed/a.md")
    assert _settings(*plans)["plans"] == "plans/active"


def test_two_in_one_base_the_larger_is_taken() -> None:
    plans = [*[f"docs/execplans/{name}.md" for name in "abc"], "plans/a.md", "plans/b.md"]
    layouts = detect_layouts(plans, _with_parents(*plans).__contains__)
    assert [layout.settings.plans for layout in layouts.selected] == ["docs/execplans"]
    assert [(layout.directory, len(layout.plans)) for layout in layouts.others] == [("plans", 2)]
    requested = detect_layouts(plans, _with_parents(*plans).__contains__, "plans")
    assert [layout.settings.plans for layout in requested.selected] == ["plans"]


def test_what_is_strewn_is_told_and_not_adopted() -> None:
    strewn = (
        "plan-of-old.md",
        "analysis/compare, 2021/plan_a.md",
        "docs/specs/cli/tasks/update/plan.md",
        "docs/archive/old/plans/EP-0001-a.md",
    )
    inside = (
        "docs/exec-plans/deferred/later.md",
        "docs/exec-plans/active/apart/more.md",
    )
    layouts = detect_layouts((*strewn, *inside, "docs/exec-plans/active/a.md"), lambda _: False)
    assert [layout.plans for layout in layouts.selected] == [("docs/exec-plans/active/a.md",)]
    assert layouts.others == ()
    assert detect_layouts(strewn, lambda _: False).selected == ()


def test_plans_beside_another_in_its_own_folder_are_told() -> None:
    others = ("epics/a/LaterExecPlan.md", "epics/a/milestones/active/MS001_b.md")
    layouts = detect_layouts(("epics/a/ExecPlan.md", "epics/b/ExecPlan.md", *others), lambda _: False)
    assert [layout.plans for layout in layouts.selected] == [("epics/a/ExecPlan.md", "epics/b/ExecPlan.md")]
    assert layouts.others == ()


@pytest.mark.parametrize(
    ("plan", "also", "base", "folder"),
    [
        ("packages/a/docs/execplans/x.md", (), "packages/a", "docs/execplans"),
        ("services/b/plans/x.md", (), "services/b", "plans"),
        ("packages/a/.agent/execplans/x.md", (), "packages/a", ".agent/execplans"),
        ("packages/a/plans/x.md", ("packages/a/PLANS.md",), "packages/a", "plans"),
        ("engine/plans/x.md", ("engine/Cargo.toml",), "engine", "plans"),
        ("engine/plans/x.md", (), "", "engine/plans"),
        ("docs/team/plans/x.md", ("docs/Makefile",), "", "docs/team/plans"),
        ("apps/web/src/plans/x.md", (), "apps/web", "src/plans"),
    ],
)
def test_the_base_is_the_package(plan: str, also: tuple[str, ...], base: str, folder: str) -> None:
    (layout,) = detect_layouts([plan], _with_parents(plan, *also).__contains__).selected
    assert (layout.base, layout.settings.plans) == (base, folder)
    assert layout.settings.guide == (
        also[0].removeprefix("packages/a/") if "PLANS.md" in "".join(also) else ".agent/PLANS.md"
    )


def test_each_package_has_a_home() -> None:
    plans = ["packages/a/plans/x.md", "packages/b/docs/plans/y.md", "plans/z.md"]
    layouts = detect_layouts(plans, _with_parents(*plans).__contains__)
    assert [(layout.base, layout.settings.plans) for layout in layouts.selected] == [
        ("", "plans"),
        ("packages/a", "plans"),
        ("packages/b", "docs/plans"),
    ]
