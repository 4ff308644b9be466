"""A dry run's diff says exactly what becomes of a file."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execplan.execution.evaluation import unified_diff
from execplan.execution.evaluation.patch import apply_patch, parse_patch
from execplan.execution.evaluation.unified_diff import file_diff

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "\n", "c\r\n", "d", "-- x\n", "é\n"]), max_size=30).map("".join)


@settings(max_examples=50)
@given(TEXTS, TEXTS, st.sampled_from([0, 3000]))
def test_applied_it_gives_the_file(old: str, new: str, longest: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(unified_diff, "_MAX_DIFF_LINES", longest)
        diff = file_diff(old.encode(), new.encode(), "a.txt")
    if old == new:
        assert diff == ""
    else:
        (change,) = parse_patch(diff, "a.txt")
        # a diff with no CR is applied to a file of CRLF alone with its line ends
        assert apply_patch(old.encode(), change) == new.encode()


@pytest.mark.parametrize(("old", "new"), [(None, b"x\n"), (b"x\n", None), (None, b""), (b"", None), (b"a", b"a\n")])
def test_git_applies_it(tmp_path: Path, old: bytes | None, new: bytes | None) -> None:
    path = tmp_path / "a.txt"
    if old is not None:
        path.write_bytes(old)
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=file_diff(old, new, "a.txt").encode(), check=True)
    assert (path.read_bytes() if path.exists() else None) == new


def test_what_is_no_text_is_named() -> None:
    assert file_diff(b"\0", b"\xff\xff", "a") == "Binary files a/a and b/a differ: 1 bytes before, 2 bytes after\n"
    assert file_diff(b"\0", b"\0", "a") == ""
