// `execplan install guard` writes and updates this file, and `execplan uninstall guard` removes it.
// Before each tool call, opencode asks execplan. Only a clear permission lets the call through.

import { spawn } from "node:child_process"

const COMMAND = ["execplan", ["guard", "--program", "opencode"]]
const LIMIT_MILLISECONDS = 30_000
const NOT_ALLOWED = "execplan guard did not allow this call"

export const ExecplanGuard = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    const call = {
      hook_event_name: "tool.execute.before",
      tool_name: input.tool,
      tool_input: output.args ?? {},
      session_id: input.sessionID,
      tool_use_id: input.callID,
      cwd: directory,
    }
    const { status, answer, reason } = await ask(JSON.stringify(call), directory)
    if (status !== 0 || !isPermission(answer)) throw new Error(reason.trim() || NOT_ALLOWED)
  },
})

const ask = (call, cwd) =>
  new Promise((resolve) => {
    const process = spawn(...COMMAND, { cwd, timeout: LIMIT_MILLISECONDS, killSignal: "SIGKILL" })
    const texts = { answer: "", reason: "" }
    process.stdout.on("data", (data) => (texts.answer += data))
    process.stderr.on("data", (data) => (texts.reason += data))
    process.stdin.on("error", () => {}) // it may end before it has read everything
    process.on("error", () => resolve({ ...texts, status: -1 }))
    process.on("close", (status) => resolve({ ...texts, status }))
    process.stdin.end(call)
  })

const isPermission = (answer) => {
  try {
    const document = JSON.parse(answer)
    return Object.keys(document).length === 1 && document.decision === "allow"
  } catch {
    return false
  }
}
