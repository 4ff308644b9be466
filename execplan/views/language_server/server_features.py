"""What the server offers to an editor, and which function answers each request."""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types as lsp
from pygls.uris import from_fs_path

from execplan.core.errors import ExecplanError
from execplan.core.project import user_settings
from execplan.linter.checking import custom_rules
from execplan.views.language_server import code_actions, navigation, plan_completion, plan_rename, semantic_tokens
from execplan.views.language_server.code_lenses import list_lenses
from execplan.views.language_server.editor_commands import PLAN_COMMANDS, TASK_COMMANDS, run_command
from execplan.views.language_server.folding import list_folds
from execplan.views.language_server.plan_hover import find_hover
from execplan.views.language_server.plan_language_server import PlanLanguageServer, is_answer, request_error
from execplan.views.language_server.plan_symbols import document_symbols

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.views.language_server.plan_document import PlanDocument

    Answer = Callable[[PlanLanguageServer, PlanDocument, Any], Any]

_LEGEND: Final = lsp.SemanticTokensLegend(list(semantic_tokens.TYPES), list(semantic_tokens.MODIFIERS))


def serve() -> None:
    """Serve on standard input and output until the editor closes them. Raises ExecplanError for broken rules."""
    custom_rules.load_rules(user_settings.rules())
    standard_output = sys.stdout.fileno()
    saved_output = os.dup(standard_output)
    os.dup2(sys.stderr.fileno(), standard_output)  # anything printed would break the protocol
    logging.getLogger("pygls.protocol.json_rpc").addFilter(
        lambda record: not (record.exc_info and is_answer(record.exc_info[1]))
    )
    try:
        create_server().start_io(sys.stdin.buffer, os.fdopen(os.dup(saved_output), "wb"))
    finally:
        os.dup2(saved_output, standard_output)
        os.close(saved_output)


def create_server() -> PlanLanguageServer:
    """Return the server with all that it offers."""
    server = PlanLanguageServer()
    _add_notifications(server)
    for method, answer in _ANSWERS.items():
        _add_request(server, method, answer, _OPTIONS.get(method))
    _add_workspace_requests(server)
    for command in (*TASK_COMMANDS, *PLAN_COMMANDS):
        _add_command(server, command)
    return server


def _add_notifications(server: PlanLanguageServer) -> None:
    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        server.use_client()

    @server.feature(lsp.INITIALIZED)
    async def initialized(params: lsp.InitializedParams) -> None:
        await server.watch_files()

    @server.feature(lsp.SHUTDOWN)
    def shutdown(params: None) -> None:
        server.drop_checks()

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: lsp.DidSaveTextDocumentParams) -> None:
        server.refresh_documents()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_watched_files(params: lsp.DidChangeWatchedFilesParams) -> None:
        server.refresh_documents()


def _add_request(server: PlanLanguageServer, method: str, answer: Answer, options: Any) -> None:
    """Answer a request about a document; an error in the project is one of the request."""

    @server.feature(method, options)
    def handle(params: Any) -> Any:
        try:
            document = server.documents.get(params.text_document.uri)
            return answer(server, document, params) if document is not None else None
        except ExecplanError as error:
            raise request_error(error) from error


def _add_workspace_requests(server: PlanLanguageServer) -> None:
    @server.feature(lsp.WORKSPACE_SYMBOL)
    def find_symbols(params: lsp.WorkspaceSymbolParams) -> list[lsp.WorkspaceSymbol]:
        return navigation.workspace_symbols(server.projects(), params.query)

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    async def rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        try:
            document = server.documents.get(params.text_document.uri)
            renamed = plan_rename.find_renamed(server.documents, document, params.position) if document else None
            if renamed is None:
                raise ExecplanError("no-such-plan", "there is no plan's name here", hint="put the cursor on a title")
            moved = plan_rename.rename_plan(server.documents, renamed, params.new_name)
        except ExecplanError as error:
            raise request_error(error) from error
        server.refresh_documents()
        server.show_message("\n".join([*moved.messages, *[f"warning: {warning}" for warning in moved.warnings]]))
        if moved.changed:
            await server.show_place(from_fs_path(os.path.join(renamed.project.root, moved.path)) or "")
        return lsp.WorkspaceEdit()  # everything is written already


def _add_command(server: PlanLanguageServer, command: str) -> None:
    if command in TASK_COMMANDS:

        @server.command(command)
        async def run_task_command(uri: str, task: str) -> None:
            await run_command(server, command, uri, task)

    else:

        @server.command(command)
        async def run_plan_command(uri: str) -> None:
            await run_command(server, command, uri)


def _semantic_tokens(server: PlanLanguageServer, document: PlanDocument, params: Any) -> lsp.SemanticTokens:
    return lsp.SemanticTokens(semantic_tokens.encode_tokens(document))


_ANSWERS: Final[dict[str, Answer]] = {
    lsp.TEXT_DOCUMENT_CODE_ACTION: lambda _, document, params: code_actions.list_actions(document, params),
    lsp.TEXT_DOCUMENT_HOVER: lambda server, document, params: find_hover(server.documents, document, params.position),
    lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL: lambda _, document, params: document_symbols(document),
    lsp.TEXT_DOCUMENT_FOLDING_RANGE: lambda _, document, params: list_folds(document),
    lsp.TEXT_DOCUMENT_CODE_LENS: lambda _, document, params: list_lenses(document),
    lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: _semantic_tokens,
    lsp.TEXT_DOCUMENT_COMPLETION: lambda server, document, params: plan_completion.complete(
        server.documents, document, params.position
    ),
    lsp.TEXT_DOCUMENT_DEFINITION: lambda server, document, params: navigation.find_definition(
        server.documents, document, params.position
    ),
    lsp.TEXT_DOCUMENT_REFERENCES: lambda server, document, params: navigation.find_references(
        server.documents, document, params.position, with_definition=params.context.include_declaration
    ),
    lsp.TEXT_DOCUMENT_PREPARE_RENAME: lambda server, document, params: plan_rename.prepare_rename(
        server.documents, document, params.position
    ),
}
_OPTIONS: Final[dict[str, Any]] = {
    lsp.TEXT_DOCUMENT_CODE_ACTION: lsp.CodeActionOptions(list(code_actions.KINDS)),
    lsp.TEXT_DOCUMENT_COMPLETION: lsp.CompletionOptions(list(plan_completion.TRIGGERS)),
    lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: _LEGEND,
}
