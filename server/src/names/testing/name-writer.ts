import type { Random } from "@sluice/lib";

/** What breaks readers of names: cases, dots, signs of both shapes, white space, composition, lone halves, escapes. */
const alphabet = [
  ..."aAbZx1nte09-_.@ %/\\+:;~\0\u0085\u00a0\u2003\ufeff\u200b\u200déÉ\u0301\u0308İΣςßẞKﬁ💎👩🚀ⅹ。．＠\ufffd\u202e",
];
const words = [
  "alice",
  "Alice",
  "x1",
  ".x1",
  ".xnt",
  ".XEN",
  "@",
  "@@",
  "..",
  "--",
  "%40",
  "%2540",
  "blog.",
  "\0",
  " ",
];

/** Writes names and paths at random, many of them nearly right. */
export class NameWriter {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  below(bound: number): number {
    return Math.floor(this.#random.next() * bound);
  }

  pick<T>(from: readonly T[]): T {
    const item = from[this.below(from.length)];
    if (item === undefined) throw new RangeError("nothing to pick from");
    return item;
  }

  bytes(length: number): Uint8Array {
    return this.#random.bytes(length);
  }

  letters(lengthMax: number): string {
    return Array.from({ length: this.below(lengthMax + 1) }, () => this.pick(alphabet)).join("");
  }

  plain(): string {
    return Array.from({ length: 1 + this.below(12) }, () => this.pick([..."abcdefghijklmnop0123456789-"])).join("");
  }

  /** A name: likely good, nearly good, or anything. */
  name(): string {
    switch (this.below(6)) {
      case 0:
        return `@${this.plain()}`;
      case 1:
        return `${this.plain()}.${this.pick(["x1", "xnt", "xen", "X1"])}`;
      case 2:
        return `${this.plain()}.${this.pick([this.plain(), this.letters(3), "\0a"])}.${this.pick(["x1", "xnt", "xen"])}`;
      case 3:
        return `${this.letters(70)}.${this.pick(["x1", "xnt", "Xen"])}`;
      case 4:
        return Array.from({ length: 1 + this.below(5) }, () => this.pick([this.pick(words), this.letters(6)])).join("");
      default:
        return `${this.pick(["", "@", " @", "\u0085"])}${this.plain()}${this.pick(["", "-", this.letters(2), ".x1"])}`;
    }
  }

  /** The name as a path segment: encoded, hardly encoded, encoded twice, or with bytes that are no UTF-8. */
  segment(name: string): string {
    const wellFormed = name.toWellFormed();
    switch (this.below(8)) {
      case 0:
        return encodeURI(wellFormed).replace(/[?#]/g, "");
      case 1:
        return encodeURIComponent(encodeURIComponent(wellFormed));
      case 2: {
        const bytes = [...new TextEncoder().encode(wellFormed)];
        return bytes.map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
      }
      case 3:
        return (
          encodeURIComponent(wellFormed) + this.pick(["%", "%f", "%ff", "%c0%af", "%ed%a0%80", "/", "/..", "?q", "#h"])
        );
      default:
        return encodeURIComponent(wellFormed);
    }
  }
}
