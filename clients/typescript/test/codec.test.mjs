// The package's own codec: every vector's verdict and refusal, both ways, and what only JavaScript can get wrong.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { check, decode, encode, isRefusal } from "mail4agent";
import { beyond, bytesOf, files } from "./vectors.mjs";

/** What a call was refused with, its reason left out; undefined where it was not. */
function refusal(act) {
  try {
    act();
  } catch (thrown) {
    if (!isRefusal(thrown)) throw thrown;
    const { reason, ...rest } = thrown.refusal;
    assert.ok(rest.kind === "too_large" || reason.length > 0);
    return rest;
  }
  return undefined;
}

const every = files.flatMap(({ type, cases }) => cases.map((vector) => ({ type, vector, raw: bytesOf(vector) })));

test("every vector gets its verdict and its refusal, and what JavaScript cannot hold is refused", () => {
  const wrong = [];
  let beyonds = 0;
  for (const { type, vector, raw } of every) {
    const got = refusal(() => decode(type, raw));
    if (beyond(raw)) {
      beyonds += 1;
      if (got === undefined) wrong.push(`${type}: ${vector.description}: taken`);
    } else if (JSON.stringify(got) !== JSON.stringify(vector.refusal)) {
      wrong.push(`${type}: ${vector.description}: ${JSON.stringify(got)}`);
    }
  }
  assert.deepEqual(wrong, []);
  assert.ok(beyonds > 20 && every.length > 3000);
});

test("what decodes encodes, to what decodes to the same", () => {
  for (const { type, vector, raw } of every) {
    if (!vector.valid || beyond(raw)) continue;
    const value = decode(type, raw);
    const again = encode(type, value);
    assert.deepEqual(decode(type, again), value, `${type}: ${vector.description}`);
  }
});

test("a value gets from encode the refusal that its bytes get from decode", () => {
  for (const { type, vector, raw } of every) {
    if (!("data" in vector) || beyond(raw)) continue;
    assert.deepEqual(refusal(() => encode(type, vector.data)), vector.refusal, `${type}: ${vector.description}`);
  }
});

const send = { to: { kind: "direct", participant: "bob" }, subject: "", body: "b" };

test("a value that JSON would change in silence is refused and not sent changed", () => {
  const odd = [
    { ...send, body: "\ud83d" },
    { ...send, refs: new Set() },
    { ...send, refs: [, { kind: "file", locator: "l" }] },
    Object.assign(Object.create({ toJSON: () => send }), send),
    { ...send, toJSON: () => send },
    { ...send, body: new String("b") },
    JSON.parse(`{"__proto__": {"body": "b"}, "to": {"kind": "direct", "participant": "bob"}, "subject": ""}`),
  ];
  for (const value of odd) assert.equal(refusal(() => encode("SendRequest", value))?.kind, "malformed");
  for (const limit of [NaN, Infinity, 2n, 2 ** 53, "5", 1.5, -1]) {
    assert.equal(refusal(() => encode("InboxRequest", { since_unix_ms: limit }))?.kind, "malformed", String(limit));
  }
  const loop = { ...send };
  loop.refs = [loop];
  assert.equal(refusal(() => encode("SendRequest", loop))?.kind, "malformed");
});

test("a getter is read once, so that what is judged is what leaves", () => {
  let reads = 0;
  const value = { ...send, get body() { return (reads += 1) === 1 ? "b" : "\u0000"; } };
  assert.equal(JSON.parse(encode("SendRequest", value)).body, "b");
});

test("undefined is absent, and a checked value is a copy", () => {
  const refs = [];
  const checked = check("SendRequest", { ...send, refs, reply_to: undefined });
  assert.ok(!("reply_to" in checked));
  assert.notEqual(checked.refs, refs);
});

test("a key twice, a byte order mark, a cut text and a trailing word are no JSON", () => {
  for (const raw of ['{"a":1,"a":1}', "\ufeff{}", "{", '{"a"', '{"a":1,}', "[1,]", "{} x", "", "nul", '"\t"', "01", "+1", "'a'", '"\\ud800"', "[".repeat(100_000)]) {
    assert.deepEqual(refusal(() => decode("InboxRequest", raw)), { kind: "malformed", field: "request" }, raw.slice(0, 20));
  }
  assert.deepEqual(decode("InboxRequest", ' {\t"limit" : 1e0 \r\n} '), { limit: 1 });
});

test("a long text with many escapes is read", () => {
  const body = 'q"\\\n'.repeat(16_000);
  assert.equal(decode("SendRequest", JSON.stringify({ ...send, body })).body, body);
});

test("nothing is compiled from text at run time, so a strict content security policy allows it", () => {
  const script = `import { decode } from "mail4agent"; decode("SendRequest", process.argv[1]); console.log("decoded");`;
  const flags = ["--disallow-code-generation-from-strings", "--input-type=module", "--eval", script, JSON.stringify(send)];
  const out = execFileSync(process.execPath, flags, { cwd: new URL("..", import.meta.url), encoding: "utf8" });
  assert.equal(out, "decoded\n");
});
