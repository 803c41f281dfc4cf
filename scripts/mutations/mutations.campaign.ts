/**
 * `npm run campaign -- mutations --n N --seed S [--only room,room]`: N single changes in each room's sources, each of
 * which a test must notice. A change runs in a copy of the repository, first against the tests of its room that reach
 * the file, then against its neighbours', then against the types. What survives is listed; a change that nothing can
 * notice is put on record in equivalents.json with its reason, and no longer drawn.
 *
 * Not changed are logs, metrics and assertions, types, and numbers other than 0 and 1.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { seededRandom } from "@sluice/lib";
import { root } from "../run-tests.ts";
import { Importers } from "./importers.ts";
import { applied, type Mutant, mutantsOf } from "./mutants.ts";
import { type Room, rooms } from "./rooms.ts";
import { Sandbox } from "./sandbox.ts";

/** Tests of a room that take longer are ended; a change that makes them hang was noticed. */
const roomMs = 120_000;
const neighboursMs = 240_000;
const typesMs = 120_000;

const bun = process.execPath;
const tsc = join(root, "node_modules/.bin/tsc");

interface Equivalent {
  readonly path: string;
  readonly change: string;
  /** The source line of the change, without white space around it. */
  readonly source: string;
  readonly reason: string;
}

const lineOf = (text: string, { line }: Mutant): string => (text.split("\n")[line - 1] ?? "").trim();

function isEquivalent(mutant: Mutant, text: string, known: readonly Equivalent[]): boolean {
  return known.some(
    ({ path, change, source }) => path === mutant.path && change === mutant.change && source === lineOf(text, mutant),
  );
}

async function filesIn(folders: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    folders.map((folder) => Array.fromAsync(new Bun.Glob(`${folder}/**/*.ts`).scan({ cwd: root }))),
  );
  return [...new Set(found.flat())].filter((path) => !path.includes("node_modules")).toSorted();
}

/** What reports is no rule: rooms' events.ts hold their metrics and log lines. */
const isSource = (path: string): boolean => !/\.(test|campaign)\.ts$|\/testing\/|\/events\.ts$/.test(path);

/** `n` mutants of the room in an order that follows from the seed. */
async function drawn(room: Room, n: number, seed: number, known: readonly Equivalent[]): Promise<Mutant[]> {
  const all: Mutant[] = [];
  for (const path of (await filesIn([room.folder])).filter(isSource)) {
    const text = readFileSync(join(root, path), "utf8");
    all.push(...mutantsOf(path, text).filter((mutant) => !isEquivalent(mutant, text, known)));
  }
  const random = seededRandom(seed);
  for (let at = all.length - 1; at > 0; at--) {
    const other = Math.floor(random.next() * (at + 1));
    [all[at], all[other]] = [all[other] as Mutant, all[at] as Mutant];
  }
  return all.slice(0, n);
}

type Verdict = "room" | "neighbours" | "types" | "survived";

/** Judges the mutants of one room. */
class Judge {
  readonly #sandbox: Sandbox;
  readonly #importers: Importers;
  readonly #room: Room;
  /** Test files that pass without a change: one that fails then would seem to notice everything. */
  readonly #sound = new Set<string>();

  constructor(sandbox: Sandbox, importers: Importers, room: Room) {
    this.#sandbox = sandbox;
    this.#importers = importers;
    this.#room = room;
  }

  async verdictOf(mutant: Mutant): Promise<Verdict> {
    const text = readFileSync(join(root, mutant.path), "utf8");
    this.#sandbox.write(mutant.path, applied(text, mutant));
    try {
      if (await this.#notice(this.#own(mutant), roomMs)) return "room";
      if (await this.#notice(this.#near(mutant), neighboursMs)) return "neighbours";
      const { passed } = await this.#sandbox.run([tsc, "--noEmit"], typesMs);
      return passed ? "survived" : "types";
    } finally {
      this.#sandbox.write(mutant.path, text);
    }
  }

  /** Runs the tests that these mutants need without a change, and leaves out those that fail; gives their paths. */
  async prepare(mutants: readonly Mutant[]): Promise<readonly string[]> {
    const paths = new Set(mutants.flatMap((mutant) => [...this.#own(mutant), ...this.#near(mutant)]));
    for (const path of paths) if (await this.#passes([path], roomMs)) this.#sound.add(path);
    return [...paths].filter((path) => !this.#sound.has(path));
  }

  #own({ path }: Mutant): string[] {
    return this.#importers.testsOf(path).filter((test) => test.startsWith(`${this.#room.folder}/`));
  }

  #near({ path }: Mutant): string[] {
    const isNear = (test: string): boolean => this.#room.neighbours.some((folder) => test.startsWith(folder));
    return this.#importers.testsOf(path).filter((test) => isNear(test) && !test.startsWith(`${this.#room.folder}/`));
  }

  async #notice(tests: readonly string[], timeoutMs: number): Promise<boolean> {
    const sound = tests.filter((path) => this.#sound.has(path));
    return sound.length > 0 && !(await this.#passes(sound, timeoutMs));
  }

  async #passes(tests: readonly string[], timeoutMs: number): Promise<boolean> {
    const command = [bun, "test", "--bail", ...tests.map((path) => `./${path}`)];
    return (await this.#sandbox.run(command, timeoutMs)).passed;
  }
}

interface Result {
  readonly room: Room;
  readonly counts: Readonly<Record<Verdict, number>>;
  readonly survivors: readonly string[];
}

async function judgeRoom(room: Room, mutants: readonly Mutant[], sandbox: Sandbox): Promise<Result> {
  const importers = new Importers(root, await filesIn([room.folder, ...room.neighbours]));
  const judge = new Judge(sandbox, importers, room);
  for (const path of await judge.prepare(mutants)) console.log(`  left out, since it fails without a change: ${path}`);
  const counts = { room: 0, neighbours: 0, types: 0, survived: 0 };
  const survivors: string[] = [];
  for (const mutant of mutants) {
    const verdict = await judge.verdictOf(mutant);
    counts[verdict]++;
    if (verdict !== "survived") continue;
    const source = lineOf(readFileSync(join(root, mutant.path), "utf8"), mutant);
    survivors.push(`  ${mutant.path}:${mutant.line} ${mutant.change}: ${source}`);
    console.log(survivors.at(-1));
  }
  return { room, counts, survivors };
}

function shareOf({ counts }: Result): number {
  const killed = counts.room + counts.neighbours + counts.types;
  return killed / Math.max(1, killed + counts.survived);
}

/** Passes when each room reaches its share. */
export async function run({
  n,
  seed,
  only,
}: {
  n: number;
  seed: number;
  only?: readonly string[];
}): Promise<{ passed: boolean; summary: string }> {
  const known: readonly Equivalent[] = JSON.parse(readFileSync(join(import.meta.dir, "equivalents.json"), "utf8"));
  using sandbox = new Sandbox(root);
  const results: Result[] = [];
  for (const room of rooms) {
    if (only !== undefined && !only.includes(room.name)) continue;
    const result = await judgeRoom(room, await drawn(room, n, seed, known), sandbox);
    results.push(result);
    console.log(rowOf(result));
  }
  const passed = results.every((result) => shareOf(result) >= result.room.goal);
  return { passed, summary: results.map(rowOf).join("\n") };
}

function rowOf(result: Result): string {
  const { room, counts } = result;
  const killed = counts.room + counts.neighbours + counts.types;
  const share = (shareOf(result) * 100).toFixed(0);
  const parts = `${counts.room} by its tests, ${counts.neighbours} by its neighbours', ${counts.types} by types`;
  return `${room.name.padEnd(12)} ${killed}/${killed + counts.survived} (${share}%, goal ${room.goal * 100}%): ${parts}`;
}
