/** Decides who notices a change: the tests of its room, the types, its neighbours' tests, or nobody. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root as repository } from "../run-tests.ts";
import type { Baseline, Baselines } from "./baselines.ts";
import type { Importers } from "./importers.ts";
import { applied, type Mutant } from "./mutants.ts";
import type { Room } from "./rooms.ts";
import type { Sandbox } from "./sandbox.ts";

export type Verdict = "room" | "types" | "neighbours" | "survived";

/** Tests are ended after so many times their usual time; a change that makes them hang was noticed. */
const patience = 4;
const patienceMsMin = 20_000;
const typesMs = 180_000;

/** What was checked is kept between checks, so that each reads only what a change touches. */
const typeCheck = [
  join(repository, "node_modules/.bin/tsc"),
  "--noEmit",
  "--incremental",
  "--tsBuildInfoFile",
  "node_modules/types.tsbuildinfo",
];

interface TestFile extends Baseline {
  readonly path: string;
}

export class Judge {
  readonly #root: string;
  readonly #sandbox: Sandbox;
  readonly #importers: Importers;
  readonly #room: Room;
  readonly #baselines: Baselines;
  readonly #leftOut = new Set<string>();
  #hasSoundTypes: boolean | null = null;

  /** `root` is the checkout that the sandbox is a copy of. */
  constructor(
    { root, room }: { root: string; room: Room },
    dependencies: { sandbox: Sandbox; baselines: Baselines; importers: Importers },
  ) {
    this.#root = root;
    this.#room = room;
    this.#sandbox = dependencies.sandbox;
    this.#importers = dependencies.importers;
    this.#baselines = dependencies.baselines;
  }

  async verdictOf(mutant: Mutant): Promise<Verdict> {
    const own = await this.#testsFor(mutant, (test) => test.startsWith(`${this.#room.folder}/`));
    if (own.length > 0 && !(await this.#passes(own, mutant))) return "room";
    this.#hasSoundTypes ??= await this.#checkTypes();
    if (this.#hasSoundTypes && !(await this.#withMutant(mutant, () => this.#checkTypes()))) return "types";
    const isNear = (test: string): boolean => this.#room.neighbours.some((folder) => test.startsWith(folder));
    const near = await this.#testsFor(mutant, (test) => isNear(test) && !test.startsWith(`${this.#room.folder}/`));
    for (const test of near) {
      if (this.#room.runsInChildren !== true && !test.executes(mutant.path, mutant.line)) continue;
      // They listen, wait and start processes: a failure counts when it comes again.
      if (!(await this.#passes([test], mutant)) && !(await this.#passes([test], mutant))) return "neighbours";
    }
    return "survived";
  }

  /** The test files that reach the mutant's file and pass: first those that execute its line, then the quickest. */
  async #testsFor(mutant: Mutant, isWanted: (test: string) => boolean): Promise<readonly TestFile[]> {
    const tests: TestFile[] = [];
    for (const path of this.#importers.testsOf(mutant.path).filter(isWanted)) {
      const baseline = await this.#baselines.of(path);
      if (baseline.passed) tests.push({ ...baseline, path });
      else this.#leaveOut(path);
    }
    const rank = (test: TestFile): number => (test.executes(mutant.path, mutant.line) ? 0 : 1);
    return tests.toSorted((one, other) => rank(one) - rank(other) || one.ms - other.ms);
  }

  #leaveOut(what: string): void {
    if (this.#leftOut.has(what)) return;
    this.#leftOut.add(what);
    console.log(`  left out, since it fails without a change: ${what}`);
  }

  #passes(tests: readonly TestFile[], mutant: Mutant): Promise<boolean> {
    const usualMs = tests.reduce((sum, { ms }) => sum + ms, 0);
    const paths = tests.map(({ path }) => path);
    return this.#withMutant(mutant, async () => {
      return (await this.#sandbox.test(paths, usualMs * patience + patienceMsMin)).passed;
    });
  }

  async #checkTypes(): Promise<boolean> {
    const { passed, timedOut } = await this.#sandbox.run(typeCheck, typesMs);
    if (this.#hasSoundTypes === null && !passed) this.#leaveOut("types");
    // The compiler does not hang on a change: its time was over because the machine is slow.
    return passed || timedOut;
  }

  async #withMutant(mutant: Mutant, work: () => Promise<boolean>): Promise<boolean> {
    const text = readFileSync(join(this.#root, mutant.path), "utf8");
    this.#sandbox.write(mutant.path, applied(text, mutant));
    try {
      return await work();
    } finally {
      this.#sandbox.write(mutant.path, text);
    }
  }
}
