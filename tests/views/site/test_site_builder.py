"""Building a site: what is written, kept and removed, and that nothing of a plan runs or leaks."""

from __future__ import annotations

import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execplan.views.site.site_directory import MANIFEST
from tests.plans import CLEAN
from tests.views.site.hostile_text import LINKS, MARKDOWN, SCRIPTS
from tests.views.site.html_safety import Page, check_page

if TYPE_CHECKING:
    from tests.conftest import Folder

SITE = ".agent/site"
PLAN_PAGE = "plans/2026-01-01_parser.html"
CHARTS = {f"charts/{name}.svg" for name in ("age", "burn-up", "weekly")}
"""The charts of all plans that have data in these repositories."""
ASSETS = {".gitignore", "assets/filter.js", "assets/icon.svg", "assets/site.css", "assets/theme.js"}
TOP_PAGES = {"index.html", "decisions.html", "archive.html", "charts.html", *CHARTS}


CHART = "charts/plan-2026-01-01_parser.svg"


def read_page(repo: Folder, name: str, directory: str = SITE) -> Page:
    """Check a page and return it."""
    return check_page((repo.path / directory / name).read_text("utf-8"))


def files_of(repo: Folder, directory: str = SITE) -> set[str]:
    """The files of a site, without its manifest."""
    root = repo.path / directory
    names = {path.relative_to(root).as_posix() for path in root.rglob("*") if not path.is_dir()}
    return names - {MANIFEST}


def test_a_site_has_a_page_for_each_plan(repo: Folder) -> None:
    repo.plan()
    repo.plan(CLEAN.replace("Build the parser\n", "Build the `scanner`\n", 1), "2026-01-02_scanner")
    built = repo.ok("site")
    assert files_of(repo) == {
        *ASSETS,
        *TOP_PAGES,
        PLAN_PAGE,
        "plans/2026-01-02_scanner.html",
        *[f"charts/plan-2026-01-0{name}.svg" for name in ("1_parser", "2_scanner")],
    }
    assert built == {
        "path": SITE,
        "pages": 6,
        "written": sorted(files_of(repo)),
        "removed": [],
        "unchanged": 0,
        "charts": True,
        "changed": True,
    }
    board = read_page(repo, "index.html")
    assert set(board.links()) >= {PLAN_PAGE, "plans/2026-01-02_scanner.html", "decisions.html", "archive.html"}
    assert "1/3 Next 2. Build the parser." in board.text
    assert "Build the scanner" in board.text
    plan = read_page(repo, PLAN_PAGE)
    assert "2025-12-30 09:15Z" in plan.text
    assert "Why A task is a line." in plan.text
    assert "../index.html" in plan.links()
    assert read_page(repo, "decisions.html").text.count("Read line by line.") == 2
    assert not repo.git("status", "--porcelain", SITE)


def test_nothing_is_written_twice(repo: Folder) -> None:
    repo.plan()
    repo.ok("site")
    times = {name: os.stat(repo.path / SITE / name).st_mtime_ns for name in [*files_of(repo), MANIFEST]}
    again = repo.ok("site")
    assert (again["written"], again["removed"], again["changed"]) == ([], [], False)
    assert times == {name: os.stat(repo.path / SITE / name).st_mtime_ns for name in times}
    repo.ok("done", "2")
    written = repo.ok("site")["written"]
    assert {"index.html", PLAN_PAGE, CHART} <= set(written) <= {"charts.html", "index.html", PLAN_PAGE, CHART, *CHARTS}


def test_a_changed_page_is_written_again(repo: Folder) -> None:
    repo.plan()
    repo.ok("site")
    page = repo.path / SITE / PLAN_PAGE
    original = page.read_bytes()
    page.write_bytes(original.replace(b"<main", b"<script>alert(1)</script><main"))
    assert repo.ok("site")["written"] == [PLAN_PAGE]
    assert page.read_bytes() == original


def test_pages_of_vanished_plans_are_removed_and_nothing_else(repo: Folder) -> None:
    repo.plan()
    scanner = repo.plan(CLEAN, "2026-01-02_scanner")
    reader = repo.plan(CLEAN, "2026-01-03_reader")
    repo.ok("site")
    foreign = repo.write(f"{SITE}/plans/notes.html", "mine")
    changed = repo.path / SITE / "plans/2026-01-03_reader.html"
    changed.write_text("changed by hand")
    scanner.unlink()
    reader.unlink()
    result = repo.run("site", "--json")
    assert set(result.json["data"]["removed"]) == {
        "charts/plan-2026-01-02_scanner.svg",
        "charts/plan-2026-01-03_reader.svg",
        "plans/2026-01-02_scanner.html",
    }
    assert foreign.read_text() == "mine"
    assert changed.read_text() == "changed by hand"
    assert "was changed: remove it if it is not needed" in result.json["warnings"][0]


def test_a_directory_with_other_files_is_left_alone(repo: Folder) -> None:
    repo.plan()
    repo.write("web/index.html", "mine")
    result = repo.run("site", "--out", "web", "--json")
    assert (result.exit, result.json["error"]["code"]) == (3, "not-a-site")
    assert "contains 'index.html'" in result.json["error"]["message"]
    assert os.listdir(repo.path / "web") == ["index.html"]


def test_a_file_in_the_way_is_left_alone(repo: Folder) -> None:
    repo.ok("init")
    repo.ok("site", "--out", "web")
    repo.plan()
    foreign = repo.write(f"web/{PLAN_PAGE}", "mine")
    result = repo.run("site", "--out", "web", "--json")
    assert (result.exit, result.json["error"]["code"]) == (3, "not-a-site")
    assert foreign.read_text() == "mine"


@pytest.mark.parametrize(
    "place", [".agent/execplans/site", ".agent/execplans/artifacts/2026-01-01_parser/site", ".git/site"]
)
def test_a_site_among_the_plans_or_in_the_git_directory_is_an_error(repo: Folder, place: str) -> None:
    repo.plan()
    result = repo.run("site", "--out", place, "--json")
    assert (result.exit, result.json["error"]["code"]) == (3, "not-a-site")
    assert not (repo.path / place).exists()


@pytest.mark.parametrize(
    "files",
    [
        {"../README.md": ""},
        {"/etc/passwd": ""},
        {"a/../../README.md": ""},
        {MANIFEST: ""},
        {"x": 1},
        {"": ""},
        [],
    ],
)
def test_a_manifest_of_somebody_else_names_no_files_outside(repo: Folder, files: object) -> None:
    repo.plan()
    repo.write(f"web/{MANIFEST}", json.dumps({"schema": "execplan/site/1", "files": files}))
    result = repo.run("site", "--out", "web", "--json")
    assert (result.exit, result.json["error"]["code"]) == (3, "broken-manifest")
    assert (repo.path / "README.md").exists()
    assert os.listdir(repo.path / "web") == [MANIFEST]


def test_a_link_out_of_the_site_is_not_followed(repo: Folder, tmp_path: Path) -> None:
    repo.plan()
    repo.ok("site", "--out", "web")
    outside = tmp_path / "outside"
    (repo.path / "web/plans").rename(outside)
    (repo.path / "web/plans").symlink_to(outside)
    (outside / "2026-01-01_parser.html").write_text("old")
    result = repo.run("site", "--out", "web", "--json")
    assert (result.exit, result.json["error"]["code"]) == (3, "not-a-site")
    assert (
        f"{repo.path.resolve()}/web/plans is a symbolic link to {outside.resolve()}" in result.json["error"]["message"]
    )
    assert (outside / "2026-01-01_parser.html").read_text() == "old"


def test_a_dry_run_writes_nothing(repo: Folder) -> None:
    repo.plan()
    data = repo.ok("site", "--dry-run")
    assert set(data["written"]) == {*ASSETS, *TOP_PAGES, PLAN_PAGE, CHART}
    assert not (repo.path / SITE).exists()
    repo.ok("site")
    (repo.path / ".agent/execplans/2026-01-01_parser.md").unlink()
    before = {name: (repo.path / SITE / name).read_bytes() for name in [*files_of(repo), MANIFEST]}
    data = repo.ok("site", "--dry-run")
    assert (
        {"decisions.html", "index.html"}
        <= set(data["written"])
        <= {"charts.html", "decisions.html", "index.html", *CHARTS}
    )
    assert set(data["removed"]) == {CHART, PLAN_PAGE, *CHARTS}
    assert before == {name: (repo.path / SITE / name).read_bytes() for name in [*files_of(repo), MANIFEST]}


def test_parallel_builds_agree(repo: Folder) -> None:
    for at in range(6):
        repo.plan(CLEAN, f"2026-01-0{at + 1}_plan-{at}")
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: repo.run("site", "--json", "--lock-timeout", "300"), range(4)))
    assert [result.exit for result in results] == [0] * 4
    assert sum([len(result.json["data"]["written"]) for result in results]) == len(files_of(repo))
    assert repo.ok("site")["changed"] is False


def test_an_interrupted_build_is_completed(repo: Folder) -> None:
    """Whatever a killed build has left, the next one knows its files and completes them."""
    for at in range(3):
        repo.plan(CLEAN, f"2026-01-0{at + 1}_plan-{at}")
    repo.ok("site", "--out", "web")
    complete = {name: (repo.path / "web" / name).read_bytes() for name in files_of(repo, "web")}
    manifest = json.loads((repo.path / "web" / MANIFEST).read_text())
    interrupted = {**manifest, "files": dict.fromkeys(manifest["files"], "")}
    (repo.path / "web" / MANIFEST).write_text(json.dumps(interrupted))
    (repo.path / "web/plans/2026-01-02_plan-1.html").unlink()
    (repo.path / "web/index.html").write_text("half")
    assert repo.ok("site", "--out", "web")["written"] == ["index.html", "plans/2026-01-02_plan-1.html"]
    assert complete == {name: (repo.path / "web" / name).read_bytes() for name in files_of(repo, "web")}
    assert json.loads((repo.path / "web" / MANIFEST).read_text()) == manifest


def test_a_hostile_plan_runs_nothing(repo: Folder) -> None:
    script = "<script>alert(1)</script>"
    sections = [f"## Notes {at}\n\n{source}\n" for at, source in enumerate(MARKDOWN)]
    tasks = "".join([f"- [ ] {source}\n- [!] (2025-12-30) {source}\n" for source in SCRIPTS])
    tasks += "".join([f"- [x] (2025-12-30 09:15Z) [t]({link})\n  - [n]({link}) {script}\n" for link in LINKS])
    decisions = "".join(
        [
            f"- Decision: {source}\n  Rationale: {source} [r](javascript:alert(1))\n  Date/Author: 2025-12-30 / {source}\n"
            for source in SCRIPTS
        ]
    )
    content = (
        f"---\nowner: {script}\n---\n\n# {script} <img src=x onerror=alert(1)>\n\n{script}\n\n## Progress\n\n### {script}\n\n"
        f"{tasks}\n## Decision Log\n\n{decisions}\n{''.join(sections)}\n## {script}\n\nx\n"
    )
    repo.plan(content)
    repo.plan("# <script>alert(1)</script>\n\n<<<<<<< <img src=x onerror=alert(1)>\n", "2026-01-02_conflict")
    repo.plan(b"# Broken \xff <script>alert(1)</script>\n", "2026-01-03_broken")
    name = "2026-01-04_<img src=x onerror=alert(1)>"
    repo.plan(CLEAN, name)
    repo.write(f".agent/execplans/artifacts/{name}/<script>alert(1)<&>.html", script)
    repo.write(f".agent/execplans/artifacts/{name}/picture.svg", f"<svg>{script}</svg>")
    repo.ok("next", "--claim", "-p", name, "--as", script)
    repo.run("site")
    pages = [path for path in files_of(repo) if path.endswith(".html")]
    assert len(pages) == 8
    for page in pages:
        read_page(repo, page)
    suffixes = {Path(path).suffix for path in files_of(repo) if path.startswith("files/")}
    assert suffixes == {".txt"}
    broken = read_page(repo, "plans/2026-01-03_broken.html")
    assert "This plan can't be read" in broken.text


def test_links_lead_to_pages_copies_and_files(repo: Folder) -> None:
    repo.write("src/main.py", "x = 1\n")
    links = (
        "[page](2026-01-02_scanner.md) [part](2026-01-02_scanner.md#decision-log) [code](../../src/main.py#L3) "
        "[root](/README.md) [copy](artifacts/2026-01-01_parser/log.txt) ![pic](artifacts/2026-01-01_parser/a.png) "
        "[gone](missing.md) [outside](../../../x) [web](https://a.example/x?y=1&z=2) [here](#progress) [bad](javascript:x)"
    )
    repo.plan(CLEAN.replace("Write the scanner, then the reader.", links))
    repo.plan(CLEAN, "2026-01-02_scanner")
    repo.write(".agent/execplans/artifacts/2026-01-01_parser/log.txt", "done\n")
    repo.write(".agent/execplans/artifacts/2026-01-01_parser/a.png", b"\x89PNG\r\n")
    repo.ok("site")
    page = read_page(repo, PLAN_PAGE)
    assert set(page.links()) >= {
        "../plans/2026-01-02_scanner.html",
        "../plans/2026-01-02_scanner.html#section-decision-log",
        "../../../src/main.py",
        "../../../README.md",
        "../files/2026-01-01_parser/log.txt",
        "https://a.example/x?y=1&z=2",
        "#section-progress",
    }
    images = [element.attributes["src"] for element in page.find("img")]
    assert images == ["../files/2026-01-01_parser/a.png", f"../{CHART}"]
    for note in ("gone (file not found)", "outside (outside of the repository)", "bad (link removed)"):
        assert note in page.text
    for link in page.links():
        if not link.startswith(("http", "#")):
            assert (repo.path / SITE / "plans" / link.partition("#")[0]).exists(), link


def test_a_page_follows_the_files_that_it_links_to(repo: Folder) -> None:
    repo.plan(CLEAN.replace("Write the scanner, then the reader.", "See [it](../../new.txt)."))
    repo.ok("site")
    assert "it (file not found)" in read_page(repo, PLAN_PAGE).text
    repo.write("new.txt", "x")
    assert PLAN_PAGE in repo.ok("site")["written"]
    assert "../../../new.txt" in read_page(repo, PLAN_PAGE).links()


def test_secrets_are_not_published(repo: Folder) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    value = "correct-horse-battery-staple"
    text = CLEAN.replace("Write the tests.", f"Use {token}.").replace("A task is a line.", f"It is {token}, {value}.")
    text = text.replace("Write the scanner, then the reader.", f"See [the log]({value}.md).")
    repo.plan(text.replace("# Build the parser", f"# Build {token}"))
    artifacts = ".agent/execplans/artifacts/2026-01-01_parser"
    repo.write(f"{artifacts}/log.txt", f"token {token}\n{value}\n")
    repo.write(f"{artifacts}/.env", f"TOKEN={token}\n")
    repo.write(f"{artifacts}/id_rsa", "key\n")
    repo.write(f"{artifacts}/data.bin", b"\0\1\2\xff")
    assert repo.run("site", "--json", DEPLOY_TOKEN=value).exit == 0
    for name in files_of(repo):
        content = (repo.path / SITE / name).read_bytes()
        assert token.encode() not in content, name
        assert value.encode() not in content, name
    assert {name for name in files_of(repo) if name.startswith("files/")} == {"files/2026-01-01_parser/log.txt"}
    assert "may contain secrets" in read_page(repo, PLAN_PAGE).text


def test_archived_and_nested_plans_have_pages(repo: Folder) -> None:
    repo.plan(CLEAN.replace("- [ ]", "- [x] (2025-12-31 10:00Z)"))
    repo.ok("archive", "2026-01-01_parser")
    repo.plan(CLEAN, "2026-01-01_Parser")
    repo.write("tools/.agent/execplans/2026-01-01_parser.md", CLEAN)
    repo.write(".agent/execplan.toml", 'homes = ["tools"]\n')
    repo.ok("site")
    pages = sorted([name for name in files_of(repo) if name.startswith("plans/")])
    assert len(pages) == len({name.lower() for name in pages}) == 3
    assert "plans/2026-01-01_Parser.html" in pages
    archive = read_page(repo, "archive.html")
    assert "Build the parser" in archive.text
    assert "1 archived plan" in read_page(repo, "index.html").text


def test_runs_and_their_transcripts_are_shown(repo: Folder) -> None:
    plan = CLEAN.replace("## Validation and", "```sh {#greet exit=0}\necho hello\n```\n\n## Validation and")
    repo.plan(plan)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    repo.ok("approve")
    repo.ok("run")
    repo.ok("site")
    page = read_page(repo, PLAN_PAGE)
    assert "completed" in page.text
    assert "Approvals and audit log" in page.text
    transcripts = [link for link in page.links() if "/transcripts/" in link]
    assert transcripts
    assert "hello" in (repo.path / SITE / "plans" / transcripts[0]).read_text()


def test_charts_are_in_words_too(repo: Folder) -> None:
    repo.plan()
    repo.ok("site")
    charts = read_page(repo, "charts.html")
    images = {element.attributes["src"]: element.attributes["alt"] for element in charts.find("img")}
    assert images.keys() == CHARTS
    assert all([alternative.endswith(".") for alternative in images.values()])
    assert "charts.html" in read_page(repo, "index.html").links()
    svg = (repo.path / SITE / CHART).read_text()
    assert svg.startswith("<svg ")
    assert 'xmlns="http://www.w3.org/2000/svg"' in svg
    assert "<script" not in svg


def test_an_empty_project_has_a_site(repo: Folder) -> None:
    repo.ok("init")
    repo.ok("site")
    assert "No open plans." in read_page(repo, "index.html").text
    assert "No plans are archived yet." in read_page(repo, "archive.html").text
    assert "No decisions yet." in read_page(repo, "decisions.html").text


def test_a_project_without_git_has_a_site(plain: Folder) -> None:
    plain.plan()
    plain.ok("site")
    assert plain.ok("site")["changed"] is False
    read_page(plain, PLAN_PAGE)


def test_text_output_says_where_to_look(repo: Folder) -> None:
    repo.plan()
    result = repo.run("site")
    assert result.out.splitlines() == ["5 pages: wrote 14 files", f"{repo.path.resolve()}/{SITE}/index.html"]
    assert repo.run("site").out.startswith("5 pages: nothing has changed\n")


def test_a_title_has_its_entities_decoded(repo: Folder) -> None:
    repo.plan(CLEAN.replace("# Build the parser", "# Lines &rarr; tokens &lt;b&gt;"))
    repo.ok("site")
    assert "Lines → tokens <b>" in read_page(repo, "index.html").text
    assert "Lines → tokens <b>" in read_page(repo, PLAN_PAGE).text


def test_the_history_shows_texts_without_markup(repo: Folder) -> None:
    repo.plan(CLEAN.replace("Build the parser.", "Build the `parser` &rarr; **tokens**."))
    repo.ok("site")
    history = read_page(repo, PLAN_PAGE).text.rpartition("History")[2]
    assert "task added Build the parser → tokens." in history


def test_the_history_shows_what_was_reworded_and_renamed(repo: Folder) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    repo.plan(CLEAN.replace("Build the parser.", f"Build **all** with {token}."))
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "One")
    repo.ok("reword", "2", "Build the parser.")
    repo.ok("rename", "parser", "Scanner")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Two")
    repo.ok("site")
    history = read_page(repo, "plans/2026-01-01_scanner.html").text.rpartition("History")[2]
    assert "renamed Scanner (was: 2026-01-01_parser)" in history
    assert "task reworded Build the parser. (was: Build all with " in history
    assert token not in (repo.path / SITE / "plans/2026-01-01_scanner.html").read_text()


def test_a_plan_that_is_no_file_has_an_error_without_local_paths(repo: Folder) -> None:
    repo.plan()
    (repo.path / ".agent/execplans/2026-01-02_directory.md").mkdir()
    os.mkfifo(repo.path / ".agent/execplans/2026-01-03_pipe.md")
    repo.ok("site")
    for page in ("index.html", "plans/2026-01-02_directory.html", "plans/2026-01-03_pipe.html"):
        text = read_page(repo, page).text
        assert "it is a " in text, "a directory, or a named pipe"
        assert str(repo.path) not in (repo.path / SITE / page).read_text()


def test_sizes_and_dates_have_one_format(repo: Folder) -> None:
    plan = CLEAN.replace("## Validation and", "```sh {#greet exit=0}\necho hello\n```\n\n## Validation and")
    repo.plan(plan)
    repo.write(".agent/execplans/artifacts/2026-01-01_parser/a.txt", "x" * 519)
    repo.write(".agent/execplans/artifacts/2026-01-01_parser/b.txt", "x" * 1638)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    repo.ok("approve")
    repo.ok("run")
    repo.ok("site")
    text = read_page(repo, PLAN_PAGE).text
    assert "519 B" in text
    assert "1.6 KiB" in text
    assert "Last activity" in text
    assert not re.search(r"\d\dT\d\d:\d\d:\d\dZ", text)
