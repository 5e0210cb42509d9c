// Every conformance vector, read by JSON.parse and judged by ajv: once with the bundles alone, once with the keywords of schemas/README.md.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import Ajv2020 from "ajv/dist/2020.js";

const schemas = new URL("../../../schemas/", import.meta.url);
const parsed = (file) => JSON.parse(readFileSync(new URL(file, schemas), "utf8"));
const bundles = readdirSync(new URL("bundle/", schemas)).map((name) => parsed(`bundle/${name}`));
const readme = readFileSync(new URL("README.md", schemas), "utf8");
const blocks = [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map((found) => found[1]);
const { addContractKeywords } = await import(`data:text/javascript,${encodeURIComponent(blocks[0])}`);

const files = readdirSync(new URL("vectors/", schemas), { withFileTypes: true })
  .filter((folder) => folder.isDirectory())
  .flatMap(({ name }) => readdirSync(new URL(`vectors/${name}/`, schemas)).map((file) => parsed(`vectors/${name}/${file}`)));

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
  const ajv = addContractKeywords(new Ajv2020({ strict: true, strictRequired: false, strictTypes: false }));
  assert.deepEqual(mistakes(ajv, (vector) => "ajv" in (vector.differs ?? {})), []);
});
