"""What an approval binds, and each way in which that changes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from execplan.core.documents.document_io import document_bytes
from execplan.execution.binding import Binding, bind, drift
from execplan.execution.documents.written_paths import diff_paths
from execplan.execution.policy import Policy
from execplan.execution.world import ABSENT, FILE, FOLDER, LINK, State
from tests.execution.approval_documents import EXISTING_FILE, FixedWorld, binding, document

CREATE = {"type": "create_file", "tool": "file.create", "target": "src/new.py", "content": "x = 1\n"}
DELETE = {"type": "delete_file", "tool": "file.delete", "target": "src/app.py"}
RUN = {"command": "make", "argv": ["make"], "inputs": ["Makefile"]}
WORLD = {"src/app.py": EXISTING_FILE, "Makefile": State(FILE, "f" * 64, 0o644, "", 3)}
PATCH = """\
diff --git a/src/one.py b/src/one.py
index 1..2 100644
--- a/src/one.py
+++ b/src/one.py
@@ -1,3 +1,3 @@ def f():
 a
--- a/not/a/file.py
+++ b/not/a/file.py
 c
--- /dev/null
+++ b/made.py\t2026-01-01 00:00:00
@@ -0,0 +1 @@
+x
diff --git a/from.py b/to.py
rename from from.py
rename to to.py
"""


class VersionedPolicy(Policy):
    """A policy with a version that is told."""

    version = "1"


def bind_steps(states: dict[str, State], *steps: dict[str, Any], policy: Policy | None = None) -> Binding:
    """What would be bound."""
    plan = document(*steps)
    return bind(document_bytes(plan), plan, FixedWorld(states), policy or VersionedPolicy())  # type: ignore[arg-type]  # only states are asked for


def test_targets_patched_files_and_inputs_are_bound() -> None:
    patched = {"type": "refactor_code", "tool": "code.refactor", "patch": PATCH}
    states = bind_steps(WORLD, CREATE, DELETE, RUN, patched).states
    assert list(states) == ["src/new.py", "src/app.py", "Makefile", "src/one.py", "made.py", "from.py", "to.py"]
    assert states["src/new.py"] == State(ABSENT)
    assert states["src/app.py"] == EXISTING_FILE


def test_the_lines_of_a_hunk_are_no_headers() -> None:
    assert diff_paths(PATCH) == ["src/one.py", "made.py", "from.py", "to.py"]
    assert diff_paths("--- src/a.py\r\n+++ src/a.py\r\n@@ -1 +1 @@\r\n-x\r\n+y\r\n") == ["src/a.py"]
    assert diff_paths("") == []


@given(some.text(max_size=200))
@settings(max_examples=50)
def test_any_text_can_be_asked_for_what_it_patches(text: str) -> None:
    diff_paths(text)
    diff_paths(f"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n{text}")


CHANGES = {
    "bytes": (EXISTING_FILE._replace(sha256="9" * 64), "src/app.py: different content (aaaaaaaaaaaa → 999999999999)"),
    "mode": (EXISTING_FILE._replace(mode=0o755), "src/app.py: mode 644 → 755"),
    "gone": (State(ABSENT), "src/app.py: was a file and is now absent"),
    "link": (State(LINK, link="/etc/passwd"), "src/app.py: was a file and is now a link"),
    "folder": (State(FOLDER, mode=0o755), "src/app.py: was a file and is now a directory"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_target_that_changed_is_drift(name: str) -> None:
    state, line = CHANGES[name]
    old, new = bind_steps(WORLD, CREATE, DELETE, RUN), bind_steps({**WORLD, "src/app.py": state}, CREATE, DELETE, RUN)
    assert new.digest != old.digest
    assert drift(old, new) == (line,)


def test_what_appeared_what_an_input_holds_and_where_a_link_leads() -> None:
    old = bind_steps({**WORLD, "src/app.py": State(LINK, link="one")}, CREATE, DELETE, RUN)
    later = {"src/app.py": State(LINK, link="two"), "src/new.py": EXISTING_FILE, "Makefile": EXISTING_FILE}
    new = bind_steps(later, CREATE, DELETE, RUN)
    assert drift(old, new) == (
        "src/new.py: was absent and is now a file",
        "src/app.py: links to two, not to one",
        "Makefile: different content (ffffffffffff → aaaaaaaaaaaa)",
    )


def test_the_document_and_the_policy() -> None:
    old = bind_steps(WORLD, CREATE, DELETE)
    new = bind_steps(WORLD, CREATE, DELETE | {"description": "Do it now"})
    assert new.digest != old.digest
    assert [line.partition(":")[0] for line in drift(old, new)] == ["the execution plan"]
    assert [line.partition(":")[0] for line in drift(binding(), binding(policy="d" * 64))] == ["the policy"]
    assert binding().digest != binding(policy="d" * 64).digest


def test_a_size_alone_is_no_drift_and_nothing_is_none() -> None:
    assert drift(binding(), binding()) == ()
    grown = binding({path: state._replace(size=99) for path, state in binding().states.items()})
    assert grown.digest == binding().digest
    assert drift(binding(), grown) == ()


def test_a_link_that_is_no_utf8_can_be_kept() -> None:
    odd = State(LINK, link=b"\xff\xfe".decode("utf-8", "surrogateescape"))
    state = bind_steps({"src/app.py": odd}, DELETE).states["src/app.py"]
    assert json.dumps(state.link).encode()
    assert state.link == "\\xff\\xfe"
