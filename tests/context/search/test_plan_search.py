"""Searches in real repositories: what is found, and that the index is never trusted over the files."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.context.search import plan_search
from execplan.context.search.index_records import PlanRecord, find_marks, indexed_items, prepare_text
from execplan.context.search.index_update import PlanFile
from execplan.context.search.plan_search import PlanResult, SearchResults, search
from execplan.context.search.search_items import plan_items
from execplan.context.search.search_query import SearchQuery, SearchWord
from execplan.core.errors import ExecplanError
from execplan.core.plan import reader
from execplan.core.plan_facts import index_file
from execplan.core.project import project_discovery
from execplan.core.text.accents import remove_accents
from execplan.library.project_api import Project
from tests.conftest import Folder
from tests.plans import CLEAN

ID = "2026-01-01_parser"
PATH = f".agent/execplans/{ID}.md"


def find(folder: Folder, query: str, *, limit: int = 10, matches_per_plan: int = 3) -> SearchResults:
    """Search in the process of the test."""
    project = project_discovery.require(str(folder.path))
    return search(project, query, limit=limit, matches_per_plan=matches_per_plan)


def lines(folder: Folder, query: str) -> list[tuple[str, int, str]]:
    """The matching lines with their paths and numbers, at most 100 of a plan, in the order of the result."""
    results = find(folder, query, limit=100, matches_per_plan=100)
    return [(match.path, match.line, match.text) for plan in results.plans for match in plan.matches]


def only_line(folder: Folder, query: str) -> str:
    """The text of the only match, after a check that the file has it there."""
    ((path, number, text),) = lines(folder, query)
    assert (folder.path / path).read_text().split("\n")[number - 1].strip() == text
    return text


def index_of(folder: Folder) -> Path:
    return Path(index_file.index_path(project_discovery.require(str(folder.path))))


def age(*paths: Path) -> None:
    """Make files so old that their status is trusted, which it is not in the first two seconds."""
    for path in paths:
        os.utime(path, (1_700_000_000, 1_700_000_000))


def test_words_and_filters(repo: Folder) -> None:
    repo.plan()
    repo.write(".agent/execplans/archive/2025-11-01_scanner.md", "# Scan lines\n\n## Progress\n\n- [x] Scan lines.\n")
    assert only_line(repo, "without loss") == "A plan can be read and edited without loss."
    assert only_line(repo, '"by line" in:decisions') == "- Decision: Read line by line."
    assert only_line(repo, "task:done lines state:active") == "- [x] (2025-12-30 09:15Z) Read lines."
    assert only_line(repo, "author:ANN") == "- Decision: Read line by line."
    assert only_line(repo, "in:titles plan:scanner") == "# Scan lines"
    assert only_line(repo, "WRÎTÉ tests") == "- [ ] Write the tests."
    assert only_line(repo, "scan* in:tasks before:2025-12") == "- [x] Scan lines."
    assert only_line(repo, "line* in:tasks after:2025-12-30") == "- [x] (2025-12-30 09:15Z) Read lines."
    assert only_line(repo, "parser -task:open in:tasks,titles") == "# Build the parser"
    assert only_line(repo, "test_last") == "Evidence: `tests/test_lines.py::test_last` failed."
    assert only_line(repo, "scanner in:work") == "Write the scanner, then the reader."
    assert lines(repo, "by line -read") == []
    assert lines(repo, '"loss without"') == []
    assert lines(repo, "author:bob") == lines(repo, "plan:nowhere") == []
    repo.plan(
        "# L\u00e9xico\n\n## Decision Log\n\n- Decision: Read.\n  Date/Author: 2026-01-01, Ren\u00e9\n",
        "2026-01-02_dates",
    )
    assert (
        lines(repo, "author:rene") == lines(repo, "plan:lexico in:decisions") == lines(repo, "author:REN\u00c9") != []
    )


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_case_and_accents_of_greek_and_cyrillic_letters_do_not_matter(
    repo: Folder, form: Literal["NFC", "NFD"]
) -> None:
    line = normalize(form, "Ο Σίσυφος ᾧδε, ёлка и край.")
    repo.plan(f"# Plan\n\n## Notes\n\n{line}\n", "2026-01-01_greek")
    for word in ("Σίσυφος", "ΣΙΣΥΦΟΣ", "σισυφοσ", "ωδε", "ᾯΔΕ", "елка", "Ёлка", "край", "крАи", "краи*"):
        for query_form in ("NFC", "NFD"):
            (plan,) = find(repo, normalize(query_form, word)).plans
            ((start, end),) = plan.matches[0].spans
            assert plan.matches[0].text == line
            assert remove_accents(line[start:end]).casefold() == remove_accents(word.rstrip("*")).casefold()


def test_a_section_that_only_one_of_the_plans_has(repo: Folder) -> None:
    repo.plan("# Plan\n\n## Foo\n\nalpha\n", "2026-01-01_foo")
    repo.plan("# Plan\n\n## Bar\n\nalpha\n", "2026-01-02_bar")
    assert [plan.ref.id for plan in find(repo, "alpha in:foo,bar").plans] == ["2026-01-01_foo", "2026-01-02_bar"]
    assert [plan.ref.id for plan in find(repo, "alpha -in:foo").plans] == ["2026-01-02_bar"]
    with pytest.raises(ExecplanError, match="'baz'"):
        find(repo, "alpha in:foo,baz")


def test_only_valid_dates_count(repo: Folder) -> None:
    repo.plan("# Plan\n\n## Decision Log\n\n- Decision: alpha\n  Date/Author: 2026-02-30 / Ann\n", "2026-01-05_dated")
    repo.plan("# Plan\n\n## Notes\n\nalpha\n", "2026-aa-bb_odd")
    assert {plan.ref.id for plan in find(repo, "alpha after:2026-01-05").plans} == {"2026-01-05_dated"}
    assert find(repo, "alpha after:2026-02").plans == ()


def test_several_dates_are_alternatives(repo: Folder) -> None:
    for month in ("01", "02", "03"):
        repo.plan("# Plan\n\n## Notes\n\nalpha\n", f"2026-{month}-15_m{month}")

    def months(query: str) -> list[str]:
        return sorted([plan.ref.id[5:7] for plan in find(repo, f"alpha {query}").plans])

    assert months("before:2026-02,2026-03") == months("before:2026-03 before:2026-02") == ["01", "02"]
    assert months("-before:2026-02 -before:2026-03") == ["03"]
    assert months("after:2026-02,2026-03") == ["02", "03"]
    assert months("-after:2026-02 -after:2026-03") == ["01"]


def test_words_may_be_in_the_title_of_the_plan_but_not_all(repo: Folder) -> None:
    repo.plan()
    assert only_line(repo, "parser loss") == "A plan can be read and edited without loss."
    assert {text for _, _, text in lines(repo, "parser")} == {"# Build the parser", "- [ ] Build the parser."}


@pytest.mark.parametrize("template", ["feature", "bugfix"])
def test_titles_of_standard_sections_are_not_found(repo: Folder, template: str) -> None:
    assert repo.run("new", "Read tables", "--template", template).exit == 0
    assert lines(repo, "plan") == []
    assert lines(repo, "in:sections") == []
    repo.plan("---\na: b\n---\n\n# T\n\n## Plan of Work\n\n## Risks of loss\n\nNone.\n\n### Later\n\nSome.\n")
    assert [text for _, _, text in lines(repo, "in:sections plan:2026-01-01_parser")] == ["a: b", "None.", "Some."]
    assert lines(repo, "plan") == []
    assert only_line(repo, "loss") == "## Risks of loss"


def test_titles_and_live_plans_come_first(repo: Folder) -> None:
    text = "# Plan\n\n## Plan of Work\n\nThe {} is read.\n"
    repo.plan(text.format("table"), "2026-01-01_text")
    repo.plan(text.replace("Plan\n", "Table\n", 1).format("file"), "2026-01-02_title")
    repo.write(".agent/execplans/archive/2026-01-01_archived.md", text.format("table"))
    assert [plan.ref.id for plan in find(repo, "table").plans] == [
        "2026-01-02_title",
        "2026-01-01_text",
        "2026-01-01_archived",
    ]


def test_counts_and_limits(repo: Folder) -> None:
    for at in range(5):
        repo.plan(CLEAN.replace("parser", f"parser {at}"), f"2026-01-01_plan-{at}")
    results = find(repo, "read", limit=2, matches_per_plan=2)
    assert (results.plan_count, len(results.plans)) == (5, 2)
    assert [(plan.match_count, len(plan.matches)) for plan in results.plans] == [(5, 2), (5, 2)]
    assert results.match_count == 25


def test_the_library_and_progress(repo: Folder) -> None:
    for at in range(50):
        repo.plan(CLEAN.replace("parser", f"parser {at}"), f"2026-01-01_plan-{at}")
    ticks: list[tuple[int, int]] = []
    project = project_discovery.require(str(repo.path))
    results = search(project, "loss", limit=10, matches_per_plan=3, tick=lambda *counts: ticks.append(counts))
    assert results.plan_count == 50
    assert ticks == sorted(ticks)
    assert ticks[-1] == (50, 50)
    assert Project.find(repo.path).search("loss") == results


def test_marks_are_on_the_words(repo: Folder) -> None:
    repo.plan("# Plan\n\n## Plan of Work\n\n  Ünïcode read\nlines and unicode. 日本語のテスト\u0301 a\x02b\x1fc\n")
    (plan,) = find(repo, "unicode").plans
    (match,) = plan.matches
    assert [match.text[start:end] for start, end in match.spans] == ["Ünïcode"]
    for query, word in (("本語", "本語"), ("テス*", "テス"), ('"a b c"', "a\x02b\x1fc"), ("b", "b")):
        ((match,),) = [plan.matches for plan in find(repo, query).plans]
        assert [match.text[start:end] for start, end in match.spans] == [word], query
    ((match,),) = [plan.matches for plan in find(repo, '"read lines"').plans]
    assert [match.text[start:end] for start, end in match.spans] == ["read"]  # the phrase ends in the next line


def test_artifacts_are_found_by_their_names(repo: Folder) -> None:
    repo.plan()
    repo.write(f".agent/execplans/artifacts/{ID}/logs/trace-of-reader.txt", "secret words")
    repo.write(f".agent/execplans/artifacts/{ID}/runs/1-00000000/journal.jsonl", "")
    ((path, line, text),) = lines(repo, "in:artifacts trace")
    assert (path, line, text) == (
        f".agent/execplans/artifacts/{ID}/logs/trace-of-reader.txt",
        0,
        "logs/trace-of-reader.txt",
    )
    assert lines(repo, "journal") == lines(repo, "secret") == []
    repo.write(f".agent/execplans/artifacts/{ID}/profile.svg", "")
    assert [text for _, _, text in lines(repo, "svg")] == ["profile.svg"]


def test_secrets_are_redacted(repo: Folder) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7bq\nabcdefgh\n-----END RSA PRIVATE KEY-----"
    repo.plan(CLEAN.replace("Write the scanner", f"Log in with {token} and\n\n{key}\n\nWrite the scanner"))
    for query in ("log", "scanner", token, "abcdefgh", "MIIEowIBAAKCAQEA7bq"):
        for _, _, text in lines(repo, query):
            assert token not in text
            assert "abcdefgh" not in text
            assert "MIIE" not in text
    ((_, _, text),) = lines(repo, "log in:work")
    assert text == "Log in with [redacted] and"
    ((path, number, text),) = lines(repo, "scanner in:work")
    assert (repo.path / path).read_text().split("\n")[number - 1] == text


def test_changes_are_found_at_once(repo: Folder) -> None:
    path = repo.plan()
    assert only_line(repo, "parser task:open")
    assert repo.run("add", "Handle CRLF").exit == 0
    assert only_line(repo, "CRLF") == "- [ ] Handle CRLF"
    assert repo.run("rename", "parser", "Build the reader").exit == 0
    assert lines(repo, "in:titles parser") == []
    assert only_line(repo, "in:titles reader") == "# Build the reader"
    assert repo.run("archive", "reader", "--force", "--reason", "Over.").exit == 0
    assert {path for path, _, _ in lines(repo, "reader state:archived")} != set()
    assert lines(repo, "reader -state:archived") == []
    assert not path.exists()


def test_an_edit_with_the_same_size_and_times_is_found(repo: Folder) -> None:
    path = repo.plan("# Plan\n\nalpha\n")
    age(path)
    assert only_line(repo, "alpha")
    assert only_line(repo, "alpha")  # from the index
    path.write_text("# Plan\n\ngamma\n")
    age(path)
    assert only_line(repo, "gamma")  # ctime differs
    assert lines(repo, "alpha") == []


def test_a_plan_that_changes_after_the_query_of_the_index(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    path = repo.plan("# Plan\n\n## Plan of Work\n\nalpha one\n\n## Notes\n\nalpha two\n")
    original = plan_search._read_result
    texts = iter(["# Plan\n\n## Plan of Work\n\nShort.\n\n## Notes\n\nNew.\n\n## Risks\n\nalpha three\n", "# Plan\n"])

    def read_later(plan_file: PlanFile, *arguments: Any) -> PlanResult | None:
        path.write_text(next(texts))
        return original(plan_file, *arguments)

    monkeypatch.setattr(plan_search, "_read_result", read_later)
    assert lines(repo, "alpha") == [(PATH, 13, "alpha three")]
    assert lines(repo, "alpha") == []


def test_the_index_is_used(repo: Folder) -> None:
    paths = [repo.plan(CLEAN, f"2026-01-01_plan-{at}") for at in range(3)]
    age(*paths)
    find(repo, "parser")
    with sqlite3.connect(index_of(repo)) as database:
        assert database.execute("select count(*) from plans where status = ''").fetchone() == (
            3,
        )  # ctime is too recent
    assert index_of(repo).stat().st_mode & 0o777 == 0o600


DAMAGES: dict[str, Any] = {
    "no database": lambda path: path.write_bytes(b"not a database" * 1000),
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:9000]),
    "zeros inside": lambda path: path.write_bytes(path.read_bytes()[:4096] + bytes(20_000)),
    "other version": lambda path: _execute(path, "update properties set value = '0'"),
    "no words": lambda path: _execute(path, "drop table words"),
    "trigger": lambda path: _execute(path, "create trigger t after insert on plans begin delete from items; end"),
    "wrong rows": lambda path: _execute(
        path, "update plans set digest = '', status = '' ; update items set position = position + 1"
    ),
    "wrong positions": lambda path: _execute(path, "update items set position = 99 - position"),
    "a journal of another file": lambda path: Path(f"{path}-journal").write_bytes(bytes(5000)),
}


def _execute(path: Path, script: str) -> None:
    with sqlite3.connect(path) as database:
        database.executescript(script)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_is_replaced(repo: Folder, damage: str) -> None:
    repo.plan()
    expected = sorted(lines(repo, "lin* rea* -loss"))
    assert len(expected) == 3
    DAMAGES[damage](index_of(repo))
    assert sorted(lines(repo, "lin* rea* -loss")) == expected
    assert only_line(repo, "without loss")
    with sqlite3.connect(index_of(repo)) as database:
        assert database.execute("pragma integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("obstacle", ["file", "link", "link to index", "busy"])
def test_without_a_usable_state_directory(
    repo: Folder, obstacle: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.plan()
    path = index_of(repo)
    (tmp_path / "elsewhere").mkdir()
    path.parent.parent.mkdir()
    if obstacle == "file":
        path.parent.write_text("")
    elif obstacle == "link":
        path.parent.symlink_to(tmp_path / "elsewhere")
        (tmp_path / "elsewhere" / path.name).write_text("mine")
    elif obstacle == "link to index":
        path.parent.mkdir()
        (tmp_path / "elsewhere" / "mine").write_text("mine")
        path.symlink_to(tmp_path / "elsewhere" / "mine")
    else:
        find(repo, "parser")
        monkeypatch.setattr(index_file, "_TIMEOUT", 0.01)
        database = sqlite3.connect(path, isolation_level=None)
        database.execute("begin exclusive")
    assert only_line(repo, "without loss")
    assert [file.read_text() for file in (tmp_path / "elsewhere").iterdir()] in ([], ["mine"])


def test_without_git(plain: Folder) -> None:
    plain.plan()
    assert only_line(plain, "without loss")
    assert index_of(plain).is_relative_to(plain.path / ".agent/.state")
    assert (plain.path / ".agent/.state/.gitignore").read_text() == "*\n"


def test_a_nested_project_in_a_submodule_has_plans_with_the_same_name(repo: Folder) -> None:
    repo.write(".agent/execplan.toml", 'homes = ["inner"]\n')
    repo.write(PATH, "# Scan lines\n\n## Progress\n\n- [ ] Read tabs.\n")
    repo.write(f"inner/{PATH}", "# Parse blocks\n\n## Progress\n\n- [ ] Read quotes.\n")
    inner = Folder(repo.path / "inner")
    inner.git("init", "-q")
    for _ in range(2):
        for title in ("Scan lines", "Parse blocks"):
            assert [plan.title for plan in find(repo, f'"{title}"').plans] == [title]


def test_each_worktree_and_each_nested_project_has_its_own_plans(repo: Folder) -> None:
    repo.plan()
    repo.write("pkg/.agent/execplans/2026-01-02_tables.md", "# Tables\n\nalpha\n")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plans")
    repo.git("worktree", "add", "-q", "../other")
    other = Folder(repo.path.parent / "other")
    other.plan("# Only here\n\nalpha\n", "2026-01-03_other")
    package = Folder(repo.path / "pkg")
    assert [path for path, _, _ in lines(other, "alpha")] == [".agent/execplans/2026-01-03_other.md"]
    assert lines(repo, "alpha") == []
    assert [path for path, _, _ in lines(package, "alpha")] == ["pkg/.agent/execplans/2026-01-02_tables.md"]
    assert lines(package, "loss") == []
    repo.write(".agent/execplan.toml", 'homes = ["pkg"]\n')
    assert [path for path, _, _ in lines(repo, "alpha")] == ["pkg/.agent/execplans/2026-01-02_tables.md"]
    assert only_line(repo, "without loss")


def test_links_and_unreadable_plans(repo: Folder) -> None:
    repo.write("notes/real.md", "# Linked\n\nalpha\n")
    (repo.path / ".agent/execplans/2026-01-01_link.md").symlink_to("../../notes/real.md")
    (repo.path / ".agent/execplans/2026-01-01_out.md").symlink_to("/etc/hostname")
    repo.plan(b"\xff\xfe", "2026-01-02_utf-16")
    os.mkfifo(repo.path / ".agent/execplans/2026-01-02_pipe.md")
    name = os.fsdecode(b"2026-01-03_\xff.md")
    (repo.path / ".agent/execplans" / name).write_text("# Odd name\n\nalpha\n")
    results = find(repo, "alpha")
    assert [plan.ref.id for plan in results.plans] == ["2026-01-01_link", name.removesuffix(".md")]
    assert results.problems[1].startswith(".agent/execplans/2026-01-02_pipe.md can't be searched: it is ")
    assert [problem.split(" can't")[0].rpartition("/")[2] for problem in results.problems] == [
        "2026-01-01_out.md",
        "2026-01-02_pipe.md",
        "2026-01-02_utf-16.md",
    ]
    repo.write("notes/real.md", "# Linked\n\ngamma\n")
    assert [plan.ref.id for plan in find(repo, "gamma").plans] == ["2026-01-01_link"]


def test_the_order_does_not_depend_on_earlier_versions(repo: Folder) -> None:
    for at in range(12):  # ranks depend on the lengths of all items, and on how many have a word
        repo.plan(f"# Plan {at}\n\n## Purpose\n\n{'alpha ' * (at % 3 + 1)}{'beta ' * at}\n", f"2026-01-01_plan-{at}")
    changed, removed = (repo.path / f".agent/execplans/2026-01-01_plan-{at}.md" for at in (7, 9))
    text = changed.read_bytes()
    removed.unlink()
    expected = find(repo, "alpha beta").plans
    repo.plan(f"# Removed\n\n## Purpose\n\n{'beta ' * 900}\n", "2026-01-01_plan-9")
    for at in range(6):
        changed.write_bytes(text + b"beta\n" * at)
        assert len(find(repo, "alpha beta").plans) == 10
    removed.unlink()
    changed.write_bytes(text)
    assert find(repo, "alpha beta").plans == expected
    with sqlite3.connect(index_of(repo)) as database:
        assert (
            database.execute("select id from items").fetchall()
            == database.execute("select rowid from words").fetchall()
        )


@pytest.mark.exhaustive
def test_twenty_searches_while_plans_are_edited(repo: Folder) -> None:
    for at in range(60):
        repo.plan(CLEAN.replace("parser", f"parser {at}"), f"2026-01-01_plan-{at}")

    def act(at: int) -> tuple[int, str]:
        if at % 3:
            result = repo.run("search", "without loss", "--limit", "100")
            return result.exit, f"{result.out.count('without loss')} {result.err}"
        result = repo.run("add", f"Task of {at}", "-p", f"2026-01-01_plan-{at}")
        return result.exit, result.err

    with ThreadPoolExecutor(20) as pool:
        outcomes = list(pool.map(act, range(30)))
    assert outcomes == [(0, "60 ") if at % 3 else (0, "") for at in range(30)]
    assert sorted(text for _, _, text in lines(repo, '"task of"')) == sorted(
        f"- [ ] Task of {at}" for at in range(0, 30, 3)
    )


def test_interrupted(repo: Folder) -> None:
    repo.plan()
    process = repo.start("search", "without loss")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode in (0, 130, -signal.SIGINT)
    assert b"Traceback" not in out


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0\n\r"), min_size=1, max_size=8)


@given(st.lists(WORDS, min_size=1, max_size=6), st.data())
def test_every_word_of_a_plan_is_found(words: list[str], data: st.DataObject) -> None:
    plan = reader.parse("# Title\n\n## Notes\n\nx " + " ".join(words) + "\n")
    record = PlanRecord(b"p", "", "", "p", "Title", "active", "", "")
    items = list(enumerate(plan_items(plan)))
    word = data.draw(st.sampled_from(words))
    is_prefix = data.draw(st.booleans())
    with plan_search.open_memory_index() as index:
        index.add(record, indexed_items(record, items))
        marks = index.mark_matches(SearchQuery((SearchWord(word, is_prefix),), (), ()))
    if any(char.isalnum() for char in word):
        texts = [items[position][1].text[start:end] for position, spans in marks.items() for start, end in spans]
        assert texts, word


@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_a_text_keeps_its_positions(text: str) -> None:
    prepared = prepare_text(text)
    assert find_marks(f"\x02{prepared}\x03") == [(0, len(text))]


def test_a_reader_that_closes_the_pipe(repo: Folder) -> None:
    for at in range(30):
        repo.plan(CLEAN, f"2026-01-01_plan-{at}")
    command = f"{sys.executable} -m execplan search read --limit 100 | head -n 1"
    completed = subprocess.run(
        ["sh", "-c", command], cwd=repo.path, env=repo.env, capture_output=True, check=False, timeout=60
    )
    assert completed.stdout.count(b"\n") == 1
    assert completed.stderr == b""
