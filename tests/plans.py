"""Plans that tests start from."""

from __future__ import annotations

from execplan.core.plan import outline

CLEAN = """\
# Build the parser

This ExecPlan is a living document.

## Purpose / Big Picture

A plan can be read and edited without loss.

## Progress

- [x] (2025-12-30 09:15Z) Read lines.
- [ ] Build the parser.
- [ ] Write the tests.

## Surprises & Discoveries

- Observation: The last line is dropped.
  Evidence: `tests/test_lines.py::test_last` failed.

## Decision Log

- Decision: Read line by line.
  Rationale: A task is a line.
  Date/Author: 2025-12-30 / Ann

## Outcomes & Retrospective

Lines can be read.

## Context and Orientation

Every command calls the reader first.

## Plan of Work

Write the scanner, then the reader.

## Concrete Steps

In the root of the repository, `make test` prints `12 passed`.

## Validation and Acceptance

`make test` passes.

## Idempotence and Recovery

Every step may be run again.

## Artifacts and Notes

None so far.

## Interfaces and Dependencies

`read(data: bytes) -> Plan` in `src/reader.py`.
"""
"""A plan without a finding."""

STEPS = CLEAN.replace(
    "## Validation and",
    """\
```sh {#build timeout=60 exit=0}
make parser
CI=1 make test
```

```python {#api type=create_file target=src/api.py needs=build}
def ping():
    return "pong"
```

## Validation and""",
)
"""The same with steps."""


def with_sections(fragment: str) -> str:
    """The clean plan with the head and the sections of a fragment in place of its own, in the fragment's order."""
    head, *sections = CLEAN.split("\n## ")
    new_head, *new_sections = ("\n" + fragment.strip("\n")).split("\n## ")
    names = [_section_name(section) for section in sections]
    new = {at: _section_name(new_section) for at, new_section in enumerate(new_sections)}
    first_uses = [at for at, name in new.items() if name in names and list(new.values()).index(name) == at]
    slots = sorted([names.index(new[at]) for at in first_uses])
    for slot, at in zip(slots, first_uses, strict=True):
        sections[slot] = new_sections[at].rstrip("\n") + "\n"
    sections += [new_section.rstrip("\n") + "\n" for at, new_section in enumerate(new_sections) if at not in first_uses]
    return "\n## ".join([new_head.lstrip("\n") + "\n" if new_head.strip() else head, *sections])


def _section_name(section: str) -> str:
    """What a section is called by the format, or by itself."""
    title = section.split("\n", 1)[0]
    return outline.canonical_name(title) or title


def from_template(name: str, *tasks: str) -> str:
    """A new plan from a template of the tool."""
    from execplan.core.project.project import Project
    from execplan.core.project.project_settings import Settings
    from execplan.core.scaffold.plan_draft import render_plan

    project = Project("/nowhere", "/nowhere", None, Settings(), exists=False)
    return render_plan(project, name, "2026-01-01_parser", "Build the parser", "", tasks)[0].decode()
