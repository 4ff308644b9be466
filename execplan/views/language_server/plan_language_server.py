"""The language server: the messages of an editor, each answered by the module for its subject."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException, JsonRpcInternalError
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.uris import to_fs_path

from execplan import __version__
from execplan.core.errors import ExecplanError
from execplan.core.project import project_discovery
from execplan.views.language_server.open_documents import OpenDocuments
from execplan.views.language_server.plan_diagnostics import error_diagnostic, list_diagnostics

if TYPE_CHECKING:
    from execplan.core.project.project import Project

_CHECK_DELAY: Final = 0.01
"""Seconds between a change and the check, in which further changes of the same keystroke arrive."""
_REQUEST_FAILED: Final = -32803
_WATCHED_FILES: Final = ("**/*.md", "**/pyproject.toml", "**/.agent/execplan.toml")
_WATCHER_ID: Final = "execplan-files"


class _PlanProtocol(LanguageServerProtocol):
    """The protocol with documents whose lines are those of plans; pygls' own documents also cut lines at form feeds."""

    _server: PlanLanguageServer

    @lsp_method(lsp.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: lsp.DidOpenTextDocumentParams) -> None:
        opened = params.text_document
        self._server.documents.open(opened.uri, opened.version, opened.text)
        self._server.publish(opened.uri)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: lsp.DidChangeTextDocumentParams) -> None:
        changed = params.text_document
        self._server.documents.change(changed.uri, changed.version, params.content_changes)
        self._server.schedule_check(changed.uri)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: lsp.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        self._server.documents.close(uri)
        self._server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))


class PlanLanguageServer(LanguageServer):
    """The state of the server: the open documents, and those that wait for a check."""

    def __init__(self) -> None:
        super().__init__(
            "execplan",
            __version__,
            text_document_sync_kind=lsp.TextDocumentSyncKind.Incremental,
            protocol_cls=_PlanProtocol,
        )
        self.documents = OpenDocuments()
        self._waiting: set[str] = set()

    def use_client(self) -> None:
        """Take from the editor's first message how it counts columns."""
        encoding = self.workspace.position_encoding
        self.documents.encoding = str(getattr(encoding, "value", encoding))

    async def watch_files(self) -> None:
        """Ask the editor to report changed plans and settings, if it can."""
        workspace = self.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        if watching is None or not watching.dynamic_registration:
            return
        watchers = [lsp.FileSystemWatcher(pattern) for pattern in _WATCHED_FILES]
        options = lsp.DidChangeWatchedFilesRegistrationOptions(watchers)
        registration = lsp.Registration(_WATCHER_ID, lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        await self.client_register_capability_async(lsp.RegistrationParams([registration]))

    def publish(self, uri: str) -> None:
        """Send the findings of a document, or the error that prevents a check."""
        version = None
        try:
            document = self.documents.get(uri)
            version = document.version if document is not None else None
            diagnostics = list_diagnostics(document) if document is not None else []
        except ExecplanError as error:
            diagnostics = [error_diagnostic(error)]
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, diagnostics, version))

    def schedule_check(self, uri: str) -> None:
        """Check a document soon; changes until then are checked together."""
        if uri not in self._waiting:
            self._waiting.add(uri)
            asyncio.get_running_loop().call_later(_CHECK_DELAY, self._check_waiting, uri)

    def refresh_documents(self) -> None:
        """Check all open documents again, because files or claims have changed."""
        self.documents.refresh()
        for uri in self.documents.uris:
            self.schedule_check(uri)
        workspace = self.client_capabilities.workspace
        if workspace is not None and workspace.code_lens is not None and workspace.code_lens.refresh_support:
            self.workspace_code_lens_refresh(None)

    def projects(self) -> list[Project]:
        """Return the projects of the editor's folders, and of the open documents."""
        folders = [to_fs_path(folder.uri) for folder in self.workspace.folders.values()]
        paths = [folder for folder in (*folders, self.workspace._root_path) if folder]  # noqa: SLF001 - has no other name
        paths += [os.path.dirname(to_fs_path(uri) or "") for uri in self.documents.uris]
        projects: dict[str, Project] = {}
        for path in paths:
            try:
                project = project_discovery.find(path)
            except (ExecplanError, OSError):
                continue
            if project.exists:
                projects[project.base] = project
        return list(projects.values())

    def show_message(self, text: str, kind: lsp.MessageType = lsp.MessageType.Info) -> None:
        """Show a message in the editor, if there is one."""
        if text:
            self.window_show_message(lsp.ShowMessageParams(kind, text))

    def show_error(self, error: ExecplanError) -> None:
        """Show an error with its hint."""
        self.show_message(format_error(error), lsp.MessageType.Error)

    async def show_place(self, uri: str, place: lsp.Range | None = None) -> None:
        """Show a document at a place, if the editor can do that for a server."""
        window = self.client_capabilities.window
        if window is not None and window.show_document is not None and window.show_document.support:
            params = lsp.ShowDocumentParams(uri, take_focus=True, selection=place)
            await self.window_show_document_async(params)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Write an error that nothing has handled to the log of the server, without a message for each keystroke."""
        is_unsent = source is JsonRpcInternalError  # nor could its report be sent
        if is_unsent or is_answer(error):
            return
        self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Error, f"execplan: {error}"))

    def drop_checks(self) -> None:
        """Check nothing more: the editor has said that it leaves."""
        self._waiting.clear()

    def _check_waiting(self, uri: str) -> None:
        if uri not in self._waiting:
            return
        self._waiting.discard(uri)
        if uri in self.documents.uris:
            self.publish(uri)


def request_error(error: ExecplanError) -> JsonRpcException:
    """Return the error that answers a request."""
    return JsonRpcException(format_error(error), code=_REQUEST_FAILED)


def is_answer(error: BaseException | None) -> bool:
    """Return whether an error is the answer to a request, so the editor shows it and no log needs it."""
    return isinstance(error, JsonRpcException) and error.code == _REQUEST_FAILED


def format_error(error: ExecplanError) -> str:
    """Return an error with its hint and candidates, as lines."""
    lines = [error.message, *error.candidates]
    return "\n".join([*lines, f"{error.hint_label}: {error.hint}"] if error.hint else lines)
