// The official TypeScript clients, both of their lines, against the daemon's MCP door: they list, call, fail and wait.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OlderTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { furnished } from "../../../clients/typescript/test/daemon.mjs";

const ME = { name: "interop", version: "1.0.0" };
const TOOLS = ["send", "inbox", "wait", "ack", "get", "whoami", "status", "peers"].map((name) => `m4a_mail_${name}`);
/** How each client is made, by its name. */
const CLIENTS = {
  "v2 legacy": () => [new Client(ME), StreamableHTTPClientTransport],
  "v2 auto": () => [new Client(ME, { versionNegotiation: { mode: "auto" } }), StreamableHTTPClientTransport],
  v1: () => [new OlderClient(ME), OlderTransport],
};

let daemon;
before(async () => {
  daemon = await furnished();
});
after(async () => {
  await daemon.stop();
  daemon.remove();
});

/** A connected client of an account; it is closed when the test is over. */
async function connected(t, make, token) {
  const [client, Transport] = make();
  await client.connect(new Transport(new URL(`${daemon.url}/mcp`), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
  t.after(() => client.close());
  return (tool, args) => (tool === undefined ? client.listTools() : client.callTool({ name: `m4a_mail_${tool}`, arguments: args }));
}

const textOf = (result) => result.content.map(({ type, text }) => (assert.equal(type, "text"), text)).join("");

for (const [name, make] of Object.entries(CLIENTS)) {
  test(`${name} lists the tools in the order of the table, each with an object of arguments`, async (t) => {
    const { tools } = await (await connected(t, make, daemon.tokens.alice))();
    assert.deepEqual(tools.map((tool) => tool.name), TOOLS);
    assert.ok(tools.every(({ inputSchema, outputSchema, description }) => inputSchema.type === "object" && outputSchema === undefined && description));
  });

  test(`${name} sends, reads and acknowledges mail of any script`, async (t) => {
    const [alice, bob] = await Promise.all(["alice", "bob"].map((account) => connected(t, make, daemon.tokens[account])));
    const body = `grüße 日本語 🎉 \u202e "quoted" \\ \t from ${name}`;
    const sent = await alice("send", { to: "bob", subject: "✓", body });
    assert.ok(!sent.isError, textOf(sent));
    assert.deepEqual(JSON.parse(textOf(sent)), sent.structuredContent);
    const page = (await bob("inbox", {})).structuredContent;
    const [message] = page.messages;
    assert.equal(message.message_id, sent.structuredContent.message_id);
    assert.ok(message.text.includes(body) && message.text.split(page.boundary).length >= 3);
    assert.ok(!(await bob("ack", { message_id: message.message_id })).isError);
    assert.deepEqual((await bob("inbox", {})).structuredContent.messages, []);
  });

  test(`${name} reads a refusal as plain text, without structured content`, async (t) => {
    const alice = await connected(t, make, daemon.tokens.alice);
    const refused = {
      malformed: await alice("get", { message_id: "m4a_1" }),
      too_large: await alice("send", { to: "bob", subject: "é".repeat(257), body: "b" }),
      unknown_participant: await alice("send", { to: "nobody", subject: "", body: "b" }),
    };
    for (const [kind, result] of Object.entries(refused)) {
      assert.equal(result.isError, true);
      assert.equal(result.structuredContent, undefined);
      assert.match(textOf(result), new RegExp(`^Refused \\(${kind}\\): [^{}]+\\.$`));
    }
    assert.equal((await alice("send", { to: "bob", subject: "", body: "b", from: "bob" })).isError, true);
  });

  test(`${name} waits for mail, and is told to call again when none came`, async (t) => {
    const [alice, bob] = await Promise.all(["alice", "bob"].map((account) => connected(t, make, daemon.tokens[account])));
    const before = (await bob("wait", { wait_secs: 0 })).structuredContent;
    assert.match(before.then, /call again/);
    const waiting = bob("wait", { wait_secs: 50, ...(before.newest ? { after: before.newest } : {}) });
    const sent = await alice("send", { to: "bob", subject: "", body: `hello from ${name}` });
    const after = (await waiting).structuredContent;
    assert.equal(after.newest.message_id, sent.structuredContent.message_id);
    assert.ok(after.unread >= 1);
    await bob("ack", { message_id: sent.structuredContent.message_id });
  });

  test(`${name} is told of a tool that is not there, and let in with no wrong credential`, async (t) => {
    const alice = await connected(t, make, daemon.tokens.alice);
    await assert.rejects(alice("nothing", {}), (thrown) => thrown.code === -32602);
    await assert.rejects(connected(t, make, "0".repeat(64)), /401|unauthenticated/);
  });
}
