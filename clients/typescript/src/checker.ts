/**
 * The rules of the contract, asked of a value. The definitions are walked as data: nothing is compiled at run time, which a page's
 * content security policy may forbid, and a failure is named as the daemon names it.
 */
import { DEFINITIONS } from "./definitions.js";
import type { Contract, Malformed, TooLarge } from "./types.js";

/** A node of the contract's schemas, in the short form of `tools/typescript_definitions.py`. */
export interface Definition {
  readonly ref?: string;
  readonly nullable?: boolean;
  readonly tag?: string;
  readonly kinds?: Readonly<Record<string, string>>;
  /** A union of a text and an object, told apart by that. */
  readonly text?: Definition;
  readonly members?: Definition;
  readonly type?: "object" | "array" | "string" | "integer" | "boolean";
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxUtf8Bytes?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Definition;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Definition>>;
  readonly required?: readonly string[];
  readonly open?: boolean;
  readonly notEqual?: ReadonlyArray<readonly [string, string]>;
  readonly exclusive?: ReadonlyArray<readonly [string, string]>;
  readonly label?: string;
  readonly description?: string;
}

/** What is wrong with a value: one thing, as the refusal that says it. */
export type Fault = Malformed | TooLarge;
type Members = Readonly<Record<string, unknown>>;

// A name that may be said again: no secret is as short, wherever somebody put one.
const QUOTABLE = /^[A-Za-z0-9_.-]{1,48}$/;
const LONGEST_REASON = 512;
const utf8 = new TextEncoder();
const patterns = new Map<string, RegExp>();

/** What is wrong with a value as one of the contract's types; undefined: nothing. The value is JSON: see `plain`. */
export function fault(name: keyof Contract, value: unknown): Fault | undefined {
  const node: Definition = DEFINITIONS[name];
  return wrong(node, value, node.label ?? "request", "");
}

/** The node that a reference stands for. */
function target(node: Definition): Definition {
  let found = node;
  while (found.ref !== undefined) found = DEFINITIONS[found.ref as keyof Contract];
  return found;
}

/** The nearest label from a member inwards, else the given name. */
function labelled(node: Definition, name: string): string {
  let found = node;
  while (found.label === undefined) {
    if (found.ref === undefined) return name;
    found = DEFINITIONS[found.ref as keyof Contract];
  }
  return found.label;
}

function malformed(field: string, sentence: string, at: string): Malformed {
  const placed = at === "" ? sentence : `${sentence} (at ${at})`;
  return { kind: "malformed", field, reason: placed.length <= LONGEST_REASON ? placed : sentence };
}

function wrong(given: Definition, value: unknown, label: string, at: string): Fault | undefined {
  if (value === null && given.nullable === true) return undefined;
  const node = target(given);
  if (node.kinds !== undefined) return wrongUnion(node, node.kinds, value, label, at);
  if (node.text !== undefined && node.members !== undefined) {
    if (typeof value === "string") return wrong(node.text, value, label, at);
    return members(value) === undefined ? malformed(label, described(node), at) : wrong(node.members, value, label, at);
  }
  if (node.const !== undefined) return value === node.const ? undefined : malformed(label, "has a kind that is not known", at);
  switch (node.type) {
    case "string":
      return wrongText(node, value, label, at);
    case "integer":
      return wrongInteger(node, value, label, at);
    case "boolean":
      return typeof value === "boolean" ? undefined : malformed(label, "must be true or false", at);
    case "array":
      return wrongArray(node, value, label, at);
    default:
      return wrongObject(node, value, label, at);
  }
}

function described(node: Definition): string {
  return node.description === undefined ? "is not valid" : `must be ${node.description}`;
}

function wrongText(node: Definition, value: unknown, label: string, at: string): Fault | undefined {
  if (typeof value !== "string") return malformed(label, "must be a string", at);
  const sentence = wrongIn(node, value);
  if (sentence === undefined) return undefined;
  // A text that is too long is refused for its length, whatever else is wrong with it.
  const limit = node.maxUtf8Bytes ?? node.maxLength;
  const actual = limit === undefined ? 0 : utf8.encode(value).length;
  if (limit !== undefined && actual > limit) return { kind: "too_large", field: label, limit, actual };
  return malformed(label, sentence, at);
}

/** The sentence of the rule that a text breaks. */
function wrongIn(node: Definition, text: string): string | undefined {
  if (!text.isWellFormed()) return "must be valid Unicode";
  if (node.enum !== undefined && !node.enum.includes(text)) return described(node);
  const { minLength = 0, maxLength = Infinity, maxUtf8Bytes = Infinity } = node;
  // A UTF-16 unit is at most one code point and at most three bytes; only in between is there something to count.
  if (text.length < minLength || (minLength > 1 && text.length < 2 * minLength && points(text) < minLength)) return described(node);
  if (text.length > maxLength && points(text) > maxLength) return described(node);
  if (text.length * 3 > maxUtf8Bytes && utf8.encode(text).length > maxUtf8Bytes) return described(node);
  if (node.pattern !== undefined && !compiled(node.pattern).test(text)) return described(node);
  return undefined;
}

function points(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

function compiled(pattern: string): RegExp {
  let found = patterns.get(pattern);
  if (found === undefined) patterns.set(pattern, (found = new RegExp(pattern, "u")));
  return found;
}

function wrongInteger(node: Definition, value: unknown, label: string, at: string): Fault | undefined {
  if (typeof value !== "number" || !Number.isInteger(value)) return malformed(label, "must be a whole number", at);
  // Beyond it neighbours are one number here, so what was meant is not known.
  if (!Number.isSafeInteger(value)) return malformed(label, "is beyond the whole numbers that JavaScript holds", at);
  if (node.minimum !== undefined && value < node.minimum) return malformed(label, described(node), at);
  if (node.maximum !== undefined && value > node.maximum) return { kind: "too_large", field: label, limit: node.maximum, actual: value };
  return undefined;
}

function wrongArray(node: Definition, value: unknown, label: string, at: string): Fault | undefined {
  if (!Array.isArray(value)) return malformed(label, "must be an array", at);
  const { minItems = 0, maxItems = Infinity, items } = node;
  if (value.length > maxItems) return { kind: "too_large", field: label, limit: maxItems, actual: value.length };
  if (items !== undefined) {
    const inner = labelled(items, label);
    for (const [index, item] of value.entries()) {
      const found = wrong(items, item, inner, `${at}/${index}`);
      if (found !== undefined) return found;
    }
  }
  return value.length < minItems ? malformed(label, `must have at least ${minItems} entries`, at) : undefined;
}

function members(value: unknown): Members | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : undefined;
}

function wrongUnion(
  node: Definition,
  kinds: Readonly<Record<string, string>>,
  value: unknown,
  label: string,
  at: string,
): Fault | undefined {
  const object = members(value);
  if (object === undefined) return malformed(label, "must be an object", at);
  const tag = node.tag ?? "kind";
  const kind = Object.hasOwn(object, tag) ? object[tag] : undefined;
  if (typeof kind !== "string" || !Object.hasOwn(kinds, kind)) return malformed(label, described(node), `${at}/${tag}`);
  return wrong({ ref: kinds[kind] as string }, value, label, at);
}

function wrongObject(node: Definition, value: unknown, label: string, at: string): Fault | undefined {
  const object = members(value);
  if (object === undefined) return malformed(label, "must be an object", at);
  const { properties = {}, required = [] } = node;
  const given = (name: string): boolean => Object.hasOwn(object, name);
  for (const name of required) {
    if (properties[name]?.const !== undefined && !given(name)) return malformed(name, "is missing", `${at}/${name}`);
  }
  for (const [name, member] of Object.entries(properties)) {
    const inner = labelled(member, name);
    if (given(name)) {
      const found = wrong(member, object[name], inner, `${at}/${name}`);
      if (found !== undefined) return found;
    } else if (required.includes(name)) {
      return malformed(inner, "is missing", `${at}/${name}`);
    }
  }
  if (node.open !== true) {
    const key = Object.keys(object).find((name) => !Object.hasOwn(properties, name));
    if (key !== undefined && QUOTABLE.test(key)) return malformed("request", `has the unknown key ${key}`, `${at}/${key}`);
    if (key !== undefined) return malformed("request", "has an unknown key", at);
  }
  const present = (name: string): unknown => (given(name) ? (object[name] ?? undefined) : undefined);
  for (const [left, right] of node.notEqual ?? []) {
    if (present(left) !== undefined && present(left) === present(right)) return malformed(left, `must differ from ${right}`, `${at}/${left}`);
  }
  for (const [left, right] of node.exclusive ?? []) {
    if (present(left) !== undefined && present(right) !== undefined) {
      return malformed(right, `must not be given together with ${left}`, `${at}/${right}`);
    }
  }
  return undefined;
}
