"""The metadata of a plan, in the dialects that plans use."""

from __future__ import annotations

import pytest

from execplan.core.plan import reader
from execplan.core.plan.metadata_values import normalize_key
from execplan.core.plan.plan_dependencies import read_dependencies
from execplan.core.plan.plan_metadata import Links, PlanMetadata, read_metadata

FRONT_MATTER = """\
---
id: EP-20260504-002
title: Harden the runtime
status: done
owner: '@codex'
created: 2026-05-05
updated: '2026-05-06'
tags:
- runtime
- hardening
links:
  issue: '#12'
  pr: ''
  docs: docs/runtime.md
depends_on:
- EP-20260504-001
supersedes: [EP-20260101-003]
---

# Harden the runtime
"""


def metadata(text: str) -> PlanMetadata:
    return read_metadata(reader.parse(text))


def test_front_matter() -> None:
    assert metadata(FRONT_MATTER) == PlanMetadata(
        "EP-20260504-002",
        "done",
        "@codex",
        "2026-05-05",
        "2026-05-06",
        ("runtime", "hardening"),
        ("EP-20260504-001",),
        ("EP-20260101-003",),
        Links(("#12",), (), ("docs/runtime.md",), ()),
    )


def test_nothing_is_required() -> None:
    assert metadata("# Build the parser\n\n## Progress\n\n- [ ] Build it.\n") == PlanMetadata()


def test_a_metadata_list() -> None:
    text = """\
# Scan faster

## Metadata

- Status: active
- Start date: 2026-04-16
- **Last updated:** 2026-04-18
- Owner: ana / Codex
- Related spec(s):
  - `specs/scan.md`
  - `specs/history.md`
- Depends on: `2026-04-15-mvp`
- Supersedes: none
- Last verified commands:
  - `make test`
"""
    assert metadata(text) == PlanMetadata(
        status="active",
        owner="ana / Codex",
        created="2026-04-16",
        updated="2026-04-18",
        depends_on=("2026-04-15-mvp",),
        links=Links(docs=("specs/scan.md", "specs/history.md")),
    )


def test_front_matter_decides_over_a_metadata_list() -> None:
    text = "---\nstatus: done\n---\n\n# T\n\n## Metadata\n\n- Status: active\n- Owner: ana\n"
    assert metadata(text)[:3] == ("", "done", "ana")


@pytest.mark.parametrize(
    ("section", "names"),
    [
        ("## Plan dependencies\n\n- `payments/01`\n- `payments/02`\n", ["payments/01", "payments/02"]),
        ("## Plan dependencies\n\nNone.\n", []),
        ("## Plan Dependencies\n\n- **Blocks**: `later`\n- **Blocked by**: `early`\n- Related: `other`\n", ["early"]),
        ("## Plan dependencies\n\n- 2026-01-01_scanner: it has the lines\n- an idea\n", ["2026-01-01_scanner"]),
        ("## Plan dependencies\n\n- 2026-01-01_scanner (it has the lines)\n", ["2026-01-01_scanner"]),
        ("## Plan dependencies\n\n- `2026-01-01_scanner` must be complete: it has the lines\n", ["2026-01-01_scanner"]),
        ("## Plan dependencies\n\n- **`app:scanner`** must be complete: it has `lines`\n", ["app:scanner"]),
        ("## Plan dependencies\n\n- [scanner](scanner.md): it has the lines\n", ["scanner.md"]),
        ("## Plan dependencies\n\n- Blocks for now `later`: it has the lines\n", []),
        (
            "## Interfaces and Dependencies\n\nDepends on: `003-chain.md`, `004-node.md`\n",
            ["003-chain.md", "004-node.md"],
        ),
        ("## Interfaces and Dependencies\n\nDepends on: 014 and 015.\n", ["014", "015"]),
        ("## Interfaces and Dependencies\n\nDepends on: none.\nBlocks: 015 and 016, because.\n", []),
        ("## Interfaces and Dependencies\n\nDepends on: 004 (a spec\nthat works), 005\nBlocks: 015.\n", ["004", "005"]),
        (
            "## Interfaces and Dependencies\n\nDepends on: done `012`, done `011`, and the rest\nof `010`.\nBlocks: `001`.\n",
            ["012", "011", "010"],
        ),
        ("## Interfaces and Dependencies\n\nDepends on: the parser being done.\n", []),
        ("## Interfaces and Dependencies\n\n- Depends on `foo` and no plan\n", []),
        ("## Context\n\n```yaml\ndepends_on: [x-1]\n```\n", []),
    ],
)
def test_dependencies_in_prose(section: str, names: list[str]) -> None:
    assert list(metadata(f"# T\n\n{section}").depends_on) == names


def test_dependencies_have_lines() -> None:
    plan = reader.parse(FRONT_MATTER + "\n## Plan dependencies\n\n- `auth`\n")
    assert [(mention.name, mention.line + 1) for mention in read_dependencies(plan)] == [
        ("EP-20260504-001", 16),
        ("auth", 24),
    ]


def test_names_of_keys() -> None:
    assert [normalize_key(name) for name in ("**Last updated**", "depends-on", "Related spec(s)", "State")] == [
        "updated",
        "depends_on",
        "docs",
        "status",
    ]
