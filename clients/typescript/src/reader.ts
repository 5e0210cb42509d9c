/** JSON read strictly, as the daemon reads it: JSON.parse takes a key twice and a lone surrogate, and bounds no depth. */
import { MalformedError } from "./refusal.js";

/** Arrays and objects within each other; the daemon's own bound. */
const DEEPEST = 200;
const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const WORDS: ReadonlyArray<readonly [string, boolean | null]> = [["true", true], ["false", false], ["null", null]];

function refused(reason: string): MalformedError {
  return new MalformedError({ kind: "malformed", field: "request", reason });
}

const noJson = (): MalformedError => refused("must be one JSON value in UTF-8; NaN and Infinity are none");

/** The value that bytes of UTF-8, or a text, hold. Throws RefusalError, kind `malformed`, field `request`. */
export function parse(raw: Uint8Array | string): unknown {
  let text: string;
  if (typeof raw === "string") {
    text = raw;
  } else {
    try {
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(raw);
    } catch {
      throw noJson();
    }
  }
  return new Reader(text).whole();
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): unknown {
    const value = this.#value(0);
    this.#space();
    if (this.#at !== this.#text.length) throw noJson();
    return value;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }

  #space(): void {
    const code = this.#text.charCodeAt(this.#at);
    if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) this.#match(SPACE);
  }

  #took(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #value(depth: number): unknown {
    if (depth > DEEPEST) throw refused("is nested too deeply");
    this.#space();
    switch (this.#text[this.#at]) {
      case "{":
        return this.#object(depth);
      case "[":
        return this.#array(depth);
      case '"':
        return this.#string();
      default:
        return this.#scalar();
    }
  }

  #object(depth: number): Record<string, unknown> {
    const out: Record<string, unknown> = {};
    this.#at += 1;
    this.#space();
    if (this.#took("}")) return out;
    do {
      this.#space();
      if (this.#text[this.#at] !== '"') throw noJson();
      const key = this.#string();
      if (Object.hasOwn(out, key)) throw refused("has a key twice in one object");
      this.#space();
      if (!this.#took(":")) throw noJson();
      const value = this.#value(depth + 1);
      // Plain assignment to this key would change the object's prototype.
      if (key === "__proto__") Object.defineProperty(out, key, { value, enumerable: true, configurable: true, writable: true });
      else out[key] = value;
      this.#space();
    } while (this.#took(","));
    if (!this.#took("}")) throw noJson();
    return out;
  }

  #array(depth: number): unknown[] {
    const out: unknown[] = [];
    this.#at += 1;
    this.#space();
    if (this.#took("]")) return out;
    do {
      out.push(this.#value(depth + 1));
      this.#space();
    } while (this.#took(","));
    if (!this.#took("]")) throw noJson();
    return out;
  }

  #string(): string {
    const start = this.#at;
    this.#at += 1;
    let escaped = false;
    for (;;) {
      this.#match(PLAIN);
      if (this.#took('"')) break;
      if (!this.#took("\\")) throw noJson();
      escaped = true;
      this.#at += 1;
    }
    let text: string;
    try {
      text = escaped ? (JSON.parse(this.#text.slice(start, this.#at)) as string) : this.#text.slice(start + 1, this.#at - 1);
    } catch {
      throw refused("has a lone surrogate or a broken escape in a string");
    }
    if (!text.isWellFormed()) throw refused("has a lone surrogate or a broken escape in a string");
    return text;
  }

  #scalar(): unknown {
    for (const [word, value] of WORDS) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return value;
      }
    }
    const numeral = this.#match(NUMBER);
    if (numeral === "") throw noJson();
    // Past the greatest number it is infinite, and then no number of the contract.
    return Number(numeral);
  }
}
