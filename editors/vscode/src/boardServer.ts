// A running `execplan serve`, which listens on the loopback interface only.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { type Executable, messageOf } from "./executable";

/** The JSON document that `execplan serve --json` prints once it answers requests, or when it can't. */
interface ServeDocument {
  data?: { url: string; root: string } | null;
  error?: { message: string; hint: string } | null;
}

export interface Page {
  text: string;
  /** The version of the page; null if the server names none. */
  version: string | null;
}

export class BoardServer {
  private isStopped = false;

  private constructor(
    private readonly child: ChildProcessByStdio<null, Readable, Readable>,
    private readonly url: string,
    /** The directory that the paths of plans start from. */
    readonly root: string,
  ) {}

  /** Start a server for the project of a directory. Fails with what execplan says if it does not start. */
  static async start(executable: Executable, directory: string): Promise<BoardServer> {
    const child = spawn(executable.command, executable.args, { cwd: directory, stdio: ["ignore", "pipe", "pipe"] });
    let errors = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      errors = (errors + text).slice(-2000);
    });
    const line = await new Promise<string>((resolve, reject) => {
      createInterface(child.stdout).once("line", resolve);
      child.once("error", reject);
      child.once("close", () => {
        reject(new Error(errors.trim() || "it ended without a message"));
      });
    });
    try {
      const { data, error } = JSON.parse(line) as ServeDocument;
      if (data) {
        return new BoardServer(child, data.url, data.root);
      }
      throw new Error(error ? `${error.message}; ${error.hint}` : line);
    } catch (error) {
      child.kill();
      throw error;
    }
  }

  /** Return a page or a file, or undefined if it still has this version. */
  async get(path: string, version: string | null = null): Promise<Page | undefined> {
    const headers: Record<string, string> = version === null ? {} : { "If-None-Match": version };
    const response = await fetch(this.resolve(path), { headers, redirect: "error" });
    if (response.status === 304) {
      return undefined;
    }
    // An error of the server is a page too, which says what is wrong.
    return { text: await response.text(), version: response.headers.get("etag") };
  }

  /** Call a function after each change of the project's files, and at the start; return when the server ends. */
  async watch(onChange: () => Promise<void>): Promise<void> {
    const response = await fetch(this.resolve("/events"), { redirect: "error" });
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) {
        if (decoder.decode(chunk, { stream: true }).includes("data:")) {
          await onChange();
        }
      }
    } catch (error) {
      if (!this.isStopped) {
        throw new Error(`the connection to the server ended: ${messageOf(error)}`, { cause: error });
      }
    }
  }

  stop(): void {
    this.isStopped = true;
    this.child.kill();
  }

  /** Return the URL of a path of the server; a link can't lead to another host. */
  private resolve(path: string): URL {
    const url = new URL(path, this.url);
    if (url.origin !== new URL(this.url).origin) {
      throw new Error(`${path} is not a page of the server`);
    }
    return url;
  }
}
