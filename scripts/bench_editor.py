"""Benchmark of language servers: the time from a keystroke to the findings of the new text."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Self

from bench_inputs import build_plan
from bench_tools import ENVIRONMENT, Installation, Row, Table

_SIZE = 200_000
"""Size of the plan in bytes."""
_KEYSTROKES = 10
"""Keystrokes for each run."""


class _Server:
    """A language server in a process of its own, with one open document."""

    def __init__(self, command: list[str], folder: Path) -> None:
        environment = {**ENVIRONMENT, "HOME": str(folder)}
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._uri = (folder / ".agent/execplans/2026-01-01_parser.md").as_uri()
        self._number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def open(self, text: str, folder: Path) -> None:
        """Start the session, open the document, and wait for its findings."""
        capabilities = {"textDocument": {"publishDiagnostics": {"versionSupport": True}}}
        self._send(
            "initialize", {"processId": os.getpid(), "rootUri": folder.as_uri(), "capabilities": capabilities}, 1
        )
        while self._receive().get("id") != 1:
            pass
        self._send("initialized", {})
        document = {"uri": self._uri, "languageId": "markdown", "version": 0, "text": text}
        self._send("textDocument/didOpen", {"textDocument": document})
        self._wait_for_findings()

    def type_character(self, line: int, text: str) -> float:
        """Insert a text at the start of a line, and return the seconds until the findings arrive."""
        self._number += 1
        start = {"line": line, "character": 0}
        document = {"uri": self._uri, "version": self._number}
        changes = [{"range": {"start": start, "end": start}, "text": text}]
        begin = time.perf_counter()
        self._send("textDocument/didChange", {"textDocument": document, "contentChanges": changes})
        self._wait_for_findings()
        return time.perf_counter() - begin

    def _wait_for_findings(self) -> None:
        while True:
            message = self._receive()
            if message.get("method") == "textDocument/publishDiagnostics":
                if message["params"].get("version", self._number) == self._number:
                    return
            elif "method" in message and "id" in message:  # a request of the server
                self._write({"id": message["id"], "result": None})

    def _send(self, method: str, parameters: dict[str, Any], number: int | None = None) -> None:
        self._write({"method": method, "params": parameters, **({} if number is None else {"id": number})})

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        length = 0
        while line := self._process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        message: dict[str, Any] = json.loads(self._process.stdout.read(length))
        return message


def measure_keystrokes(folder: Path, runs: int, installation: Installation) -> list[Table]:
    """Measure the language servers of execplan and rumdl with a plan of 200 KB."""
    plan = folder / ".agent/execplans/2026-01-01_parser.md"
    plan.parent.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", folder], check=True)
    text = build_plan(_SIZE)
    plan.write_text(text, encoding="utf-8")
    commands = {"execplan": [installation.execplan, "lsp"]}
    if "rumdl" in installation.rivals:
        commands["rumdl"] = [installation.rivals["rumdl"], "server"]
    rows = []
    for name, command in commands.items():
        with _Server(command, folder) as server:
            server.open(text, folder)
            line = text.count("\n") // 2
            seconds = [server.type_character(line, "x") for _ in range(runs * _KEYSTROKES)]
            slow = f"{quantiles(seconds, n=20)[-1] * 1000:.0f} ms"
            rows.append(Row(name, median(seconds) * 1000, "ms", (slow,)))
    title = f"A keystroke in a plan of {_SIZE // 1000} KB, until an editor has the findings"
    return [Table("keystroke", title, rows, ("95 of 100 within",))]
