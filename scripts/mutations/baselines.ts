/** What a test file does on unchanged sources: whether it passes, how long it takes and which lines it executes. */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Sandbox } from "./sandbox.ts";

export interface Baseline {
  /** A test file that fails without a change would seem to notice everything. */
  readonly passed: boolean;
  readonly ms: number;
  /** Whether the line is executed, as far as that is known: lines without code, and runs without a report, count. */
  executes(path: string, line: number): boolean;
}

/** One test file takes at most this long. */
const fileMs = 120_000;

const coverageFolder = "node_modules/coverage";

export class Baselines {
  readonly #sandbox: Sandbox;
  readonly #known = new Map<string, Baseline>();

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  /** Runs each test file at its first use. The sources in the copy must be unchanged then. */
  async of(test: string): Promise<Baseline> {
    const known = this.#known.get(test) ?? (await this.#measure(test));
    this.#known.set(test, known);
    return known;
  }

  async #measure(test: string): Promise<Baseline> {
    const folder = join(this.#sandbox.directory, coverageFolder);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const report = join(folder, "lcov.info");
    const options = ["--coverage", "--coverage-reporter=lcov", `--coverage-dir=${coverageFolder}`];
    const started = performance.now();
    const { passed } = await this.#sandbox.test([test], fileMs, options);
    const ms = performance.now() - started;
    if (passed && existsSync(report)) {
      const counts = countsOf(readFileSync(report, "utf8"));
      return { passed, ms, executes: (path, line) => counts.get(path)?.get(line) !== 0 && counts.has(path) };
    }
    // Some tests measure time or memory, which the report changes.
    const plain = await this.#sandbox.test([test], fileMs);
    return { passed: plain.passed, ms: performance.now() - started - ms, executes: () => true };
  }
}

/** How often each line was executed, by file and line, of a report in the format of lcov. */
export function countsOf(lcov: string): Map<string, Map<number, number>> {
  const files = new Map<string, Map<number, number>>();
  let lines = new Map<number, number>();
  for (const record of lcov.split("\n")) {
    const [, path] = /^SF:(.*)$/.exec(record) ?? [];
    if (path !== undefined) {
      lines = new Map();
      files.set(path, lines);
    }
    const [, line, count] = /^DA:(\d+),(\d+)/.exec(record) ?? [];
    if (line !== undefined) lines.set(Number(line), Number(count));
  }
  return files;
}
