/**
 * Preloaded into every process of a walk: instruments each function of the checkout under WALK_ROOT so that it reports
 * its file, and writes the files in the order of their first execution, with the functions that ran, when SIGUSR2 ends
 * a recording that an earlier SIGUSR2 began. Timers of a second and more do not fire meanwhile: they are housekeeping
 * that belongs to no request.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { plugin } from "bun";
import { instrument } from "./instrument.ts";

const root = process.env["WALK_ROOT"] ?? "";
const out = process.env["WALK_OUT"] ?? "";
const housekeepingMs = 1_000;

const files: string[] = [];
/** Functions by file and the place where their body begins. */
const executed = new Set<number>();
/** No source file is as long. */
const offsetsMax = 1_000_000;
let isRecording = false;
let recordings = 0;

Object.assign(globalThis, {
  reportExecution: (file: number, offset: number) => {
    if (isRecording) executed.add(file * offsetsMax + offset);
  },
});

plugin({
  name: "walk-recorder",
  setup(build) {
    build.onLoad({ filter: /\.tsx?$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      const loader = path.endsWith("x") ? "tsx" : "ts";
      const name = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : null;
      if (name === null || name.includes("node_modules/")) return { contents: text, loader };
      files.push(name);
      return { contents: instrument(path, text, files.length - 1), loader };
    });
  },
});

const { setInterval: startInterval } = globalThis;
globalThis.setInterval = Object.assign(
  (run: (...args: unknown[]) => void, intervalMs?: number, ...args: unknown[]) =>
    startInterval(
      (...given: unknown[]) => {
        if (!isRecording || (intervalMs ?? 0) < housekeepingMs) run(...given);
      },
      intervalMs,
      ...args,
    ),
  startInterval,
);

/** Children start with their own environment, so the recorder travels on the command line. */
const { spawn } = Bun;
type Spawn = (command: string[], options?: { env?: Record<string, string> }) => unknown;
Object.assign(Bun, {
  spawn: ((command, options = {}) => {
    if (!Array.isArray(command) || command[0] !== process.execPath) return (spawn as Spawn)(command, options);
    const env = { ...options.env, WALK_ROOT: root, WALK_OUT: out };
    const [bun = "", ...rest] = command;
    return (spawn as Spawn)([bun, "--preload", import.meta.path, ...rest], { ...options, env });
  }) satisfies Spawn,
});

process.on("SIGUSR2", () => {
  if (!isRecording) {
    executed.clear();
    isRecording = true;
    writeFileSync(join(out, `${process.pid}.recording`), "");
    return;
  }
  isRecording = false;
  rmSync(join(out, `${process.pid}.recording`));
  recordings += 1;
  const walked = [...executed].map((each) => `${files[Math.floor(each / offsetsMax)]}#${each % offsetsMax}`);
  const path = join(out, `${process.pid}.${recordings}`);
  writeFileSync(path, JSON.stringify(walked));
  renameSync(path, `${path}.json`);
});
const described = join(out, `${process.pid}.describing`);
writeFileSync(described, JSON.stringify({ parent: process.ppid, argv: process.argv.slice(1) }));
// Whoever lists the folder reads this file at any moment: it is there whole or not at all.
renameSync(described, join(out, `${process.pid}.process`));
