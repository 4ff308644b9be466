"""Files of hooks that the real Codex ignores, and hooks that it trusts: `doctor` says the same."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests import needs
from tests.cli.doctor.test_agent_hook_checks import CODEX_IGNORES, CODEX_READS
from tests.clients.agent_programs import Codex
from tests.clients.network_namespace import run_isolated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.clients.agent_programs import Workbench
    from tests.clients.conftest import Results
    from tests.in_process_repository import InProcessRepository

pytestmark = pytest.mark.exhaustive

FILE = ".codex/hooks.json"


def _list_hooks(bench: Workbench, texts: Sequence[str]) -> list[dict[str, Any]]:
    """Return what Codex reads of each text as the file of hooks."""

    def ask() -> list[dict[str, Any]]:
        server = subprocess.Popen(
            [needs.client("codex"), "app-server"],
            cwd=bench.root,
            env=bench.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert server.stdin is not None
        assert server.stdout is not None
        documents = map(json.loads, server.stdout)
        client = {"clientInfo": {"name": "tests", "version": "1"}}
        server.stdin.write(json.dumps({"id": 0, "method": "initialize", "params": client}) + "\n")
        server.stdin.flush()
        _answer(documents, 0)
        answers = []
        for number, text in enumerate(texts, 1):
            (bench.root / FILE).write_text(text, encoding="utf-8")
            request = {"id": number, "method": "hooks/list", "params": {"cwds": [str(bench.root)]}}
            server.stdin.write(json.dumps(request) + "\n")
            server.stdin.flush()
            answers.append(_answer(documents, number)["result"]["data"][0])
        server.kill()
        server.wait()
        return answers

    answers: list[dict[str, Any]] = run_isolated(ask)
    return answers


def _answer(documents: Iterator[dict[str, Any]], number: int) -> dict[str, Any]:
    return next(document for document in documents if document.get("id") == number)


def test_doctor_knows_which_files_codex_ignores(bench: Workbench, results: Results) -> None:
    if not isinstance(bench.program, Codex):
        pytest.skip("it does not say which files it ignores")
    names = [*CODEX_IGNORES, *CODEX_READS]
    answers = _list_hooks(bench, [{**CODEX_IGNORES, **CODEX_READS}[name] for name in names])
    ignored = [
        name
        for name, answer in zip(names, answers, strict=True)
        if any(["failed to parse" in warning for warning in answer["warnings"]])
    ]
    assert set(ignored) <= set(CODEX_IGNORES)
    is_exact = ignored == list(CODEX_IGNORES)
    results.check("doctor knows which files of hooks are ignored", "yes" if is_exact else "yes, and some more")


def test_a_hook_stays_trusted_when_it_is_installed_again(
    bench: Workbench, desk: InProcessRepository, results: Results
) -> None:
    if not isinstance(bench.program, Codex):
        pytest.skip("it does not trust hooks one by one")
    path = bench.root / FILE
    texts = [path.read_text()]
    assert desk.type("uninstall", "guard").exit == 0
    path.write_text(
        '{"description": "Ours", "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x"}]}]}}'
    )
    assert desk.type("install", "guard", "--for", "codex").exit == 0
    texts.append(path.read_text())
    for answer in _list_hooks(bench, texts):
        (ours,) = [hook for hook in answer["hooks"] if "execplan guard" in hook["command"]]
        assert ours["trustStatus"] == "trusted", ours
    results.check("the hook stays trusted when it is installed again", "yes")
