import { defaultMaxDepth } from "./scan.ts";
import type { JsonValue } from "./stringify.ts";

/** A JSON value, or where the text stops being one. */
export type ParsedJson =
  | { readonly ok: true; readonly value: JsonValue }
  /** `offset` counts UTF-16 units of the text; 0 when bytes are not UTF-8. */
  | { readonly ok: false; readonly offset: number };

const noValue = Symbol("no value");

/** Integers longer than this are refused, since BigInt is quadratic in them. */
const maxNumberLength = 4096;

/** An integer stays exact; a number that no double can hold is refused, as serde_json does. */
function exactNumber(text: string): number | bigint | null {
  const value = Number(text);
  if (!Number.isSafeInteger(value) && text.length >= 16 && /^-?[0-9]+$/.test(text)) {
    return text.length > maxNumberLength ? null : BigInt(text);
  }
  return Number.isFinite(value) ? value : null;
}

/** A recursive reader of JSON text; its recursion is bounded by `maxDepth`. */
class JsonReader {
  readonly #text: string;
  readonly #maxDepth: number;
  #at = 0;
  #depth = 0;

  constructor(text: string, maxDepth: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
  }

  /** The value, or where the text stops being one JSON value. */
  read(): { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly offset: number } {
    this.#space();
    const value = this.#value();
    if (value === noValue) return { ok: false, offset: this.#at };
    this.#space();
    return this.#at === this.#text.length ? { ok: true, value } : { ok: false, offset: this.#at };
  }

  #space(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at++;
    }
  }

  #value(): unknown {
    switch (this.#text.charCodeAt(this.#at)) {
      case 0x22:
        return this.#string();
      case 0x7b:
        return this.#object();
      case 0x5b:
        return this.#array();
      case 0x74:
        return this.#literal("true", true);
      case 0x66:
        return this.#literal("false", false);
      case 0x6e:
        return this.#literal("null", null);
      default:
        return this.#number();
    }
  }

  #literal(word: string, value: unknown): unknown {
    if (!this.#text.startsWith(word, this.#at)) return noValue;
    this.#at += word.length;
    return value;
  }

  #digits(): boolean {
    const start = this.#at;
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (!(code >= 0x30 && code <= 0x39)) return this.#at > start;
      this.#at++;
    }
  }

  #number(): unknown {
    const text = this.#text;
    const start = this.#at;
    if (text.charCodeAt(this.#at) === 0x2d) this.#at++;
    if (text.charCodeAt(this.#at) === 0x30) this.#at++;
    else if (!this.#digits()) return noValue;
    if (text.charCodeAt(this.#at) === 0x2e) {
      this.#at++;
      if (!this.#digits()) return noValue;
    }
    if ((text.charCodeAt(this.#at) | 0x20) === 0x65) {
      this.#at++;
      const sign = text.charCodeAt(this.#at);
      if (sign === 0x2b || sign === 0x2d) this.#at++;
      if (!this.#digits()) return noValue;
    }
    const value = exactNumber(text.slice(start, this.#at));
    if (value !== null) return value;
    this.#at = start;
    return noValue;
  }

  #string(): string | typeof noValue {
    const text = this.#text;
    const start = this.#at + 1;
    let at = start;
    let escaped = false;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === 0x22) break;
      if (code === 0x5c) {
        escaped = true;
        at += 2;
      } else if (code >= 0x20) at++;
      else {
        // A control character, or NaN beyond the end.
        this.#at = at;
        return noValue;
      }
    }
    this.#at = at + 1;
    if (!escaped) return text.slice(start, at);
    try {
      const unescaped: unknown = JSON.parse(text.slice(start - 1, at + 1));
      return String(unescaped);
    } catch {
      this.#at = start;
      return noValue;
    }
  }

  #array(): unknown {
    if (++this.#depth > this.#maxDepth) return noValue;
    const items: unknown[] = [];
    this.#at++;
    this.#space();
    if (this.#text.charCodeAt(this.#at) === 0x5d) return this.#close(items);
    for (;;) {
      const item = this.#value();
      if (item === noValue) return noValue;
      items.push(item);
      this.#space();
      const code = this.#text.charCodeAt(this.#at);
      if (code === 0x5d) return this.#close(items);
      if (code !== 0x2c) return noValue;
      this.#at++;
      this.#space();
    }
  }

  #close(container: unknown): unknown {
    this.#at++;
    this.#depth--;
    return container;
  }

  #object(): unknown {
    if (++this.#depth > this.#maxDepth) return noValue;
    const members: Record<string, unknown> = {};
    this.#at++;
    this.#space();
    if (this.#text.charCodeAt(this.#at) === 0x7d) return this.#close(members);
    for (;;) {
      if (this.#text.charCodeAt(this.#at) !== 0x22) return noValue;
      const key = this.#string();
      if (key === noValue) return noValue;
      this.#space();
      if (this.#text.charCodeAt(this.#at) !== 0x3a) return noValue;
      this.#at++;
      this.#space();
      const value = this.#value();
      if (value === noValue) return noValue;
      // Plain assignment to __proto__ would set the prototype instead of a member.
      if (key === "__proto__") {
        Object.defineProperty(members, key, { value, writable: true, enumerable: true, configurable: true });
      } else members[key] = value;
      this.#space();
      const code = this.#text.charCodeAt(this.#at);
      if (code === 0x7d) return this.#close(members);
      if (code !== 0x2c) return noValue;
      this.#at++;
      this.#space();
    }
  }
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text of UTF-8 bytes; null when they are not UTF-8. */
function textOfUtf8(source: string | Uint8Array): string | null {
  if (typeof source === "string") return source;
  try {
    return strictUtf8.decode(source);
  } catch {
    return null;
  }
}

/**
 * JSON.parse without loss: integers beyond 2^53-1 become bigint, other numbers are numbers. It differs in three things
 * only: nesting deeper than `maxDepth` and numbers beyond a double are refused, and bytes must be UTF-8. Of duplicate keys
 * the last wins, as with JSON.parse. Integers longer than 4,096 digits are refused too.
 */
export function parseJsonExact(source: string | Uint8Array, maxDepth: number = defaultMaxDepth): ParsedJson {
  const text = textOfUtf8(source);
  if (text === null) return { ok: false, offset: 0 };
  const read = new JsonReader(text, maxDepth).read();
  return read.ok ? { ok: true, value: read.value as JsonValue } : read;
}
