"""Every form of a secret in every outlet: what prints, sends or keeps text of a plan or of a command lets no canary through."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from execplan.agents.capture.captured_plan import capture_plan
from execplan.agents.enhancer.enhancement_request import build_request
from execplan.agents.enhancer.field_sharing import FIELDS
from execplan.agents.enhancer.mask import PlanMasker
from execplan.agents.toolkit.command_process import redact
from execplan.agents.user_program.personal_data import PersonalData
from execplan.context.checkpoint_page import format_page
from execplan.context.context_pack import ContextPack, Unit, redact_pack
from execplan.context.session_primer import format_primer
from execplan.context.summary.plan_summary import redact_plan
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.plan.reader import read
from execplan.core.project import project_discovery
from execplan.core.secrets.redaction import Redactor
from execplan.core.text.text_lines import Edit
from execplan.execution.engine.commands.command_transcript import Transcript
from execplan.linter.rule import SAFE, Fix
from tests.agents.enhancer.test_mask import full_plan, sent_of
from tests.context.test_session_primer import make_overview
from tests.core.secrets.secret_samples import Form, forms, remaining_secret
from tests.in_process_repository import InProcessRepository
from tests.plans import CLEAN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

REDACTION = Redactor({}, ())
FORMS = forms("forms.tsv")
ON_A_LINE = [form for form in FORMS if "\n" not in form.text]


def fenced(form: Form) -> str:
    """A form in a block of code."""
    return f"````text\n{form.text}\n````\n"


def plan_of(form: Form) -> str:
    """A plan with a form in its purpose and its context, and where it is a line, in its title, a task and its entries."""
    plan = CLEAN.replace("A plan can be read and edited without loss.", f"A plan can be read.\n\n{fenced(form)}")
    if form in ON_A_LINE:
        plan = plan.replace("Build the parser", f"Build the parser {form.text}")
        plan = plan.replace("Read line by line.", f"Read line by line. {form.text}")
        plan = plan.replace("A task is a line.", f"A task is a line: {form.text}")
    return plan


def _primer(form: Form, folder: Path) -> str:
    return format_primer(make_overview(plan_of(form)), REDACTION.redact_text)


def _checkpoint(form: Form, folder: Path) -> str:
    return format_page(make_overview(plan_of(form)), REDACTION.redact_text, "2026-01-01T00:00:00Z", "Ann").decode()


def _summary(form: Form, folder: Path) -> str:
    return redact_plan(read(plan_of(form).encode()), REDACTION).text.to_str()


def _pack(form: Form, folder: Path) -> str:
    unit = Unit("file:a", "file", f"first\n{form.text}\nlast", form.text, "a")
    return str(redact_pack(ContextPack("parser", form.text, form.text, form.text, (unit,)), REDACTION.redact_text))


def _transcript(form: Form, folder: Path) -> str:
    messages: list[str] = []
    transcript = Transcript(
        str(folder / "run.md"), "Run", REDACTION, 1 << 20, lambda line, error: messages.append(line)
    )
    transcript.command(form.text if form in ON_A_LINE else "make")
    for line in f"first\n{form.text}\nlast\n".splitlines(keepends=True):
        transcript.out(line.encode())
    transcript.err(f"{form.text}\n".encode())
    transcript.close()
    return (folder / "run.md").read_text("utf-8") + "\n".join(messages)


def _diff(form: Form, folder: Path) -> str:
    return REDACTION.redact_text("@@ -0,0 +1,9 @@\n" + "".join([f"+{line}\n" for line in form.text.split("\n")]))


def _record(form: Form, folder: Path) -> str:
    fields = {
        "reason": form.text,
        "list": [form.text, {"deep": form.text}],
        form.text: 1,
        "lines": form.text.split("\n"),
    }
    return "\0".join(strings(REDACTION.redact_value(fields)))


def _enhancer(form: Form, folder: Path) -> str:
    step = {**full_plan()["steps"][0], "description": form.text, "command": form.text, "content": form.text}
    masker = PlanMasker("0a1b2c3d", PersonalData((), ()), lambda paths: set(), FIELDS)
    return "\0".join(strings(json.loads(build_request(masker.mask_plan(sent_of({**full_plan(), "steps": [step]}))))))


def strings(value: object) -> Iterable[str]:
    """All strings in a document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, nested in value.items():
            yield str(name)
            yield from strings(nested)
    elif isinstance(value, list):
        for nested in value:
            yield from strings(nested)


def _capture(form: Form, folder: Path) -> str:
    repository = folder / "repo"
    (repository / ".agent/execplans").mkdir(parents=True)
    text = f"# Build the parser\n\n## Steps\n\n1. Read lines.\n2. Use it.\n\n{fenced(form)}"
    capture_plan(project_discovery.find(str(repository)), "Claude Code", "a", text, WriteOptions())
    return "\0".join([file.read_text("utf-8") for file in repository.rglob("*.md")])


def _agent_document(form: Form, folder: Path) -> str:
    return "\0".join(strings(redact({"data": {"text": form.text, "list": form.text.split("\n")}})))


def _displayed_fix(form: Form, folder: Path) -> str:
    fix = Fix(SAFE, (Edit(0, 1, tuple(form.text.split("\n"))),))
    return "\0".join(strings(fix.to_json())) if fix.is_displayable else "not shown"


OUTLETS: dict[str, Callable[[Form, Path], str]] = {
    "prime": _primer,
    "checkpoint": _checkpoint,
    "summary": _summary,
    "context": _pack,
    "transcript": _transcript,
    "audit record": _record,
    "enhancer": _enhancer,
    "capture": _capture,
    "diff": _diff,
    "MCP": _agent_document,
    "fix": _displayed_fix,
}


@pytest.mark.parametrize("outlet", OUTLETS)
def test_no_form_leaves(outlet: str, tmp_path: Path) -> None:
    leaves = []
    for at, form in enumerate(FORMS):
        folder = tmp_path / str(at)
        folder.mkdir()
        printed = OUTLETS[outlet](form, folder)
        if not printed or remaining_secret(form, printed):
            leaves.append((form.name, printed))
    assert leaves == []


def test_there_is_something_to_leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the detector nearly all of them leave, so that the table tests the outlets."""
    monkeypatch.setattr("execplan.core.secrets.redaction.find_secret_spans", lambda text: [])
    for name in ("checkpoint", "summary", "context", "transcript", "audit record"):
        leaves = [form for form in FORMS if remaining_secret(form, OUTLETS[name](form, tmp_path))]
        assert len(leaves) > 0.9 * len(FORMS), name
    assert len([form for form in ON_A_LINE if remaining_secret(form, _primer(form, tmp_path))]) > 0.7 * len(ON_A_LINE)


def plan_of_all_forms() -> str:
    """A plan with every form in its text and in steps, and those of one line in tasks and entries."""
    tasks = "".join([f"- [ ] Task {at}: {form.text}\n" for at, form in enumerate(ON_A_LINE)])
    text = "".join([f"### Form {at}\n\n{fenced(form)}\n" for at, form in enumerate(FORMS)])
    return (
        f"# Use every form\n\n## Purpose / Big Picture\n\nTry all.\n\n{text}## Progress\n\n{tasks}\n"
        "## Decision Log\n\n"
        + "".join(
            [
                f"- Decision: {form.text}\n  Rationale: {form.text}\n  Date/Author: 2026-01-01, Ann\n"
                for form in ON_A_LINE
            ]
        )
        + "\n## Concrete Steps\n\n```sh {#print}\ncat forms.txt\n```\n\n"
        + "".join([write_step(at, FORMS[at : at + 3]) for at in range(0, len(FORMS), 3)])
    )


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository whose plan has every form: in its text, in a step that prints a file, in a step that writes one."""
    desk = InProcessRepository(tmp_path / "repo", monkeypatch)
    desk.patch.setenv("HOME", str(tmp_path))
    desk.write("forms.txt", "".join([f"{form.text}\n\n" for form in FORMS]))
    desk.plan(plan_of_all_forms())
    desk.commit()
    return desk


def write_step(number: int, group: Sequence[Form]) -> str:
    """A step that writes a file with some forms."""
    body = "\n\n".join([form.text for form in group])
    return f"````text {{#write-{number} type=create_file target=made/{number}.txt}}\n{body}\n````\n\n"


COMMANDS = (
    ("context", "--budget", "190000"),
    ("context", "--budget", "190000", "--json"),
    ("prime",),
    ("handoff",),
    ("handoff", "--json"),
    ("summarize", "--length", "comprehensive"),
    ("checkpoint", "--dry-run"),
    ("audit", "--json"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_form_leaves_by_a_command(desk: InProcessRepository, command: tuple[str, ...]) -> None:
    result = desk.type(*command)
    assert result.exit == 0, result
    printed = result.out
    if "--json" in command:
        printed = "\0".join(strings(json.loads(printed)))
    leaves = [
        (form.name, printed[max(printed.index(remaining) - 60, 0) :][:100])
        for form in FORMS
        if (remaining := remaining_secret(form, printed))
    ]
    assert leaves == []


def test_no_form_leaves_by_an_error_report(desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    from execplan.cli import bug_report

    monkeypatch.setenv("XDG_STATE_HOME", str(desk.path.parent / "state"))
    for form in FORMS:
        monkeypatch.setattr(sys, "argv", ["execplan", "add", form.text])
        path = bug_report.write_bug_report(ValueError(form.text))
        assert path is not None
        with open(path, encoding="utf-8") as file:
            printed = file.read()
        assert not remaining_secret(form, printed), printed
