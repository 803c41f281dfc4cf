import { describe, expect, test } from "bun:test";
import { isJson } from "./scan.ts";

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("the scanner", () => {
  /** What JSON.parse thinks of bytes that must be UTF-8. */
  const nativeAccepts = (bytes: Uint8Array): boolean => {
    try {
      JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
      return true;
    } catch {
      return false;
    }
  };

  test("knows the grammar of numbers, literals and escapes exactly", () => {
    const texts =
      "0 -0 01 - -01 1. .1 1.0 1.0.0 1e 1e5 1e+05 1E-5 1e+ 1e5.0 +1 0x1 NaN Infinity -Infinity 00 0e0 1_0 true tru trues nul nulll null false fals False TRUE undefined"
        .split(" ")
        .concat([
          '""',
          '"a',
          '"\\q"',
          '"\\u12g4"',
          '"\\u123"',
          '"\\u00Ef"',
          '"\\u00G0"',
          '"\\u001"',
          '"\\u00\u00191"',
          '"\\"',
          '"\\',
          '"\\/\\b\\f\\n\\r\\t\\\\"',
          '"\u007f"',
        ])
        .concat([
          '"\\ud800"',
          '"\n"',
          '"\t"',
          '"\0"',
          '"\u001f"',
          "[",
          "[]",
          "[,]",
          "[1,]",
          "[1 2]",
          "[1}",
          "{]",
          "{}",
          "{,}",
          '{"a"}',
          '{"a":}',
        ])
        .concat([
          '{"a":1,}',
          '{"a":1 "b":2}',
          "{1:2}",
          '{"a" : [ ] }',
          "'a'",
          "",
          " ",
          "\u00a01",
          "1\u2003",
          "//",
          "[/**/]",
          '{"a":1}}',
          "]",
          '"a""b"',
        ]);
    for (const text of texts) expect(`${text} ${isJson(utf8(text))}`).toBe(`${text} ${nativeAccepts(utf8(text))}`);
  });

  test("accepts exactly the well-formed UTF-8 sequences in strings", () => {
    const edges = [
      0x00, 0x22, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xed, 0xee, 0xef,
      0xf0, 0xf1, 0xf4, 0xf5, 0xff,
    ];
    let accepted = 0;
    for (const a of edges) {
      for (const b of edges) {
        for (const c of edges) {
          for (const d of [0x22, 0x80, 0xbf, 0xc0]) {
            const bytes = Uint8Array.of(0x22, a, b, c, d, 0x22);
            const native = nativeAccepts(bytes);
            if (isJson(bytes) !== native) throw new Error(`${bytes.toHex()}: native says ${native}`);
            if (native) accepted++;
          }
        }
      }
    }
    expect(accepted).toBeGreaterThan(50);
  });

  test("finds what is wrong in a long string at every alignment", () => {
    for (let offset = 0; offset < 9; offset++) {
      for (let at = 290; at < 310; at++) {
        for (const [byte, ok] of [
          [0x61, true],
          [0x0a, false],
          [0x22, false],
          [0x5c, false],
          [0x80, false],
          [0x1f, false],
          [0x7f, true],
        ] as const) {
          const buffer = new Uint8Array(700).fill(0x61);
          const bytes = buffer.subarray(offset, offset + 600);
          bytes[0] = 0x22;
          bytes[599] = 0x22;
          bytes[at] = byte;
          if (isJson(bytes) !== ok) throw new Error(`byte ${byte} at ${at}, offset ${offset}`);
        }
      }
    }
  });

  test("does not read beyond the end of a view", () => {
    const buffer = utf8(`"${"a".repeat(300)}"`);
    expect(isJson(buffer.subarray(0, 301))).toBe(false);
    expect(isJson(buffer.subarray(1))).toBe(false);
    expect(isJson(buffer)).toBe(true);
  });
});
