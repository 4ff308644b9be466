"""An editor for tests: the client of pygls, whose types check each answer, with a server in a real process."""

from __future__ import annotations

import asyncio
import sys
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Folder

T = TypeVar("T")
_LIMIT = 60.0


class Editor:
    """An editor with open documents, which applies the server's edits as an editor does: if the version is still the same."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.diagnostics: dict[str, list[lsp.PublishDiagnosticsParams]] = defaultdict(list)
        self.messages: list[str] = []
        self.shown: list[lsp.ShowDocumentParams] = []
        self.registered: list[lsp.Registration] = []
        self.refuses_edits = False
        self.client = LanguageClient("editor", "1")
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._published = asyncio.Condition()
        self._add_handlers()

    def start(self, encodings: list[lsp.PositionEncodingKind] | None = None) -> lsp.InitializeResult:
        """Start the server in the folder, and return what it offers."""
        self._thread.start()
        return self.wait(self._start(encodings))

    def stop(self) -> int:
        """Stop the server as editors do, and return its exit status."""
        status = self.wait(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        return status

    def wait(self, awaitable: Awaitable[T]) -> T:
        """Wait for an answer."""

        async def limited() -> T:
            return await asyncio.wait_for(awaitable, _LIMIT)

        return asyncio.run_coroutine_threadsafe(limited(), self._loop).result(_LIMIT)

    def uri(self, name: str) -> str:
        """The URI of a file in the folder."""
        return (self.folder.path / name).as_uri()

    def open(self, name: str, text: str | None = None) -> list[lsp.Diagnostic]:
        """Open a file, perhaps with other text than it has, and return the findings."""
        uri = self.uri(name)
        path = self.folder.path / name
        self.texts[uri] = path.read_bytes().decode() if text is None else text
        self.versions[uri] = 1
        item = lsp.TextDocumentItem(uri, "markdown", 1, self.texts[uri])
        self._call(lambda: self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item)))
        return self.findings(name)

    def change(self, name: str, *changes: lsp.TextDocumentContentChangeEvent) -> None:
        """Send changes, which the caller has made in `texts` as well."""
        uri = self.uri(name)
        self.versions[uri] += 1
        identifier = lsp.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        params = lsp.DidChangeTextDocumentParams(identifier, list(changes))
        self._call(lambda: self.client.text_document_did_change(params))

    def type(self, name: str, text: str) -> list[lsp.Diagnostic]:
        """Replace the whole text, and return the findings."""
        self.texts[self.uri(name)] = text
        self.change(name, lsp.TextDocumentContentChangeWholeDocument(text))
        return self.findings(name)

    def save(self, name: str) -> None:
        """Write the text to the file, and tell the server."""
        uri = self.uri(name)
        (self.folder.path / name).write_bytes(self.texts[uri].encode())
        params = lsp.DidSaveTextDocumentParams(lsp.TextDocumentIdentifier(uri))
        self._call(lambda: self.client.text_document_did_save(params))

    def report_change(self, name: str) -> None:
        """Report that a file has changed on disk."""
        event = lsp.FileEvent(self.uri(name), lsp.FileChangeType.Changed)
        params = lsp.DidChangeWatchedFilesParams([event])
        self._call(lambda: self.client.workspace_did_change_watched_files(params))

    def findings(self, name: str) -> list[lsp.Diagnostic]:
        """Wait for the findings of the present version of a document."""
        uri = self.uri(name)

        async def published() -> list[lsp.Diagnostic]:
            async with self._published:
                await self._published.wait_for(
                    lambda: self.diagnostics[uri] and self.diagnostics[uri][-1].version == self.versions[uri]
                )
                return list(self.diagnostics[uri][-1].diagnostics)

        return self.wait(published())

    def open_unnamed(self, text: str) -> None:
        """Open a document that has no file yet."""
        item = lsp.TextDocumentItem("untitled:Untitled-1", "markdown", 1, text)
        self._call(lambda: self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item)))

    def next_findings(self, name: str, action: Callable[[], object]) -> list[lsp.Diagnostic]:
        """Do something, and wait for the findings that the server sends because of it."""
        uri = self.uri(name)
        count = len(self.diagnostics[uri])
        action()

        async def published() -> list[lsp.Diagnostic]:
            async with self._published:
                await self._published.wait_for(lambda: len(self.diagnostics[uri]) > count)
                return list(self.diagnostics[uri][-1].diagnostics)

        return self.wait(published())

    def at(self, name: str, words: str, offset: int = 0) -> dict[str, Any]:
        """The document and the position of some words in it."""
        position = self.position(name, words, offset)
        return {"text_document": lsp.TextDocumentIdentifier(self.uri(name)), "position": position}

    def position(self, name: str, words: str, offset: int = 0) -> lsp.Position:
        """The position of some words, or of a character in them, in UTF-16 units."""
        text = self.texts[self.uri(name)]
        before = text[: text.index(words) + offset]
        last_line = before.rpartition("\n")[2]
        return lsp.Position(before.count("\n"), len(last_line.encode("utf-16-le")) // 2)

    def actions(self, name: str, words: str, only: list[str] | None = None) -> dict[str, lsp.CodeAction | lsp.Command]:
        """The actions at some words, by title; lsprotocol reads an action that has a command as a command."""
        position = self.position(name, words)
        params = lsp.CodeActionParams(
            lsp.TextDocumentIdentifier(self.uri(name)),
            lsp.Range(position, position),
            lsp.CodeActionContext([], only=only),
        )
        actions = self.wait(self.client.text_document_code_action_async(params)) or []
        return {action.title: action for action in actions}

    def command(self, command: str, *arguments: str) -> None:
        """Run a command of the server."""
        params = lsp.ExecuteCommandParams(command, list(arguments))
        self.wait(self.client.workspace_execute_command_async(params))

    def apply(self, edit: lsp.WorkspaceEdit) -> bool:
        """Apply an edit to the open documents, if it is for their present version."""
        changes = [change for change in edit.document_changes or () if isinstance(change, lsp.TextDocumentEdit)]
        if self.refuses_edits or any(
            [change.text_document.version != self.versions[change.text_document.uri] for change in changes]
        ):
            return False
        for change in changes:
            uri = change.text_document.uri
            edits = [edit for edit in change.edits if isinstance(edit, lsp.TextEdit)]
            self.texts[uri] = apply_edits(self.texts[uri], edits)
            self.versions[uri] += 1
            identifier = lsp.VersionedTextDocumentIdentifier(self.versions[uri], uri)
            whole = lsp.TextDocumentContentChangeWholeDocument(self.texts[uri])
            self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(identifier, [whole]))
        return True

    async def _start(self, encodings: list[lsp.PositionEncodingKind] | None) -> lsp.InitializeResult:
        arguments = ["-P", "-m", "execplan", "lsp"]
        await self.client.start_io(sys.executable, *arguments, cwd=str(self.folder.path), env=self.folder.env)
        capabilities = lsp.ClientCapabilities(
            general=lsp.GeneralClientCapabilities(position_encodings=encodings),
            window=lsp.WindowClientCapabilities(show_document=lsp.ShowDocumentClientCapabilities(support=True)),
            workspace=lsp.WorkspaceClientCapabilities(
                did_change_watched_files=lsp.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
            ),
        )
        root = self.folder.path.as_uri()
        folders = [lsp.WorkspaceFolder(root, "folder")]
        params = lsp.InitializeParams(capabilities, root_uri=root, workspace_folders=folders)
        result = await self.client.initialize_async(params)
        self.client.initialized(lsp.InitializedParams())
        return result

    async def _stop(self) -> int:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()  # type: ignore[no-untyped-call]
        server = self.client._server
        assert server is not None
        assert server.stderr is not None
        assert await server.stderr.read() == b""
        return server.returncode or 0

    def _call(self, call: Callable[[], object]) -> None:
        self._loop.call_soon_threadsafe(call)

    def _add_handlers(self) -> None:
        @self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
        async def publish(params: lsp.PublishDiagnosticsParams) -> None:
            async with self._published:
                self.diagnostics[params.uri].append(params)
                self._published.notify_all()

        @self.client.feature(lsp.WINDOW_SHOW_MESSAGE)  # type: ignore[untyped-decorator]
        def show_message(params: lsp.ShowMessageParams) -> None:
            self.messages.append(params.message)

        @self.client.feature(lsp.WINDOW_LOG_MESSAGE)  # type: ignore[untyped-decorator]
        def log_message(params: lsp.LogMessageParams) -> None:
            self.messages.append(f"log: {params.message}")

        @self.client.feature(lsp.WINDOW_SHOW_DOCUMENT)  # type: ignore[untyped-decorator]
        def show_document(params: lsp.ShowDocumentParams) -> lsp.ShowDocumentResult:
            self.shown.append(params)
            return lsp.ShowDocumentResult(success=True)

        @self.client.feature(lsp.CLIENT_REGISTER_CAPABILITY)  # type: ignore[untyped-decorator]
        def register(params: lsp.RegistrationParams) -> None:
            self.registered += params.registrations

        @self.client.feature(lsp.WORKSPACE_APPLY_EDIT)  # type: ignore[untyped-decorator]
        def apply_edit(params: lsp.ApplyWorkspaceEditParams) -> lsp.ApplyWorkspaceEditResult:
            return lsp.ApplyWorkspaceEditResult(applied=self.apply(params.edit))


@contextmanager
def editing(folder: Folder) -> Iterator[Editor]:
    """An editor with a server, which ends well."""
    editor = Editor(folder)
    editor.start()
    try:
        yield editor
    finally:
        assert editor.stop() == 0


def apply_edits(text: str, edits: list[lsp.TextEdit]) -> str:
    """Apply edits to a text with line feeds, from the last to the first, with columns in UTF-16 units."""
    for edit in sorted(edits, key=lambda edit: (edit.range.start.line, edit.range.start.character), reverse=True):
        start, end = _offset(text, edit.range.start), _offset(text, edit.range.end)
        text = text[:start] + edit.new_text + text[end:]
    return text


def _offset(text: str, position: lsp.Position) -> int:
    lines = text.split("\n")
    before = "".join([f"{line}\n" for line in lines[: position.line]])
    line = lines[position.line] if position.line < len(lines) else ""
    units = line.encode("utf-16-le")[: 2 * position.character]
    return min(len(before) + len(units.decode("utf-16-le")), len(text))


def plan_path(folder: Folder) -> Path:
    """The plan that `Folder.plan` writes."""
    return folder.path / ".agent/execplans/2026-01-01_parser.md"
