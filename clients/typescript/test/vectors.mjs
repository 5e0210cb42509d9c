// The conformance vectors of every seam, as plain data.
import { readdirSync, readFileSync } from "node:fs";

const schemas = new URL("../../../schemas/", import.meta.url);

export const text = (file) => readFileSync(new URL(file, schemas), "utf8");
export const parsed = (file) => JSON.parse(text(file));
export const bundles = readdirSync(new URL("bundle/", schemas)).map((name) => parsed(`bundle/${name}`));

/** `{ type, cases }` of each file. */
export const files = readdirSync(new URL("vectors/", schemas), { withFileTypes: true })
  .filter((folder) => folder.isDirectory())
  .flatMap(({ name }) => readdirSync(new URL(`vectors/${name}/`, schemas)).map((file) => parsed(`vectors/${name}/${file}`)));

/** The bytes of a case. */
export const bytesOf = (vector) =>
  "raw_base64" in vector ? Buffer.from(vector.raw_base64, "base64") : Buffer.from(JSON.stringify(vector.data));

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);
const NUMERAL = /(?:^|[[,:\s])(-?[0-9]+)(?=$|[\],}\s])/g;

/** Whether bytes hold a whole number that JavaScript does not. */
export const beyond = (raw) => [...raw.toString("latin1").matchAll(NUMERAL)].some(([, digits]) => BigInt(digits) > SAFE || BigInt(digits) < -SAFE);
