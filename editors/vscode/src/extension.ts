// Starts `execplan lsp` for Markdown files, and shows why if that is not possible.

import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("execplan.restartServer", restart),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("execplan.command")) {
        await restart();
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await stop();
}

async function restart(): Promise<void> {
  await stop();
  await start();
}

async function start(): Promise<void> {
  const words = vscode.workspace.getConfiguration("execplan").get<string[]>("command", []);
  const [command, ...args] = words.length > 0 ? words : ["execplan", "lsp"];
  client = new LanguageClient(
    "execplan",
    "execplan",
    { command, args },
    { documentSelector: [{ scheme: "file", language: "markdown" }] },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const reason = error instanceof Error ? error.message : String(error);
    void vscode.window.showErrorMessage(
      `execplan: the language server does not start: ${reason}. Install it with pip install 'execplan[lsp]', or set execplan.command.`,
    );
  }
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.stop();
}
