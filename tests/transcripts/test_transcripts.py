"""Every verb has a transcript that is what really happens; and what is shown to be typed next can be typed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from execplan.cli.commands import COMMANDS
from tests.commands import check_command
from tests.transcripts.runner import FOLDER, rewrite

PATHS = sorted(FOLDER.glob("*.md"))


def test_every_verb_has_a_transcript() -> None:
    missing = set(COMMANDS) - {path.stem for path in PATHS}
    assert not missing, "write their commands into tests/transcripts/VERB.md, then run python scripts/transcripts.py"


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_transcript(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert rewrite(text) == text, f"python scripts/transcripts.py {path.stem}, then read what has changed"


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_transcript_shows_what_is_refused(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert re.search(r"^\[exit [1-7]\]$", text, re.MULTILINE)
    assert f"\n$ execplan {path.stem}" in text
    assert '"error": ' in text, "show the document of --json"


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_suggested_commands_can_be_typed(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    commands = re.findall(r"^next: (?:.*, (?:then|for example): |ask a person to run: )?(.*)", text, re.MULTILINE)
    commands += re.findall(r"^hint: (?:.*: )?(execplan [^;\n]*)", text, re.MULTILINE)
    for line in re.findall(r'^\{"schema": .*\}$', text, re.MULTILINE):
        commands += json.loads(line)["next"]
    for command in commands:
        if not command.startswith(("pre-commit ", "git ")):
            check_command(command)


def test_output_that_has_changed_is_noticed() -> None:
    block = "```console\n$ echo one; echo two >&2; exit 3\none\ntwo\n[exit 3]\n```\n"
    assert rewrite(block) == block
    for wrong in (block.replace("one\ntwo", "two\none"), block.replace("[exit 3]\n", ""), block.replace("two\n[", "[")):
        assert rewrite(wrong) == block


def test_blocks_of_a_transcript_share_a_folder_in_which_little_differs() -> None:
    text = (
        "````file notes/a.md\n```\n$ no command\n```\n````\n~~~console\n$ cat notes/a.md | wc -l\n~~~\n"
        "```console\n$ pwd; echo $HOME; git init; git config user.name; date -u +%Z\n```\n```sh\n$ exit 9\n```\n"
    )
    rewritten = rewrite(text)
    assert rewritten.startswith(
        "````file notes/a.md\n```\n$ no command\n```\n````\n~~~console\n$ cat notes/a.md | wc -l\n3\n~~~\n"
    )
    assert (
        "\n/home/ann/project\n/home/ann\nInitialized empty Git repository in /home/ann/project/.git/\nAnn\nUTC\n"
        in rewritten
    )
    assert rewritten.endswith("```sh\n$ exit 9\n```\n")
    with pytest.raises(ValueError, match="never closed"):
        rewrite("```console\n$ true\n")
    with pytest.raises(ValueError, match="longer"):
        rewrite("~~~console\n$ printf '~%s\\n' '~~'\n~~~\n")
