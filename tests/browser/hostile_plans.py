"""Plans that try to run scripts in every field that a page shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conftest import Folder

_SET = "window.__canary=1"
PAYLOADS = (
    f"<script>{_SET}</script>",
    f"<img src=x onerror={_SET}>",
    f"<svg onload={_SET}><script>{_SET}</script></svg>",
    '"><iframe srcdoc="<script>parent.__canary=1</script>"></iframe>',
    f"[link](javascript:{_SET})",
    f"[link](JaVa&#115;cript&colon;{_SET})",
    f"[link](java\tscript:{_SET})",
    f"[link](data:text/html,<script>{_SET}</script>)",
    f"![image](javascript:{_SET})",
    "![image](https://attacker.example/pixel.png)",
    f"<a href='javascript:{_SET}' autofocus onfocus={_SET}>x</a>",
    f"</title><script>{_SET}</script>",
    f"</textarea><script>{_SET}</script>",
    f"`</code><script>{_SET}</script>`",
    "{{ 7 * 7 }} {% include 'base.html' %}",
    "<style>@import 'https://attacker.example/x.css'; body { background: url(https://attacker.example/y) }</style>",
    '<meta http-equiv="refresh" content="0; url=https://attacker.example/">',
    '<base href="https://attacker.example/"><form action="https://attacker.example/"><button>x</button></form>',
    f"<details open ontoggle={_SET}><summary>x</summary></details>",
    f"<math><mtext><table><mglyph><style><img src=x onerror={_SET}>",
)


def hostile_plan(payload: str) -> str:
    """Return a plan with a text in every field."""
    line = " ".join(payload.split("\n"))
    return f"""\
# {line}

{line}

## Purpose / Big Picture

{payload}

> {line}

| {line.replace("|", "/")} | b |
|---|---|
| {line.replace("|", "/")} | c |

## Progress

### {line}

- [x] (2025-12-30 09:15Z) {line}
- [ ] {line} two
- [?] {line} three

## Surprises & Discoveries

- Observation: {line}
  Evidence: {line}

## Decision Log

- Decision: {line}
  Rationale: {line}
  Date/Author: 2025-12-30 / {line}

## Outcomes & Retrospective

{line}

## {line}

```sh {{#step title="x"}}
{payload}
```

<div>{payload}</div>

[ref]: javascript:{_SET} "{line}"

[ref] ![ref]

Revision note: 2025-12-30: {line}
"""


def add_hostile_plans(folder: Folder) -> None:
    """Write a hostile plan for each payload, and artifacts and names that are hostile themselves."""
    for number, payload in enumerate(PAYLOADS):
        folder.plan(hostile_plan(payload), f"2026-02-01_hostile-{number}")
    folder.plan(hostile_plan(PAYLOADS[0]), "2026-02-02_<img src=x onerror=window.__canary=1>")
    artifacts = ".agent/execplans/artifacts/2026-02-01_hostile-0"
    folder.write(f"{artifacts}/page.html", f"<script>{_SET}</script>")
    folder.write(f"{artifacts}/drawing.svg", f'<svg xmlns="http://www.w3.org/2000/svg" onload="{_SET}"/>')
    folder.write(f"{artifacts}/<img src=x onerror=window.__canary=1>.txt", "x")
