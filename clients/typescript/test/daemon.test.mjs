// The client against a real daemon: it sends, reads, waits, follows and is refused, over a restart too.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { MailClient, isRefusal, textOf } from "mail4agent";
import { furnished, start } from "./daemon.mjs";

let daemon;
before(async () => {
  daemon = await furnished();
});
after(async () => {
  await daemon.stop();
  daemon.remove();
});

test("a daemon says that it is well without a credential", async () => {
  assert.equal((await new MailClient({ url: daemon.url }).health()).ok, true);
});

test("mail is sent, waited for, read, answered and acknowledged", async () => {
  const [alice, bob] = [daemon.as("alice"), daemon.as("bob")];
  const waiting = bob.wait({ wait_secs: 20 });
  const sent = await alice.sendText("bob", "ready — 准备好了 🎉", { subject: "Review", refs: [{ kind: "file", locator: "parser.py" }] });
  assert.ok((await waiting).unread >= 1);
  const page = await bob.inbox({ unread_only: true });
  const message = page.messages.find(({ message_id: id }) => id === sent.message_id);
  assert.deepEqual([textOf(message.from), message.body, message.refs.length], ["alice", "ready — 准备好了 🎉", 1]);
  const answered = await bob.replyText(message, "on it");
  const got = await alice.get({ message_id: answered.message_id });
  assert.deepEqual([got.subject, got.reply_to], ["Re: Review", sent.message_id]);
  await bob.ackMany({ message_ids: page.messages.map(({ message_id: id }) => id) });
  assert.equal((await bob.unread({ target: "bob" })).unread, 0);
});

test("a send that is repeated under its key gives the first answer", async () => {
  const alice = daemon.as("alice");
  const fields = { to: "#ops", subject: "", body: "deploying", idempotency_key: "deploy-12" };
  assert.deepEqual(await alice.send(fields), await alice.send(fields));
  const other = alice.send({ ...fields, body: "other" });
  await assert.rejects(other, (thrown) => isRefusal(thrown, "idempotency_conflict"));
});

test("refusals are typed errors", async () => {
  const [alice, nobody] = [daemon.as("alice"), new MailClient({ url: daemon.url, token: "0".repeat(64) })];
  await assert.rejects(alice.sendText("nobody", "x"), (thrown) => isRefusal(thrown, "unknown_participant") && thrown.refusal.participant === "nobody");
  await assert.rejects(alice.adminRoom({ id: "r" }), (thrown) => isRefusal(thrown, "permission_denied") && thrown.status === 403);
  await assert.rejects(nobody.whoami(), (thrown) => isRefusal(thrown, "unauthenticated"));
});

test("a page of full messages of any script comes whole", async () => {
  const [alice, bob] = [daemon.as("alice"), daemon.as("bob")];
  const bodies = ["漢".repeat(21_845), "\t\n".repeat(32_768), '"\\'.repeat(32_768), "🎉".repeat(16_384)];
  for (const body of bodies) await alice.sendText("bob", body, { subject: "full" });
  const page = await bob.inbox({ order: "newest", limit: bodies.length });
  assert.deepEqual(page.messages.map(({ body }) => body).reverse(), bodies);
});

test("a watch gives each message once, in order, over a restart, and acknowledges what it is done with", async () => {
  const bob = daemon.as("bob");
  const first = await daemon.as("alice").sendText("bob", "one", { subject: "w" });
  const faults = [];
  let resumed;
  const restarted = new Promise((resolve) => (resumed = resolve));
  const watch = bob.watch({
    start: (await bob.get({ message_id: first.message_id })),
    ack: true,
    waitSecs: 20,
    firstPause: 0.02,
    longestPause: 0.2,
    onFault: (fault) => {
      faults.push(fault.kind);
      resumed();
    },
  });
  await daemon.as("alice").sendText("bob", "two", { subject: "w" });
  assert.equal((await watch.next()).value.body, "two");
  const next = watch.next();
  await daemon.stop();
  await restarted;
  daemon = { ...daemon, ...(await start(daemon.home, daemon.port)) };
  const alice = daemon.as("alice");
  await alice.sendText("bob", "three", { subject: "w" });
  const third = (await next).value;
  assert.equal(third.body, "three");
  assert.equal(watch.position.message_id, third.message_id);
  assert.ok(faults.every((kind) => ["connect_failed", "connection_lost", "overloaded", "store_unavailable"].includes(kind)), String(faults));
  await watch.return();
  const unread = (await bob.inbox({ unread_only: true, limit: 256 })).messages.map(({ body }) => body);
  assert.ok(unread.includes("three") && !unread.includes("two"));
});

test("a watch that starts now passes over what is there and the caller's own posts", async () => {
  const [alice, bob] = [daemon.as("alice"), daemon.as("bob")];
  const ending = new AbortController();
  const watch = bob.watch({ room: "ops", waitSecs: 20, signal: ending.signal });
  const next = watch.next();
  const posted = (async () => {
    // Whether the watch has taken its place yet is not seen from here: what is posted until it gives one is one of these.
    for (let count = 0; ; count += 1) {
      await bob.sendText("#ops", `mine ${count}`);
      await alice.sendText("#ops", `hers ${count}`);
      if ((await Promise.race([next, undefined])) !== undefined) return;
    }
  })();
  assert.match((await next).value.body, /^hers /);
  await posted;
  await alice.sendText("#ops", "last");
  for await (const message of watch) {
    assert.match(message.body, /^hers |^last$/);
    if (message.body === "last") break;
  }
  const reason = new Error("enough");
  const ended = bob.watch({ waitSecs: 20, signal: ending.signal }).next();
  ending.abort(reason);
  await assert.rejects(ended, reason);
});

test("a watch gives up when it is told to, and throws at once what waiting does not mend", async () => {
  const faults = [];
  const lost = new MailClient({ url: daemon.url, fetch: () => Promise.reject(new TypeError("fetch failed")) });
  const watch = lost.watch({ firstPause: 0.01, giveUpAfter: 0.03, onFault: (fault) => faults.push(fault.kind) });
  await assert.rejects(watch.next(), (thrown) => thrown.kind === "connection_lost");
  assert.ok(faults.length >= 1);
  const nobody = new MailClient({ url: daemon.url, token: "0".repeat(64) });
  await assert.rejects(nobody.watch().next(), (thrown) => isRefusal(thrown, "unauthenticated"));
});
