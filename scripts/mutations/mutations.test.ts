import { expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { countsOf } from "./baselines.ts";
import { type Equivalent, knownEquivalents, mutantOf, withoutEquivalents } from "./equivalents.ts";
import { Importers } from "./importers.ts";
import { applied, mutantsOf } from "./mutants.ts";
import { measure } from "./mutations.campaign.ts";
import { rooms } from "./rooms.ts";

const source = `export async function f(a: number | 0, log: Log): Promise<boolean> {
  const name = "a" + a;
  if (a > 1 && !log.quiet) await save(name);
  log.info({ a: 0 }, "saved");
  try {
    forget(a);
  } catch {
    return false;
  }
  try {
    forget(a);
  } catch {
    // It was forgotten before.
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
    "11 call removed",
    "15 === to !==",
  ]);
  const [negated, , , , removed] = mutants.map((mutant) => applied(source, mutant).split("\n")[2]?.trim());
  expect([negated, removed]).toEqual(["if (!(a > 1 && !log.quiet)) await save(name);", "if (a > 1 && !log.quiet) ;"]);
});

test("a number that stands for an element which is not there is no mutant, and what it is added to is", () => {
  const mutants = mutantsOf("lib/f.ts", "const sum = (list[0] ?? 0) + (of.size ?? 1);\n");
  expect(mutants.map(({ change, start }) => `${start} ${change}`)).toEqual(["27 + to -", "18 0 to 1", "41 1 to 0"]);
});

test("the tests that can notice a change are those that reach its file", () => {
  const files = [
    "scripts/mutations/mutants.ts",
    "scripts/mutations/mutations.campaign.ts",
    "scripts/mutations/mutations.test.ts",
  ];
  const importers = new Importers(new URL("../..", import.meta.url).pathname, files);
  expect(importers.testsOf("scripts/mutations/mutants.ts")).toEqual(["scripts/mutations/mutations.test.ts"]);
  expect(importers.testsOf("devnet/end-of-process.ts")).toEqual([]);
  // By the name of its workspace.
  expect(importers.testsOf("lib/index.ts")).toEqual(["scripts/mutations/mutations.test.ts"]);
});

test("a program that is started in a process of its own is reached by the tests of what starts it", () => {
  const files = [
    "svm/bank/bank-machine.ts",
    "svm/bank/main.ts",
    "svm/bank/machine-codec.ts",
    "devnet/chain/machine/index.ts",
  ];
  const tests = ["devnet/chain/machine/machine.test.ts"];
  const importers = new Importers(new URL("../..", import.meta.url).pathname, [
    ...files,
    ...tests,
    "svm/bank/index.ts",
  ]);
  expect(importers.testsOf("svm/bank/machine-codec.ts")).toEqual(tests);
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

/** A checkout of two folders with one change for each verdict, in which nothing else is changed. */
const planted = {
  "lib/gate.ts": `export const gates: 1 = 1;
export const isAdult = (age: number): boolean => age >= 18;
export const isOpen = (hour: number): boolean => hour > 6;
export const isWide = (width: number): boolean => width > 3;
export const larger = (a: number, b: number): number => (a > b ? a : b);
`,
  "lib/gate.test.ts": `import { expect, test } from "bun:test";
import { isAdult } from "./gate.ts";
test("adult", () => expect([isAdult(18), isAdult(17)]).toEqual([true, false]));
`,
  "sdk/hours.test.ts": `import { expect, test } from "bun:test";
import { isOpen } from "../lib/gate.ts";
test("open", () => expect([isOpen(6), isOpen(7)]).toEqual([false, true]));
`,
  "tsconfig.json": `{ "compilerOptions": { "strict": true, "noEmit": true, "types": [] }, "files": ["lib/gate.ts"] }`,
};

/** A directory with these files, removed at the end of the block. */
function checkout(files: Readonly<Record<string, string>>): Disposable & { readonly root: string } {
  const root = mkdtempSync(join(tmpdir(), "sluice-planted-"));
  const workspaces = ["lib", "sdk"];
  for (const [path, text] of Object.entries({ "package.json": JSON.stringify({ workspaces }), ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) };
}

test("the campaign's first slice: changes of a planted module are noticed by its tests, the types and its neighbours, or survive", async () => {
  using files = checkout(planted);
  const equal = { path: "lib/gate.ts", change: "> to >=", source: planted["lib/gate.ts"].split("\n")[4] ?? "" };
  const room = { name: "gate", folder: "lib", neighbours: ["sdk/"], goal: 0.8 };
  const known = [{ ...equal, reason: "Of equal numbers either is the larger." }];
  const options = { root: files.root, n: 9, seed: 1, known };
  expect(await measure({ ...options, rooms: [room] })).toEqual({
    passed: false,
    summary:
      "gate         3/4 (75%, goal 80%): 1 by its tests, 1 by types, 1 by its neighbours'; 1 equivalent of the room's are not drawn",
  });
  expect(await measure({ ...options, rooms: [{ ...room, goal: 0.75 }] })).toMatchObject({ passed: true });
  const after = Object.keys(planted).map((path) => readFileSync(join(files.root, path), "utf8"));
  expect(after).toEqual(Object.values(planted));
}, 120_000);

test("each room that is measured has sources", () => {
  expect(rooms.filter(({ folder }) => !existsSync(new URL(`../../${folder}`, import.meta.url)))).toEqual([]);
});

test.each(["SIGTERM", "SIGKILL"] as const)(
  "a campaign that is ended by %s leaves no test process behind",
  async (signal) => {
    using files = checkout({ "lib/any.ts": "" });
    const begun = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    // What a process below the campaign holds open is closed by its end.
    const socket = { open: () => begun.resolve(), close: () => ended.resolve(), data: () => undefined };
    using server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket });
    const program = `Bun.connect({ hostname: "127.0.0.1", port: ${server.port}, socket: { data() {} } });`;
    const command = ["sh", "-c", '"$0" -e "$1" & wait', process.execPath, program];
    const script = `const { Sandbox } = await import(${JSON.stringify(join(import.meta.dir, "sandbox.ts"))});
    await new Sandbox(${JSON.stringify(files.root)}).run(${JSON.stringify(command)}, 600_000);`;
    const env = { ...process.env, TMPDIR: files.root };
    const streams = { stdin: "ignore", stdout: "ignore", stderr: "inherit" } as const;
    const campaign = Bun.spawn([process.execPath, "-e", script], { env, ...streams });
    try {
      await begun.promise;
    } finally {
      campaign.kill(signal);
    }
    await ended.promise;
  },
  30_000,
);
