import { expect, spyOn, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { root, runGroup, runInLanes, systemGroups, type TestGroup, testFiles, unitGroups } from "./run-tests.ts";

/** A group of one file that passes and one whose second test runs `body`. */
async function run(
  body: string,
  form: Pick<TestGroup, "halved"> = {},
): Promise<{ passed: number; failed: number; printed: string }> {
  const folder = mkdtempSync(join(tmpdir(), "run-tests-"));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), `import { expect, test } from "bun:test";\n${text}`);
    return relative(root, join(folder, name));
  };
  const path = JSON.stringify(join(folder, "ran"));
  const paths = [
    file("good.test.ts", 'test("good", () => {});\n'),
    file(
      "other.test.ts",
      `import { existsSync, writeFileSync } from "node:fs";
const again = existsSync(${path});
writeFileSync(${path}, "");
test("steady", () => {});
test("in question", () => { ${body} });
`,
    ),
  ];
  const print = spyOn(console, "log").mockImplementation(() => undefined);
  try {
    const count = await runGroup({ name: "some", paths, ...form }, { quiet: true, again: true });
    return { ...count, printed: print.mock.calls.flat().join("\n") };
  } finally {
    print.mockRestore();
    rmSync(folder, { recursive: true });
  }
}

test("a test that fails once and then passes is counted as passed, and is told with its first failure", async () => {
  const { passed, failed, printed } = await run("expect(again).toBe(true);");
  expect({ passed, failed }).toEqual({ passed: 3, failed: 0 });
  expect(printed).toContain("FLAKY, passed the second time: in question");
  expect(printed).toContain("expect(again).toBe(true)");
});

test("a test that fails twice is failed", async () => {
  const { passed, failed, printed } = await run("expect(1).toBe(2);");
  expect({ passed, failed }).toEqual({ passed: 2, failed: 1 });
  expect(printed).not.toContain("FLAKY");
});

for (const form of [{}, { halved: true }] as const) {
  test(`a runner that ends in the middle is failed: ${JSON.stringify(form)}`, async () => {
    const { failed, printed } = await run("process.exit(3);", form);
    expect(failed).toBeGreaterThan(0);
    expect(printed).not.toContain("FLAKY");
  });
}

test("a runner of two processes counts and tells as one of one", async () => {
  const good = await run("", { halved: true });
  expect([good.passed, good.failed]).toEqual([3, 0]);
  const once = await run("expect(again).toBe(true);", { halved: true });
  expect([once.passed, once.failed]).toEqual([3, 0]);
  expect(once.printed).toContain("FLAKY, passed the second time: in question");
  const twice = await run("expect(1).toBe(2);", { halved: true });
  expect([twice.passed, twice.failed]).toEqual([2, 1]);
  expect(twice.printed).toContain("expect(1).toBe(2)");
});

test("each test file is in one group", async () => {
  const grouped = (await Promise.all([...unitGroups, ...systemGroups].map(testFiles))).flat();
  const all: string[] = [];
  for await (const file of new Bun.Glob("*/**/*.test.{ts,tsx}").scan({ cwd: root })) {
    if (!file.includes("node_modules")) all.push(file);
  }
  expect(grouped.toSorted()).toEqual(all.toSorted());
});

test("a test that starts a process, by itself or by its testing folder, or runs a campaign, is not among the quick ones", async () => {
  const folder = mkdtempSync(join(tmpdir(), "processes-"));
  try {
    mkdirSync(join(folder, "testing"));
    const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
    write("own.test.ts", 'const child = Bun.spawn(["true"]);\n');
    write("through.test.ts", 'import { boot } from "./testing/boot.ts";\nboot();\n');
    write("testing/boot.ts", 'export { boot } from "./server.ts";\n');
    write("testing/server.ts", 'export const boot = () => startServerProcess(["true"]);\n');
    write("slice.test.ts", 'import { run } from "./all.campaign.ts";\nrun();\n');
    write("all.campaign.ts", "export const run = () => undefined;\n");
    write("none.test.ts", 'import { boot } from "./server.ts";\nboot();\n');
    write("server.ts", 'export const boot = () => startServerProcess(["true"]);\n');
    const paths = [relative(root, folder)];
    const names = async (long: boolean): Promise<string[]> =>
      (await testFiles({ name: "some", paths, long })).map((file) => file.split("/").at(-1) ?? "");
    expect(await names(true)).toEqual(["own.test.ts", "slice.test.ts", "through.test.ts"]);
    expect(await names(false)).toEqual(["none.test.ts"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("files that stand apart run side by side, each on ports of its own, and are counted as one group", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lanes-"));
  const print = spyOn(console, "log").mockImplementation(() => undefined);
  try {
    // Each waits for the other: one lane alone would not end.
    const text = (own: string, other: string): string => `import { expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
const path = (name) => ${JSON.stringify(folder)} + "/" + name;
test("meets the other", async () => {
  writeFileSync(path("${own}"), process.env.TEST_PORTS ?? "");
  while (!existsSync(path("${other}"))) await Bun.sleep(5);
  expect(await Bun.file(path("${other}")).text()).not.toBe(process.env.TEST_PORTS);
});
`;
    writeFileSync(join(folder, "one.test.ts"), text("one", "other"));
    writeFileSync(join(folder, "other.test.ts"), text("other", "one"));
    const group = { name: "some", paths: [relative(root, folder)], apart: true } as const;
    const none = { name: "none", paths: [relative(root, folder)], except: [relative(root, folder)] };
    expect(await runInLanes([none, group], { quiet: true })).toEqual({ passed: 2, failed: 0 });
    expect(print.mock.calls.flat().join("\n")).toContain("ok   some: 2 passed, 0 failed");
  } finally {
    print.mockRestore();
    rmSync(folder, { recursive: true });
  }
});
