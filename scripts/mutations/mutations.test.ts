import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { countsOf } from "./baselines.ts";
import { type Equivalent, knownEquivalents, mutantOf, withoutEquivalents } from "./equivalents.ts";
import { Importers } from "./importers.ts";
import { applied, mutantsOf } from "./mutants.ts";
import { run } from "./mutations.campaign.ts";

const source = `export async function f(a: number | 0, log: Log): Promise<boolean> {
  const name = "a" + a;
  if (a > 1 && !log.quiet) await save(name);
  log.info({ a: 0 }, "saved");
  try {
    forget(a);
  } catch {
    return false;
  }
  return a === 2;
}
`;

test("a file's mutants are its comparisons, conditions, calls, awaits, catches, booleans, zeros and ones, and no reports or types", () => {
  const mutants = mutantsOf("lib/f.ts", source);
  expect(mutants.map(({ line, change }) => `${line} ${change}`)).toEqual([
    "3 condition negated",
    "3 && to ||",
    "3 > to >=",
    "3 1 to 0",
    "3 call removed",
    "3 await dropped",
    "4 0 to 1",
    "6 call removed",
    "7 catch emptied",
    "8 returned boolean turned over",
    "10 === to !==",
  ]);
  const [negated, , , , removed] = mutants.map((mutant) => applied(source, mutant).split("\n")[2]?.trim());
  expect([negated, removed]).toEqual(["if (!(a > 1 && !log.quiet)) await save(name);", "if (a > 1 && !log.quiet) ;"]);
});

test("the tests that can notice a change are those that reach its file", () => {
  const files = [
    "scripts/mutations/mutants.ts",
    "scripts/mutations/mutations.campaign.ts",
    "scripts/mutations/mutations.test.ts",
  ];
  const importers = new Importers(new URL("../..", import.meta.url).pathname, files);
  expect(importers.testsOf("scripts/mutations/mutants.ts")).toEqual(["scripts/mutations/mutations.test.ts"]);
  expect(importers.testsOf("lib/clock.ts")).toEqual([]);
});

test("each equivalent on record is one mutant of today's sources, with a reason", () => {
  const isCurrent = (record: Equivalent): boolean => {
    const text = readFileSync(new URL(`../../${record.path}`, import.meta.url), "utf8");
    return mutantOf(record, mutantsOf(record.path, text)) !== undefined && record.reason.length > 20;
  };
  expect(knownEquivalents().filter((record) => !isCurrent(record))).toEqual([]);
});

test("of several like changes of one line, a record leaves out the one that it counts to, and none when it does not say", () => {
  const mutants = mutantsOf("lib/f.ts", "f(0, 0);\n");
  const zeros = mutants.filter(({ change }) => change === "0 to 1");
  const record = { path: "lib/f.ts", change: "0 to 1", source: "f(0, 0);", reason: "" };
  expect(zeros).toHaveLength(2);
  expect(withoutEquivalents(zeros, [{ ...record, occurrence: 2 }])).toEqual(zeros.slice(0, 1));
  expect(withoutEquivalents(zeros, [record])).toEqual(zeros);
});

test("a coverage report is read by file and line", () => {
  const counts = countsOf("TN:\nSF:lib/a.ts\nDA:1,2\nDA:3,0\nend_of_record\nSF:lib/b.ts\nDA:1,0\nend_of_record\n");
  expect([counts.get("lib/a.ts")?.get(1), counts.get("lib/a.ts")?.get(3), counts.get("lib/b.ts")?.get(1)]).toEqual([
    2, 0, 0,
  ]);
  expect(counts.get("lib/a.ts")?.get(2)).toBeUndefined();
});

test("the campaign's first slice: a change of lib is noticed in a copy, and the checkout stays as it was", async () => {
  const bytesOf = (path: string): string => readFileSync(new URL(`../../lib/${path}`, import.meta.url), "utf8");
  const files = [...new Bun.Glob("*.ts").scanSync({ cwd: new URL("../../lib", import.meta.url).pathname })].toSorted();
  const before = files.map(bytesOf);
  expect(await run({ n: 1, seed: 6, only: ["lib"] })).toMatchObject({
    passed: true,
    summary: expect.stringContaining("1/1"),
  });
  expect(files.map(bytesOf)).toEqual(before);
}, 120_000);
