import { expect, test } from "bun:test";
import { redactFields, redactText, redactValue } from "./redaction.ts";

test("a text is cut at 8,192 characters, and what stands behind 65,536 is not searched and not shown", () => {
  const shown = "a".repeat(8_192);
  expect(redactText(shown)).toBe(shown);
  expect(redactText(`${shown}b`)).toBe(`${shown}…`);
  expect(redactText(`${"a".repeat(65_536)} sk_live_abcd`)).toBe(`${shown}…`);
  expect(redactText(`z${"a".repeat(65_536)}`)).toBe(`z${"a".repeat(8_191)}…`);
  expect(redactText(`${"a".repeat(8_180)}sk_live_abcd`)).not.toContain("abcd");
});

test("segments of a path are shown up to eleven characters, and user and query of a URL never", () => {
  expect(redactText("https://user:pass@node.example/eleven11chr/twelve12chrs?a=1#b")).toBe(
    "https://…@node.example/eleven11chr/…?…",
  );
  expect(redactText("call http://node.example/rpc failed")).toBe("call http://node.example/rpc failed");
});

test("an error is shown with its kind, code, stack and causes, each without secrets", () => {
  const cause = Object.assign(new TypeError("key sk_live_abcdef"), { code: 7 });
  const error = Object.assign(new Error("outer", { cause }), { code: "ECONNREFUSED" });
  const shown = redactValue(error) as Record<string, unknown>;
  expect(shown).toMatchObject({ type: "Error", message: "outer", code: "ECONNREFUSED", stack: expect.any(String) });
  expect(shown["cause"]).toMatchObject({ type: "TypeError", message: "key sk_live_[hidden]", code: 7 });
  const plain = redactValue(Object.assign(new Error("plain"), { code: { secret: "abc" } })) as object;
  expect(Object.keys(plain)).toEqual(["type", "message", "stack"]);
});

test("values of any kind are ready for JSON", () => {
  expect(
    redactValue([1n, null, new Date(0), new Date(Number.NaN), new Uint8Array(3), new URL("http://h/?key=1"), true]),
  ).toEqual(["1", null, "1970-01-01T00:00:00.000Z", "[no date]", "[3 bytes]", "http://h/?…", true]);
  expect(redactValue([() => 1, Symbol("s"), undefined])).toEqual(["[function]", "[symbol]", undefined]);
  expect(redactValue(new Map([["X-API-Key", "abc"]]))).toEqual({ "X-API-Key": "[hidden]" });
});

test("six levels are shown, of each the first 64 entries, and a cycle ends there", () => {
  const nested = (levels: number): unknown => (levels === 0 ? "end" : { in: nested(levels - 1) });
  expect(JSON.stringify(redactValue(nested(6)))).toContain("end");
  expect(JSON.stringify(redactValue(nested(7)))).toContain("[deep]");
  const lists = (levels: number): unknown => (levels === 0 ? "end" : [lists(levels - 1)]);
  expect([JSON.stringify(redactValue(lists(6))), JSON.stringify(redactValue(lists(7)))]).toEqual([
    '[[[[[["end"]]]]]]',
    '[[[[[["[deep]"]]]]]]',
  ]);
  const causes = (levels: number): Error => new Error("cause", levels === 0 ? {} : { cause: causes(levels - 1) });
  expect(JSON.stringify(redactValue(causes(5)))).not.toContain("[deep]");
  expect(JSON.stringify(redactValue(causes(6)))).toContain("[deep]");
  const many = Array.from({ length: 70 }, (_, index) => index);
  expect(redactValue(many)).toEqual(many.slice(0, 64));
  expect(Object.keys(redactValue(Object.fromEntries(many.entries())) as object)).toHaveLength(64);
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  expect(JSON.stringify(redactValue(cycle))).toContain("[deep]");
});

test("fields are members of an object, whatever was given, and one that cannot be read ends nothing", () => {
  expect(redactFields({ a: 1 })).toEqual({ a: 1 });
  expect(redactFields([1, 2])).toEqual({ value: [1, 2] });
  expect(redactFields(new Date(0))).toEqual({ value: "1970-01-01T00:00:00.000Z" });
  expect(redactFields(new Error("lost"))).toMatchObject({ error: { message: "lost" } });
  const unreadable = Object.defineProperty({}, "a", {
    enumerable: true,
    get: () => {
      throw new Error("no");
    },
  });
  expect(redactFields(unreadable)).toEqual({ fields: "[unreadable]" });
});
