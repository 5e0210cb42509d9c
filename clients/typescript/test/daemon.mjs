// A real daemon in a process of its own, with the accounts alice and bob in the room ops, for the tests of one file.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { MailClient, readToken } from "mail4agent";

const PYTHON = process.env.M4A_PYTHON ?? new URL("../../../.venv/bin/python", import.meta.url).pathname;

/** Start a daemon; `home` and `port` of an earlier one start that again. */
export async function start(home = mkdtempSync(join(tmpdir(), "mail4agent-")), port = 0) {
  const { M4A_URL, M4A_TOKEN, M4A_TOKEN_FILE, ...rest } = process.env;
  const flags = ["-m", "mail4agent_daemon", "serve", "--bind", `127.0.0.1:${port}`, "--no-socket"];
  const child = spawn(PYTHON, flags, { env: { ...rest, M4A_HOME: home }, stdio: ["ignore", "pipe", "pipe"] });
  const exited = once(child, "exit");
  let log = "";
  child.stderr.on("data", (text) => (log += text));
  const lines = createInterface({ input: child.stdout });
  const url = await new Promise((resolve, reject) => {
    lines.on("line", (line) => {
      const found = /http:\/\/127\.0\.0\.1:[0-9]+/.exec(line);
      if (found !== null) resolve(found[0]);
    });
    lines.on("close", () => reject(new Error(`the daemon did not start: ${log}`)));
  });
  const stop = async () => {
    child.kill("SIGTERM");
    await exited;
  };
  const remove = () => rmSync(home, { recursive: true, force: true });
  const operatorToken = readToken(join(home, "operator.key"));
  const operator = new MailClient({ url, token: operatorToken });
  return { url, home, port: Number(new URL(url).port), stop, remove, operator, operatorToken };
}

/** A daemon with its accounts. Their policy is off: whoever runs the tests, these two are accounts and nothing more. */
export async function furnished() {
  const daemon = await start();
  await daemon.operator.adminRoom({ id: "ops" });
  const tokens = {};
  for (const account of ["alice", "bob"]) {
    const issued = await daemon.operator.adminParticipant({ id: account, may_send: true, may_read: true, attestation: "off" });
    tokens[account] = issued.secret;
    await daemon.operator.adminRoomMemberAdd({ room: "ops", participant: account });
  }
  return { ...daemon, tokens, as: (account, more = {}) => new MailClient({ url: daemon.url, token: tokens[account], ...more }) };
}
