// Every vector through the client's methods: requests on their way out, answers and refusals on their way in.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MailClient, OPERATIONS, RefusalError, decode, isRefusal } from "mail4agent";
import { safeToRepeat, waitSecs } from "../dist/exchange.js";
import { EXAMPLES, TOKEN, methodOf } from "./peer.mjs";
import { beyond, bytesOf, files } from "./vectors.mjs";

const CASES = Object.fromEntries(files.map(({ type, cases }) => [type, cases]));
const ROWS = Object.entries(OPERATIONS);
/** Members for which the client also takes a text or a message, in place of the tagged object. */
const COMFORTS = ["to", "target", "address", "after", "before"];

/** Carry out an operation against given bytes: what it gave or threw, and the bodies that were sent. */
async function called(name, fields, status, body) {
  const sent = [];
  const fetch = (_, init) => {
    sent.push(init.body);
    return Promise.resolve(new Response(body, { status }));
  };
  const mail = new MailClient({ token: TOKEN, fetch, retries: { attempts: 1 } });
  const outcome = await mail[methodOf(name)](...(fields === undefined ? [] : [fields])).catch((thrown) => thrown);
  return { outcome, sent };
}

test("every request vector gets its verdict before anything is sent", async () => {
  const wrong = [];
  for (const [name, row] of ROWS.filter(([, { request }]) => request !== null)) {
    for (const vector of CASES[row.request]) {
      const fields = vector.data;
      if (typeof fields !== "object" || fields === null || Array.isArray(fields) || beyond(bytesOf(vector))) continue;
      if (COMFORTS.some((member) => typeof fields[member] === "string")) continue;
      const { outcome, sent } = await called(name, fields, 200, EXAMPLES[row.response]);
      if (vector.valid) {
        if (outcome instanceof Error || sent.length !== 1) wrong.push(`${name}: ${vector.description}`);
        else assert.deepEqual(JSON.parse(sent[0]), fields);
      } else {
        const { reason, ...rest } = outcome.refusal ?? {};
        if (sent.length > 0 || JSON.stringify(rest) !== JSON.stringify(vector.refusal)) wrong.push(`${name}: ${vector.description}`);
      }
    }
  }
  assert.deepEqual(wrong, []);
});

test("every answer vector is returned, or named as no answer of the contract", async () => {
  const wrong = [];
  for (const [name, row] of ROWS) {
    const fields = row.request === null ? undefined : JSON.parse(EXAMPLES[row.request]);
    for (const vector of CASES[row.response]) {
      const raw = bytesOf(vector);
      const { outcome } = await called(name, fields, 200, raw);
      const named = outcome.kind === "answer_invalid" && outcome instanceof Error;
      if (named !== (!vector.valid || beyond(raw))) wrong.push(`${name}: ${vector.description}`);
      else if (!named) assert.deepEqual(outcome, decode(row.response, raw));
    }
  }
  assert.deepEqual(wrong, []);
});

test("every refusal vector is thrown, or named as no answer of the contract", async () => {
  for (const vector of CASES.Refusal) {
    const raw = bytesOf(vector);
    const { outcome } = await called("mail.whoami", {}, 400, raw);
    if (vector.valid && !beyond(raw)) assert.deepEqual(isRefusal(outcome) && outcome.refusal, decode("Refusal", raw), vector.description);
    else assert.ok(!(outcome instanceof RefusalError) && outcome.kind === "answer_invalid", vector.description);
  }
});

test("every row says whether a repeat is safe", () => {
  for (const [name, row] of ROWS.filter(([, { retry }]) => !retry.startsWith("key"))) {
    assert.equal(safeToRepeat(row, {}), row.retry === "always" || row.effect === "read", name);
  }
  assert.ok(safeToRepeat(OPERATIONS["note.deliver"], { idempotency_key: "k" }));
  assert.ok(!safeToRepeat(OPERATIONS["note.deliver"], { idempotency_key: null }));
});

test("the answer is awaited for longer than the daemon was asked to wait", () => {
  const told = [
    ["mail.inbox", { wait_secs: 60 }, 60],
    ["mail.inbox", { wait_secs: 65_535 }, 60],
    ["mail.inbox", { wait_secs: null }, 0],
    ["mail.inbox", {}, 0],
    ["mail.wait", {}, 25],
    ["mail.wait", { wait_secs: 3 }, 3],
    ["mail.send", {}, 0],
  ];
  for (const [name, request, secs] of told) assert.equal(waitSecs(OPERATIONS[name], request), secs, name);
});
