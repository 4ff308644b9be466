// The board in a panel. The extension asks the server for its pages and shows them without scripts, so the server need
// not allow that anything frames it, no port is forwarded, and it works on another machine as well.

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import * as vscode from "vscode";
import { imagePaths, messagePage, planPath, renderPage } from "./boardPage";
import { BoardServer } from "./boardServer";
import { findExecutable, messageOf } from "./executable";

/** The command behind the links of the panel. */
export const OPEN_PAGE = "execplan.openPage";
const BOARD = "/index.html";
const STYLE = "/assets/site.css";

let board: BoardPanel | undefined;

/** Show the board of the project in a directory of the workspace. */
export async function showBoard(): Promise<void> {
  const directory = await chooseDirectory();
  if (directory === undefined) {
    return;
  }
  if (board?.directory === directory && !board.hasEnded) {
    board.reveal();
    return;
  }
  closeBoard();
  await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: "execplan: reading plans" },
    async () => {
      try {
        const server = await BoardServer.start(findExecutable("serve", "--port", "0", "--json"), directory);
        board = new BoardPanel(directory, server);
        await board.open(BOARD);
      } catch (error) {
        void vscode.window.showErrorMessage(`execplan: can't show the board: ${messageOf(error)}`);
      }
    },
  );
}

/** Follow a link of the panel: open the file of a plan, or show another page. */
export async function openPage(path: unknown): Promise<void> {
  if (typeof path === "string") {
    await board?.open(path);
  }
}

export function closeBoard(): void {
  board?.close();
}

async function chooseDirectory(): Promise<string | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const editor = vscode.window.activeTextEditor;
  const active = editor && vscode.workspace.getWorkspaceFolder(editor.document.uri);
  const [first, second] = folders;
  if (first === undefined) {
    void vscode.window.showErrorMessage("execplan: open a folder first; the board shows the plans of its repository");
    return undefined;
  }
  const folder = second === undefined ? first : (active ?? (await vscode.window.showWorkspaceFolderPick()));
  return folder?.uri.fsPath;
}

class BoardPanel {
  private readonly panel: vscode.WebviewPanel;
  private readonly subscriptions: vscode.Disposable[] = [];
  /** Whether the server has ended. */
  hasEnded = false;
  private path = BOARD;
  private page = "";
  private version: string | null = null;

  constructor(
    /** The directory in which the server runs. */
    readonly directory: string,
    private readonly server: BoardServer,
  ) {
    this.panel = vscode.window.createWebviewPanel("execplan.board", "Plans", vscode.ViewColumn.Active, {
      enableScripts: false,
      enableForms: false,
      enableCommandUris: [OPEN_PAGE],
      localResourceRoots: [],
    });
    this.panel.onDidDispose(() => {
      this.end();
      if (board === this) {
        board = undefined;
      }
    });
    this.subscriptions.push(vscode.window.onDidChangeActiveColorTheme(() => this.draw()));
    void this.follow();
  }

  reveal(): void {
    this.panel.reveal();
  }

  close(): void {
    this.panel.dispose();
  }

  /** Show a page; a plan is opened as text, which is what an editor is for. */
  async open(path: string): Promise<void> {
    const page = await this.server.get(path);
    const plan = page && planPath(page.text);
    if (plan !== undefined) {
      const document = await vscode.workspace.openTextDocument(vscode.Uri.file(join(this.server.root, plan)));
      await vscode.window.showTextDocument(document);
      return;
    }
    this.path = path;
    this.page = page?.text ?? "";
    this.version = page?.version ?? null;
    await this.draw();
  }

  /** Show the page again whenever it has changed. */
  private async follow(): Promise<void> {
    try {
      await this.server.watch(async () => {
        const page = await this.server.get(this.path, this.version);
        if (page) {
          this.page = page.text;
          this.version = page.version;
          await this.draw();
        }
      });
      this.fail("The server has ended.");
    } catch (error) {
      this.fail(messageOf(error));
    }
  }

  private fail(reason: string): void {
    if (!this.hasEnded) {
      this.end();
      this.panel.webview.html = this.render(messagePage(`${reason} To start it again, run "execplan: Show the board".`), "");
    }
  }

  private async draw(): Promise<void> {
    const page = this.page;
    const paths = [...new Set(imagePaths(page))];
    const [style, ...files] = await Promise.all([STYLE, ...paths].map((path) => this.server.get(path)));
    const urls = files.map((file) => `data:image/svg+xml;base64,${Buffer.from(file?.text ?? "").toString("base64")}`);
    const images = new Map(paths.map((path, index) => [path, urls[index] ?? ""]));
    // A newer page may have arrived meanwhile.
    if (page === this.page && !this.hasEnded) {
      this.panel.webview.html = this.render(page, style?.text ?? "", images);
    }
  }

  private render(page: string, style: string, images: ReadonlyMap<string, string> = new Map()): string {
    const kind = vscode.window.activeColorTheme.kind;
    const isDark = kind === vscode.ColorThemeKind.Dark || kind === vscode.ColorThemeKind.HighContrast;
    return renderPage(page, { style, images, isDark, nonce: randomBytes(16).toString("hex"), command: OPEN_PAGE });
  }

  private end(): void {
    this.hasEnded = true;
    this.server.stop();
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }
}
