/**
 * `npm run campaign -- mutations --n N --seed S [--only room,room]`: N single changes in each room's sources, each of
 * which a test must notice. A change runs in a copy of the repository, first against the tests of its room that reach
 * the file, then against the types, then against its neighbours' tests that execute the line. What survives is listed;
 * a change that nothing can notice is put on record in equivalents.json with its reason, and no longer drawn.
 *
 * Not changed are logs, metrics and assertions, types, numbers other than 0 and 1, and the numbers that stand for
 * elements which are not there.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { seededRandom } from "@sluice/lib";
import { root as repository } from "../run-tests.ts";
import { Baselines } from "./baselines.ts";
import { type Equivalent, knownEquivalents, withoutEquivalents } from "./equivalents.ts";
import { Importers } from "./importers.ts";
import { Judge, type Verdict } from "./judge.ts";
import { type Mutant, mutantsOf } from "./mutants.ts";
import { type Room, rooms } from "./rooms.ts";
import { Sandbox } from "./sandbox.ts";

async function filesIn(root: string, folders: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    folders.map((folder) => Array.fromAsync(new Bun.Glob(`${folder}/**/*.ts`).scan({ cwd: root }))),
  );
  return [...new Set(found.flat())].filter((path) => !path.includes("node_modules")).toSorted();
}

/** What reports is no rule: rooms' events.ts hold their metrics and log lines. */
const isSource = (path: string): boolean => !/\.(test|campaign)\.ts$|\/testing\/|\/events\.ts$/.test(path);

export interface Measure {
  /** The checkout, of which a copy is changed. */
  readonly root: string;
  readonly rooms: readonly Room[];
  /** How many mutants of each room, and by which seed. */
  readonly n: number;
  readonly seed: number;
  readonly known: readonly Equivalent[];
}

interface Draw {
  readonly mutants: readonly Mutant[];
  /** Mutants of the room that nothing can notice; none of them is drawn. */
  readonly equivalent: number;
}

/** `n` mutants of the room in an order that follows from the seed. */
async function drawn(room: Room, { root, n, seed, known }: Measure): Promise<Draw> {
  const found: Mutant[] = [];
  for (const path of (await filesIn(root, [room.folder])).filter(isSource)) {
    found.push(...mutantsOf(path, readFileSync(join(root, path), "utf8")));
  }
  const all = withoutEquivalents(found, known);
  const random = seededRandom(seed);
  for (let at = all.length - 1; at > 0; at--) {
    const other = Math.floor(random.next() * (at + 1));
    [all[at], all[other]] = [all[other] as Mutant, all[at] as Mutant];
  }
  return { mutants: all.slice(0, n), equivalent: found.length - all.length };
}

interface Result {
  readonly room: Room;
  readonly counts: Readonly<Record<Verdict, number>>;
  readonly equivalent: number;
}

async function judgeRoom(room: Room, { mutants, equivalent }: Draw, judge: Judge): Promise<Result> {
  const counts = { room: 0, neighbours: 0, types: 0, survived: 0 };
  for (const mutant of mutants) {
    const verdict = await judge.verdictOf(mutant);
    counts[verdict]++;
    if (verdict !== "survived") continue;
    console.log(`  ${mutant.path}:${mutant.line} ${mutant.change}: ${mutant.source}`);
  }
  return { room, counts, equivalent };
}

function shareOf({ counts }: Result): number {
  const killed = counts.room + counts.neighbours + counts.types;
  return killed / Math.max(1, killed + counts.survived);
}

/** Passes when each room reaches its share. */
export async function measure(options: Measure): Promise<{ passed: boolean; summary: string }> {
  const { root } = options;
  using sandbox = new Sandbox(root);
  const baselines = new Baselines(sandbox);
  const results: Result[] = [];
  for (const room of options.rooms) {
    const importers = new Importers(root, await filesIn(root, [room.folder, ...room.neighbours]));
    const judge = new Judge({ root, room }, { sandbox, baselines, importers });
    const result = await judgeRoom(room, await drawn(room, options), judge);
    results.push(result);
    console.log(rowOf(result));
  }
  const passed = results.every((result) => shareOf(result) >= result.room.goal);
  return { passed, summary: results.map(rowOf).join("\n") };
}

/** Measures the rooms of the repository, or those of `only`. */
export function run(options: { n: number; seed: number; only?: readonly string[] }): ReturnType<typeof measure> {
  const { n, seed, only } = options;
  const wanted = rooms.filter(({ name }) => only === undefined || only.includes(name));
  return measure({ root: repository, rooms: wanted, n, seed, known: knownEquivalents() });
}

function rowOf(result: Result): string {
  const { room, counts, equivalent } = result;
  const killed = counts.room + counts.neighbours + counts.types;
  const share = (shareOf(result) * 100).toFixed(0);
  const parts = `${counts.room} by its tests, ${counts.types} by types, ${counts.neighbours} by its neighbours'`;
  const figures = `${killed}/${killed + counts.survived} (${share}%, goal ${room.goal * 100}%)`;
  return `${room.name.padEnd(12)} ${figures}: ${parts}; ${equivalent} equivalent of the room's are not drawn`;
}
