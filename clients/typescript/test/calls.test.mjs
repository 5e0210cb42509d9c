// One call over real sockets: what is sent, what is taken for an answer, what is tried again and what ends it.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { inspect } from "node:util";
import { test } from "node:test";
import * as mail4agent from "mail4agent";
import { MailClient, OPERATIONS, decode, isRefusal } from "mail4agent";
import { EXAMPLES, QUICK, TOKEN, answers, drops, isSilent, methodOf, peer } from "./peer.mjs";

const client = (url, more = {}) => new MailClient({ url, token: TOKEN, retries: QUICK, ...more });
const sent = answers(200, EXAMPLES.SendResponse);
const sending = { to: "bob", subject: "", body: "hello" };
const overloaded = (secs) => answers(503, JSON.stringify({ kind: "overloaded", retry_after_secs: secs }));

/** What a promise is rejected with. */
async function failure(promise) {
  try {
    await promise;
  } catch (thrown) {
    return thrown;
  }
  throw new assert.AssertionError({ message: "it was not rejected" });
}

test("every operation is a method that sends its request and returns its response", async (t) => {
  for (const [name, row] of Object.entries(OPERATIONS)) {
    const { seen, url } = await peer(t, answers(200, EXAMPLES[row.response]));
    const request = row.request === null ? undefined : JSON.parse(EXAMPLES[row.request]);
    const method = client(url)[methodOf(name)];
    const got = await (row.request === null ? method.call(client(url)) : method.call(client(url), request));
    assert.deepEqual(got, JSON.parse(EXAMPLES[row.response]), name);
    assert.equal(seen.length, 1);
    assert.deepEqual([seen[0].method, seen[0].path], [row.method, row.path]);
    if (row.request !== null) assert.deepEqual(JSON.parse(seen[0].body), request);
    assert.equal(seen[0].headers.authorization, row.authenticated ? `Bearer ${TOKEN}` : undefined);
  }
});

test("there is no method beside the operations", () => {
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(MailClient.prototype)).filter((name) => name !== "constructor");
  assert.deepEqual(methods.sort(), Object.keys(OPERATIONS).map(methodOf).sort());
});

test("text stands for an address and a message for its position", async (t) => {
  const message = decode("Message", EXAMPLES.Message);
  const { seen, url } = await peer(t, sent, sent, answers(200, EXAMPLES.InboxPage));
  await client(url).send({ ...sending, to: "#ops" });
  await client(url).send({ ...sending, to: "bob/s-0123456789abcdef0123456789abcdef" });
  await client(url).inbox({ after: message });
  const [room, session, page] = seen.map(({ body }) => JSON.parse(body));
  assert.deepEqual(room.to, { kind: "room", room: "ops" });
  assert.equal(session.to.kind, "session");
  assert.deepEqual(page.after, { created_at_unix_ms: message.created_at_unix_ms, message_id: message.message_id });
});

test("a request past a bound is refused and not sent", async (t) => {
  const { seen, url } = await peer(t, sent);
  const thrown = await failure(client(url).send({ ...sending, subject: "é".repeat(257) }));
  assert.ok(isRefusal(thrown, "too_large"));
  assert.deepEqual(thrown.refusal, { kind: "too_large", field: "subject", limit: 512, actual: 514 });
  assert.ok(isRefusal(await failure(client(url).send({ ...sending, to: "no one" })), "malformed"));
  assert.equal(seen.length, 0);
});

test("a refusal is one error with its kind, its fields and its status", async (t) => {
  const { url } = await peer(t, answers(404, '{"kind":"unknown_participant","participant":"bbo"}'));
  const thrown = await failure(client(url).send(sending));
  assert.ok(isRefusal(thrown) && isRefusal(thrown, "unknown_room", "unknown_participant") && !isRefusal(thrown, "unknown_room"));
  assert.deepEqual([thrown.kind, thrown.refusal.participant, thrown.status], ["unknown_participant", "bbo", 404]);
});

test("a lost answer is asked for again where a repeat changes nothing more, and nowhere else", async (t) => {
  const repeated = async (answer, act) => {
    const { seen, url } = await peer(t, drops, overloaded(0), drops, answer);
    await act(client(url)).catch(() => {});
    assert.ok(seen.every(({ body }) => body === seen[0].body));
    return seen.length;
  };
  const key = { idempotency_key: "k" };
  const letter = { ...sending, to: { kind: "direct", participant: "bob" } };
  const many = answers(200, EXAMPLES.SendManyResponse);
  assert.equal(await repeated(answers(200, EXAMPLES.InboxPage), (mail) => mail.inbox()), 4);
  assert.equal(await repeated(answers(200, EXAMPLES.AckResponse), (mail) => mail.ack(JSON.parse(EXAMPLES.AckRequest))), 4);
  assert.equal(await repeated(sent, (mail) => mail.send({ ...sending, ...key })), 4);
  assert.equal(await repeated(sent, (mail) => mail.sendText("bob", "hello")), 4);
  assert.equal(await repeated(sent, (mail) => mail.send(sending)), 1);
  assert.equal(await repeated(many, (mail) => mail.sendMany({ messages: [{ ...letter, ...key }] })), 4);
  assert.equal(await repeated(many, (mail) => mail.sendMany({ messages: [{ ...letter, ...key }, letter] })), 1);
  assert.equal(await repeated(sent, (mail) => mail.adminRoom({ id: "ops" })), 1);
});

test("attempts are bounded, and the last fault is what is thrown", async (t) => {
  const { seen, url } = await peer(t, drops);
  assert.equal((await failure(client(url).whoami())).kind, "connection_lost");
  assert.equal(seen.length, 4);
});

test("a Retry-After beyond the patience of a call ends it at once", async (t) => {
  const { seen, url } = await peer(t, answers(429, '{"kind":"rate_limited","retry_after_secs":1}', { "retry-after": "21" }));
  assert.ok(isRefusal(await failure(client(url).whoami()), "rate_limited"));
  assert.equal(seen.length, 1);
});

test("a refusal that waiting does not mend is not asked for again", async (t) => {
  const { seen, url } = await peer(t, answers(500, '{"kind":"internal","request_id":"r-1"}'));
  assert.ok(isRefusal(await failure(client(url).whoami()), "internal"));
  assert.equal(seen.length, 1);
});

test("a late answer is a timeout, which is not repeated", async (t) => {
  const drip = (response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(timer));
  };
  for (const order of [isSilent, drip]) {
    const { seen, url } = await peer(t, order);
    assert.equal((await failure(client(url, { answerSecs: 0.2 }).whoami())).kind, "timed_out");
    assert.equal(seen.length, 1);
  }
});

test("a caller's signal ends a call, a pause and a wait, and the connection with it", async (t) => {
  const reason = new Error("enough");
  const ending = new AbortController();
  let closed;
  const { url } = await peer(t, (response) => {
    closed = once(response, "close");
    ending.abort(reason);
  });
  assert.equal(await failure(client(url).wait({ wait_secs: 50 }, { signal: ending.signal })), reason);
  await closed;
  const later = new AbortController();
  const busy = await peer(t, (response) => {
    overloaded(15)(response);
    response.on("close", () => later.abort(reason));
  });
  assert.equal(await failure(client(busy.url).whoami({}, { signal: later.signal })), reason);
  assert.equal(await failure(client(busy.url).whoami({}, { signal: AbortSignal.abort(reason) })), reason);
  assert.equal(busy.seen.length, 1);
});

test("an answer past the bound is given up, whether it says its length or not", async (t) => {
  const page = `[${"0,".repeat(40_000)}0]`;
  const flood = (response) => {
    response.writeHead(200);
    const more = () => {
      while (!response.destroyed && response.write(page));
    };
    response.on("drain", more);
    more();
  };
  for (const order of [answers(200, page), flood]) {
    const { url } = await peer(t, order);
    const thrown = await failure(client(url, { maxAnswerBytes: 1000 }).whoami());
    assert.deepEqual([thrown.kind, thrown.limit], ["answer_too_large", 1000]);
  }
});

test("what does not speak the contract is named as such, without its text", async (t) => {
  const bodies = ["<html>secret</html>", "", '{"address":"secret"}', EXAMPLES.SendResponse, "\ufeff{}"];
  for (const [status, body] of bodies.flatMap((text) => [[200, text], [502, text]])) {
    const { url } = await peer(t, answers(status, body));
    const thrown = await failure(client(url).whoami());
    assert.deepEqual([thrown.kind, thrown.status], ["answer_invalid", status]);
    assert.ok(!inspect(thrown).includes("secret"));
  }
});

test("a redirection is not followed, so the credential goes nowhere else", async (t) => {
  const elsewhere = await peer(t, sent);
  for (const status of [301, 303, 307, 308]) {
    const { url } = await peer(t, answers(status, "", { location: `${elsewhere.url}/mail/whoami` }));
    assert.equal((await failure(client(url).whoami())).kind, "answer_invalid");
  }
  assert.equal(elsewhere.seen.length, 0);
});

test("where nobody listens the failure says so", async () => {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  const thrown = await failure(client(`http://127.0.0.1:${port}`).whoami());
  assert.deepEqual([thrown.kind, thrown.reason], ["connect_failed", "nobody listens there"]);
});

test("the credential shows in no client, no watch and no error", async (t) => {
  const { url } = await peer(t, drops);
  const mail = client(url);
  const shown = [mail, mail.watch(), await failure(mail.whoami())].map((each) => inspect(each, { depth: 9, showHidden: true }) + JSON.stringify(each));
  assert.ok(!shown.join().includes(TOKEN));
});

test("a setting that cannot be used is refused by its name, and its value is not repeated", () => {
  const wrong = [
    [{ url: "http://192.0.2.1:18301" }, "url"],
    [{ url: "http://127.0.0.1.example.com" }, "url"],
    [{ url: "http://user:secret@127.0.0.1" }, "url"],
    [{ url: "http://127.0.0.1/?secret" }, "url"],
    [{ url: "ftp://127.0.0.1" }, "url"],
    [{ url: "unix:/run/secret.sock" }, "url"],
    [{ url: "secret" }, "url"],
    [{ token: "secret secret" }, "token"],
    [{ token: "secret\r\nx: y" }, "token"],
    [{ token: "" }, "token"],
    [{ answerSecs: 0 }, "answerSecs"],
    [{ answerSecs: NaN }, "answerSecs"],
    [{ maxAnswerBytes: -1 }, "maxAnswerBytes"],
  ];
  for (const [settings, name] of wrong) {
    assert.throws(
      () => new MailClient(settings),
      (thrown) => thrown.kind === "setting_invalid" && thrown.setting === name && !thrown.message.includes("secret"),
      JSON.stringify(settings),
    );
  }
  for (const url of ["http://localhost:1", "http://[::1]:1", "https://mail.example.com/prefix/", "http://127.0.0.1"]) new MailClient({ url });
  new MailClient({ url: "http://192.0.2.1", allowPlainHttp: true });
});

test("everything that a client throws can be told apart by its kind", () => {
  const kinds = ["AnswerInvalidError", "AnswerTooLargeError", "ConnectFailedError", "ConnectionLostError", "SettingInvalidError", "TimedOutError"];
  const made = kinds.map((name) => new mail4agent[name]("a", "b"));
  assert.ok(made.every((each) => each instanceof mail4agent.ClientError && each.name !== "ClientError"));
  assert.equal(new Set(made.map(({ kind }) => kind)).size, kinds.length);
});
