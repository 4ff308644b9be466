"""What the crash tests do: a repository with plans that name each other, and a command for each verb that writes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from tests.plans import CLEAN, STEPS, with_sections

if TYPE_CHECKING:
    from tests.conftest import Folder

PLANS = ".agent/execplans"
PARSER, SCANNER, READER = "2026-01-01_parser", "2026-01-02_scanner", "2026-01-03_reader"
ARTIFACTS = f"{PLANS}/artifacts/{PARSER}"
FINISHED = CLEAN.replace("- [ ]", "- [x] (2025-12-31 10:00Z)")
OTHER_FORM = "# Build the parser\n\n## Tasks\n\n- [x] Read lines.\n- [ ] Build the parser.\n\n## Risks\n\nNone.\n"
UNTIDY = CLEAN.replace("- [x]", "- [X]")


class Scene(NamedTuple):
    """A verb in a repository that is made for it."""

    name: str
    call: tuple[str, ...]
    parser: str = CLEAN
    before: tuple[tuple[str, ...], ...] = ()
    """What is run first."""
    per_file: bool = False
    """Whether files are promised to be old or new each for itself only, until the verb is run again."""
    moves: bool = False
    """Whether the next command is promised to finish what was begun, or to take it back."""
    max_changes: int = 4
    """How many changes of locks and journals the bounded sweep kills at, beside those that it never leaves out."""
    stride: int = 1
    """Which of the points that matter most the bounded sweep takes: each, or every second, to save time."""
    record: str = ""
    """A JSON file of the command's own that has other contents meanwhile; of it, only whether it is complete is checked."""
    placeholder: bytes = b""
    """What a new plan has, until a second write lists a file of its artifacts there."""
    interrupted: bool = False
    """Whether the last of `before` is killed half-way, so that it is the call that has to finish it."""


SCENES = {
    scene.name: scene
    for scene in (
        Scene("done", ("done", "2", "-p", PARSER)),
        Scene("decide", ("decide", "Read bytes.", "--why", "Nothing is lost.", "-p", PARSER)),
        Scene("archive", ("archive", PARSER), FINISHED, moves=True, stride=2),
        Scene("restore", ("restore", PARSER), FINISHED, (("archive", PARSER),), moves=True, stride=2),
        Scene("rename", ("rename", "parser", "Build the parser anew"), moves=True, stride=2),
        Scene("lint --fix", ("lint", "--fix"), UNTIDY, per_file=True, stride=2),
        Scene("new", ("new", "Write the tests of it", "--task", "Write one")),
        Scene(
            "import",
            ("import", "README.md", "--from", "todo-txt", "-p", PARSER),
            max_changes=0,
            per_file=True,
            stride=3,
        ),
        Scene(
            "first import",
            ("import", "README.md", "--from", "todo-txt"),
            max_changes=0,
            per_file=True,
            placeholder=b"Short transcripts, diffs and excerpts that prove the work; put longer ones into the artifacts directory "
            b"and name them here.",
        ),
        Scene("attach", ("attach", "README.md", "-p", PARSER), per_file=True, stride=3),
        Scene("comment", ("comment", "Which one?", "--on", "2", "-p", PARSER), per_file=True, stride=2),
        Scene("set", ("set", "Plan of Work", "First the scanner.", "-p", PARSER), max_changes=0),
        Scene("convert", ("convert", PARSER), OTHER_FORM, max_changes=0, stride=2),
        Scene("undo", ("undo", "-p", PARSER), before=(("done", "2", "-p", PARSER),)),
        Scene("redo", ("redo", "-p", PARSER), before=(("done", "2", "-p", PARSER), ("undo",)), max_changes=0, stride=2),
        Scene(
            "undo archive",
            ("undo", "-p", PARSER),
            FINISHED,
            (("archive", PARSER),),
            moves=True,
            max_changes=0,
            stride=3,
        ),
        Scene(
            "redo rename",
            ("redo",),
            before=(("rename", "parser", "Build the parser anew"), ("undo",)),
            moves=True,
            max_changes=0,
            stride=3,
        ),
        Scene("undo new", ("undo",), before=(("new", "Write the tests of it"),), max_changes=0),
        Scene("drop", ("drop", "tests-of-it"), before=(("new", "Write the tests of it"),), max_changes=0),
        Scene(
            "undo drop", ("undo",), before=(("new", "Write the tests of it"), ("drop", "tests-of-it")), max_changes=0
        ),
        Scene("done --commit", ("done", "2", "--commit", "-p", PARSER), max_changes=0),
        Scene(
            "finishing archive",
            ("list", "--all"),
            FINISHED,
            (("archive", PARSER),),
            moves=True,
            max_changes=0,
            stride=3,
            interrupted=True,
        ),
        Scene(
            "finishing rename",
            ("list", "--all"),
            CLEAN,
            (("rename", PARSER, "Build the parser anew"),),
            moves=True,
            max_changes=0,
            interrupted=True,
        ),
        Scene("compile", ("compile", PARSER), STEPS, max_changes=0, stride=2),
        Scene(
            "site",
            ("site", "--out", "web"),
            per_file=True,
            max_changes=0,
            stride=5,
            record="web/.site-manifest.json",
        ),
        Scene("checkpoint", ("checkpoint", PARSER), max_changes=0, stride=5),
        Scene("index --write", ("index", "--write"), max_changes=0, stride=2),
        Scene(
            "commit", ("commit", "parser-anew"), before=(("rename", PARSER, "Build the parser anew"),), max_changes=0
        ),
    )
}


def create_repository(repo: Folder, scene: Scene) -> None:
    """A repository with a commit, plans that name the one that the verb is about, and work of somebody else's."""
    repo.git("init", "-q", "-b", "main", "--template=")
    write_plans(repo, scene.parser)
    repo.write("README.md", "# A project\n")
    repo.write("src/reader.py", "print(1)\n")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plans")
    repo.write("src/reader.py", "print(2)\n")
    repo.git("add", "-A")
    repo.write("README.md", "# A project, changed\n")
    for call in scene.before[: -1 if scene.interrupted else None]:
        repo.ok(*call)


def write_plans(repo: Folder, parser: str) -> None:
    """Three plans: the first has artifacts, and the others name it and them."""
    repo.plan(parser, PARSER)
    reference_text = (
        f"The parser is in `{PLANS}/{PARSER}.md`, [linked]({PARSER}.md#progress); its log is\n"
        f"{ARTIFACTS}/run.log, [here](./artifacts/{PARSER}/run.log).\n"
    )
    for name, title in ((SCANNER, "Build the scanner"), (READER, "Build the reader")):
        text = with_sections("## Context and Orientation\n\n" + reference_text).replace(
            "# Build the parser", f"# {title}"
        )
        repo.plan(text.replace("- [x]", "- [X]") if parser == UNTIDY else text, name)
    repo.write(f"{ARTIFACTS}/run.log", "ok\n").chmod(0o600)
    repo.write(f"{ARTIFACTS}/shots/a.png", bytes(range(256)) * 40).chmod(0o755)
    for name, target in (("out", "/etc/hostname"), ("folder-out", "/etc"), ("shots/up", "../run.log")):
        os.symlink(target, repo.path / ARTIFACTS / name)
