"""What the tests of bad inputs share: a refusal, an edit, and what may have changed."""

from __future__ import annotations

import json
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from execplan.core.text.text_lines import Text

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Folder, Result

WRITERS = (
    ("done", "2"),
    ("reopen", "1"),
    ("add", "Ship it."),
    ("decide", "Read bytes.", "--why", "Ends differ."),
    ("discover", "Tabs count.", "--evidence", "A test."),
    ("outcome", "Bytes can be read."),
    ("split", "3", "--done", "Write some.", "--remaining", "Write the rest."),
    ("reword", "3", "Write all tests."),
    ("note", "Measured on two cores."),
    ("revise", "The tree was given up."),
    ("set", "Plan of Work", "First the scanner."),
)
"""A call of each writer that changes the clean plan."""


def checked_output(result: Result) -> str:
    """All that was printed, which holds no traceback and tells of no bug."""
    output = result.out + result.err
    assert "Traceback" not in output, output
    assert result.exit != 70, output
    return output


def names_in(path: Path) -> list[str]:
    """The names in the folder of a file."""
    return sorted(entry.name for entry in path.parent.iterdir())


def ok(folder: Folder, *arguments: str, stdin: bytes = b"") -> dict[str, Any]:
    """Expect exit 0 of arguments that may hold `--`; the document's data."""
    result = folder.run(*_as_json(arguments), stdin=stdin)
    checked_output(result)
    assert result.exit == 0, (arguments, result)
    data: dict[str, Any] = result.json["data"]
    return data


def _as_json(arguments: tuple[str, ...]) -> list[str]:
    flags = arguments.index("--") if "--" in arguments else len(arguments)
    return [*arguments[:flags], "--json", *arguments[flags:]]


def expect_error(
    folder: Folder, path: Path, *arguments: str, exit: int = 3, says: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Expect a refusal, in words and as JSON, that leaves the file and its folder alone; the JSON error."""
    before, names = path.read_bytes(), names_in(path)
    text_result = folder.run(*arguments)
    document = folder.run(*_as_json(arguments))
    for result in (text_result, document):
        checked_output(result)
        assert result.exit == exit, (arguments, result)
    error: dict[str, Any] = document.json["error"]
    assert error["exit"] == exit
    assert not document.json["ok"]
    assert error["message"]
    assert error["hint"], error
    printed = text_result.err + json.dumps(error, ensure_ascii=False)
    for phrase in says:
        assert phrase in text_result.err, (phrase, text_result)
        assert phrase in printed, (phrase, document)
    assert path.read_bytes() == before
    assert names_in(path) == names
    return error


def expect_edit_errors(folder: Folder, path: Path, *, exit: int = 3, says: tuple[str, ...] = ()) -> None:
    """Expect every writer to refuse."""
    for writer in WRITERS:
        expect_error(folder, path, *writer, "-p", str(path), exit=exit, says=says)


def expect_unreadable(folder: Folder, path: Path, *, says: tuple[str, ...]) -> None:
    """Expect a plan that can't be read: shown as broken by `list` and `status`, exit 3 elsewhere, a finding of lint."""
    data = path.read_bytes()
    for command in ("list", "status"):
        result = folder.run(command, "--json")
        checked_output(result)
        assert result.exit == 1, result
        plan = next(candidate for candidate in result.json["data"]["plans"] if candidate["id"] == path.stem)
        assert plan["state"] == "broken"
        assert all(phrase in plan["error"] for phrase in says), plan
        text = folder.run(command)
        assert text.exit == 1
        assert "broken" in checked_output(text)
        assert path.stem in text.out
    location = path.relative_to(folder.path).as_posix()
    expect_error(folder, path, "show", path.stem, says=(location, *says))
    expect_edit_errors(folder, path, says=(location, *says))
    expect_error(folder, path, "archive", path.stem, "--force", "--reason", "It can't be read.", says=(location, *says))
    findings = lint(folder, path)
    assert [finding["code"] for finding in findings] == ["EP001"]
    assert all(phrase in findings[0]["message"] for phrase in says), findings
    assert path.read_bytes() == data


def lint(folder: Folder, path: Path) -> list[dict[str, Any]]:
    """The findings of lint in a file, which it tells the same way with and without flags; it leaves the file alone."""
    before = path.read_bytes()
    result = folder.run("lint", "--json", str(path))
    quick = folder.run("lint", str(path))
    checked_output(quick)
    findings: list[dict[str, Any]] = result.json["data"]["findings"]
    errors = any(finding["level"] == "error" for finding in findings)
    assert result.exit == quick.exit == (1 if errors else 0), result
    firsts = {
        finding["code"]: finding for finding in reversed(findings)
    }  # people see equal ones at the place of the first
    for finding in firsts.values():
        assert f"{path}:{finding['line']}:{finding['column']} {finding['code']} " in quick.out
    assert path.read_bytes() == before
    return findings


def codes(folder: Folder, path: Path) -> list[str]:
    """The codes of what lint finds."""
    return [finding["code"] for finding in lint(folder, path)]


def edit(folder: Folder, path: Path, *arguments: str) -> list[str]:
    """Expect a writer to write at one place; the lines that are new, each with its end."""
    before = _lines(path)
    assert ok(folder, arguments[0], "-p", str(path), *arguments[1:])["changed"]
    after = _lines(path)
    steps = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    changed = [step for step in steps if step[0] != "equal"]
    removed = [line for _, start, end, _, _ in changed for line in before[start:end]]
    assert len(changed) == 1, changed
    assert len(removed) < 2, removed
    return [line for _, _, _, start, end in changed for line in after[start:end]]


def _lines(path: Path) -> list[str]:
    text = Text.from_bytes(path.read_bytes())
    return [line + end for line, end in zip(text.lines, text.ends, strict=True)]


def expect_no_change(folder: Folder, path: Path, *arguments: str) -> None:
    """Expect a writer that is told the same again to change nothing."""
    before = path.read_bytes()
    assert not ok(folder, *arguments)["changed"]
    assert path.read_bytes() == before
