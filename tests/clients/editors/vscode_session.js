// A session of VS Code without its windows: it loads the extension, shows the board, sees an agent's edit in it, follows the
// links, and closes it. `vscode` is a stand-in: what the board uses is written here, and the rest does nothing.
"use strict";
const fs = require("node:fs");
const Module = require("node:module");
const { execFileSync } = require("node:child_process");

const executable = process.env.EXECPLAN.split("\n");
const result = { errors: [], opened: [], commands: [] };
const commands = new Map();
let panel;

// Anything of `vscode`: it can be called, constructed, extended and asked for anything else.
const anything = () => {
  const proxy = new Proxy(function () {}, {
    get: (target, name) => {
      if (name === "then") return undefined;
      if (name === Symbol.toPrimitive) return () => "";
      if (name === Symbol.iterator) return () => [][Symbol.iterator]();
      if (!(name in target)) target[name] = anything();
      return target[name];
    },
    apply: () => anything(),
    construct: (_, __, newTarget) => (newTarget === proxy ? anything() : Object.create(newTarget.prototype)),
  });
  return proxy;
};
const stub = (known) => new Proxy(known, { get: (target, name) => (name in target ? target[name] : (target[name] = anything())) });

class EventEmitter {
  listeners = new Set();
  event = (listener) => {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  };
  fire(event) {
    for (const listener of this.listeners) listener(event);
  }
  dispose() {
    this.listeners.clear();
  }
}

const vscode = stub({
  EventEmitter,
  version: "1.91.0",
  env: stub({ appName: "Visual Studio Code", language: "en" }),
  ProgressLocation: { Window: 10 },
  ViewColumn: { Active: -1 },
  ColorThemeKind: { Light: 1, Dark: 2, HighContrast: 3, HighContrastLight: 4 },
  Uri: stub({ file: (path) => ({ fsPath: path, path, scheme: "file", toString: () => `file://${path}` }) }),
  commands: stub({
    registerCommand: (name, callback) => {
      commands.set(name, callback);
      return { dispose() {} };
    },
  }),
  workspace: stub({
    workspaceFolders: [{ uri: { fsPath: process.cwd(), scheme: "file", toString: () => `file://${process.cwd()}` }, name: "repo", index: 0 }],
    textDocuments: [],
    notebookDocuments: [],
    getConfiguration: () => ({ get: (name, value) => (name === "execplan.command" ? executable : value) }),
    openTextDocument: async (uri) => uri.fsPath,
  }),
  window: stub({
    activeTextEditor: undefined,
    visibleTextEditors: [],
    activeColorTheme: { kind: 2 },
    tabGroups: stub({ all: [], onDidChangeTabs: () => ({ dispose() {} }) }),
    showErrorMessage: async (text) => void result.errors.push(text),
    showTextDocument: async (path) => void result.opened.push(path),
    withProgress: (_, task) => task(),
    createWebviewPanel: (type, title, column, options) => {
      const closed = new EventEmitter();
      panel = { options, webview: { html: "" }, onDidDispose: closed.event, dispose: () => closed.fire(), reveal() {} };
      return panel;
    },
  }),
});
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));

const until = async (condition, what) => {
  for (let tries = 0; !(await condition()); tries++) {
    if (tries === 600) throw new Error(`${what} did not happen: ${JSON.stringify(result)} ${panel?.webview.html}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

// What a click on a link with this text does, as VS Code does it for the commands that the panel allows.
const click = async (text) => {
  const link = [...panel.webview.html.matchAll(/<a[^>]* href="command:([^?"]*)\?([^"]*)"[^>]*>([^<]*)<\/a>/g)].find((match) => match[3] === text);
  if (!panel.options.enableCommandUris.includes(link[1])) throw new Error(`${link[1]} is not allowed`);
  await commands.get(link[1])(...JSON.parse(decodeURIComponent(link[2])));
};

const main = async () => {
  const extension = require(process.env.EXTENSION);
  extension.activate({ subscriptions: [] });
  await commands.get("execplan.showBoard")();
  result.options = panel.options;
  result.board = panel.webview.html;
  execFileSync(executable[0], [...executable.slice(1), "add", "Appears on the board"], { stdio: "ignore" });
  await until(() => panel.webview.html.includes("1/3"), "the change");
  await click("Build the parser");
  await click("Charts");
  result.charts = panel.webview.html;
  await commands.get("execplan.openPage")("//other.example/index.html").catch((error) => (result.elsewhere = error.message));
  result.shown = panel.webview.html;
  panel.dispose();
  await commands.get("execplan.showBoard")();
  await until(() => commands.has("execplan.done"), "the start of the language server");
  result.commands = [...commands.keys()];
  await extension.deactivate();
};

main()
  .catch((error) => (result.problem = error.stack))
  .finally(() => {
    fs.writeFileSync(process.env.OUT, JSON.stringify(result));
    process.exit();
  });
