// Every conformance vector, read by JSON.parse and judged by ajv: once with the bundle alone, once with the keywords of schemas/README.md.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import Ajv2020 from "ajv/dist/2020.js";

const schemas = new URL("../../../schemas/", import.meta.url);
const bundle = JSON.parse(readFileSync(new URL("bundle/mail.bundle.json", schemas), "utf8"));
const readme = readFileSync(new URL("README.md", schemas), "utf8");
const blocks = [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map((found) => found[1]);
const { addContractKeywords } = await import(`data:text/javascript,${encodeURIComponent(blocks[0])}`);

const folder = new URL("vectors/mail4agent/", schemas);
const files = readdirSync(folder).map((name) => JSON.parse(readFileSync(new URL(name, folder), "utf8")));

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

/** What is wrong with the verdicts of one validator. A case in `expected` must get the verdict that is not its own. */
function mistakes(ajv, expected) {
  ajv.addSchema(bundle);
  const out = [];
  for (const { type, cases } of files) {
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

test("ajv with the bundle alone gets every vector right that needs no keyword", () => {
  const ajv = new Ajv2020({ strict: false });
  assert.deepEqual(mistakes(ajv, (vector) => "needs" in vector || "ajv" in (vector.differs ?? {})), []);
});

test("ajv with the keywords of the README gets every vector right", () => {
  const ajv = addContractKeywords(new Ajv2020({ strict: true, strictRequired: false, strictTypes: false }));
  assert.deepEqual(mistakes(ajv, (vector) => "ajv" in (vector.differs ?? {})), []);
});
