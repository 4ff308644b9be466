// Starts `execplan lsp` for Markdown files, and shows the board of `execplan serve`.

import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";
import { OPEN_PAGE, closeBoard, openPage, showBoard } from "./boardPanel";
import { COMMAND_SETTING, findExecutable, messageOf } from "./executable";

let client: LanguageClient | undefined;

export function activate(context: vscode.ExtensionContext): void {
  context.subscriptions.push(
    vscode.commands.registerCommand("execplan.showBoard", showBoard),
    vscode.commands.registerCommand(OPEN_PAGE, openPage),
    vscode.commands.registerCommand("execplan.restartServer", restart),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration(COMMAND_SETTING)) {
        await restart();
      }
    }),
  );
  // The board does not wait for the language server.
  void start();
}

export async function deactivate(): Promise<void> {
  closeBoard();
  await stop();
}

async function restart(): Promise<void> {
  await stop();
  await start();
}

async function start(): Promise<void> {
  client = new LanguageClient("execplan", "execplan", findExecutable("lsp"), {
    documentSelector: [{ scheme: "file", language: "markdown" }],
  });
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    void vscode.window.showErrorMessage(
      `execplan: the language server does not start: ${messageOf(error)}. Install it with pip install 'execplan[lsp]', or set execplan.command.`,
    );
  }
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.stop();
}
