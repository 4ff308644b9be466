"""Bad inputs 27 to 29: titles and ids."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest

from execplan.core.errors import ExecplanError
from execplan.core.scaffold.plan_creation import validate_title
from tests.bad_inputs.assertions import checked_output, codes, ok
from tests.plans import CLEAN

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Folder

pytestmark = pytest.mark.exhaustive

TITLES = (
    "日本語の計画",
    "中文计划",
    "План работ",
    "Σχέδιο",
    "خطة العمل",
    "תוכנית",
    "한국어 계획",
    "🚀",
    "🎉🎉",
    "Ünïcödé",
    "ﬁne ½ №5",
    "\u0301",
    "अनुवाद",
)


def tree(folder: Path) -> dict[str, bytes | None]:
    """Every path below a folder, with what each file holds; the tool's own state left out."""
    paths = [path for path in folder.rglob("*") if ".git" not in path.parts and ".state" not in path.parts]
    return {str(path): path.read_bytes() if path.is_file() else None for path in paths}


@pytest.mark.parametrize(
    "title", ["", " ", "\n\t", "…", "...", "---", "x" * 301, "é" * 301, "a\x01b", "a\x1b[0m", "\u202e"]
)
def test_27_titles_that_are_refused(plain: Folder, title: str) -> None:
    """An empty title, one that says nothing, one of 301 characters and one with control characters are refused."""
    before = tree(plain.path)
    for flags in ((), ("--json",), ("--dry-run",)):
        result = plain.run("new", *flags, "--", title)
        assert result.exit == 2, result
        assert "title" in checked_output(result)
        assert tree(plain.path) == before


def test_27_nul_in_a_title() -> None:
    """A NUL, which no argument can hold, is refused where a title is checked."""
    with pytest.raises(ExecplanError, match=r"U\+0000") as caught:
        validate_title("a\0b")
    assert caught.value.exit == 2


@pytest.mark.parametrize("title", ["x" * 300, "word " * 59 + "words", "日" * 300, "👩" * 300])
def test_27_longest_title(plain: Folder, title: str) -> None:
    """300 characters are a title; the file's name stays short."""
    new_plan = plain.ok("new", title)
    assert plain.ok("show")["title"] == title
    assert len(os.path.basename(new_plan["path"])) < 90


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("../../etc/passwd", "etc-passwd"),
        ("/etc/passwd", "etc-passwd"),
        ("..", None),
        ("/", None),
        ("a/b\\c:d*e?f", "a-b-c-d-e-f"),
        (".hidden", "hidden"),
        ("-p", "p"),
        ("--help", "help"),
        (":(top)x.md", "top-x-md"),
        ("CON", "con"),
        ("Don't", "dont"),
        ("!!!", None),
        ("?", None),
        ("a\nb", "a-b"),
        ("archive", "archive"),
        ("README", "readme"),
    ],
)
def test_27_title_only_shapes_the_slug(plain: Folder, title: str, slug: str | None) -> None:
    """Slashes, dots and punctuation never leave the plans folder; what is left of them is the slug."""
    result = plain.run("new", "--json", "--", title)
    checked_output(result)
    if title == "..":
        assert result.exit == 2
        return
    assert result.exit == 0, result
    name = result.json["data"]["id"]
    if slug:
        assert name == f"2026-01-01_{slug}"
    assert re.fullmatch(r"2026-01-01_[a-z0-9-]+", name)
    files = list(plain.path.rglob("*.md"))
    assert files == [plain.path / ".agent" / "execplans" / f"{name}.md"]
    assert plain.ok("show")["title"] == " ".join(title.split())


def test_28_titles_in_other_scripts(plain: Folder) -> None:
    """Titles in other scripts give slugs that can be read, that differ, and that are the same each time."""
    slugs = [ok(plain, "new", "--dry-run", "--", title)["id"] for title in TITLES]
    assert slugs == [ok(plain, "new", "--dry-run", "--", title)["id"] for title in TITLES]
    assert len(set(slugs)) == len(TITLES)
    assert all(re.fullmatch(r"2026-01-01_[a-z0-9]+(-[a-z0-9]+)*", slug) for slug in slugs)
    assert slugs[2] == "2026-01-01_plan-rabot"
    assert slugs[7] == "2026-01-01_rocket"
    assert slugs[9] == "2026-01-01_unicode"
    for title in TITLES:
        new_plan = ok(plain, "new", "--", title)
        assert ok(plain, "show", new_plan["id"])["title"] == title


def test_29_id_taken(plain: Folder) -> None:
    """A name that a plan, an archived plan or an artifacts folder has is not given again."""
    names = [plain.ok("new", "Build it")["id"] for _ in range(3)]
    assert names == ["2026-01-01_build-it", "2026-01-01_build-it-2", "2026-01-01_build-it-3"]
    before = tree(plain.path)
    plain.plan(name="archive/2026-01-01_lexer")
    plain.write(".agent/execplans/artifacts/2026-01-01_ui/log.txt", "x")
    plain.write(".agent/execplans/archive/artifacts/2026-01-01_cli/log.txt", "x")
    plain.plan(name="2026-01-01_UPPER")
    for title, name in (("Lexer", "lexer-2"), ("ui", "ui-2"), ("CLI", "cli-2"), ("Upper", "upper-2")):
        assert plain.ok("new", "--dry-run", title)["id"] == f"2026-01-01_{name}"
        assert plain.ok("new", title)["id"] == f"2026-01-01_{name}"
    after = tree(plain.path)
    assert {path: after[path] for path in before} == before


def test_29_id_taken_by_what_is_no_plan(plain: Folder) -> None:
    """A folder, a broken link and a pipe take a name too."""
    project = plain.path / ".agent" / "execplans"
    project.mkdir(parents=True)
    (project / "2026-01-01_a.md").mkdir()
    (project / "2026-01-01_b.md").symlink_to("/nowhere/at/all")
    os.mkfifo(project / "2026-01-01_c.md")
    for title in "abc":
        assert plain.ok("new", title)["id"] == f"2026-01-01_{title}-2"
    assert (project / "2026-01-01_b.md").is_symlink()


def test_29_archived_name_is_not_given_again(plain: Folder) -> None:
    """The name of a plan that was archived stays taken."""
    plain.plan(CLEAN.replace("- [ ]", "- [x] (2025-12-31 10:00Z)"))
    plain.ok("archive")
    assert plain.ok("new", "Parser")["id"] == "2026-01-01_parser-2"


def test_29_adopted_plan(plain: Folder) -> None:
    """A plan that is filed from elsewhere never replaces one."""
    path = plain.plan()
    source = plain.write("2026-01-01_parser.md", CLEAN.replace("Read lines.", "Read more lines."))
    assert plain.ok("new", "--from", source.name)["id"] == "2026-01-01_parser-2"
    assert path.read_bytes() == CLEAN.encode()


@pytest.mark.parametrize("kind", ["plain", "repo"])
def test_29_twenty_at_once(request: pytest.FixtureRequest, kind: str) -> None:
    """Twenty calls at the same moment make twenty plans."""
    folder: Folder = request.getfixturevalue(kind)
    results = folder.run_at_once([("new", "Build it", "--purpose", f"Number {number}.") for number in range(20)])
    assert [result.exit for result in results] == [0] * 20, results
    project = folder.path / ".agent" / "execplans"
    plans = sorted(path.stem for path in project.glob("*.md"))
    assert sorted(plans) == sorted(["2026-01-01_build-it", *[f"2026-01-01_build-it-{n}" for n in range(2, 21)]])
    purposes = [re.search(r"Number (\d+)\.", path.read_text(encoding="utf-8")) for path in project.glob("*.md")]
    assert {match[1] for match in purposes if match} == {str(number) for number in range(20)}
    assert {path.name for path in (project / "artifacts").iterdir()} == set(plans)
    assert not list(project.glob(".execplan-*"))


@pytest.mark.parametrize("kind", ["plain", "repo"])
def test_29_twenty_writers_of_one_plan(request: pytest.FixtureRequest, kind: str) -> None:
    """Twenty writers of one plan at the same moment: twenty edits."""
    folder: Folder = request.getfixturevalue(kind)
    path = folder.plan()
    calls: list[tuple[str, ...]] = [("add", f"Step {number}.") for number in range(10)]
    calls += [("decide", f"Choice {number}.", "--why", "So.") for number in range(5)]
    calls += [("discover", f"Find {number}.", "--evidence", "Seen.") for number in range(3)]
    calls += [("done", "3"), ("outcome", "All at once.")]
    results = folder.run_at_once(calls)
    assert [result.exit for result in results] == [0] * 20, results
    plan_data = folder.ok("show")
    assert {step["text"] for step in plan_data["tasks"][3:]} == {f"Step {step}." for step in range(10)}
    assert (len(plan_data["decisions"]), len(plan_data["discoveries"]), len(plan_data["outcomes"])) == (6, 4, 2)
    assert plan_data["tasks"][2]["state"] == "done"
    assert codes(folder, path) == []
    rest = iter(path.read_text(encoding="utf-8").splitlines())
    lines = CLEAN.replace("- [ ] Write", "- [x] (2026-01-01 00:00Z) Write").splitlines()
    assert all(line in rest for line in lines)
