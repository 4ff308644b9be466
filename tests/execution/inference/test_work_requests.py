"""Sentences that ask for work: each is done by a step, or shown, and `--annotate` writes it as a manual step."""

from __future__ import annotations

import pytest

from execplan.core.plan.reader import read_text
from execplan.core.text.text_lines import Text, apply_edits
from execplan.execution.compile import compile_plan, find_plan_steps
from execplan.execution.inference.annotation_edits import annotate_plan
from execplan.execution.inference.work_requests import ASKS_FOR_WORK, find_work_requests
from tests.conftest import Folder
from tests.plans import CLEAN

STEP = "```python {#a type=create_file target=src/a.py}\nx = 1\n```"
REQUESTS = {
    "Add a page about it.": ["Add a page about it."],
    "Then update the call sites. They are in `src`.": ["Then update the call sites."],
    "In `docs/b.md`, replace the name.": ["In `docs/b.md`, replace the name."],
    "1. **Rename** the parser.": ["**Rename** the parser."],
    "Füge eine Seite hinzu.": ["Füge eine Seite hinzu."],
    "Fügen Sie eine Seite hinzu.": ["Fügen Sie eine Seite hinzu."],
    "Eine Seite hinzufügen.": ["Eine Seite hinzufügen."],
    "Man kann die Seite ersetzen.": [],
    "Ajoutez une page.": ["Ajoutez une page."],
    "Mettre à jour la page.": ["Mettre à jour la page."],
    "Agregue una página.": ["Agregue una página."],
    "Adicionar uma página.": ["Adicionar uma página."],
    "Aggiungere una pagina.": ["Aggiungere una pagina."],
    "Обновить страницу.": ["Обновить страницу."],
    "添加一个页面。": ["添加一个页面。"],
    "然后更新文档。": ["然后更新文档。"],
    "更新后的文档在这里。": [],
    "`docs/b.md`에 새 설명을 추가한다.": ["`docs/b.md`에 새 설명을 추가한다."],
    "분석 스크립트를 확장해서 다음을 저장하게 한다.": ["분석 스크립트를 확장해서 다음을 저장하게 한다."],
    "필요하면 설명을 추가한다.": [],
    "설명을 추가했다.": [],
    "`src/b.py`に関数を追加する。": ["`src/b.py`に関数を追加する。"],
    "必要に応じて関数を追加する。": [],
    "After that, add a page.": ["After that, add a page."],
    "Start by extracting the parser.": ["Start by extracting the parser."],
    "Finally, clean up the parser.": ["Finally, clean up the parser."],
    "Set `DEBUG` to false. Please restart the server.": ["Set `DEBUG` to false. Please restart the server."],
    "Once the parser works, delete the old module.": ["Once the parser works, delete the old module."],
    "We need to rename the helper.": ["We need to rename the helper."],
    "Ensure empty input is handled.": ["Ensure empty input is handled."],
    "Set operations are fast. Drop shadows are gone. Load: ten seconds.": [],
    "Persistence is absent. Render-limit changes are below.": [],
    "Ensure `make lock` passes.": [],
    "Start by running `make test`.": [],
    "The parser adds a page.": [],
    "Adding a page is easy.": [],
    "Run `make test`.": [],
    "Create `src/a.py` with one line.": [],
    "Create `src/b.py` with one line.": ["Create `src/b.py` with one line."],
    "Update the lock file by `make lock`.": [],
    "Update the parser, then run `make lock`.": ["Update the parser, then run `make lock`."],
    "Run `make lock`, then update the page.": ["Run `make lock`, then update the page."],
    "Run `make lock` and `make test`.": [],
    "Update the parser and run the tests:\n\n" + STEP.replace("#a", "#b").replace("a.py", "c.py"): [
        "Update the parser and run the tests:"
    ],
    "Add the file:\n\n" + STEP.replace("#a", "#b").replace("a.py", "c.py"): [],
}


def plan_of(work: str) -> str:
    """A plan with such a plan of work, and steps that create a file and run a command."""
    return f"# T\n\n## Progress\n\n- [ ] Write `docs/b.md`\n- [ ] Rest\n\n## Plan of Work\n\n{work}\n\n## Concrete Steps\n\n{STEP}\n\n```sh {{#l}}\nmake lock\n```\n"


@pytest.mark.parametrize("work", REQUESTS)
def test_what_asks_for_work(work: str) -> None:
    text = (
        plan_of(work) if STEP[10:] not in work and "#b" not in work else plan_of("").replace(STEP, f"{STEP}\n\n{work}")
    )
    plan = read_text(Text.from_str(text))
    requests = find_work_requests(plan, find_plan_steps(plan).drafts)
    assert [request.text for request in requests] == REQUESTS[work]
    skipped = [line.text for line in compile_plan(plan, "t", "t.md").skipped if line.why == ASKS_FOR_WORK]
    assert skipped == REQUESTS[work]


def test_annotate_writes_manual_steps_first_and_below_their_items_and_only_once() -> None:
    text = plan_of("Write the page in `docs/b.md`.").replace("```sh {#l}", "1. Add a test.\n2. Look.\n\n```sh {#l}")
    plan = read_text(Text.from_str(text))
    change = annotate_plan(plan)
    assert change.messages[0].startswith("wrote 2 manual steps")
    annotated = read_text(apply_edits(plan.text, change.edits))
    written = annotated.text.to_str()
    block = '```text {#write-page-docs-b-md type=manual task="Write docs/b.md"}\nWrite the page in `docs/b.md`.\n```'
    assert written.index(block) < written.index("#a type=create_file")
    assert "1. Add a test.\n   ```text {#add-test type=manual}\n   Add a test.\n   ```\n2. Look." in written
    assert annotate_plan(annotated).edits == ()
    compiled = compile_plan(annotated, "t", "t.md")
    assert compiled.document is not None
    assert [line for line in compiled.skipped if line.why == ASKS_FOR_WORK] == []
    steps = {step.id: step for step in compiled.document.steps}
    assert steps["l"].depends_on == ("add-test",)
    assert steps["a"].depends_on == ("write-page-docs-b-md",)


def test_annotate_keeps_the_order_of_the_text_and_all_work() -> None:
    steps = """\
Run `make a`. Update the table. Run `make b`.

1. Update `src/v.py`. Run `make c`.
2. Run `make d`. Then update the README.
"""
    plan = read_text(Text.from_str(f"# T\n\n## Progress\n\n- [ ] Rest\n\n## Concrete Steps\n\n{steps}"))
    annotated = read_text(apply_edits(plan.text, annotate_plan(plan).edits))
    compiled = compile_plan(annotated, "t", "t.md")
    assert compiled.document is not None
    assert [step.id for step in compiled.document.steps] == [
        *("make-a", "update-table", "make-b", "update-src-v-py", "make-c", "make-d", "update-readme")
    ]
    assert compiled.skipped == ()
    assert annotate_plan(annotated).edits == ()


def test_annotate_adds_concrete_steps_where_the_plan_lacks_them_and_binds_no_task_that_only_reads(repo: Folder) -> None:
    plan = repo.plan(
        "# T\n\n## Progress\n\n- [ ] Read `src/a.py`.\n\n## Implementation Plan\n\nChange `src/a.py`.\n\n## Validation\n\nIt works.\n"
    )
    assert "write such work as manual steps: execplan compile" in repo.run("compile").err
    repo.ok("compile", "--annotate")
    block = "## Concrete Steps\n\n```text {#change-src-a-py type=manual}\nChange `src/a.py`.\n```\n\n## Validation\n"
    assert block in plan.read_text()
    assert [step["type"] for step in repo.ok("compile")["steps"]] == ["manual"]
    assert "nothing to annotate" in repo.run("compile", "--annotate").out


def test_compile_and_evaluate_show_it_and_run_as_before(repo: Folder) -> None:
    repo.plan(CLEAN.replace("## Concrete Steps\n", "## Concrete Steps\n\nAdd a page about it.\n\n    touch a.txt\n", 1))
    compiled = repo.run("compile")
    assert "it asks for work that no step does: Add a page about it." in compiled.out
    assert "to write such work as manual steps: execplan compile --annotate" in compiled.out
    assert "for work that no step does, line" in repo.run("evaluate").out
    assert "manual" not in [step["type"] for step in repo.ok("compile")["steps"]]
