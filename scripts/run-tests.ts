/** Runs groups of test files, each in its own Bun process, and adds up their results. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface TestGroup {
  readonly name: string;
  /** Folders or files, from the repository's root. */
  readonly paths: readonly string[];
  /** Files and folders below those that another group runs. */
  readonly except?: readonly string[];
  /** Whether its files take long (`takesLong`): all of them do, or none; absent is either. */
  readonly long?: boolean;
  readonly timeoutMs?: number;
  /** Each of its files has a runner of its own, so that they fill the lanes to the end. */
  readonly apart?: true;
  /** Beside other groups its runner has two processes, between which it deals out the files, so that none is alone. */
  readonly halved?: true;
}

/**
 * Groups of ports, for servers of tests that run side by side: one more than the cores that CI has, so that while a
 * test of the whole system waits for slots, another one computes.
 */
const lanes = ["low", "middle", "high"] as const;
type Lane = (typeof lanes)[number];

export interface TestCount {
  readonly passed: number;
  readonly failed: number;
}

export interface RunOptions {
  /** Prints only what failed. */
  readonly quiet: boolean;
  /** Runs files in which something failed a second time. */
  readonly again?: boolean;
}

export const root = join(import.meta.dir, "..");

const architecture = "server/test/architecture.test.ts";
/** The rooms whose tests start databases and child processes. */
const stores = ["server/src/state", "server/src/hot", "server/src/ledger"];

/** Stores' tests beside killed engines, full disks and servers of their own: too long for the fast part. */
const longStores = [
  "server/src/state/postgres-forms.test.ts",
  "server/src/hot/redis-forms.test.ts",
  "server/src/ledger/faults.test.ts",
  "server/src/ledger/full-disk.test.ts",
  "server/src/ledger/fact-files.test.ts",
  "server/src/ledger/migrations.test.ts",
  "server/src/ledger/readiness.test.ts",
  "server/src/ledger/retention.test.ts",
  "server/src/log/jetstream",
];

/** Rooms' tests beside markets, proxies, killed processes and simulations: too long for the fast part. */
const long = [
  "server/src/backup/full-disk.test.ts",
  "server/src/webhooks/delivery",
  "server/src/webhooks/scheduling/kills.test.ts",
  "server/src/history/archive/devnet.test.ts",
  "server/src/gateway/hostile-http.test.ts",
  "server/src/gateway/memory.test.ts",
  "server/src/gateway/large.test.ts",
  "server/src/gateway/hostile-nodes.test.ts",
  "server/src/oracle/sources",
  "server/src/oracle/aggregate",
  "auction",
  "server/src/engine/pool",
  "server/src/engine/chain",
  "server/src/engine/grpc",
  "server/src/engine/simulation",
  "server/src/upstreams/fault-proxy.test.ts",
  "server/src/upstreams/failover.test.ts",
  "server/src/upstreams/pool.test.ts",
  "server/src/upstreams/refusals.test.ts",
];

/** A third of the time of the tests of the whole system. */
const engineAndClients = [
  "clients",
  ...["clients-kit", "clients-web3", "replicas", "replica-faults", "gateways"].map(
    (name) => `server/test/${name}.test.ts`,
  ),
  ...["", "-chaos", "-clients", "-endpoints", "-faults", "-flow", "-forks", "-succession"].map(
    (part) => `server/test/engine${part}.test.ts`,
  ),
];

const libraries = ["contract", "wire", "lib", "svm", "encode", "parser", "geyser", "sdk"];
const otherThanRooms = [...stores, ...longStores, ...long];

/** Everything that starts no process, runs no campaign, needs no booted network and no browser, and is quick. */
export const unitGroups: readonly TestGroup[] = [
  { name: "architecture", paths: [architecture, "scripts"], long: false },
  { name: "contract and wire", paths: libraries, long: false },
  { name: "stores", paths: stores, except: longStores, long: false },
  { name: "server rooms", paths: ["server/src"], except: otherThanRooms, long: false, halved: true },
];

export const systemGroups: readonly TestGroup[] = [
  { name: "stores, long", paths: stores, except: longStores, long: true, timeoutMs: 60_000 },
  {
    name: "rooms, long",
    paths: ["scripts", ...libraries, "server/src"],
    except: otherThanRooms,
    long: true,
    timeoutMs: 60_000,
  },
  { name: "stores, at length", paths: longStores, timeoutMs: 60_000, apart: true },
  { name: "rooms, at length", paths: long, timeoutMs: 60_000 },
  { name: "devnet", paths: ["devnet"], timeoutMs: 60_000 },
  { name: "console", paths: ["console"], timeoutMs: 120_000 },
  {
    name: "whole system, the rest",
    paths: ["server/test"],
    except: [architecture, ...engineAndClients],
    timeoutMs: 120_000,
    apart: true,
  },
  { name: "whole system, engine and clients", paths: engineAndClients, timeoutMs: 120_000, apart: true },
];

export async function testFiles(group: TestGroup): Promise<string[]> {
  const files = new Set<string>();
  for (const path of group.paths) {
    if (/\.test\.tsx?$/.test(path)) files.add(path);
    else {
      for await (const file of new Bun.Glob("**/*.test.{ts,tsx}").scan({ cwd: join(root, path) })) {
        if (!file.includes("node_modules")) files.add(`${path}/${file}`);
      }
    }
  }
  const isElsewhere = (file: string): boolean =>
    group.except?.some((path) => file === path || file.startsWith(`${path}/`)) === true;
  const isWanted = (file: string): boolean => group.long === undefined || group.long === takesLong(file);
  return [...files].filter((file) => !isElsewhere(file) && isWanted(file)).toSorted();
}

const startPattern =
  /\bBun\.spawn(Sync)?\(|\bstart\w*Process\(|\bsuperviseChild\(|\bChildSupervisor\.start\(|\bopenLedger\(|\brunTool\(|"node:child_process"/;
const readers = { ts: new Bun.Transpiler({ loader: "ts" }), tsx: new Bun.Transpiler({ loader: "tsx" }) };

/**
 * Whether a test runs a slice of a campaign, or starts a process by itself or by what it imports of a folder `testing`:
 * a server, a database, the ledger's engine, a child to kill. Such tests take most of the time of all and are left out
 * of the fast part.
 */
function takesLong(test: string): boolean {
  const seen = new Set([join(root, test)]);
  for (const path of seen) {
    const text = readFileSync(path, "utf8");
    if (startPattern.test(text)) return true;
    for (const { path: imported } of readers[path.endsWith("x") ? "tsx" : "ts"].scanImports(text)) {
      if (imported.endsWith(".campaign.ts")) return true;
      const target = imported.startsWith(".") ? join(path, "..", imported) : "";
      if (target.includes("/testing/") && existsSync(target)) seen.add(target);
    }
  }
  return false;
}

interface GroupRun {
  readonly passed: number;
  readonly failed: number;
  /** What the runner printed. */
  readonly said: string;
}

interface RunPlace {
  readonly timeoutMs: number;
  readonly lane?: Lane | undefined;
  readonly halved: boolean;
}

/** Of two processes, each of which keeps its modules from file to file, as one alone does. */
const halves = ["--parallel=2", "--no-isolate"];

async function runFiles(files: readonly string[], { timeoutMs, lane, halved }: RunPlace): Promise<GroupRun> {
  const options = ["--timeout", String(timeoutMs), ...(halved ? halves : [])];
  const child = Bun.spawn([process.execPath, "test", ...options, ...files.map((file) => `./${file}`)], {
    cwd: root,
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, FORCE_COLOR: "0", ...(lane === undefined ? {} : { TEST_PORTS: lane }) },
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const code = await child.exited;
  const said = `${out}\n${err}`;
  const passed = Number(/^ *(\d+) pass$/m.exec(said)?.[1] ?? 0);
  const counted = Number(/^ *(\d+) fail$/m.exec(said)?.[1] ?? 0);
  return { passed, failed: code === 0 ? counted : Math.max(1, counted), said };
}

/** What is known of a group of which some files have been run. */
class GroupTally {
  readonly #group: TestGroup;
  readonly #options: RunOptions;
  readonly #notRun = new Set<string>();
  readonly #flaky: string[] = [];
  readonly #said: string[] = [];
  #left: number;
  #passed = 0;
  #failed = 0;
  #ms = 0;

  constructor(group: TestGroup, runs: number, options: RunOptions) {
    this.#group = group;
    this.#left = runs;
    this.#options = options;
  }

  get count(): TestCount {
    return { passed: this.#passed, failed: this.#failed };
  }

  /**
   * Runs files of the group. A runner that ends without a count (it crashed) is a failure. With `again`, the files in
   * which something failed run a second time, alone: what passes then is told as FLAKY, with what it said the first
   * time. The group is reported after its last files.
   */
  async run(files: readonly string[], lane?: Lane): Promise<void> {
    const started = performance.now();
    const { timeoutMs = 30_000, halved = false } = this.#group;
    const place = { timeoutMs, lane, halved: halved && lane === undefined };
    const first = await runFiles(files, place);
    const flaky = first.failed > 0 && this.#options.again === true ? await passAgain(files, first, place) : [];
    this.#flaky.push(...flaky);
    this.#passed += first.passed + (flaky.length > 0 ? first.failed : 0);
    this.#failed += flaky.length > 0 ? 0 : first.failed;
    this.#ms += performance.now() - started;
    for (const line of first.said.split("\n")) if (line.includes("NOT RUN")) this.#notRun.add(line.trim());
    if (first.failed > 0) this.#said.push(this.#options.quiet ? onlyFailures(first.said) : first.said);
    this.#left -= 1;
    if (this.#left === 0) this.#report();
  }

  #report(): void {
    const { passed, failed } = this.count;
    const verdict = failed === 0 ? "ok  " : "FAIL";
    const seconds = (this.#ms / 1000).toFixed(1);
    console.log(`${verdict} ${this.#group.name}: ${passed} passed, ${failed} failed (${seconds} s)`);
    for (const line of this.#notRun) console.log(`     ${line}`);
    for (const test of this.#flaky) console.log(`     FLAKY, passed the second time: ${test}`);
    for (const said of this.#said) console.log(said);
  }
}

/** Runs one group by one runner. */
export async function runGroup(group: TestGroup, options: RunOptions): Promise<TestCount> {
  const files = await testFiles(group);
  const tally = new GroupTally(group, 1, options);
  if (files.length > 0) await tally.run(files);
  return tally.count;
}

/** The tests that failed, when all of their files pass in a second run; else none. */
async function passAgain(files: readonly string[], first: GroupRun, place: RunPlace): Promise<string[]> {
  const named = sectionsOf(first.said).filter(hasFailed);
  const failedFiles = files.filter((file) => named.some(([heading]) => heading === `${file}:`));
  const tests = named.flat().filter((line) => line.startsWith("(fail)"));
  if (failedFiles.length === 0 || failedFiles.length > againMax || tests.length < first.failed) return [];
  const second = await runFiles(failedFiles, place);
  return second.failed === 0 ? tests.map((line) => line.slice("(fail) ".length)) : [];
}

/** More files than these do not fail by chance. */
const againMax = 3;

/** Begins the runner's list of all failed tests, after the last file. */
const closingPattern = /^\d+ tests failed:$/;
const headingPattern = /^\S+\.test\.tsx?:$/;
/** Of one file: the last ones. */
const shownLinesMax = 200;

/** What the runner printed, cut at the headings of files. */
function sectionsOf(said: string): string[][] {
  const sections: string[][] = [[]];
  for (const line of said.split("\n")) {
    if (closingPattern.test(line)) break;
    if (headingPattern.test(line)) sections.push([]);
    sections.at(-1)?.push(line);
  }
  return sections;
}

const hasFailed = (lines: readonly string[]): boolean => lines.some((line) => line.startsWith("(fail)"));

/** The names of what failed, and the files in which it did, without what passed there. */
function onlyFailures(said: string): string {
  const sections = sectionsOf(said).map((lines) => withoutRepeats(lines.filter((line) => !line.startsWith("(pass)"))));
  const failed = sections.filter(hasFailed);
  const broken = sections.filter((lines) => lines.some((line) => /^error:|Unhandled error/i.test(line)));
  const shown = [failed, broken, sections].find((each) => each.length > 0) ?? [];
  const names = failed.flat().filter((line) => line.startsWith("(fail)"));
  return [...names, ...shown.flatMap((lines) => lines.slice(-shownLinesMax))].join("\n");
}

/** A line that is said many times on end is shown once. */
function withoutRepeats(lines: readonly string[]): string[] {
  return lines.filter((line, index) => line !== lines[index - 1]);
}

const sumOf = (counts: readonly TestCount[]): TestCount => ({
  passed: counts.reduce((total, { passed }) => total + passed, 0),
  failed: counts.reduce((total, { failed }) => total + failed, 0),
});

/** Runs groups side by side, where only the verdict counts. */
export async function runGroups(groups: readonly TestGroup[], options: RunOptions): Promise<TestCount> {
  return sumOf(await Promise.all(groups.map((group) => runGroup(group, options))));
}

/** Runs groups in their order in several lanes, of which each takes the next group, or file of one, when it is free. */
export async function runInLanes(groups: readonly TestGroup[], options: RunOptions): Promise<TestCount> {
  const tallies: GroupTally[] = [];
  const waiting: (readonly [GroupTally, readonly string[]])[] = [];
  for (const group of groups) {
    const files = await testFiles(group);
    const runs = group.apart === true ? files.map((file) => [file]) : files.length > 0 ? [files] : [];
    const tally = new GroupTally(group, runs.length, options);
    tallies.push(tally);
    for (const run of runs) waiting.push([tally, run]);
  }
  const work = async (lane: Lane): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await next[0].run(next[1], lane);
  };
  await Promise.all(lanes.map(work));
  return sumOf(tallies.map(({ count }) => count));
}
