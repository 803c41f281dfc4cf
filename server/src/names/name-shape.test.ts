import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { labelsMax, readDomain, readName } from "./name.ts";

const shapeOf = (input: string): string => {
  const shape = readName(input);
  if (shape.kind === "refused") return shape.error;
  return shape.kind === "handle" ? `handle ${shape.name}` : `${shape.suffix} ${shape.labels.join("/")} ${shape.name}`;
};

describe("what a text is the name of", () => {
  test.each([
    ["@alice", "handle alice"],
    [" @Alice ", "handle alice"],
    ["@x1", "handle x1"],
    ["alice.x1", "x1 alice alice.x1"],
    ["Alice.X1", "x1 alice alice.x1"],
    ["alice.xnt", "xnt alice alice.xnt"],
    ["alice.XEN", "xen alice alice.xen"],
    ["blog.alice.x1", "x1 alice/blog blog.alice.x1"],
    ["under_score.x1", "x1 under_score under_score.x1"],
    ["x1.x1", "x1 x1 x1.x1"],
    ["-.x1", "x1 - -.x1"],
    ["12.x1", "x1 12 12.x1"],
    ["Mu\u0308nchen.x1", "x1 münchen münchen.x1"],
    ["👩‍🚀.x1", "x1 👩‍🚀 👩‍🚀.x1"],
    ["100%.x1", "x1 100% 100%.x1"],
    [`${"a".repeat(64)}.x1`, `x1 ${"a".repeat(64)} ${"a".repeat(64)}.x1`],
    [`${"💎".repeat(64)}.x1`, `x1 ${"💎".repeat(64)} ${"💎".repeat(64)}.x1`],
  ])("%j", (input, expected) => expect(shapeOf(input)).toBe(expected));
});

describe("both shapes at once are refused, whatever is wrong beside", () => {
  test.each(["@alice.x1", "@Alice.X1", " @alice.xen\n", "@.x1", "@@a.xnt", "@a b.x1", `@${"a".repeat(2000)}.x1`])(
    "%j",
    (input) => expect(shapeOf(input)).toBe("ambiguous: both a handle and a domain shape"),
  );
});

describe("no handle", () => {
  test.each([
    "alice",
    "",
    " ",
    "@",
    "@@alice",
    "@al.ice",
    "@1234",
    "x1",
    "@alice.sol",
    "@alice.x1.",
    "a/b",
    "%40alice",
  ])("%j", (input) => expect(shapeOf(input)).toBe("invalid handle"));
});

describe("no domain", () => {
  test.each([
    ".",
    "..",
    "alice.",
    "alice.sol",
    ".x1",
    "a..x1",
    "alice.x1.",
    " alice.x1",
    "alice.x1 ",
    "al ice.x1",
    "a\u3000b.x1",
    "a\0b.x1",
    "\0dex.x1",
    "\u0001SOL.x1",
    "a\u0085b.x1",
    "a@b.x1",
    "a/b.x1",
    "a\ufffd.x1",
    "a\ud800.x1",
    "%61.x1",
    "a%2540.x1",
    `${"a".repeat(65)}.x1`,
    `${"💎".repeat(65)}.x1`,
    `${"a.".repeat(labelsMax + 1)}x1`,
    `${"a".repeat(5000)}.x1`,
    "alice.x\u0031\u0301",
    "alice.ⅹ1",
    "alice。x1.",
  ])("%j", (input) => expect(shapeOf(input)).toBe("invalid domain"));
});

test("a canonical domain is its own canonical form, and its parts make it up", () => {
  const unit = fc.constantFrom(..."aZé\u0301\u0308İΣςßK💎._-%4\ufb01\u1e9e\u03b1\u0345");
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 20 }), fc.constantFrom("x1", "XNT", "xEn"), (text, suffix) => {
      const domain = readDomain(`${text}.${suffix}`);
      if (domain === null) return;
      expect(readDomain(domain.name)).toEqual(domain);
      expect([...domain.labels].reverse().concat(domain.suffix).join(".")).toBe(domain.name);
      expect(domain.name).toBe(domain.name.normalize("NFC"));
      expect(domain.name).toBe(domain.name.toLowerCase());
    }),
    { numRuns: 2_000 },
  );
});
