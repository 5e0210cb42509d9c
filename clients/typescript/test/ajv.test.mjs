// Every conformance vector, read by JSON.parse and judged by ajv: once with the bundles alone, once with the keywords of schemas/README.md.
import assert from "node:assert/strict";
import { test } from "node:test";
import Ajv2020 from "ajv/dist/2020.js";
import { encode, isRefusal } from "mail4agent";
import { beyond, bundles, bytesOf, files, text } from "./vectors.mjs";

const blocks = [...text("README.md").matchAll(/^```js\n(.*?)^```$/gms)].map((found) => found[1]);
const { addContractKeywords } = await import(`data:text/javascript,${encodeURIComponent(blocks[0])}`);

const taught = addContractKeywords(new Ajv2020({ strict: true, strictRequired: false, strictTypes: false }));
const every = files.flatMap(({ type, cases }) => cases.map((vector) => ({ type, vector, raw: bytesOf(vector) })));

/** The value of a case, or undefined where JSON.parse or UTF-8 refuses its bytes. */
function read(vector) {
  if (!("raw_base64" in vector)) return vector.data;
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return JSON.parse(decoder.decode(Buffer.from(vector.raw_base64, "base64")));
  } catch {
    return undefined;
  }
}

/** Each type's cases beside each bundle that has the type. */
function judged() {
  return files.flatMap(({ type, cases }) => {
    const found = bundles.filter((bundle) => type in bundle.$defs).map((bundle) => [type, cases, bundle]);
    assert.ok(found.length > 0, `${type} is in no bundle`);
    return found;
  });
}

/** What is wrong with the verdicts of one validator. A case in `expected` must get the verdict that is not its own. */
function mistakes(ajv, expected) {
  for (const bundle of bundles) ajv.addSchema(bundle);
  const out = [];
  for (const [type, cases, bundle] of judged()) {
    const validate = ajv.getSchema(`${bundle.$id}#/$defs/${type}`);
    for (const vector of cases) {
      const value = read(vector);
      const valid = value !== undefined && validate(value);
      if ((valid !== vector.valid) !== expected(vector)) out.push(`${type}: ${vector.description}`);
    }
  }
  return out;
}

test("the README has one block of JavaScript", () => {
  assert.equal(blocks.length, 1);
});

test("ajv with the bundles alone gets every vector right that needs no keyword", () => {
  const ajv = new Ajv2020({ strict: false });
  assert.deepEqual(mistakes(ajv, (vector) => "needs" in vector || "ajv" in (vector.differs ?? {})), []);
});

test("ajv with the keywords of the README gets every vector right", () => {
  assert.deepEqual(mistakes(taught, (vector) => "ajv" in (vector.differs ?? {})), []);
});

test("the package's checker and ajv with the bundle agree on mutated documents", () => {
  const random = seeded(20261202);
  let refused = 0;
  for (let round = 0; round < 10_000; round += 1) {
    const { type, vector, raw } = every[Math.floor(random() * every.length)];
    if (!("data" in vector) || beyond(raw)) continue;
    const value = mutated(structuredClone(vector.data), random);
    const { $id } = bundles.find((bundle) => type in bundle.$defs);
    const taken = takes(type, value);
    assert.equal(taken, taught.getSchema(`${$id}#/$defs/${type}`)(value), `${type}: ${JSON.stringify(value)}`);
    refused += taken ? 0 : 1;
  }
  assert.ok(refused > 2_500);
});

/** Numbers from 0 to 1, the same in each run. */
function seeded(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const ODD = [null, true, 0, 1, -1, 1.5, 2 ** 53 - 1, "", "a", "\n", "\u0000", "é".repeat(300), "x".repeat(70_000), [], {}, { kind: "direct" }, "direct", "room"];

/** The value with one part of it changed. */
function mutated(value, random) {
  const pick = (list) => list[Math.floor(random() * list.length)];
  if (typeof value !== "object" || value === null || random() < 0.1) return pick(ODD);
  const keys = Object.keys(value);
  if (random() < 0.15 && !Array.isArray(value)) return { ...value, [pick(["kind", "to", "other", "message_id"])]: pick(ODD) };
  if (keys.length === 0) return value;
  const key = pick(keys);
  if (random() < 0.2) Array.isArray(value) ? value.splice(Number(key), 1) : delete value[key];
  else value[key] = mutated(value[key], random);
  return value;
}

/** Whether the package encodes a value as a type. */
function takes(type, value) {
  try {
    encode(type, value);
    return true;
  } catch (thrown) {
    if (!isRefusal(thrown)) throw thrown;
    return false;
  }
}
