"""The family Self-contained: what each rule finds and what it leaves alone, beside the examples of its page."""

from __future__ import annotations

import pytest

from execplan.core.plan import reader
from execplan.execution.shell.shell_vocabulary import looks_like_command
from execplan.linter.destructive_commands import describe_loss
from execplan.linter.plan_source import PlanSource
from execplan.linter.rule import RuleContext
from execplan.linter.rule_facts import Clock, GitHistory, RepositoryTree
from execplan.linter.rules.symbol_rules import find_symbols
from execplan.linter.runner import RULES, Finding, lint_bytes
from tests.plans import CLEAN, with_sections

EXISTING_PATHS = ("src/reader.py", "docs/guide.md", "plans/parser.md", "plans/artifacts/parser/run.log")


def lint(code: str, text: str, *, path: str = "plans/parser.md", absent: tuple[str, ...] = ()) -> list[Finding]:
    """The findings of one rule for sections put into the clean plan, with a small repository around it."""

    def answer(kind: str, subject: str) -> object:
        if kind == "has":
            return any(f"{existing}/".startswith(f"{subject}/") for existing in EXISTING_PATHS)
        return any(f"/{existing}".endswith(f"/{subject}") for existing in EXISTING_PATHS)

    context = RuleContext(
        path=path, clock=Clock(0), tree=RepositoryTree(answer), history=GitHistory(missing_symbols=frozenset(absent))
    )
    return lint_bytes(with_sections(text).encode(), context, {code: RULES[code].level})


def marked_text(code: str, text: str, **options: str) -> list[str]:
    """The words that the findings stand at."""
    lines = with_sections(text).split("\n")
    return [lines[finding.line - 1][finding.column - 1 : finding.end_column] for finding in lint(code, text, **options)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("Run it in `/home/ann/src`.", ["/home/ann"]),
        ("cd /Users/ann", ["/Users/ann"]),
        ("[PLANS.md](/Users/ann/PLANS.md)", ["/Users/ann"]),
        ("`file:///home/ann/x`", ["/home/ann"]),
        ("`C:\\Users\\ann\\parser`", ["C:\\Users\\ann"]),
        ("`D:\\work\\parser`", ["D:\\work"]),
        ("Run it in `D:\\work`.", ["D:\\work"]),
        ("Run it in C:\\Users\\ann", ["C:\\Users\\ann"]),
        ("cd /mnt/c/Users/ann/parser", ["/mnt/c/Users/ann"]),
        ("cd /root/parser/src", ["/root/parser"]),
        ("`/mnt/c/Users/<you>/x`, `/mnt/c/Windows`, `/mnt/data/Users/x`, `a/mnt/c/Users/ann`", []),
        ("`/root/.cache`, `/root`, `$DIR/root/parser`, `app/root/parser`, `${X}/root/a`", []),
        ("`D:\\next`, `D:\\d+`, `Q:\\work`, `C:\\temp`", []),
        ("이것은 `/home/ann/src`에서", ["/home/ann"]),
        ("`/home/ann/a` and `/home/ann/b` and `/Users/bo/c`", ["/home/ann", "/Users/bo"]),
        ("`/home/<you>/src`, `/Users/you/x`, `~/src`, `/home/user/x`, `$HOME/x`", []),
        ("https://example.org/home/ann/x and `apps/home/ann/x` and `./home/ann/x`", []),
        ("The route `/home/settings` and `/home/runner/work`", []),
        ("`C:\\Program Files\\Git` and the pattern `[A-Z]:\\d`", []),
    ],
)
def test_paths_of_one_machine(words: str, found: list[str]) -> None:
    assert marked_text("EP401", f"## Concrete Steps\n\n{words}\n") == found


def test_what_was_printed_may_hold_a_path_of_one_machine() -> None:
    fence = "```\nerror in /home/ann/src/reader.py\n```\n"
    assert lint("EP401", f"## Artifacts and Notes\n\n{fence}") == []
    assert len(lint("EP401", f"## Concrete Steps\n\n{fence}")) == 1
    assert lint("EP401", "## Concrete Steps\n\n`/home/ann/a` `/home/ann/b`\n")[0].message.endswith("(2 times)")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("The reader is `src/raeder.py`.", ["src/raeder.py"]),
        ("The reader is `src/raeder.py:12`.", ["src/raeder.py:12"]),
        ("The reader is `reader/raeder.py`, tests `tests/`.", ["reader/raeder.py"]),
        ("The reader is `src/reader.py`, `reader.py`, `./src/reader.py`, `artifacts/parser/run.log` and `src/`.", []),
        ("Create `src/scanner.py` beside it.", []),
        ("New files:\n\n- `src/scanner.py`\n", []),
        ("`origin/main`, `owner/repo`, `text/html`, `/api/v1/x.json`, `@scope/pkg/a.ts`, `https://x.org/a.md`", []),
        ("`src/*.py`, `src/<name>.py`, `$DIR/a.py`, `src/{a,b}.py`, `target/debug/a.rs`, `example.com/a.md`", []),
        ("The reader is at a/raeder.py in the repository.", []),
    ],
)
def test_paths_that_are_not_there(words: str, found: list[str]) -> None:
    assert marked_text("EP402", f"## Context and Orientation\n\n{words}\n") == found


def test_a_path_that_the_plan_of_work_makes_is_new() -> None:
    context = "## Context and Orientation\n\nThe scanner is `src/scanner.py`.\n\n"
    assert len(lint("EP402", context)) == 1
    assert lint("EP402", context + "## Plan of Work\n\nCreate `src/scanner.py` with one function.\n") == []
    data = with_sections(context).encode()
    rule_context = RuleContext(is_archived=True, tree=RepositoryTree(lambda kind, subject: False))
    assert lint_bytes(data, rule_context, {"EP402": "warning"}) == []


@pytest.mark.parametrize(
    ("words", "count"),
    [
        ("See https://wiki.example.org/design.", 1),
        ("- Refer to the [design](https://wiki.example.org/design) for more details.", 1),
        ("<https://wiki.example.org/design>", 1),
        ("See `docs/guide.md` for details.", 0),
        ("See [the guide](../docs/guide.md).", 0),
        ("Lines are cut at LF only; see https://spec.example.org for the grammar of the rest.", 0),
        ("The reader is in one file.\n\nhttps://wiki.example.org/design", 0),
    ],
)
def test_knowledge_behind_a_link(words: str, count: int) -> None:
    assert len(lint("EP403", f"## Context and Orientation\n\n{words}\n")) == count
    assert lint("EP403", f"## Surprises & Discoveries\n\n{words}\n") == []


STEPS = "## Concrete Steps\n\n{}\n\n## Validation and Acceptance\n\nAll of it is expected to end with 0.\n"


@pytest.mark.parametrize(
    ("steps", "count"),
    [
        ("    make parser", 1),
        ("```sh\nmake parser\nmake test\n```", 1),
        ("1. Type `npm run build`.", 1),
        ("```sh\ncd parser\nmake\n```", 0),
        ("In the repository root:\n\n    make parser", 0),
        ("In `src/`:\n\n    make parser", 0),
        ("In `src/`, run:\n\n    make parser", 0),
        ("Now type in **web/**:\n\n    make parser", 0),
        ("In web/:\n\n    make parser", 0),
        ("Go to `src` and type:\n\n    make parser", 0),
        ("Change into `src/`:\n\n    make parser", 0),
        ("Im Wurzelverzeichnis:\n\n    make parser", 0),
        ("À la racine du dépôt :\n\n    make parser", 0),
        ("En la raíz:\n\n    make parser", 0),
        ("In `src/reader.py`:\n\n    make parser", 1),
        ("What is in src/ changes with:\n\n    make parser", 1),
        ("In a/b tests:\n\n    make parser", 1),
        ("    git status", 0),
        ("    make -C parser all", 0),
        ("Write the scanner, then the reader.", 0),
        ("이 명령을 실행한다:\n\n    make parser", 0),
    ],
)
def test_commands_need_a_folder_once(steps: str, count: int) -> None:
    assert len(lint("EP404", STEPS.format(steps))) == count


def test_a_folder_that_another_section_tells_is_enough() -> None:
    orientation = "## Context and Orientation\n\nEverything is typed in the working directory of the checkout.\n\n"
    assert lint("EP404", orientation + STEPS.format("    make parser")) == []


@pytest.mark.parametrize(
    ("validation", "count"),
    [
        ("    make test\n    make lint", 1),
        ("Run `make test`.", 1),
        ("`make test` passes.", 0),
        ("```sh\n$ make test\n```", 1),
        ("Das ist zu tippen, und es zeigt `ok`:\n\n    make test", 0),
        ("Ensuite on voit `ok`:\n\n    make test", 0),
        ("Esto muestra `ok`:\n\n    make test", 0),
        ("Das ist zu tippen:\n\n    make test", 1),
        ("```sh\n$ make test\n12 of 12\n```", 0),
        ("```text\n$ make test\n12 of 12\n```", 0),
        ("Führe es aus und sieh dann genau hin, was am Ende auf der Konsole steht:\n\n    make test", 0),
    ],
)
def test_commands_need_a_result(validation: str, count: int) -> None:
    text = f"## Concrete Steps\n\nWrite the scanner.\n\n## Validation and Acceptance\n\n{validation}\n"
    assert len(lint("EP405", text)) == count


@pytest.mark.parametrize(
    ("validation", "count"),
    [
        ("All required tests are green.", 1),
        ("`cargo test` is green.", 0),
        ("    ./run.sh all", 0),
        ("Open the page and click Save: the plan is listed.", 0),
        ("`GET /plans` answers 200.", 0),
        ("As in Concrete Steps.", 0),
        ("", 0),
    ],
)
def test_acceptance_needs_a_command(validation: str, count: int) -> None:
    text = f"## Concrete Steps\n\nWrite the scanner.\n\n## Validation and Acceptance\n\n{validation}\n"
    assert len(lint("EP406", text)) == count


def test_acceptance_in_detail_is_shown_by_the_commands_of_the_steps() -> None:
    steps = "## Concrete Steps\n\nRun `make test`.\n\n## Validation and Acceptance\n\n"
    assert len(lint("EP406", steps + "All required tests are green.\n")) == 1
    assert lint("EP406", steps + "Accepted when `read()` gives all twelve sections.\n") == []
    assert (
        lint("EP406", steps + "Accepted when " + "all of the twelve sections are read to the line, " * 4 + "\n") == []
    )


@pytest.mark.parametrize(
    "words", ["make test", "npm run x", "$ anything", "CI=1 pytest", "./gradlew build", "tool --flag", "a.sh"]
)
def test_commands_are_told_by_their_words(words: str) -> None:
    assert looks_like_command(words)


@pytest.mark.parametrize(
    "words", ["make", "reader.py", "src/reader.py", "Plan", "a b", "x = y", "npm", "read(data) -> Plan", "-v"]
)
def test_other_code_is_no_command(words: str) -> None:
    assert looks_like_command(words) == (words == "make")


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf src",
        "cd x && rm -r y",
        "sudo dd if=a of=/dev/sda",
        "git push -f origin main",
        "git clean -fdx",
        "git checkout -- .",
        "find . -name '*.orig' -delete",
        "sudo mkfs.ext4 /dev/sdb1",
        "psql app -c 'DROP TABLE plans'",
        "docker compose down -v",
        "terraform apply -auto-approve",
        "KUBECONFIG=x kubectl delete ns app",
        "npx prisma migrate reset",
    ],
)
def test_what_is_lost(command: str) -> None:
    assert describe_loss(command)
    steps = f"## Concrete Steps\n\nIn the root:\n\n    {command}\n\n## Idempotence and Recovery\n\n"
    if looks_like_command(command):
        assert len(lint("EP408", steps + "None.\n")) == 1
    assert lint("EP408", steps + "Restore the dump of the night before.\n") == []


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf target/debug",
        "rm -rf /tmp/parser",
        "rm notes.txt",
        "git push --force-with-lease",
        "git reset HEAD~1",
        "git clean -n",
        "git checkout main",
        "git checkout -- src/reader.py",
        "find . -name '*.orig'",
        "dd if=a of=b.img",
        "git branch -d old",
        "docker compose down",
        "echo 'rm -rf /'",
        "rg 'git reset --hard' docs",
        "rm -rf 'open quote",
    ],
)
def test_what_is_not_lost(command: str) -> None:
    assert describe_loss(command) == ""


def test_a_command_that_nobody_is_to_type_is_no_risk() -> None:
    steps = "## Concrete Steps\n\nIn the root, do not type `git reset --hard`.\n\n## Idempotence and Recovery\n\nN/A\n"
    assert lint("EP408", steps) == []


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("[run](artifacts/parser/last.log)", ["artifacts/parser/last.log"]),
        ("![shot](./artifacts/shot.png)", ["./artifacts/shot.png"]),
        ("[guide](../docs/gone.md#top)", ["../docs/gone.md#top"]),
        ("[a]\n\n[a]: gone.md 'title'", ["gone.md"]),
        ("[up](#no-such-heading)", ["#no-such-heading"]),
        ("[a](<two words.md>)", ["two words.md"]),
        ("[guide](../docs/guide.md), [run](artifacts/parser/run.log), [self](parser.md?plain=1#x)", []),
        ("[run](artifacts/parser/run%2Elog), [web](https://x.org/a.md), [mail](mailto:a@b.c), [root](/gone.md)", []),
        ("[up](#progress), [two](#surprises--discoveries), [top](#top), [line](#L12), [text](#:~:text=x)", []),
        ("`[a](gone.md)` and \\[b](gone.md) and [^1]: gone.md", []),
        ("f[i](gone)(x) = [](const Cursor& cursor) { }", ["gone"]),
        ("[out](../../elsewhere.md)", []),
    ],
)
def test_links_lead_somewhere(words: str, found: list[str]) -> None:
    assert marked_text("EP409", f"## Artifacts and Notes\n\n{words}\n") == found


def test_anchors_are_those_of_github() -> None:
    text = (
        '## Plan of Work\n\n### The `scan()` step, *first*\n\n### Same\n\n### Same\n\n### Öl & 열쇠\n\n<a id="Here"></a>\n\n'
        "[a](#the-scan-step-first) [b](#same-1) [c](#öl--열쇠) [d](#here) [e](#same-2)\n"
    )
    assert marked_text("EP409", text) == ["#same-2"]


def test_links_of_a_plan_that_lies_nowhere_are_not_judged() -> None:
    assert lint("EP409", "## Artifacts and Notes\n\n[run](gone.log)\n", path="") == []


def test_the_secret_is_not_in_the_message() -> None:
    secret = "ghp_" + "Zk3Qw9Xb7Lm2Rt5Yc8Vn4Hj6Pd1Fg0TsuE4i"
    for text in (f"`{secret}`", f"```\n{secret}\n```", f"<!-- {secret} -->"):
        findings = lint("EP410", f"## Concrete Steps\n\n{text}\n")
        assert [finding.level for finding in findings] == ["error"]
        assert secret[:4] in findings[0].message
        assert secret[:5] not in findings[0].message


DONE_PROGRESS = "## Progress\n\n- [x] (2026-03-07 23:27Z) Build it.\n\n## Interfaces and Dependencies\n\n"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("`read_plan(data)` reads.", ["read_plan"]),
        ("`reader::PlanReader` and `Plan.read_all`", ["PlanReader", "read_all"]),
        ("```python\nasync def read_plan(data):\n    helper_call(data)\n```", ["read_plan"]),
        ("`src/read_plan.py`, `npm run read_plan`, `READ_PLAN`, `reader`, `read plan`", []),
        ("`read_plan` is removed.", []),
    ],
)
def test_symbols_of_the_interfaces(words: str, found: list[str]) -> None:
    plan = reader.read(with_sections(DONE_PROGRESS + words + "\n").encode())
    symbols = find_symbols(plan, PlanSource(plan))
    assert [symbol.text for symbol in symbols] == found
    absent = tuple(symbol.text for symbol in symbols)
    assert [finding.message.split(" ")[0] for finding in lint("EP407", DONE_PROGRESS + words, absent=absent)] == found
    assert lint("EP407", (DONE_PROGRESS + words).replace("[x]", "[ ]"), absent=absent) == []


def test_what_a_renderer_makes_no_code_of_is_not_reported() -> None:
    assert lint("EP402", "## Context and Orientation\n\nOdd \\`src/gone.py` here, `and` there.\n") == []


def test_the_clean_plan_has_no_finding_of_these() -> None:
    levels = {code: rule.level for code, rule in RULES.items() if "EP401" <= code <= "EP410"}
    tree = RepositoryTree(lambda kind, subject: subject == "src/reader.py")
    assert lint_bytes(CLEAN.encode(), RuleContext(path="plans/a.md", tree=tree, history=GitHistory()), levels) == []


@pytest.mark.parametrize(
    ("decision", "lacks"),
    [
        ("**2026-11-20 (Tess)**: Read by lines.", []),
        ("**2026-11-20 (Tess):** Read by lines.", []),
        ("**2026-11-20 / Tess** Read by lines.", []),
        ("**2026-11-20**: Read by lines.", ["the decision has no author"]),
        ("**12 lines (Tess)**: Read by lines.", ["the decision has no date and no author"]),
        ("**Read by lines (Tess)**", ["the decision has no date and no author"]),
    ],
)
def test_a_bold_date_and_author(decision: str, lacks: list[str]) -> None:
    messages = [finding.message.split(":")[0] for finding in lint("EP302", f"## Decision Log\n\n- {decision}\n")]
    assert messages == lacks
