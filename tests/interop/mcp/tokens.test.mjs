// What the MCP door costs a model's context, counted by real tokenizers.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { countTokens as cl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as o200k } from "gpt-tokenizer/encoding/o200k_base";
import { furnished } from "../../../clients/typescript/test/daemon.mjs";

/** The most tokens that any of the tokenizers makes of a text. */
const tokens = (text) => Math.max(...[cl100k, o200k].map((count) => count(text, { disallowedSpecial: new Set() })));

/** Bodies that cost the most for their length, or that reach their bound in another way. */
const BODIES = {
  han: "漢字仮名交じり文鬱蒼".repeat(2_184),
  rare: "𠀀𪚥龘靐".repeat(4_681),
  emoji: "👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿".repeat(1_213),
  base64: Buffer.from(Array.from({ length: 49_000 }, (_, index) => (index * 7919) % 251)).toString("base64"),
  whitespace: " \n\t  \n\n\t".repeat(8_192),
  quotes: '"\\'.repeat(32_768),
  specials: "<|endoftext|>".repeat(5_041),
};

let daemon;
before(async () => {
  daemon = await furnished();
});
after(async () => {
  await daemon.stop();
  daemon.remove();
});

async function connected(t, token) {
  const client = new Client({ name: "interop", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${daemon.url}/mcp`), { requestInit }));
  t.after(() => client.close());
  return client;
}

test("the list of tools fits 3,000 tokens for an ordinary account, and 5,500 and 15 tools with every capability", async (t) => {
  const count = async (token) => {
    const { tools } = await (await connected(t, token)).listTools();
    return [tools.length, tokens(JSON.stringify(tools))];
  };
  const [ordinary, cost] = await count(daemon.tokens.alice);
  assert.ok(ordinary >= 8 && cost <= 3_000, `${ordinary} tools, ${cost} tokens`);
  const { secret } = await daemon.operator.adminParticipant({ id: "all", may_send: true, may_read: true, attestation: "off" });
  const grant = ["outbox:stage", "outbox:review", "outbox:stamp", "frontdoor:brief", "frontdoor:review"];
  await daemon.operator.adminParticipantPermit({ id: "all", grant, revoke: [], both: true });
  const [every, whole] = await count(secret);
  assert.equal(every, 15);
  assert.ok(every <= 15 && whole <= 5_500, `${every} tools, ${whole} tokens`);
  t.diagnostic(`an ordinary account: ${ordinary} tools, ${cost} tokens; one with every tool: ${every}, ${whole}`);
});

test("a reply of the inbox fits 2,000 tokens, and 8,000 when that is asked for, whatever the bodies are", async (t) => {
  const bob = await connected(t, daemon.tokens.bob);
  const costs = {};
  for (const [name, body] of Object.entries(BODIES)) {
    assert.ok(Buffer.byteLength(body) <= 65_536, name);
    for (const count of [1, 2, 3]) await daemon.as("alice").sendText("bob", body, { subject: `${name} ${count}` });
    costs[name] = [];
    for (const [args, most] of [[{}, 2_000], [{ max_tokens: 8_000 }, 8_000]]) {
      const result = await bob.callTool({ name: "m4a_mail_inbox", arguments: args });
      assert.ok(!result.isError && result.structuredContent.messages.length >= 1, name);
      const cost = tokens(result.content.map(({ text }) => text).join(""));
      costs[name].push(cost);
      assert.ok(cost <= most, `${name}: ${cost} tokens of ${most}`);
    }
    const page = await daemon.as("bob").inbox({ unread_only: true });
    await daemon.as("bob").ackMany({ message_ids: page.messages.map(({ message_id: id }) => id) });
  }
  t.diagnostic(`tokens of a reply, default and largest: ${JSON.stringify(costs)}`);
});

test("a page of many short messages fits as well", async (t) => {
  for (let count = 0; count < 60; count += 1) await daemon.as("alice").sendText("#ops", "ok", { subject: "s" });
  const bob = await connected(t, daemon.tokens.bob);
  for (const [args, most] of [[{ limit: 50 }, 2_000], [{ limit: 50, max_tokens: 8_000 }, 8_000]]) {
    const result = await bob.callTool({ name: "m4a_mail_inbox", arguments: args });
    assert.ok(tokens(result.content.map(({ text }) => text).join("")) <= most);
    assert.ok(result.structuredContent.next !== null);
  }
});
