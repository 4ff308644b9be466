"""Steps of plans without attributes: what is taken, in which folder, and what is left with why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execplan.core.plan.reader import read, read_text
from execplan.core.text.text_lines import Text
from execplan.execution.compile import compile_plan, find_plan_steps
from execplan.execution.inference.prose_cues import CONDITION, NOT_SAID_TO_RUN
from execplan.execution.inference.step_inference import infer_steps
from execplan.execution.parsed_steps import VALIDATE, WORK, ParsedSteps
from execplan.execution.shell.command_line import parse_command

CORPUS = Path(os.environ.get("EXECPLAN_CORPUS") or Path(__file__).parents[3].parent / "shared" / "corpus")


def parsed_steps(steps: str, validation: str = "") -> ParsedSteps:
    """What is found in a plan with such sections."""
    text = f"# T\n\n## Concrete Steps\n\n{steps}\n\n## Validation and Acceptance\n\n{validation}\n"
    return infer_steps(read_text(Text.from_str(text)), frozenset())


def inferred_commands(steps: str, validation: str = "") -> list[str]:
    """The commands that are taken, with `FOLDER: ` before one that is not run in the root."""
    drafts = parsed_steps(steps, validation).drafts
    return [draft.command if draft.cwd == "." else f"{draft.cwd}: {draft.command}" for draft in drafts]


FORMS = {
    "a fence of a shell": ("```bash\nmake test\npytest -q\n```", ["make test", "pytest -q"]),
    "a fence of no language": ("```\ncargo test\n```", ["cargo test"]),
    "an indented block": ("Run:\n\n    cargo fmt\n    cargo test --all\n", ["cargo fmt", "cargo test --all"]),
    "a block in an item": ("1. Test it.\n\n       npm test\n\n2. Then look.", ["npm test"]),
    "indented too little": (
        "1. Test it.\n\n    make test\n    go vet ./...\n\n2. Look.",
        ["make test", "go vet ./..."],
    ),
    "below its own words": ("1. Run the tests:\n   npm test\n   npm run lint", ["npm test", "npm run lint"]),
    "prompts": ("```console\n$ make test\nok\n$ git status --short\n```", ["make test", "git status --short"]),
    "an item that is a command": ("- `npm test`\n- `npm run lint`.", ["npm test", "npm run lint"]),
    "an item of two": ("- `npm test`, then `npm run lint`", ["npm test", "npm run lint"]),
    "an item with a box": ("- [ ] `npm test`", ["npm test"]),
    "a label in a list of commands": ("Run these checks:\n\n- Unit tests: `pytest -q`", ["pytest -q"]),
    "a sentence": ("First write it. Then run `make test` and look at what it prints.", ["make test"]),
    "several in a sentence": (
        "1. Run `npm run check`, `npm test`, and `npm run build`.",
        ["npm run check", "npm test", "npm run build"],
    ),
    "words before the command": ("Run the focused tests with `pytest tests/a.py`.", ["pytest tests/a.py"]),
    "a wrapped span": ("Run `pytest\ntests/a.py -q` now.", []),
    "continued lines": (
        "    python tool.py \\\n      --out build \\\n      --force",
        ["python tool.py --out build --force"],
    ),
    "a line that ends in `&&`": ("```sh\nmake build &&\n  make test\n```", ["make build && make test"]),
    "comments": ("```sh\n# build it\nmake build  # takes a minute\n\nmake test\n```", ["make build", "make test"]),
    "variables before it": ("    CI=1 npm test", ["CI=1 npm test"]),
    "what needs a shell": (
        "    cargo fmt && cargo test 2>&1 | tail -n 20",
        ["cargo fmt && cargo test 2>&1 | tail -n 20"],
    ),
    "a value of its own": ('    out=$(mktemp -d); tool --out "$out"', ['out=$(mktemp -d); tool --out "$out"']),
    "a script in its folder": (
        "```sh\n./scripts/check.sh\nscripts/agent-fix --all\n```",
        ["./scripts/check.sh", "scripts/agent-fix --all"],
    ),
    "the item names what its block shows": ("1. Run `make test`:\n\n       make test", ["make test"]),
    "twice": ("- `make test`\n- `make test`", ["make test", "make test"]),
    "an address of a folder in a pattern": ("    rg -n '<Foo>|TODO' src", ["rg -n '<Foo>|TODO' src"]),
    "programs alone": ("    ls\n    pwd", ["ls", "pwd"]),
    "an edit below words that tell to edit": ("Edit the file:\n\n    sed -i 's/1/2/' a.py", ["sed -i 's/1/2/' a.py"]),
    "a word in another script": ("在仓库根目录运行：\n\n    npm test", ["npm test"]),
}


@pytest.mark.parametrize("name", FORMS)
def test_forms(name: str) -> None:
    markdown, commands = FORMS[name]
    assert inferred_commands(markdown) == commands


FOLDERS = {
    "nothing told": ("    make test", ["make test"]),
    "the root": ("From the repository root:\n\n    make test", ["make test"]),
    "a folder before a block": ("In `web/`:\n\n    npm test", ["web: npm test"]),
    "a folder and an order": ("From the `web` directory, run:\n\n    npm test", ["web: npm test"]),
    "for all of them": (
        "Working directory: `services/api`\n\n    make a\n\nThen:\n\n    make b",
        ["services/api: make a", "services/api: make b"],
    ),
    "in a heading": ("### In `web/`:\n\n    npm test", ["web: npm test"]),
    "in the sentence": ("Run `npm test` from `web/`.", ["web: npm test"]),
    "in the sentence, the root": ("Run `npm test` from the repository root.", ["npm test"]),
    "`cd` before it": ("    cd web\n    npm ci\n    npm test", ["web: npm ci", "web: npm test"]),
    "`cd` on the line": ("- `cd web && npm test`\n- `cd api && make test`", ["web: npm test", "api: make test"]),
    "`cd` on one line of three": ("    cd src && ls\n    make a\n    ls", ["src: ls", "make a", "ls"]),
    "`cd` on a line, and another block": ("    cd web && npm ci\n\nThen:\n\n    make a", ["web: npm ci", "make a"]),
    "a shell of its own": ("```sh\n(cd web && npm test)\nmake test\n```", ["web: npm test", "make test"]),
    "back again": (
        "    cd web\n    npm ci\n    cd ..\n    make\n    cd api/v2\n    cd -\n    make test",
        ["web: npm ci", "make", "make test"],
    ),
    "`cd` back": (
        "    cd web/app\n    npm ci\n    cd ../api\n    make test",
        ["web/app: npm ci", "web/api: make test"],
    ),
    "called the root": (
        "Run from the repository root (`/home/ann/proj`):\n\n    make a\n\nThen from `/home/ann/proj/web`:\n\n    npm test",
        ["make a", "web: npm test"],
    ),
    "all of it in one": (
        "Run all commands from `/home/ann/proj`.\n\n    make a\n\n- `cd /home/ann/proj/web && npm test`",
        ["make a", "web: npm test"],
    ),
    "`cd` to the root": (
        "```sh\ncd /srv/git/proj\nmake a\n```\n\nThen:\n\n```sh\ncd /srv/git/proj/web\nnpm test\n```",
        ["make a", "web: npm test"],
    ),
    "Windows calls it so": (
        "From the repo root (`C:\\src\\proj`):\n\n    cmake --build build",
        ["cmake --build build"],
    ),
    "noted otherwise": ("Run everything from the repository root unless noted otherwise.\n\n    make a", ["make a"]),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_folders(name: str) -> None:
    markdown, commands = FOLDERS[name]
    assert inferred_commands(markdown) == commands


UNSURE = {
    "outside": "Run this from `/tmp/x`:\n\n    make a",
    "outside by `cd`": "    cd /tmp/x\n    make a",
    "at home": "    cd ~/proj\n    make a\n\nThen:\n\n    cd ~/other\n    make a",
    "another folder of the machine": "From the repository root `/home/ann/proj`:\n\nThen from `/home/ann/other`:\n\n    make a",
    "a part of it only": "Run from `/home/ann/proj/web`; see `/home/ann/proj/README.md`.\n\n    npm test",
    "told in words": "In the sibling checkout:\n\n    make a",
    "in a container": "Inside the container:\n\n    make a",
    "below nothing": "    cd ../other\n    make a",
    "a variable": "    cd $ROOT\n    make a",
    "two that go deeper": "    cd web\n    cd api\n    make a",
    "behind one that goes away": "    cd web\n    npm ci\n\nThen:\n\n    make a",
    "behind one that goes away, in a list": "From the repository root:\n\n1. First:\n\n       cd web\n       npm ci\n\n2. Then:\n\n       make a",
    "behind a lone `cd` that is not sure": "```sh\ncd $WEB\nmake a\n```",
    "behind a folder for one block": "In `web/`:\n\n    npm ci\n\nThen:\n\n    make a",
    "the tests lie there": "Run the tests in `web/`:\n\n    make a",
}


@pytest.mark.parametrize("name", UNSURE)
def test_a_folder_that_is_not_sure_is_no_guess(name: str) -> None:
    assert [command for command in inferred_commands(UNSURE[name]) if "npm ci" not in command] == []
    assert [
        skipped_line
        for skipped_line in parsed_steps(UNSURE[name]).skipped
        if "make a" in skipped_line.text or "npm test" in skipped_line.text
    ]


def test_folders_of_the_steps_do_not_reach_the_validation() -> None:
    assert inferred_commands("Working directory: `web`\n\n    npm ci", "    npm test") == ["web: npm ci"]
    assert inferred_commands("    npm ci", "    npm test") == ["npm ci", "npm test"]


SKIPPED = {
    "a gap": ("    git checkout <branch>", "has a placeholder to fill in: <branch>"),
    "a gap in words": ("    tool --file path/to/file", "has a placeholder to fill in: path/to/"),
    "capitals": ("    git show COMMIT_SHA", "has a placeholder to fill in: COMMIT_SHA"),
    "dots": ("    make test ...", "has a placeholder to fill in: ..."),
    "a variable": ("    tool --token $TOKEN", "needs a value for $TOKEN"),
    "a variable beside it": ("    A=1 tool --name $A", "needs a value for $A"),
    "exported": ("    export A=1\n    make test", "depends on `export A=1`"),
    "set": ("    dir=$(mktemp -d)\n    make test", "depends on `dir=$(mktemp -d)`"),
    "activated": ("    source .venv/bin/activate\n    make test", "depends on"),
    "a choice": ("- Run `npm test` or `yarn test`.", "is in a sentence that continues in a way that is not understood"),
    "a choice below": ("    npm test\n\nor\n\n    yarn test", "one of several"),
    "a choice in parentheses": ("Run `npm test` (or `yarn test`).", "one of several"),
    "a condition": ("If the schema changed, run:\n\n    make schema", "condition"),
    "a condition behind": (
        "Run `make schema` if the schema changed.",
        "is in a sentence that continues in a way that is not understood",
    ),
    "a condition of its list": ("Optionally:\n\n- `make schema`", "condition"),
    "a condition of its heading": ("### Only if it fails\n\nRun:\n\n    make schema", "condition"),
    "a condition in another tongue": ("如果需要：\n\n    make schema", "condition"),
    "a comment": ("```sh\n# only if the schema changed\nmake schema\n```", "condition"),
    "forbidden": ("Do not run:\n\n    make deploy", "is next to text that says not to run something"),
    "forbidden in the sentence": ("Never do that, and run `make deploy` not at all.", "sentence"),
    "mentioned": ("`git push` is not needed.", "doesn't clearly say to run it"),
    "a criterion": ("- `make test` passes", "doesn't clearly say to run it"),
    "an example": ("For example:\n\n    make test", "one of several"),
    "output": ("Expected output:\n\n    make test", "is where the plan shows output"),
    "a record": ("These checks were run on 2026-01-02:\n\n    make test", "is where the plan describes past work"),
    "to be written": ("Document these commands in the README:\n\n    make test", "to be written"),
    "on Windows": ("On Windows:\n\n    make test", "another machine"),
    "PowerShell": ("```powershell\nGet-ChildItem docs\n```", "Windows"),
    "PowerShell in a plain fence": ("```\n$env:A = 1\nnpm test\n```", "is among lines that are not commands"),
    "another terminal": ("In a second terminal:\n\n    make test", "another machine"),
    "a server": ("    npm run dev", "runs until it is stopped: a step with `service` can start it"),
    "a server by another script": ("    pnpm start:web", "runs until it is stopped, or waits for input"),
    "a server of Python": (
        "    python -m http.server 8000",
        "runs until it is stopped: a step with `service` can start it",
    ),
    "what asks the server": (
        "    npm run dev\n    curl http://localhost:3000/health",
        "needs a service whose start is not a step",
    ),
    "a watcher": ("    cargo watch -x test", "runs until it is stopped: a step with `service` can start it"),
    "a follower": ("    tail -f log.txt", "runs until it is stopped: a step with `service` can start it"),
    "a pager": ("    less -S README.md", "runs until it is stopped, or waits for input"),
    "a prompt for a message": ("    git commit", "asks for input"),
    "a rebase": ("    git rebase -i HEAD~3", "asks for input"),
    "snapshots are reviewed": ("    cargo insta review", "asks for input"),
    "the background": ("    make serve-static &", "background"),
    "by hand": ("Start the dev server by hand:\n\n    make all", "by hand"),
    "a failure": ("    make test\n\nThis must fail before the change.", "is expected to fail"),
    "a failure in the sentence": ("Run `make test`. Expect it to fail.", "is expected to fail"),
    "a here-document": ("```sh\ncat > a.txt <<EOF\nhello\nEOF\n```", "is among lines that are not commands"),
    "a loop over lines": ("```sh\nfor a in b c; do\n  make test\ndone\n```", "is a part of a multi-line script"),
    "an open quote": ('```sh\npython -c "import a\n```', "quote"),
    "quotes out of a string": ('    tool --name \\"a b\\"', "backslashes"),
    "prose in a block": ("    make the parser faster\n    go and see", "sentence"),
    "a tree": ("```\nsrc/\n  parser.py\n```", "is not a command, but output, a listing or text"),
    "files": ("    scripts/a.sh\n    scripts/b.sh", "is not a command, but output, a listing or text"),
    "JSON": ("```json\n{}\n```", "is json"),
    "SQL": ("```sql\nselect 1;\n```", "is sql"),
    "what a program prints": ("```\nmake test\nPASS: 12 tests\n```", "is among lines that are not commands"),
    "its own machine": ("    tool --root /home/ann/proj/data", "contains a path of a specific machine"),
    "mangled": ("    cargo fmt just ci", "several commands"),
    "arrows": ("    make test → ok", "sentence"),
}


@pytest.mark.parametrize("name", SKIPPED)
def test_what_is_left(name: str) -> None:
    markdown, why = SKIPPED[name]
    parsed = parsed_steps(markdown)
    assert [draft.command for draft in parsed.drafts] == []
    assert why in " / ".join([skipped_line.why for skipped_line in parsed.skipped])


def test_what_a_transcript_shows_is_left_where_it_varies() -> None:
    parsed = parsed_steps("```console\n$ make test\n12 passed in 0.3s\n```")
    assert [draft.command for draft in parsed.drafts] == ["make test"]
    assert parsed.drafts[0].expect is None
    assert parsed.skipped[0].text == "12 passed in 0.3s"


def test_phases_lines_and_needs() -> None:
    drafts = parsed_steps("    make a\n    make b \\\n      c", "- `make d`").drafts
    assert [(draft.phase, draft.start, draft.end) for draft in drafts] == [
        (WORK, 4, 5),
        (WORK, 5, 7),
        (VALIDATE, 10, 11),
    ]
    assert drafts[1].needs == (drafts[0].id,)
    assert drafts[0].needs == drafts[2].needs == ()
    assert len({draft.id for draft in drafts}) == 3


def test_nothing_is_read_from_taken_lines_guidance_quotes_and_other_sections() -> None:
    text = "# T\n\n## Plan of Work\n\n    make a\n\n## Concrete Steps\n\n> `make b`\n\n```sh\nmake c\n```\n\n<!--\nmake d\n-->\n"
    plan = read_text(Text.from_str(text))
    assert [draft.command for draft in infer_steps(plan, frozenset()).drafts] == ["make c"]
    assert infer_steps(plan, frozenset(range(10, 13))).drafts == ()


FRAGMENTS = st.sampled_from(
    "`make test`;Run ;cd web && ;`cd web`;\n;\n\n;    ;- ;1. ;```sh\n;```\n;$ ;npm test;cargo test \\\n;if ;or ;In `web/`:;"
    "/home/ann/x;from ;`;``;'\";<<EOF\n;$(;$X;(;);# ;> ;\t;é;。;\u202e;## Validation\n;[ ] ;\\;&&;|;&".split(";")
)


@settings(max_examples=50)
@given(st.lists(FRAGMENTS, max_size=30).map("".join))
def test_any_text_is_read_and_a_step_holds_only_words_of_its_lines(markdown: str) -> None:
    plan = read_text(Text.from_str(f"# T\n\n## Concrete Steps\n\n{markdown}\n"))
    once = infer_steps(plan, frozenset())
    assert once == infer_steps(plan, frozenset())
    for draft in once.drafts:
        lines = " ".join(plan.text.lines[draft.start : draft.end])
        assert all([word in lines for word in draft.command.split()])
        assert not draft.cwd.startswith(("/", ".."))
        problem = parse_command(draft.command).problem
        assert not problem or problem.startswith("a character")


@pytest.mark.skipif(not CORPUS.is_dir(), reason="no corpus of real plans")
def test_real_plans_compile_or_give_no_step() -> None:
    steps = 0
    for path in sorted(CORPUS.rglob("*.md"))[::40]:
        compiled = compile_plan(read(path.read_bytes()), path.stem, path.name)
        steps += len(compiled.document.steps) if compiled.document is not None else 0
    assert steps > 30


@pytest.mark.parametrize(
    "sentence",
    [
        "Führe `make test` aus.",
        "Dann führen Sie `make test` aus.",
        "Puis lancez `make test`.",
        "Exécutez `make test`.",
        "Luego ejecuta `make test`.",
        "Depois execute `make test`.",
        "Esegui `make test`.",
        "Запустите `make test`.",
        "运行 `make test`。",
        "1. 执行：`make test`",
    ],
)
def test_sentences_of_other_languages_say_to_run_a_command(sentence: str) -> None:
    plan = read_text(Text.from_str(f"# T\n\n## Concrete Steps\n\n{sentence}\n"))
    assert [draft.command for draft in infer_steps(plan, frozenset()).drafts] == ["make test"]


@pytest.mark.parametrize(
    "sentence", ["Man führt `make test` nicht aus.", "Avoid running`make test`.", "`make test` 运行了。"]
)
def test_sentences_of_other_languages_that_only_mention_a_command(sentence: str) -> None:
    plan = read_text(Text.from_str(f"# T\n\n## Concrete Steps\n\n{sentence}\n"))
    assert infer_steps(plan, frozenset()).drafts == ()


@pytest.mark.parametrize("attributes", ["", " {#t}"])
def test_what_only_mentions_the_command_of_a_step_is_not_left_out(attributes: str) -> None:
    sentences = "We like `make test` and `make lint`. If needed, run `make test`."
    plan = read_text(Text.from_str(f"# T\n\n## Concrete Steps\n\n```sh{attributes}\nmake test\n```\n\n{sentences}\n"))
    skipped = {(entry.text, entry.why) for entry in find_plan_steps(plan).skipped}
    assert skipped == {("make lint", NOT_SAID_TO_RUN), ("make test", CONDITION)}
