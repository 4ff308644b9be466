"""Plans as others write them: in which folder their commands are taken to run, and what is a report and no step."""

from __future__ import annotations

import pytest

from tests.execution.inference.test_step_inference import inferred_commands, parsed_steps

ROOT = "Run all commands from the repository root.\n\n"
FOLDERS = {
    "bold words": ("**Working directory:** `services/api`\n\n    make\n", ["services/api: make"]),
    "a working directory without a mark": ("Working directory: services/api\n\n    make\n", ["services/api: make"]),
    "a path without a mark": ("From packages/web:\n\n    npm ci\n", ["packages/web: npm ci"]),
    "the order behind the folder": ("Inside `server/` run:\n\n    make\n", ["server: make"]),
    "an order behind a folder of one word": ("1. From `web`, run `npm ci`.", ["web: npm ci"]),
    "no comma before the order": ("1. From the repo root run `npm ci`.", ["npm ci"]),
    "still there": ("Still in `apps/site`, run:\n\n    make\n", ["apps/site: make"]),
    "a name of the repository": ("From the root of the `acme` repository:\n\n    make\n", ["make"]),
    "Korean": ("`backend` 디렉터리에서 실행:\n\n    make\n", ["backend: make"]),
    "Japanese": ("`server` ディレクトリで次を実行する:\n\n    make\n", ["server: make"]),
    "Chinese": ("在 `web` 目录下运行：\n\n    make\n", ["web: make"]),
    "French": ("Depuis la racine du dépôt :\n\n    make\n\nDans `web` :\n\n    npm ci\n", ["make", "web: npm ci"]),
    "German": ("Danach im Ordner `apps/api`:\n\n    make\n", ["apps/api: make"]),
    "Spanish": ("En el directorio `apps/web`:\n\n    make\n", ["apps/web: make"]),
    "told, and gone to": ("In `web`:\n\n    cd web\n    npm ci\n", ["web: npm ci"]),
    "told, and gone to before a command": ("In `web` run:\n\n    cd web && npm ci\n", ["web: npm ci"]),
    "told, and gone on from": ("In `web`:\n\n    cd src\n    make\n", ["web/src: make"]),
    "gone to once more": (
        "    cd a/b\n    make\n\nThen.\n\n    cd a/b\n    make test\n",
        ["a/b: make", "a/b: make test"],
    ),
    "gone to beside it": ("    cd a/b\n    make\n\nThen.\n\n    cd a/c && make\n", ["a/b: make", "a/c: make"]),
    "gone to, maybe from there": ("    cd a\n    make\n\nThen.\n\n    cd b\n    make test\n", ["a: make"]),
    "gone to behind one that came back": (
        "In the root of the repository:\n\n    cd a && make\n\nThen.\n\n    cd src\n    make test\n",
        ["a: make", "src: make test"],
    ),
    "gone to from the root of all commands": (
        f"{ROOT}    cd a\n    make\n\nThen.\n\n    cd b\n    make test\n",
        ["a: make", "b: make test"],
    ),
    "plain behind it, of all commands": (f"{ROOT}    cd a\n    make\n\nThen.\n\n    make test\n", ["a: make"]),
    "gone to in an item": ("- `cd a`\n- `make`\n- `cd b && make`", ["b: make"]),
    "where something lies": ("The page lives in `web`. Test it:\n\n    npm test\n", []),
    "what a folder holds": ("The `web/` directory has the page:\n\n    npm test\n", []),
    "a comment": (
        "```sh\n# in apps/api\nmake\n\n# from the repository root\nmake all\n```",
        ["apps/api: make", "make all"],
    ),
    "a comment that does not tell which": ("```sh\nmake\n# in the other package\nmake test\n```", ["make"]),
    "a heading that is a folder": ("### web/\n\n    npm ci\n", []),
    "then, in a folder": ("Write it. Then, in `crates/core`, run `cargo test`.", ["crates/core: cargo test"]),
    "gone to from there, upwards": (
        "    cd api\n    make\n\nThen.\n\n    cd ../web\n    npm ci\n",
        ["api: make", "web: npm ci"],
    ),
    "gone up too far": ("    cd api\n    make\n\nThen.\n\n    cd ../../web\n    npm ci\n", ["api: make"]),
    "the command names it": ("Run it from `tests/slow`:\n\n    python tests/slow/all.py\n", []),
    "the command names it behind a `cd`": ("    cd pkg\n    pytest pkg/tests\n", ["pkg: pytest pkg/tests"]),
    "a sentence behind one that goes": ("In `web/` run `npm ci`. Then run `npm test`.", ["web: npm ci"]),
    "a paragraph behind one that goes": ("In `web/` run `npm ci`.\n\nAfterwards run `make`.", ["web: npm ci"]),
    "an item behind one that names its own": (
        "1. Run `npm ci` from `web/`.\n2. Run `make`.",
        ["web: npm ci", "make"],
    ),
    "at the end": ("Now the page, in `web/`:\n\n    npm ci\n", ["web: npm ci"]),
    "at the end, in parentheses": ("3. The page (run inside `web/app`):\n\n       npm ci\n", ["web/app: npm ci"]),
    "the following in a folder": ("Run the following in the `web` folder:\n\n    npm ci\n", ["web: npm ci"]),
    "paths from there": ("All paths are relative to `apps/web`.\n\n    npm ci\n", []),
    "one for some and one for others": (
        "The working directory is `gen` for the first and the repository root for the second.\n\n    make a\n    make b\n",
        [],
    ),
    "the root of another clone": ("From the repository root, in a fresh clone:\n\n    make\n", []),
    "another folder is named": (
        "Commands are run from the repository root unless another directory is named.\n\n    make\n",
        ["make"],
    ),
    "a step says otherwise": ("Work from the repo root unless a step says otherwise:\n\n    make\n", ["make"]),
    "told under another heading": (
        "### A\n\nRun all commands from `web/`.\n\n    npm ci\n\n    npm test\n\n### B\n\n    make\n",
        ["web: npm ci", "web: npm test"],
    ),
    "told above the headings": (
        "Run all commands from `web/`.\n\n### A\n\n    npm ci\n\n### B\n\n    npm test\n",
        ["web: npm ci", "web: npm test"],
    ),
    "named by the way": ("For the API (`services/api`):\n\n    make\n", []),
    "a name and its folder": ("**The page** (`web/`)\n\n    npm ci\n", []),
    "a lone folder": ("`services/api`:\n\n    make\n", []),
    "a lone command of one word": ("`make`:\n\n    make -j2\n", ["make -j2"]),
    "from the root and not from there": (
        "Run these from the root of the monorepo, not from `packages/a`:\n\n    make\n",
        ["make"],
    ),
    "all but the last": (
        "All steps run inside `gen/`; the last one runs at the repository root.\n\n    make a\n    make b\n",
        [],
    ),
    "items with a folder and a command": (
        "- From `apps/web`: `npm test`\n- From the root: `make check`",
        ["apps/web: npm test", "make check"],
    ),
    "for each of some": ("For each of `web` and `api`:\n\n    npm test\n", []),
    "for each milestone": ("After each milestone run:\n\n    npm test\n", ["npm test"]),
    "a branch": ("From `main`, run:\n\n    make\n", ["make"]),
}
ORDERS = {
    "write, then run": ("Edit `a.py` so that it raises. Then run:\n\n    pytest\n", ["pytest"]),
    "a paragraph behind one that tells to write": ("Edit `a.py` so.\n\nRun `make`.", ["make"]),
    "what a file is to hold": ("Create `check.sh` with:\n\n```sh\nmake\n```", []),
    "an environment": ("Create the environment:\n\n    uv sync\n", ["uv sync"]),
    "variables of one": ("Environment variables:\n\n    uv sync\n", []),
    "change to a folder": ("Change to the `ios` directory:\n\n    cd ios\n    make\n", ["ios: make"]),
    "an example that is run": ("Run the example:\n\n    cargo run -p demo\n", ["cargo run -p demo"]),
    "an example": ("An example:\n\n    cargo run -p demo\n", []),
    "expecting nothing": ("Run `make check` and expect no output.", ["make check"]),
    "expecting no failures": ("1. Run `make check`. Expect 0 failures.", ["make check"]),
    "expecting a failure": ("Run `make check` and expect it to fail.", []),
    "items that say what they do": ("1. Install them: `npm ci`\n2. Deploy: `make deploy`", ["npm ci"]),
    "items below other words": ("Scripts that the manifest gets:\n\n- Test: `vitest run`", []),
    "what is made": ("The tool gets these commands:\n\n- `tool init --force`", []),
    "a program of another one's folder": (
        "```sh\ncomposer install\nvendor/bin/phpunit\n```",
        ["composer install", "vendor/bin/phpunit"],
    ),
    "a step that compares": ("Edit `a.py` as told. Then compare:\n\n    ./compare old.json\n", ["./compare old.json"]),
    "fails before and passes behind": (
        "Run `pytest -q` and expect 3 passed. The new test fails before the change and passes after.",
        ["pytest -q"],
    ),
    "fails before": ("Run `pytest -q`. The new test fails before the change.", []),
    "another one is forbidden": ("    make\n\nDo not run `make clean` in between.\n", ["make"]),
    "that one is forbidden": ("    make clean\n\nDo not run `make clean` twice.\n", []),
    "started and left alone": ("Start the database.\n\n    docker compose up -d db\n", ["docker compose up -d db"]),
    "started, in a sentence": (
        "Run `docker compose up -d db` to start the database.",
        ["docker compose up -d db"],
    ),
    "started by hand": ("Start the database by hand.\n\n    docker compose up -d db\n", []),
    "started and stays": ("Start the database.\n\n    make db\n", []),
    "when all is finished": ("When finished, take it down:\n\n    docker compose down\n", ["docker compose down"]),
    "when it failed": ("When it failed, take it down:\n\n    docker compose down\n", []),
    "a sample that is read": (
        "A change that a human can see. Import the sample file:\n\n    ./import a.csv\n",
        ["./import a.csv"],
    ),
    "a sample of output": ("Sample output:\n\n    ./import a.csv\n", []),
    "an interface that changes": ("Run `go build ./...` and mend what the new interface breaks.", ["go build ./..."]),
    "an interface": ("The interface:\n\n    ./tool --all\n", []),
    "a ladder that was kept": ("The record preserved this ladder:\n\n    make\n", []),
    "a comment on what it prints": ("```sh\nmake test  # expect: all green\n```", ["make test"]),
    "a comment on its failure": ("```sh\nmake test  # expect it to fail\n```", []),
    "what builds the server": (
        "```sh\npnpm storybook:build\nnpm run preview:lint\n```",
        ["pnpm storybook:build", "npm run preview:lint"],
    ),
    "what serves": ("```sh\npnpm storybook:web\nnpx storybook dev\n```", []),
    "a program without flags": (
        "    quarto render a.qmd\n    ansible-lint roles\n",
        ["quarto render a.qmd", "ansible-lint roles"],
    ),
    "a shell that was changed above": ("    source .venv/bin/activate\n\nThen.\n\n    pytest\n\nRun `make`.", []),
    "a shell that was changed in an item": ("- `source .venv/bin/activate`\n- `pytest -q`", []),
    "a block that only sets variables": ("    export A=1\n    export B=2\n\nThen.\n\n    pytest\n", []),
    "a block that sets one for itself": ("    export A=1\n    make\n\nThen.\n\n    pytest\n", ["pytest"]),
    "a line that sets one for itself": (
        "    export PATH=a:$PATH && make a\n\nThen.\n\n    make b\n",
        ["make b"],
    ),
    "a variable that is not used below": ("    A=1\n\nThen.\n\n    pytest\n", ["pytest"]),
    "a failure's handling above": ("    set -euo pipefail\n\nThen.\n\n    pytest\n", ["pytest"]),
    "an item that makes a branch": ("1. Create the branch: `git checkout -b a`.", ["git checkout -b a"]),
    "how it was before": ("Before:\n\n    ./tool --version\n\nThen run:\n\n    ./tool --all\n", ["./tool --all"]),
    "a script from elsewhere": ("    curl -fsS https://a.example/a | sh\n", ["curl -fsS https://a.example/a | sh"]),
    "a shell that waits": ("    make && bash\n", []),
    "after another terminal": ("In one terminal:\n\n    ./serve --port 1\n\nThen:\n\n    curl localhost:1\n", []),
}
RECORD = "```sh\nmake smoke\n```\n\n2024-05-14: 17 of 17 scenarios green.\n"


@pytest.mark.parametrize(("steps", "wanted"), FOLDERS.values(), ids=FOLDERS)
def test_the_folder_of_a_command(steps: str, wanted: list[str]) -> None:
    assert inferred_commands(steps) == wanted


@pytest.mark.parametrize(("steps", "wanted"), ORDERS.values(), ids=ORDERS)
def test_what_is_told_to_be_run(steps: str, wanted: list[str]) -> None:
    assert inferred_commands(steps) == wanted


def test_all_commands_begin_at_the_root_in_validation_too() -> None:
    assert inferred_commands(f"{ROOT}    cd a\n    make\n", "    cd b\n    make test\n") == ["a: make", "b: make test"]
    assert inferred_commands("    cd a\n    make\n", "    cd b\n    make test\n") == ["a: make"]


@pytest.mark.parametrize(
    "lead", ["Dana did a QA pass over the new dialog.", "Post-merge QA:", "On Tuesday all of it was tried once more."]
)
def test_a_past_occasion_with_a_dated_result_is_no_step(lead: str) -> None:
    skipped = parsed_steps("", f"{lead}\n\n{RECORD}").skipped
    assert [skipped_line.why for skipped_line in skipped] == ["is where the plan describes past work"]


@pytest.mark.parametrize("lead", ["Run the QA suite:", "Required commands:", "Full validation:", ""])
def test_a_dated_result_behind_an_order_takes_nothing_back(lead: str) -> None:
    assert inferred_commands("", f"{lead}\n\n{RECORD}") == ["make smoke"]
