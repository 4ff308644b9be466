"""Bad input 25: structure in the words that are handed in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.bad.tools import calm, codes, names_in, ok, refuse, repeat
from tests.plans import CLEAN

if TYPE_CHECKING:
    from tests.conftest import Folder

WORDS = {
    "heading": "## Progress",
    "title": "# Another title",
    "box": "- [ ] Ghost",
    "done box": "[x] Ghost",
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


def said(folder: Folder, words: str) -> dict[str, Any]:
    """What a plan says once every writer has been handed the words."""
    ok(folder, "add", "--", words)
    ok(folder, "decide", f"--why={words}", "--", words)
    ok(folder, "discover", f"--evidence={words}", "--", words)
    ok(folder, "outcome", "--", words)
    return folder.ok("show")


def plain_words(text: str | None) -> str:
    """Words without the backslashes that keep them words."""
    return (text or "").replace("\\", "")


@pytest.mark.parametrize("words", WORDS.values(), ids=list(WORDS))
@pytest.mark.parametrize("content", [CLEAN, WRAPPED], ids=["plain", "wrapped"])
def test_25_structure_in_words(plain: Folder, words: str, content: str) -> None:
    """Words are words: one task, decision, discovery and outcome more, and every line of before still there, in order."""
    path = plain.plan(content)
    shown = said(plain, words)
    meant = plain_words(words.replace("@@", "@"))
    stamped = meant.partition(") " if meant[0] == "(" else " ")[2] if "the build broke" in meant else meant
    assert shown["counts"] == {"open": 3, "done": 1, "other": 0, "total": 4}
    assert plain_words(shown["tasks"][3]["text"]) == stamped.removeprefix("(YYYY-MM-DD HH:MM) ")
    assert len(shown["sections"]) == 12
    assert not shown["checklists"]
    assert not shown["revisions"]
    decision, discovery, outcome = (shown[each][-1] for each in ("decisions", "discoveries", "outcomes"))
    assert plain_words(decision["text"]) == plain_words(decision["rationale"]) == meant
    assert (decision["author"], decision["date"], decision["supersedes"]) == ("Ann", "2026-01-01", None)
    assert plain_words(discovery["text"]) == plain_words(discovery["evidence"]) == meant
    assert plain_words(outcome["text"]) == stamped
    assert (len(shown["decisions"]), len(shown["discoveries"])) == (2, 2)
    rest = iter(path.read_bytes().decode().splitlines())
    assert all(line in rest for line in content.splitlines())
    assert set(codes(plain, path)) <= {"EP203", "EP204"}


@pytest.mark.parametrize("name", ["heading", "rationale first", "supersedes", "note", "stamp", "definition", "box"])
def test_25_words_said_twice(plain: Folder, name: str) -> None:
    """Words that were escaped are known again."""
    path = plain.plan()
    words = WORDS[name]
    said(plain, words)
    repeat(plain, path, "add", "--", words)
    repeat(plain, path, "decide", f"--why={words}", "--", words)
    repeat(plain, path, "discover", f"--evidence={words}", "--", words)
    repeat(plain, path, "outcome", "--", words)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\u2028", "\v", "\n\n"])
def test_25_words_of_many_lines(plain: Folder, end: str) -> None:
    """Words of many lines become one: from an argument, a file, standard input."""
    words = end.join(["First", "## Progress", "- [ ] Ghost", "```", "-->", "---", "Rationale: none"])
    meant = "First ## Progress - [ ] Ghost ``` --> --- Rationale: none"
    for source in ("argument", "file", "stdin"):
        plain.plan(name=source)
        plain.write("words.txt", words)
        given = {"argument": words, "file": "@words.txt", "stdin": "-"}[source]
        for verb in (("add",), ("decide", "--why=It is."), ("discover", "--evidence=It is."), ("outcome",)):
            ok(plain, *verb, "-p", source, "--", given, stdin=words.encode())
        shown = plain.ok("show", source)
        assert shown["counts"]["total"] == 4
        assert len(shown["sections"]) == 12
        got = [shown["tasks"][3], shown["decisions"][1], shown["discoveries"][1], shown["outcomes"][1]]
        assert [plain_words(each["text"]) for each in got] == [meant] * 4


def test_25_words_that_are_wrapped(plain: Folder) -> None:
    """Where neighbours are wrapped, no line that is wrapped begins with what opens a block."""
    path = plain.plan(WRAPPED)
    markers = ["-", "*", "1.", "#", ">", "```", "~~~", "---", "===", "<!--", "+", "=======", "<div>", "Rationale: x"]
    shown = said(plain, " ".join(f"{'word ' * each}{marker}" for each in range(1, 9) for marker in markers))
    assert shown["counts"]["total"] == 4
    assert len(shown["sections"]) == 12
    assert (len(shown["decisions"]), len(shown["discoveries"])) == (2, 2)
    for line in path.read_bytes().decode().splitlines():
        assert not line.strip().startswith((">", "```", "~~~", "===", "<!--", "<div>"))
    assert codes(plain, path) == []


def test_25_very_long_words(plain: Folder) -> None:
    """Long words are written whole, in one line where the neighbours stand in one."""
    path = plain.plan()
    words = "very " * 20_000 + "long"
    shown = said(plain, words)
    assert shown["tasks"][3]["text"] == words
    assert shown["decisions"][1]["rationale"] == words
    assert shown["outcomes"][1]["text"] == words
    assert codes(plain, path) == []
    plain.write("long.txt", "x" * ((1 << 20) + 1))
    refuse(plain, path, "add", "@long.txt", exit=2, says=("1,048,576",))


@pytest.mark.parametrize("words", ["", " ", "\n", "…", "None yet.", "TBD", "```", "---"])
def test_25_words_that_say_nothing(plain: Folder, words: str) -> None:
    """Words that say nothing are refused, whichever they are for."""
    path = plain.plan()
    for verb in (
        ("add", "--", words),
        ("outcome", "--", words),
        ("decide", "--why=x", "--", words),
        ("decide", f"--why={words}", "--", "x"),
        ("discover", f"--evidence={words}", "--", "x"),
    ):
        refuse(plain, path, *verb, exit=2, says=("says nothing",))


@pytest.mark.parametrize("char", ["\x01", "\x1b[31m", "\x7f", "\u202e", "\u2066", "\u200b", "\ue000", "\ufdd0"])
def test_25_characters_that_no_plan_should_hold(plain: Folder, char: str) -> None:
    """Control and direction characters are refused by name, and never printed as they are."""
    path = plain.plan()
    for verb in (("add", f"a{char}b"), ("outcome", f"a{char}b"), ("decide", "x", "--why", f"a{char}b")):
        refuse(plain, path, *verb, exit=2, says=(f"U+{ord(char[0]):04X}",))
        assert char[0] not in plain.run(*verb).err
        assert char[0] not in plain.run(*verb, "--dry-run").err


def test_25_words_that_are_no_utf8(plain: Folder) -> None:
    """Bytes in an argument that are no UTF-8 are refused, or name nothing, without a traceback."""
    path = plain.plan()
    bodies = (("set", "Progress", "a\udcff"), ("note", "a", "--excerpt", "a\udcff\rb\n"))
    for verb in (("add", "a\udcff"), ("outcome", "a\udcff"), ("new", "a\udcff"), *bodies):
        refuse(plain, path, *verb, exit=2, says=("U+DCFF",))
    for verb in (("done", "a\udcff"), ("show", "a\udcff"), ("show", "a\udcff.md"), ("show", "x\udcff")):
        refuse(plain, path, *verb)
    refuse(plain, path, "show", "--section", "\udcff")
    plain.write("words.txt", b"a\xff")
    refuse(plain, path, "add", "@words.txt", says=("offset 1", "words.txt"))


def test_25_leading_dash_and_at_sign(plain: Folder) -> None:
    """Text that begins with a dash follows `--`; `@@` begins words that begin with an at sign."""
    path = plain.plan()
    error = refuse(plain, path, "add", "-x is new", exit=2)
    assert "put -- before text that begins with a dash" in error["hint"]
    error = refuse(plain, path, "add", "@ann", says=("ann",))
    assert "@@ann" in error["hint"]
    refuse(plain, path, "add", "@.", says=("directory",))
    refuse(plain, path, "add", "@/dev/zero", says=("/dev/zero",))
    ok(plain, "add", "--", "-x is new")
    plain.ok("add", "@@ann agrees")
    assert [each["text"] for each in plain.ok("show")["tasks"]][3:] == ["-x is new", "@ann agrees"]
    assert b"- [ ] -x is new\n- [ ] @ann agrees\n" in path.read_bytes()


@pytest.mark.parametrize("name", list(WORDS))
def test_25_words_of_a_new_plan(plain: Folder, name: str) -> None:
    """Title, purpose and tasks of a new plan are words too."""
    words = WORDS[name]
    purpose = words.replace("- [ ] Ghost", "- Ghost")
    made = ok(plain, "new", f"--purpose={purpose}", f"--task={words}", "--", words)
    path = plain.path / made["path"]
    shown = ok(plain, "show", "--", str(path))
    assert plain_words(shown["title"]) == plain_words(words)
    assert len(shown["sections"]) == 12
    assert shown["counts"]["total"] == 1
    assert not shown["checklists"]
    text = ok(plain, "show", "--section", "Purpose", "--", str(path))["text"]
    assert plain_words(text.splitlines()[2]).removeprefix("- ") == plain_words(purpose.replace("@@", "@")).removeprefix(
        "- "
    )
    assert set(codes(plain, path)) <= {"EP109", "EP112", "EP203", "EP204"}
    assert len(names_in(path)) == 2


def test_25_words_in_the_other_flags(plain: Folder) -> None:
    """Author, heading, decision and reason are words too."""
    path = plain.plan(CLEAN.replace("- [ ] Build", "- [x] Build").replace("- [ ] Write", "- [~] Write"))
    for author in ("Ann\n## Progress", "Ann - [ ] x", "<!-- Ann", "Ann: Rationale: x"):
        result = plain.run("decide", f"By {author.split()[-1]}", "--why", "x", "--author", author)
        assert result.exit == 0, calm(result)
    assert len(plain.ok("show")["sections"]) == 12
    refuse(plain, path, "add", "x", "--under", "```\n## Progress")
    refuse(plain, path, "decide", "x", "--why", "y", "--supersedes", "- [ ]\n")
    reason = "It is over\n\n## Progress\n- [ ] Ghost\n```"
    path.write_bytes(path.read_bytes().replace(b"Lines can be read.", b"None yet."))
    moved = plain.ok("archive", "--force", "--reason", reason)
    shown = plain.ok("show", "parser")
    assert moved["changed"]
    assert (len(shown["sections"]), shown["counts"]["total"], len(shown["revisions"])) == (12, 3, 1)
    assert shown["revisions"][0]["text"].startswith("Archived by force: It is over")
