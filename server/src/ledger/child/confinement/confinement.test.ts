import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemRandom } from "@sluice/lib";
import { ChildSupervisor } from "../../supervisor.ts";
import { recordingLog } from "../../testing/ledger-directory.ts";
import type { Confinement } from "./confine.ts";
import { ledgerGrants, mappedFiles } from "./grants.ts";
import { landlockVersion } from "./landlock.ts";
import { openLibc } from "./libc.ts";
import { callFilter, type FilterStep } from "./seccomp.ts";

const libc = openLibc();
/** Where the kernel cannot, there is nothing to see but that the process says so. */
const canConfine = libc !== null && landlockVersion(libc) >= 2;

let place: string;
let requests = 0;
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: () => {
    requests += 1;
    return new Response("1\n");
  },
});
const secret = (): string => join(place, "secret.txt");

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), "sluice-confined-"));
  writeFileSync(secret(), "outside\n");
});
afterAll(async () => {
  rmSync(place, { recursive: true, force: true });
  await server.stop(true);
});

interface Seen {
  readonly confinement: Confinement | null;
  readonly outcomes: Readonly<Record<string, string>>;
}

/** Runs hostile statements in an engine that nothing stands before. */
async function hostile(way: "confined" | "open") {
  const directory = join(place, way);
  const marks = {
    script: join(directory, "ran"),
    outfile: join(place, `${way}.out`),
    insert: join(place, `${way}.csv`),
  };
  const scripts = join(directory, "engine", "user_scripts");
  mkdirSync(scripts, { recursive: true });
  writeFileSync(join(scripts, "mark.sh"), `#!/bin/sh\necho ran > ${marks.script}\necho 1\n`);
  chmodSync(join(scripts, "mark.sh"), 0o755);
  const before = requests;
  const statements = {
    file: `SELECT file('${secret()}')`,
    table: `SELECT * FROM file('${secret()}', 'LineAsString', 'line String')`,
    passwords: "SELECT count() FROM file('/etc/passwd', 'LineAsString', 'line String')",
    url: `SELECT * FROM url('http://127.0.0.1:${server.port}/', 'CSV', 'a UInt8') SETTINGS http_max_tries = 1`,
    executable: "SELECT * FROM executable('mark.sh', 'TabSeparated', 'a UInt8')",
    outfile: `SELECT 1 INTO OUTFILE '${marks.outfile}' FORMAT CSV`,
    insert: `INSERT INTO FUNCTION file('${marks.insert}', 'CSV', 'a UInt8') SELECT 1`,
    own: `INSERT INTO FUNCTION file('${join(directory, "engine", "own.csv")}', 'CSV', 'a UInt8') SELECT 1`,
  };
  const attempts = JSON.stringify({ statements: Object.values(statements), port: server.port });
  const program = join(import.meta.dir, "../testing/unguarded.ts");
  const child = Bun.spawn([process.execPath, program, directory, way, attempts], {
    env: { TZ: "UTC", SECRET: "of this process" },
    stderr: "pipe",
  });
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  const line = output.trim().split("\n").at(-1) ?? "";
  if (child.exitCode !== 0) throw new Error(`${child.exitCode} ${child.signalCode}: ${output} ${errors}`);
  const { confinement, outcomes } = JSON.parse(line) as Seen;
  const did = (name: string): boolean => outcomes[name]?.startsWith("did") ?? false;
  const ofStatements = Object.entries(statements).map(([name, sql]) => [name, did(sql)] as const);
  const ofSystem = Object.keys(outcomes).filter((name) => !Object.values(statements).includes(name));
  return {
    confinement,
    outcomes,
    done: new Map([...ofStatements, ...ofSystem.map((name) => [name, did(name)] as const)]),
    traces: {
      script: existsSync(marks.script),
      outfile: existsSync(marks.outfile),
      insert: existsSync(marks.insert),
      written: existsSync(join(place, "written")),
      requests: requests - before,
    },
  };
}

const own = ["own", "after"];
const none = { script: false, outfile: false, insert: false, written: false, requests: 0 };

test.skipIf(!canConfine)(
  "past every check, SQL and code in the process reach no file outside, no network and no program, and the engine lives on",
  async () => {
    const { confinement, done, traces, outcomes } = await hostile("confined");
    expect(confinement).toEqual({ files: true, calls: true });
    // The engine answers without a row where a program did not start; that it did not run is a trace.
    const reached = [...done].filter(([name, isDone]) => isDone && name !== "executable").map(([name]) => name);
    expect({ reached, outcomes }).toEqual({ reached: own, outcomes });
    expect(traces).toEqual(none);
  },
  60_000,
);

test.skipIf(libc === null)(
  "without the confinement the same attempts succeed, so that it is what refuses them",
  async () => {
    const { done, traces, outcomes } = await hostile("open");
    const refused = [...done].filter(([, isDone]) => !isDone).map(([name]) => name);
    expect({ refused, outcomes }).toEqual({ refused: [], outcomes });
    expect({ ...traces, requests: traces.requests > 0 }).toEqual({
      script: true,
      outfile: true,
      insert: true,
      written: true,
      requests: true,
    });
  },
  60_000,
);

describe("the supervisor", () => {
  const start = async (confinement: "auto" | "required" | "off") => {
    const log = recordingLog();
    const told: Confinement[] = [];
    const dependencies = {
      clock: systemClock,
      random: systemRandom,
      log,
      onConfined: (seen: Confinement) => void told.push(seen),
    };
    const supervisor = await ChildSupervisor.start({ directory: join(place, "ledger"), confinement }, dependencies);
    const { url, user, password } = await supervisor.current();
    const answer = await fetch(url, {
      method: "POST",
      body: `SELECT file('${secret()}')`,
      headers: { "X-ClickHouse-User": user, "X-ClickHouse-Key": password },
    });
    const text = await answer.text();
    await supervisor[Symbol.asyncDispose]();
    return { told, text, warnings: log.entries.filter(({ level }) => level === "warn").map(({ message }) => message) };
  };

  test.skipIf(!canConfine)(
    "confines the engine, and says nothing where that is whole",
    async () => {
      const { told, text, warnings } = await start("required");
      expect(told).toEqual([{ files: true, calls: true }]);
      expect(text).toContain("Permission denied");
      expect(warnings).toEqual([]);
    },
    60_000,
  );

  test("starts it unconfined where that is asked for, and a system that cannot is told in the log", async () => {
    const off = await start("off");
    expect(off.told).toEqual([{ files: false, calls: false }]);
    expect([off.text.startsWith("outside"), off.warnings]).toEqual([true, []]);
    if (canConfine) return;
    expect((await start("auto")).warnings).toEqual(["ledger engine is not wholly confined"]);
    await expect(start("required")).rejects.toThrow("LEDGER_CONFINEMENT");
  }, 60_000);
});

/** What the kernel does with a filter, for a call of an architecture. Source: Linux, networking/filter.rst. */
function answerOf(filter: readonly FilterStep[], { audit, number }: { audit: number; number: number }): number {
  let [at, word] = [0, 0];
  for (let steps = 0; steps < 1_000; steps += 1) {
    const [code, whenTrue, whenFalse, value] = filter[at] ?? [0, 0, 0, 0];
    if (code === 0x06) return value;
    if (code === 0x20) word = value === 0 ? number : audit;
    const isTrue = code === 0x15 ? word === value : code === 0x35 && word >= value;
    at += 1 + (code === 0x20 ? 0 : isTrue ? whenTrue : whenFalse);
  }
  throw new Error("the filter gives no answer");
}

describe("the filter of calls", () => {
  const allowed = 0x7fff0000;
  const [x64, arm64] = [0xc000003e, 0xc00000b7];

  test.each([
    // The calls that the engine lives on, and those that it is refused, by the kernel's own tables.
    [
      "x64",
      x64,
      { read: 0, write: 1, openat: 257, accept4: 288, futex: 202, clone: 56 },
      [41, 42, 49, 59, 101, 322, 425],
    ],
    [
      "arm64",
      arm64,
      { read: 63, write: 64, openat: 56, accept4: 242, futex: 98, clone: 220 },
      [198, 203, 200, 221, 117, 281, 425],
    ],
  ] as const)(
    "of %s refuses connections, programs and other processes, and nothing that is needed",
    (machine, audit, needed, refused) => {
      const filter = callFilter(machine) ?? [];
      for (const number of Object.values(needed)) expect(answerOf(filter, { audit, number })).toBe(allowed);
      for (const number of refused) expect(answerOf(filter, { audit, number })).toBe(0x00050001);
      // The other architecture's numbers mean other calls.
      expect(answerOf(filter, { audit: audit === x64 ? arm64 : x64, number: needed.read })).toBe(0x00050001);
    },
  );

  test("of x86-64 refuses calls with short pointers, which have numbers of their own", () => {
    const filter = callFilter("x64") ?? [];
    expect(answerOf(filter, { audit: x64, number: 0x40000000 + 41 })).toBe(0x00050001);
  });

  test("there is none for a machine whose numbers are not known", () => expect(callFilter("riscv64")).toBeNull());
});

test("grants are the ledger's directory, its own code and libraries, and no home, data or secrets beside them", () => {
  const maps =
    "7f00-7f01 r-xp 00000000 00:1 2   /lib/x86_64-linux-gnu/libc.so.6\n7f02-7f03 rw-p 0 00:0 0   [heap]\n7f04-7f05 rw-p 0 0:0 0\n";
  expect(mappedFiles(maps)).toEqual(["/lib/x86_64-linux-gnu/libc.so.6"]);
  if (libc === null) return;
  const grants = [...ledgerGrants("/var/lib/sluice/ledger")];
  const owned = grants.filter(({ use }) => use === "own").map(({ path }) => path);
  expect(owned.every((path) => path.startsWith("/var/lib/sluice/ledger"))).toBe(true);
  const open = grants.filter(({ use }) => use !== "list").map(({ path }) => path);
  for (const closed of [
    "/",
    "/etc",
    "/home",
    "/root",
    "/tmp",
    "/proc",
    "/var/lib/sluice",
    join(import.meta.dir, "../../../../../.."),
  ]) {
    expect(open).not.toContain(closed);
  }
});
