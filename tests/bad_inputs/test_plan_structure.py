"""Bad inputs 10, 11 and 15 to 24 and 26: what a plan's lines can be."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from unicodedata import normalize

import pytest

from tests.bad_inputs.assertions import WRITERS, checked_output, codes, edit, expect_edit_errors, expect_error, lint
from tests.plans import CLEAN

if TYPE_CHECKING:
    from tests.conftest import Folder

pytestmark = pytest.mark.exhaustive

GHOSTS = {
    "fence": "```\n- [ ] Ghost.\n```",
    "tildes": "~~~md\n- [x] Ghost.\n~~~",
    "comment": "<!--\n- [ ] Ghost.\n-->",
    "quote": "> - [ ] Ghost.",
    "indented": "    - [ ] Ghost.",
    "nested fence": "````md\n```\n- [ ] Ghost.\n```\n- [ ] Ghost.\n````",
    "fence of tildes around": "~~~\n```\n- [ ] Ghost.\n~~~",
    "longer close": "```\n- [ ] Ghost.\n`````",
    "info string closes nothing": "```\n- [ ] Ghost.\n``` sh\n- [ ] Ghost.\n```",
    "html": "<div>\n- [ ] Ghost.\n</div>",
    "script": "<script>\n\n- [ ] Ghost.\n\n</script>",
}
CONFLICT = """\
<<<<<<< HEAD
- [x] (2025-12-31 10:00Z) Build the parser.
=======
- [ ] Build the parser.
>>>>>>> theirs
"""
CONFLICT_LINE = 12


def without(section: str) -> str:
    """The clean plan without a section."""
    head, _, tail = CLEAN.partition(f"## {section}\n")
    rest = tail.partition("\n## ")[2]
    return head + ("## " + rest if rest else "")


@pytest.mark.parametrize("heading", ["Prоgress", "Ρrogress", "Prog\u200bress", "Progres", "Progresss", "P r o gress"])
def test_10_heading_that_looks_alike(plain: Folder, heading: str) -> None:
    """A heading with a letter of another script is not the section: it is missing, and the nearest is shown."""
    path = plain.plan(CLEAN.replace("## Progress", f"## {heading}"))
    error = expect_error(plain, path, "add", "Ship it.", says=("no section Progress", path.name))
    assert any("line 9" in candidate for candidate in error["candidates"]), error
    expect_error(plain, path, "done", "1", says=("Progress",))
    error = expect_error(plain, path, "show", "--section", "Progress", says=("Progress",))
    assert "did you mean" in error["hint"]
    findings = [finding for finding in lint(plain, path) if finding["code"] == "EP104"]
    assert len(findings) == 1
    assert heading.replace("\u200b", "") in findings[0]["message"].replace("\u200b", "")
    assert plain.ok("show")["counts"]["total"] == 0


def test_11_ids_in_two_unicode_forms(plain: Folder) -> None:
    """Two files whose names differ by their Unicode form only have the same id, and either form is ambiguous."""
    composed, parted = [normalize(form, "2026-01-01_café") for form in ("NFC", "NFD")]
    assert composed != parted
    path = plain.plan(name=composed)
    assert plain.ok("show", parted)["path"] == f".agent/execplans/{composed}.md"
    other_path = plain.plan(CLEAN.replace("parser", "lexer"), name=parted)
    for name in (composed, parted, normalize("NFC", "café"), f"{parted}.md"):
        for command in (("show", name), ("done", "2", "-p", name), ("archive", name)):
            error = expect_error(plain, path, *command)
            assert error["code"] == "ambiguous-plan"
            assert len(error["candidates"]) == 2
    plain.ok("done", "2", "-p", str(other_path))
    assert path.read_bytes() == CLEAN.encode()
    assert b"[x] (2026-01-01 00:00Z) Build the lexer." in other_path.read_bytes()
    assert plain.run("list").out.count("caf") == 2


def test_11_new_id_in_another_unicode_form(plain: Folder) -> None:
    """A name is taken in whichever form it was written."""
    path = plain.plan(name=normalize("NFD", "2026-01-01_café"))
    source = plain.write(normalize("NFC", "2026-01-01_café.md"), CLEAN)
    new_plan = plain.ok("new", "--from", source.name)
    assert new_plan["id"] == normalize("NFC", "2026-01-01_café-2")
    assert path.read_bytes() == CLEAN.encode()


@pytest.mark.parametrize("opener", ["```", "~~~~ sh", "<!-- unfinished", "<script>", "````md"])
def test_15_unclosed_before_the_target(plain: Folder, opener: str) -> None:
    """An unclosed fence or comment swallows all that follows: lint names its line, and no writer edits inside."""
    path = plain.plan(CLEAN.replace("## Progress\n", f"{opener}\n\n## Progress\n"))
    expect_edit_errors(plain, path, says=("line 9", path.name))
    expect_error(plain, path, "outcome", "It works.", "--create", says=("line 9",))
    findings = [finding for finding in lint(plain, path) if finding["code"] == "EP003"]
    assert [finding["line"] for finding in findings] == [9]
    expect_error(plain, path, "archive", "--force", "--reason", "Done elsewhere.", says=("line 9",))
    assert plain.ok("show")["counts"]["total"] == 0


def test_15_unclosed_behind_the_target(plain: Folder) -> None:
    """What stands before an unclosed fence can be edited."""
    content = CLEAN.replace("Every command calls", "```sh\nEvery command calls")
    path = plain.plan(content)
    for writer in (*WRITERS[:6], ("done", "3")):
        plain.ok(*writer)
    assert path.read_bytes().decode().partition("```sh\n")[2] == content.partition("```sh\n")[2]
    assert "EP003" in codes(plain, path)
    expect_error(plain, path, "archive", exit=1, says=("EP003", "is never closed"))


def test_15_unclosed_in_an_item(plain: Folder) -> None:
    """A fence that a list item opens ends with the item: it stops no edit of another section."""
    path = plain.plan(CLEAN.replace("- [ ] Build the parser.", "- [ ] Build the parser.\n\n  ```\n  make"))
    for writer in (("done", "1"), *WRITERS[2:6]):
        plain.run(*writer)
        assert plain.ok("show")["counts"]["total"] >= 3
    assert "EP003" in codes(plain, path)


@pytest.mark.parametrize("ghost", GHOSTS.values(), ids=list(GHOSTS))
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_16_17_boxes_that_are_no_tasks(plain: Folder, ghost: str, end: str) -> None:
    """A box in a fence, a comment, a quote or indented code is no task; the real ones around it keep their numbers."""
    content = CLEAN.replace("## Surprises", f"Then:\n\n{ghost}\n\n- [ ] Last one.\n\n## Surprises")
    content = content.replace("## Progress\n", f"## Progress\n\n{ghost}\n").replace("\n", end)
    path = plain.plan(content)
    tasks = plain.ok("show")["tasks"]
    assert [task["text"] for task in tasks] == ["Read lines.", "Build the parser.", "Write the tests.", "Last one."]
    assert not plain.ok("show")["checklists"]
    expect_error(plain, path, "done", "Ghost")
    expect_error(plain, path, "done", "5", says=("unknown task 5",))
    plain.ok("done", "4")
    assert path.read_bytes() == content.replace("[ ] Last", "[x] (2026-01-01 00:00Z) Last").encode()


def test_16_boxes_elsewhere(plain: Folder) -> None:
    """A box in another section is listed apart, and Progress without a task is a finding."""
    content = CLEAN.replace("`make test` passes.", "- [ ] `make test` passes.").replace("- [ ] ", "- ", 2)
    path = plain.plan(content.replace("- [x] (2025-12-30 09:15Z) ", "- ").replace("- Build", "> - [ ] Build"))
    plan_data = plain.ok("show")
    assert not plan_data["tasks"]
    assert [checklist["section"] for checklist in plan_data["checklists"]] == ["Validation and Acceptance"]
    assert "EP201" in codes(plain, path)
    expect_error(plain, path, "done", "1", says=("unknown task 1",))
    assert plain.ok("next")["task"] is None


@pytest.mark.parametrize(
    ("section", "writer"),
    [("Progress", w) for w in WRITERS[:3]]
    + [
        ("Decision Log", WRITERS[3]),
        ("Surprises and Discoveries", WRITERS[4]),
        ("Outcomes & Retrospective (So Far)", WRITERS[5]),
    ],
)
def test_18_section_twice(plain: Folder, section: str, writer: tuple[str, ...]) -> None:
    """An edit of a section that stands there twice is refused with both lines; other sections can be edited."""
    content = CLEAN + f"\n## {section}\n\n- [ ] Other.\n"
    path = plain.plan(content)
    last_line = len(content.splitlines()) - 2
    first_line = content[: content.index(f"## {section[:8]}")].count("\n") + 1
    expect_error(plain, path, *writer, says=(f"line {first_line}", f"line {last_line}", path.name))
    expect_error(plain, path, *writer, "--dry-run", says=(str(first_line), str(last_line)))
    findings = [finding for finding in lint(plain, path) if finding["code"] == "EP105"]
    assert [finding["line"] for finding in findings] == [last_line]
    assert f"line {first_line}" in findings[0]["message"]
    other_writer = WRITERS[2] if writer is not WRITERS[2] and section != "Progress" else WRITERS[5]
    edit(plain, path, *other_writer)
    assert plain.ok("show")["counts"]["done"] == 1


@pytest.mark.parametrize(
    ("section", "writer"),
    [
        ("Progress", WRITERS[2]),
        ("Decision Log", WRITERS[3]),
        ("Surprises & Discoveries", WRITERS[4]),
        ("Outcomes & Retrospective", WRITERS[5]),
    ],
)
def test_19_missing_section(plain: Folder, section: str, writer: tuple[str, ...]) -> None:
    """A missing section is a finding; an edit of it needs `--create`, which adds it where the order puts it."""
    path = plain.plan(without(section))
    expect_error(plain, path, *writer, says=(section, "--create", path.name))
    findings = [finding for finding in lint(plain, path) if finding["code"] == "EP104"]
    assert section in findings[0]["message"]
    plain.ok(*writer, "--create")
    titles = [entry["title"] for entry in plain.ok("show")["sections"]]
    assert titles == [line[3:] for line in CLEAN.splitlines() if line.startswith("## ")]
    new_text = path.read_bytes().decode()
    assert new_text.startswith(without(section).partition(f"## {titles[titles.index(section) + 1]}")[0])
    assert "\n\n\n" not in new_text
    if section != "Progress":
        assert "EP104" not in codes(plain, path)


def test_19_done_without_progress(plain: Folder) -> None:
    """`done` and `reopen` of a plan without Progress say so, and what adds it: they take no `--create` themselves."""
    path = plain.plan(without("Progress"))
    for command in ("done", "reopen"):
        error = expect_error(plain, path, command, "1", says=("Progress",))
        assert error["hint"] == "add it in the right place: execplan add 'First step' --create -p 2026-01-01_parser"
    assert plain.ok("status")["plans"][0]["next"] is None


def test_19_create_in_a_plan_that_is_only_a_title(plain: Folder) -> None:
    """`--create` gives a plan its first sections, in order, whatever order they are written in."""
    path = plain.plan("# T")
    for writer in (WRITERS[5], WRITERS[2], WRITERS[4], WRITERS[3]):
        plain.ok(*writer, "--create")
    lines = path.read_bytes().decode().splitlines()
    assert [line for line in lines if line.startswith("## ")] == [
        "## Progress",
        "## Surprises & Discoveries",
        "## Decision Log",
        "## Outcomes & Retrospective",
    ]
    assert not path.read_bytes().endswith(b"\n")


@pytest.mark.parametrize(
    "heading",
    [
        "Progress\n--------",
        "Progress\n-",
        "## Progress ##",
        "##   Progress   ########",
        "   ## Progress",
        "##\tProgress",
    ],
)
def test_20_headings(plain: Folder, heading: str) -> None:
    """Setext headings and closed ATX headings open sections."""
    content = CLEAN.replace("## Progress", heading).replace("# Build the parser", "Build the parser\n===")
    path = plain.plan(content)
    plan_data = plain.ok("show")
    assert plan_data["title"] == "Build the parser"
    assert [section["name"] for section in plan_data["sections"]][1] == "Progress"
    assert codes(plain, path) == (["EP007"] if heading.startswith(" ") else [])
    plain.ok("done", "2")
    expected = content.replace("[ ] Build", "[x] (2026-01-01 00:00Z) Build")
    assert path.read_bytes() == expected.encode()
    assert edit(plain, path, "add", "Ship it.") == ["- [ ] Ship it.\n"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_21_conflict_markers(plain: Folder, end: str) -> None:
    """Conflict markers: reading verbs show the plan and warn, edits and `archive` refuse even by force."""
    content = CLEAN.replace("- [ ] Build the parser.\n", CONFLICT).replace("\n", end)
    path = plain.plan(content)
    for command in ("show", "list", "status", "next"):
        document = plain.run(command, "--json")
        assert document.exit == 0, document
        assert any("conflict" in warning for warning in document.json["warnings"]), (command, document)
        text_result = plain.run(command)
        assert text_result.exit == 0
        assert f"line {CONFLICT_LINE}" in text_result.err
        assert "conflict" in checked_output(text_result)
    assert plain.ok("show")["counts"]["total"] == 4
    expect_edit_errors(plain, path, says=("conflict", f"line {CONFLICT_LINE}"))
    expect_error(plain, path, "archive", says=("conflict",))
    expect_error(plain, path, "archive", "--force", "--reason", "Enough.", says=("conflict",))
    expect_error(plain, path, "done", "2", "--dry-run", says=("conflict",))
    findings = [finding for finding in lint(plain, path) if finding["code"] == "EP002"]
    assert [finding["line"] for finding in findings] == [CONFLICT_LINE]


def test_21_conflict_markers_of_diff3(plain: Folder) -> None:
    """The marker of the common ancestor is one too; a setext underline or a quote of text is none."""
    path = plain.plan(CLEAN.replace("- [ ] Build the parser.\n", CONFLICT.replace("===", "||||||| base\n===", 1)))
    expect_error(plain, path, "done", "1", says=("conflict",))
    path.write_text(CLEAN.replace("# Build the parser", "Build the parser\n======="), encoding="utf-8")
    assert codes(plain, path) == []
    plain.ok("done", "2")


def test_22_identical_tasks(plain: Folder) -> None:
    """Words that fit two tasks are refused with the ids; each id and each number names one."""
    content = CLEAN.replace("Write the tests.", "build  THE parser.")
    path = plain.plan(content)
    ids = [task["id"] for task in plain.ok("show")["tasks"]]
    assert ids[2] == f"{ids[1]}-2"
    for command in (("done", "Build the parser."), ("reopen", "parser"), ("add", "New.", "--after", "parser")):
        error = expect_error(plain, path, *command, says=(ids[1], ids[2], path.name))
        assert error["code"] == "ambiguous-task"
    plain.ok("done", ids[2])
    assert path.read_bytes() == content.replace("[ ] build", "[x] (2026-01-01 00:00Z) build").encode()
    plain.ok("reopen", "3")
    plain.ok("done", ids[1])
    assert path.read_bytes() == content.replace("[ ] Build", "[x] (2026-01-01 00:00Z) Build").encode()


@pytest.mark.parametrize("mark", ["~", "-", "/", "!", "?", "✓", "✅", "\u00a0", "0", "]"])
def test_23_odd_boxes(plain: Folder, mark: str) -> None:
    """A box with another character is counted apart, shown, and left alone by what is done to other tasks."""
    content = CLEAN.replace("- [ ] Build", f"- [{mark}] Build")
    path = plain.plan(content)
    plan_data = plain.ok("show")
    assert plan_data["counts"] == {"open": 1, "done": 1, "other": 1, "total": 3}
    assert (plan_data["tasks"][1]["state"], plan_data["tasks"][1]["mark"]) == ("other", mark)
    assert f"[{mark}] Build the parser." in plain.run("show").out
    assert "other" in plain.run("status").out
    assert plain.ok("next")["task"]["number"] == (3 if mark == "-" else 2)
    for writer in (("done", "3"), ("reopen", "1"), *WRITERS[2:6]):
        plain.ok(*writer)
    assert f"- [{mark}] Build the parser.\n".encode() in path.read_bytes()
    plain.ok("done", "1")
    assert plain.ok("show")["counts"]["other"] == 1


@pytest.mark.parametrize(
    "stamp",
    [
        "(2026-02-30 10:00Z)",
        "(2026-13-01)",
        "(2025-02-29 00:00Z)",
        "2026-00-10",
        "2025-12-30T24:01:00Z",
        "(2025-12-30 10:60Z)",
        "(0000-01-01)",
        "(2025-12-30 10:00 +25:00)",
    ],
)
def test_24_impossible_stamps(plain: Folder, stamp: str) -> None:
    """A stamp that no calendar has is a finding; its bytes stay, and no new stamp is shaped after it."""
    content = CLEAN.replace("(2025-12-30 09:15Z)", stamp)
    path = plain.plan(content)
    findings = [finding for finding in lint(plain, path) if finding["code"] == "EP203"]
    assert [(finding["line"], finding["column"]) for finding in findings] == [(11, 7)]
    assert stamp in findings[0]["message"]
    for command in ("show", "list", "status", "next"):
        assert plain.run(command).exit == 0
    plain.ok("done", "2")
    assert path.read_bytes() == content.replace("[ ] Build", "[x] (2026-01-01 00:00Z) Build").encode()
    plain.ok("done", "1")
    assert path.read_bytes() == content.replace("[ ] Build", "[x] (2026-01-01 00:00Z) Build").encode()


def test_24_future_stamp_is_left_alone(plain: Folder) -> None:
    """A stamp of the future stays as it is."""
    content = CLEAN.replace("(2025-12-30 09:15Z)", "(2999-12-30 09:15Z)")
    path = plain.plan(content)
    plain.ok("done", "2")
    assert path.read_bytes() == content.replace("[ ] Build", "[x] (2026-01-01 00:00Z) Build").encode()
    assert plain.ok("status")["plans"][0]["stalled"] is False


def test_26_front_matter_and_html(plain: Folder) -> None:
    """Front matter and HTML are kept byte for byte by every writer."""
    front = "---\ntitle: 'a: b'\ntags: [ ]\nlist:\n- [ ] no task\n# no title\n---\n"
    html = "<details>\n<summary>More</summary>\n\n  <b>x</b>  \n\n</details>\n\n<!-- a\n\n## Progress\n\n- [ ] no task\n-->\n"
    content = front + CLEAN.replace("## Progress\n", f"{html}\n## Progress\n")
    path = plain.plan(content)
    plan_data = plain.ok("show")
    assert (plan_data["title"], plan_data["counts"]["total"]) == ("Build the parser", 3)
    # Another title in the front matter, a list that is not YAML, spaces behind `</b>`.
    assert codes(plain, path) == ["EP115", "EP116", "EP006"]
    for writer in WRITERS:
        plain.ok(*writer)
    data = path.read_bytes().decode()
    assert data.startswith(front + "# Build the parser\n")
    assert html in data
    assert data.count("no task") == 2


def test_26_file_is_left_as_it_was_by_the_reading_verbs(plain: Folder) -> None:
    """Reading writes nothing, not even a time."""
    path = plain.plan("---\na: b\n---\n" + CLEAN)
    os.utime(path, (1, 1))
    before = path.stat()
    for command in ("show", "list", "status", "next", "lint"):
        plain.run(command)
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert not (plain.path / ".agent" / ".state").exists()
