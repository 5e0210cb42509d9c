// The MCP Inspector's command line against the daemon's MCP door: what it prints, and how it exits.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { furnished } from "../../../clients/typescript/test/daemon.mjs";

const MANIFEST = createRequire(import.meta.url).resolve("@modelcontextprotocol/inspector/package.json");
const LAUNCHER = join(MANIFEST, "..", "clients", "launcher", "build", "index.js");
const home = mkdtempSync(join(tmpdir(), "mail4agent-inspector-"));

let daemon;
before(async () => {
  daemon = await furnished();
});
after(async () => {
  await daemon.stop();
  daemon.remove();
  rmSync(home, { recursive: true, force: true });
});

const inspect = (...flags) => asked({ url: daemon.url, token: daemon.tokens.alice }, ...flags);

/** Run the command line: exit status and both outputs. Its own files go to a folder of the test's. */
function asked({ url, token }, ...flags) {
  const where = ["--cli", "--server-url", `${url}/mcp`, "--transport", "http", "--header", `Authorization: Bearer ${token}`];
  const env = { PATH: process.env.PATH, HOME: home, NO_COLOR: "1" };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [LAUNCHER, ...where, ...flags], { env, cwd: home }, (failure, out, err) => {
      resolve({ status: failure?.code ?? 0, out, err });
    });
    child.stdin.end();
  });
}

const ERAS = ["legacy", "auto", "modern"];
const call = (tool, args) => ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", JSON.stringify(args), "--format", "json"];

/** Resolves once the daemon has so many readers that wait, or after half a minute. */
async function parked(count) {
  for (let tries = 0; tries < 600; tries += 1) {
    const figures = await (await fetch(`${daemon.url}/metrics`)).text();
    if (Number(/^mail4agent_parked_readers ([0-9.]+)$/m.exec(figures)[1]) >= count) return;
    await pause(50);
  }
}

test("it lists the tools in every era, and finds no schema that is less portable", async () => {
  const list = (era) => inspect("--protocol-era", era, "--method", "tools/list", "--strict", "--format", "json");
  for (const { status, out, err } of await Promise.all(ERAS.map(list))) {
    assert.equal(status, 0, err);
    assert.ok(JSON.parse(out).result.tools.length >= 8);
    assert.equal(err, "");
  }
});

test("it calls a tool, and reads a refusal as text with status 5", async () => {
  const letter = { to: "bob", subject: "", body: "x" };
  const calls = [call("m4a_mail_send", letter), call("m4a_mail_send", { ...letter, to: "nobody" }), call("m4a_mail_nothing", {})];
  for (const era of ERAS) {
    const [sent, refused, unknown] = await Promise.all(calls.map((flags) => inspect("--protocol-era", era, ...flags)));
    assert.equal(sent.status, 0, sent.err);
    assert.match(sent.out, /message_id/);
    assert.equal(refused.status, 5);
    assert.match(refused.out + refused.err, /Refused \(unknown_participant\): /);
    assert.equal(unknown.status, 5);
  }
});

test("it waits in every era: mail ends a wait that stands, and an empty one says to call again", async () => {
  const bob = { url: daemon.url, token: daemon.tokens.bob };
  const wait = async (era, args) => {
    const { status, out, err } = await asked(bob, "--protocol-era", era, ...call("m4a_mail_wait", args));
    assert.equal(status, 0, err);
    return JSON.parse(out).result.structuredContent;
  };
  const before = await wait("auto", { wait_secs: 0 });
  const waiting = Promise.all(ERAS.map((era) => wait(era, { wait_secs: 50, after: before.newest })));
  await Promise.race([waiting, parked(ERAS.length)]);
  const sent = await daemon.as("alice").sendText("bob", "hello");
  assert.deepEqual((await waiting).map(({ newest }) => newest.message_id), ERAS.map(() => sent.message_id));
  const page = await daemon.as("bob").inbox({ unread_only: true });
  await daemon.as("bob").ackMany({ message_ids: page.messages.map(({ message_id: id }) => id) });
  assert.match((await wait("modern", { wait_secs: 0 })).then, /call again/);
});

test("a wrong credential and a daemon that is not there have statuses of their own", async () => {
  const list = ["--method", "tools/list", "--format", "json"];
  const wrong = await asked({ url: daemon.url, token: "0".repeat(64) }, ...list, "--stored-auth-only");
  assert.equal(wrong.status, 3, wrong.err);
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  assert.equal((await asked({ url: `http://127.0.0.1:${port}`, token: "t" }, ...list)).status, 4);
});
