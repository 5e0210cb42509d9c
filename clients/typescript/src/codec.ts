/** The only way in and out: `decode` and `encode`, which enforce every bound of the contract. */
import { fault } from "./checker.js";
import { parse } from "./reader.js";
import { MalformedError, RefusalError } from "./refusal.js";
import type { Contract } from "./types.js";

/** Arrays and objects within each other; the daemon's own bound. */
const DEEPEST = 200;

/** The value of a contract type that bytes of UTF-8, or a text, hold. Throws RefusalError. */
export function decode<Name extends keyof Contract>(name: Name, raw: Uint8Array | string): Contract[Name] {
  return checked(name, parse(raw));
}

/** A copy of a value as one of the contract's types; members that are undefined are absent. Throws RefusalError. */
export function check<Name extends keyof Contract>(name: Name, value: unknown): Contract[Name] {
  return checked(name, plain(value, 0));
}

/** The JSON of a value of a contract type; what leaves is what was judged. Throws RefusalError. */
export function encode<Name extends keyof Contract>(name: Name, value: unknown): string {
  return JSON.stringify(check(name, value));
}

function checked<Name extends keyof Contract>(name: Name, value: unknown): Contract[Name] {
  const found = fault(name, value);
  if (found !== undefined) throw new RefusalError(found);
  return value as Contract[Name];
}

function refused(reason: string): MalformedError {
  return new MalformedError({ kind: "malformed", field: "request", reason });
}

/** A copy that is nothing but JSON, so that no getter and no `toJSON` gives another value after the judgement. */
function plain(value: unknown, depth: number): unknown {
  if (depth > DEEPEST) throw refused("is nested too deeply");
  if (typeof value === "bigint") throw refused("is beyond the whole numbers that JavaScript holds");
  if (typeof value === "number" && !Number.isFinite(value)) throw refused("holds a number that JSON has none for");
  if (value === null || typeof value === "string" || typeof value === "boolean" || typeof value === "number") return value;
  if (Array.isArray(value)) return Array.from(value, (item) => plain(item, depth + 1));
  const prototype: unknown = typeof value === "object" ? Object.getPrototypeOf(value) : undefined;
  if (typeof value !== "object" || (prototype !== null && Object.getPrototypeOf(prototype) !== null)) {
    throw refused("holds something that is no JSON value");
  }
  const out: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    Object.defineProperty(out, key, { value: plain(member, depth + 1), enumerable: true, configurable: true, writable: true });
  }
  return out;
}
