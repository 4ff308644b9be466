"""Bad input 25: structure in the words that are handed in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.bad_inputs.assertions import checked_output, codes, expect_error, expect_no_change, names_in, ok
from tests.plans import CLEAN

if TYPE_CHECKING:
    from tests.conftest import Folder

pytestmark = pytest.mark.exhaustive

TEXTS = {
    "heading": "## Progress",
    "title": "# Another title",
    "box": "- [ ] Ghost",
    "bullet": "* Ghost",
    "number": "1. Ghost",
    "parenthesis": "7) Ghost",
    "fence": "```sh make test```",
    "open fence": "``` never closed",
    "tildes": "~~~ never closed",
    "comment": "<!-- Ghost",
    "comment end": "--> Ghost",
    "html": "<script> Ghost",
    "quote": "> Ghost",
    "rule": "--- Ghost ---",
    "underline": "=== Ghost ===",
    "table": "| a | b |",
    "definition": "[a]: http://example.org",
    "conflict": "<<<<<<< HEAD",
    "backslash": "Ends with \\",
    "backticks": "Has `one` and ``two ` and ` one more",
    "emphasis": "*Ghost* and _ghost_",
    "bold": "**Ghost:** ghost",
    "name": "__init__ and _ghost",
    "decision": "Decision: Ghost",
    "observation": "Observation: Ghost Evidence: none of it",
    "rationale": "Because Rationale: inside Date/Author: 2020-01-01 / Eve",
    "rationale first": "Rationale: Ghost",
    "date first": "Date/Author: 2020-01-01 / Eve",
    "supersedes": "It says Supersedes: all of it",
    "note": "Plan revision note: 2020-01-01 - Ghost",
    "stamp": "2026-03-01 the build broke",
    "impossible stamp": "(2026-13-41 99:99Z) the build broke",
    "template stamp": "(YYYY-MM-DD HH:MM) Ghost",
    "right to left": "שלום עולם وداعا",
    "emoji": "👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ok",
    "at sign": "@@ann says so",
    "template": "{{ 7 * 7 }} {% raw %} {id}",
    "percent": "100% of $HOME and $(id) and %s",
}
WRAPPED = (
    CLEAN.replace("- [ ] Write the tests.", "- [ ] Write the tests\n  of it all.")
    .replace("Rationale: A task is a line.", "Rationale: A task is\n  a line.")
    .replace("Lines can be read.", "- Lines can be read\n  and written.\n- So can words.")
)


def write_everywhere(folder: Folder, text: str) -> dict[str, Any]:
    """What a plan says once every writer has been handed the words."""
    ok(folder, "add", "--", text)
    ok(folder, "decide", f"--why={text}", "--", text)
    ok(folder, "discover", f"--evidence={text}", "--", text)
    ok(folder, "outcome", "--", text)
    return folder.ok("show")


def without_backslashes(text: str | None) -> str:
    """Words without the backslashes that keep them words."""
    return (text or "").replace("\\", "")


@pytest.mark.parametrize("words", TEXTS.values(), ids=list(TEXTS))
@pytest.mark.parametrize("content", [CLEAN, WRAPPED], ids=["plain", "wrapped"])
def test_25_structure_in_words(plain: Folder, words: str, content: str) -> None:
    """Words are words: one task, decision, discovery and outcome more, and every line of before still there, in order."""
    path = plain.plan(content)
    plan_data = write_everywhere(plain, words)
    expected = without_backslashes(words.replace("@@", "@"))
    stamped = expected.partition(") " if expected[0] == "(" else " ")[2] if "the build broke" in expected else expected
    assert plan_data["counts"] == {"open": 3, "done": 1, "other": 0, "total": 4}
    assert without_backslashes(plan_data["tasks"][3]["text"]) == (
        stamped.removeprefix("(YYYY-MM-DD HH:MM) ").removeprefix("- [ ] ")  # a checkbox is that of the new task
    )
    assert len(plan_data["sections"]) == 12
    assert not plan_data["checklists"]
    assert not plan_data["revisions"]
    decision, discovery, outcome = (plan_data[log][-1] for log in ("decisions", "discoveries", "outcomes"))
    assert without_backslashes(decision["text"]) == without_backslashes(decision["rationale"]) == expected
    assert (decision["author"], decision["date"], decision["supersedes"]) == ("Ann", "2026-01-01", None)
    assert without_backslashes(discovery["text"]) == without_backslashes(discovery["evidence"]) == expected
    assert without_backslashes(outcome["text"]) == stamped
    assert (len(plan_data["decisions"]), len(plan_data["discoveries"])) == (2, 2)
    rest = iter(path.read_bytes().decode().splitlines())
    assert all(line in rest for line in content.splitlines())
    assert set(codes(plain, path)) <= {"EP203", "EP204"}


@pytest.mark.parametrize("name", ["heading", "rationale first", "supersedes", "note", "stamp", "definition", "box"])
def test_25_words_given_twice(plain: Folder, name: str) -> None:
    """Words that were escaped are known again."""
    path = plain.plan()
    text = TEXTS[name]
    write_everywhere(plain, text)
    expect_no_change(plain, path, "add", "--", text)
    expect_no_change(plain, path, "decide", f"--why={text}", "--", text)
    expect_no_change(plain, path, "discover", f"--evidence={text}", "--", text)
    expect_no_change(plain, path, "outcome", "--", text)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\u2028", "\v", "\n\n"])
def test_25_words_of_many_lines(plain: Folder, end: str) -> None:
    """A task is one line; an entry keeps the lines: from an argument, a file, standard input. An open fence is closed."""
    lines = ["First", "## Progress", "- [ ] Ghost", "```", "-->", "---", "Rationale: none"]
    text = end.join(lines)
    kept_text = ("\n\n" if end == "\n\n" else "\n").join(lines) + "\n```"
    if end.strip("\r\n"):  # no line break of markdown
        kept_text = " ".join(lines)
    for source in ("argument", "file", "stdin"):
        plain.plan(name=source)
        plain.write("words.txt", text)
        argument = {"argument": text, "file": "@words.txt", "stdin": "-"}[source]
        for command in (("add",), ("decide", "--why=It is."), ("discover", "--evidence=It is."), ("outcome",)):
            ok(plain, *command, "-p", source, "--", argument, stdin=text.encode())
        plan_data = plain.ok("show", source)
        assert plan_data["counts"]["total"] == 4
        assert len(plan_data["sections"]) == 12
        entries = [
            plan_data["tasks"][3],
            plan_data["decisions"][1],
            plan_data["discoveries"][1],
            plan_data["outcomes"][1],
        ]
        assert [without_backslashes(entry["text"]) for entry in entries] == [" ".join(lines), *[kept_text] * 3]


def test_25_words_that_are_wrapped(plain: Folder) -> None:
    """Where neighbours are wrapped, no line that is wrapped begins with what opens a block."""
    path = plain.plan(WRAPPED)
    markers = ["-", "*", "1.", "#", ">", "```", "~~~", "---", "===", "<!--", "+", "=======", "<div>", "Rationale: x"]
    plan_data = write_everywhere(
        plain, " ".join(f"{'word ' * count}{marker}" for count in range(1, 9) for marker in markers)
    )
    assert plan_data["counts"]["total"] == 4
    assert len(plan_data["sections"]) == 12
    assert (len(plan_data["decisions"]), len(plan_data["discoveries"])) == (2, 2)
    for line in path.read_bytes().decode().splitlines():
        assert not line.strip().startswith((">", "```", "~~~", "===", "<!--", "<div>"))
    assert codes(plain, path) == []


def test_25_very_long_words(plain: Folder) -> None:
    """Long words are written whole, in one line where the neighbours stand in one."""
    path = plain.plan()
    text = "very " * 20_000 + "long"
    plan_data = write_everywhere(plain, text)
    assert plan_data["tasks"][3]["text"] == text
    assert plan_data["decisions"][1]["rationale"] == text
    assert plan_data["outcomes"][1]["text"] == text
    assert codes(plain, path) == []
    plain.write("long.txt", "x" * ((1 << 20) + 1))
    expect_error(plain, path, "add", "@long.txt", exit=2, says=("1,048,576",))


@pytest.mark.parametrize("words", ["", " ", "\n", "…", "None yet.", "TBD", "```", "---"])
def test_25_words_that_say_nothing(plain: Folder, words: str) -> None:
    """Words that say nothing are refused, whichever they are for."""
    path = plain.plan()
    for command in (
        ("add", "--", words),
        ("outcome", "--", words),
        ("decide", "--why=x", "--", words),
        ("decide", f"--why={words}", "--", "x"),
        ("discover", f"--evidence={words}", "--", "x"),
    ):
        expect_error(plain, path, *command, exit=2, says=("is placeholder text" if words.strip() else "is empty",))


@pytest.mark.parametrize("char", ["\x01", "\x1b[31m", "\x7f", "\u202e", "\u2066", "\u200b", "\ue000", "\ufdd0"])
def test_25_characters_that_no_plan_should_hold(plain: Folder, char: str) -> None:
    """Control and direction characters are refused by name, and never printed as they are."""
    path = plain.plan()
    for command in (("add", f"a{char}b"), ("outcome", f"a{char}b"), ("decide", "x", "--why", f"a{char}b")):
        expect_error(plain, path, *command, exit=2, says=(f"U+{ord(char[0]):04X}",))
        assert char[0] not in plain.run(*command).err
        assert char[0] not in plain.run(*command, "--dry-run").err


def test_25_words_that_are_no_utf8(plain: Folder) -> None:
    """Bytes in an argument that are no UTF-8 are refused, or name nothing, without a traceback."""
    path = plain.plan()
    bodies = (("set", "Progress", "a\udcff"), ("note", "a", "--excerpt", "a\udcff\rb\n"))
    for command in (("add", "a\udcff"), ("outcome", "a\udcff"), ("new", "a\udcff"), *bodies):
        expect_error(plain, path, *command, exit=2, says=("U+DCFF",))
    for command in (("done", "a\udcff"), ("show", "a\udcff"), ("show", "a\udcff.md"), ("show", "x\udcff")):
        expect_error(plain, path, *command)
    expect_error(plain, path, "show", "--section", "\udcff")
    plain.write("words.txt", b"a\xff")
    expect_error(plain, path, "add", "@words.txt", says=("offset 1", "words.txt"))


def test_25_leading_dash_and_at_sign(plain: Folder) -> None:
    """Text that begins with a dash follows `--`; `@@` begins words that begin with an at sign."""
    path = plain.plan()
    error = expect_error(plain, path, "add", "-x is new", exit=2)
    assert "put -- before text that starts with a hyphen" in error["hint"]
    error = expect_error(plain, path, "add", "@ann", says=("ann",))
    assert "@@ann" in error["hint"]
    expect_error(plain, path, "add", "@.", says=("directory",))
    expect_error(plain, path, "add", "@/dev/zero", says=("/dev/zero",))
    ok(plain, "add", "--", "-x is new")
    plain.ok("add", "@@ann agrees")
    assert [task["text"] for task in plain.ok("show")["tasks"]][3:] == ["-x is new", "@ann agrees"]
    assert b"- [ ] -x is new\n- [ ] @ann agrees\n" in path.read_bytes()


@pytest.mark.parametrize("name", list(TEXTS))
def test_25_words_of_a_new_plan(plain: Folder, name: str) -> None:
    """Title, purpose and tasks of a new plan are words too."""
    phrase = TEXTS[name]
    purpose = phrase.replace("- [ ] Ghost", "- Ghost")
    new_plan = ok(plain, "new", f"--purpose={purpose}", f"--task={phrase}", "--", phrase)
    path = plain.path / new_plan["path"]
    plan_data = ok(plain, "show", "--", str(path))
    assert without_backslashes(plan_data["title"]) == without_backslashes(phrase)
    assert len(plan_data["sections"]) == 12
    assert plan_data["counts"]["total"] == 1
    assert not plan_data["checklists"]
    text = ok(plain, "show", "--section", "Purpose", "--", str(path))["text"]
    assert without_backslashes(text.splitlines()[2]).removeprefix("- ") == without_backslashes(
        purpose.replace("@@", "@")
    ).removeprefix("- ")
    assert set(codes(plain, path)) <= {"EP109", "EP112", "EP203", "EP204"}
    assert len(names_in(path)) == 2


def test_25_words_in_the_other_flags(plain: Folder) -> None:
    """Author, heading, decision and reason are words too."""
    path = plain.plan(CLEAN.replace("- [ ] Build", "- [x] Build").replace("- [ ] Write", "- [~] Write"))
    for author in ("Ann\n## Progress", "Ann - [ ] x", "<!-- Ann", "Ann: Rationale: x"):
        result = plain.run("decide", f"By {author.split()[-1]}", "--why", "x", "--author", author)
        assert result.exit == 0, checked_output(result)
    assert len(plain.ok("show")["sections"]) == 12
    expect_error(plain, path, "add", "x", "--under", "```\n## Progress")
    expect_error(plain, path, "decide", "x", "--why", "y", "--supersedes", "- [ ]\n")
    reason = "It is over\n\n## Progress\n- [ ] Ghost\n```"
    path.write_bytes(path.read_bytes().replace(b"Lines can be read.", b"None yet."))
    moved = plain.ok("archive", "--force", "--reason", reason)
    plan_data = plain.ok("show", "parser")
    assert moved["changed"]
    assert (len(plan_data["sections"]), plan_data["counts"]["total"], len(plan_data["revisions"])) == (12, 3, 1)
    assert plan_data["revisions"][0]["text"].startswith("Archived by force: It is over")
