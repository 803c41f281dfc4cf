import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { readHandle } from "./name.ts";

interface Case {
  readonly input: string;
  readonly codePoints?: readonly string[];
  readonly result: "ok" | "reject";
  readonly canonical: string | null;
  readonly reason: string | null;
  readonly group: string;
}

/** The public corpus lies beside the repository; it is read in place and not copied into it. */
const corpus = new URL("../../../../shared/fixtures/handles.json", import.meta.url);
const cases: readonly Case[] = existsSync(corpus) ? JSON.parse(readFileSync(corpus, "utf8")).cases : [];
if (cases.length === 0) console.warn(`NOT RUN: no corpus of handles at ${corpus.pathname}`);

describe.skipIf(cases.length === 0)("the public corpus", () => {
  test.each(cases.map((each) => [each.group, JSON.stringify(each.input), each] as const))("%s: %s", (_g, _i, each) => {
    const reading = readHandle(each.input);
    expect(reading).toEqual(
      each.result === "ok" ? { ok: true, handle: each.canonical ?? "" } : ({ ok: false, reason: each.reason } as never),
    );
  });
});

test("white space at the edges is Unicode's: U+0085 goes, U+FEFF stays and is refused", () => {
  expect(readHandle("\u0085@alice\u2028\u3000")).toEqual({ ok: true, handle: "alice" });
  expect(readHandle("\ufeff@alice")).toEqual({ ok: false, reason: "NonAscii" });
  expect(readHandle("@ alice")).toEqual({ ok: false, reason: "IllegalCharacter" });
});

test("letters beyond ASCII whose lower case is ASCII are refused, not folded", () => {
  expect(readHandle("\u212aim")).toEqual({ ok: false, reason: "NonAscii" });
});

test("a canonical handle is its own canonical form", () => {
  const character = fc.constantFrom(..."abcXYZ019-_ .@\u0085é");
  fc.assert(
    fc.property(fc.string({ unit: character, maxLength: 36 }), (text) => {
      const reading = readHandle(text);
      if (!reading.ok) return;
      expect(reading.handle).toMatch(/^[a-z0-9-]{1,32}$/);
      expect(readHandle(reading.handle)).toEqual(reading);
      expect(readHandle(`@${reading.handle}`)).toEqual(reading);
    }),
    { numRuns: 500 },
  );
});

test("a handle has 32 characters at most", () => {
  expect(readHandle(`@${"a".repeat(32)}`)).toEqual({ ok: true, handle: "a".repeat(32) });
  expect(readHandle(`@${"a".repeat(33)}`)).toEqual({ ok: false, reason: "TooLong" });
});
