"""What README and docs show to be typed is typed, and what they show to be printed is printed."""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path

import pytest

from tests.shell import Shell
from tests.transcripts.runner import rewrite

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from site_pages import READERS, adapt  # noqa: E402 - scripts are no package

PATHS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def page_name(path: Path) -> str:
    """The path of a page, as the ID of its tests."""
    return str(path.relative_to(ROOT))


_SH = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NESTING = re.compile(r"^(`{4,})[^`\n]*\n.*?^\1$", re.MULTILINE | re.DOTALL)
"""Blocks that may contain others, which are text."""
_FENCED = re.compile(r"^ *(````*)[^`\n]*\n.*?^ *\1 *$", re.MULTILINE | re.DOTALL)
_PYTHON = re.compile(r"^```python\n(>>> .*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("path", PATHS, ids=page_name)
def test_console_blocks_show_what_is_printed(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert rewrite(text) == text, "make generate"


@pytest.mark.parametrize("path", [path for path in PATHS if path.name != "rules.md"], ids=page_name)
def test_sh_blocks_can_be_typed(path: Path, tmp_path: Path) -> None:
    targets = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    shell = Shell(tmp_path)
    for block in _SH.findall(_NESTING.sub("", path.read_text(encoding="utf-8"))):
        for line in block.splitlines():
            command = line.partition(" #")[0].strip()
            if command.startswith("make "):
                assert set(command.split()[1:]) <= set(targets), line
            elif command:
                assert shell.run(command).exit == 0, line


@pytest.mark.parametrize(
    "path", [path for path in PATHS if _PYTHON.search(path.read_text(encoding="utf-8"))], ids=page_name
)
def test_python_blocks_show_what_comes_of_them(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "EXECPLAN_PLAN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    names: dict[str, object] = {}
    failures: list[str] = []
    for block in _PYTHON.findall(path.read_text(encoding="utf-8")):
        test = doctest.DocTestParser().get_doctest(block, names, path.name, str(path), 0)
        doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF).run(test, out=failures.append, clear_globs=False)
        names = test.globs
    assert not failures, "".join(failures)


def anchors(path: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    slugs: list[str] = []
    for heading in re.findall(r"^#+ (.+)$", _FENCED.sub("", path.read_text(encoding="utf-8")), re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        slugs.append(f"{slug}-{slugs.count(slug)}" if slug in slugs else slug)
    return set(slugs)


@pytest.mark.parametrize("path", PATHS, ids=page_name)
def test_links_lead_somewhere(path: Path) -> None:
    prose = re.sub(r"`[^`\n]*`", "", _FENCED.sub("", path.read_text(encoding="utf-8")))
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", prose):
        target, _, anchor = link.partition("#")
        if re.match("[a-z]+:", target):
            continue
        page = (path.parent / target).resolve() if target else path
        if not page.exists() or (anchor and anchor not in anchors(page)):
            broken.append(link)
    assert broken == []


FIRST_PAGES = [ROOT / "README.md", *[ROOT / "docs" / name for name in ("README.md", *READERS.values())]]


def test_every_page_is_shown_to_one_reader() -> None:
    shown = [
        link
        for first in FIRST_PAGES[2:]
        for link in re.findall(r"^\| \[[^]]+\]\((.+?)\)", first.read_text(), re.MULTILINE)
    ]
    assert sorted(shown) == sorted(set(shown))
    pages = {str(path.relative_to(ROOT / "docs")) for path in PATHS if (ROOT / "docs") in path.parents}
    assert pages - set(shown) == {"README.md", *READERS.values()}


@pytest.mark.parametrize("path", FIRST_PAGES, ids=page_name)
def test_first_pages_are_short(path: Path) -> None:
    prose = _FENCED.sub("", path.read_text(encoding="utf-8"))
    words = re.findall(r"\w[\w'.-]*", re.sub(r"\]\([^)]*\)|<!--.*?-->", "", prose))
    assert len(words) < 600


@pytest.mark.parametrize("path", PATHS, ids=page_name)
def test_links_between_pages_are_relative(path: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", _FENCED.sub("", path.read_text(encoding="utf-8")))
    assert [link for link in links if link.startswith("/")] == []


def test_the_site_shows_pages_without_fixtures() -> None:
    page = ROOT / "docs" / "tutorials" / "a.md"
    text = (
        "See [b](../how-to/b.md#part), [code](../../execplan/a.py) and [news](../../CHANGELOG.md).\n"
        "<!-- hidden\n```file a.md\nx\n```\n-->\n```file b.md\n<!-- kept -->\n```\n````text\n```file c.md\n```\n````\n"
    )
    assert adapt(text, page, {"how-to/b.md", "changelog.md"}) == (
        "See [b](../how-to/b.md#part), code and [news](../changelog.md).\n"
        '```md title="b.md"\n<!-- kept -->\n```\n````text\n```file c.md\n```\n````\n'
    )


@pytest.mark.parametrize("path", PATHS, ids=page_name)
def test_the_tests_that_are_named_are_there(path: Path) -> None:
    prose = _FENCED.sub("", path.read_text(encoding="utf-8"))
    test_paths = set(re.findall(r"`(tests/[a-z_/]+(?:\.py)?)`", prose))
    assert [name for name in sorted(test_paths) if not (ROOT / name).exists()] == []


def test_each_promise_names_its_tests() -> None:
    text = (ROOT / "docs" / "explanation" / "guarantees.md").read_text(encoding="utf-8")
    promises = re.findall(r"^- .*(?:\n  .*)*", text, re.MULTILINE)
    assert len(promises) > 30
    in_common = text.partition("\n## Programs that take no lock\n")[2].partition("\n\n")[0]
    assert "`tests/core/edits/test_external_writers.py`" in in_common
    no_lock_section = text.partition("\n## Programs that take no lock\n")[2].partition("\n## ")[0]
    assert [promise for promise in promises if "`tests/" not in promise and promise not in no_lock_section] == []


def test_the_readme_shows_commands() -> None:
    text = PATHS[0].read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    assert "[exit " not in text
    assert text.count("\n$ execplan ") > 5
    assert "make demo" in "".join(_SH.findall(text))


def test_the_example_shows_a_run_and_what_is_taken_back() -> None:
    text = (ROOT / "docs" / "tutorials" / "a-plan-that-runs.md").read_text(encoding="utf-8")
    for excerpt in (
        "\ncompleted 5 of 5 steps in ",
        "\nintact  2026-01-01_farewell  ",
        "\nfailed 3 check ",
        "\nrolled back 3 steps (rename, shout, check) of run ",
        "\nhint: move these changes away or restore what the run left",
        "\nrolled back 5 steps (endpoint, route, test, check.1, check.2) of run ",
    ):
        assert excerpt in text, f"the example is not what it was meant to show: {excerpt!r} is missing"


def test_the_example_of_an_agent_shows_what_it_must_not_do() -> None:
    text = (ROOT / "docs" / "tutorials" / "an-agent-under-guard.md").read_text(encoding="utf-8")
    for excerpt in (
        "the nearest step is check.1: the call has the extra argument --locals",
        "the nearest step is route: greeter/routes.py would differ from the plan",
        "test needs route, which is not completed yet",
        "agents can't use `execplan approve`: a person approves",
        "\nask: Bash: ",
        "\nstep route can be tried once more",
        "\nended        completed after ",
    ):
        assert excerpt in text, f"the example is not what it was meant to show: {excerpt!r} is missing"
