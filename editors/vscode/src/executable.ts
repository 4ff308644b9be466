// The command that runs execplan, as the setting `execplan.command` says.

import * as vscode from "vscode";

export const COMMAND_SETTING = "execplan.command";

export interface Executable {
  command: string;
  args: string[];
}

/** Return the command line of a command of execplan, such as `lsp`. */
export function findExecutable(...words: string[]): Executable {
  const [command = "execplan", ...args] = vscode.workspace.getConfiguration().get<string[]>(COMMAND_SETTING, []);
  return { command, args: [...args, ...words] };
}

/** Return the text of an error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
