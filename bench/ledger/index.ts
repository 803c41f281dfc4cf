/**
 * bench/ledger: what a request's fact costs in the server's process and in the engine's, at a steady pace and as fast
 * as facts are taken, beside chDB called directly with rows encoded beforehand. All in one run, alternating; medians.
 * `npm run bench -- ledger [--rounds 5] [--per-second 20000] [--seconds 4] [--json file]`. Linux only.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type RunningChild, spawnChild } from "../rpc/child.ts";
import type { Answer, Order } from "./facts.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    "per-second": { type: "string", default: "20000" },
    seconds: { type: "string", default: "4" },
    json: { type: "string" },
  },
});
const rounds = Number(values.rounds);
const perSecond = Number(values["per-second"]);
const steadyFacts = perSecond * Number(values.seconds);
const burstFacts = 200_000;

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

const figures = new Map<string, { factsPerSecond: number[]; server: number[]; engine: number[] }>();
function record(name: string, factsPerSecond: number, server: number, engine: number): void {
  const held = figures.get(name) ?? { factsPerSecond: [], server: [], engine: [] };
  figures.set(name, held);
  held.factsPerSecond.push(factsPerSecond);
  held.server.push(server);
  held.engine.push(engine);
}

async function ask<T>(child: RunningChild, line: string): Promise<T> {
  child.write(`${line}\n`);
  return JSON.parse(await child.line()) as T;
}

/** The same facts are made and thrown away first, so that only what the ledger does with them is left. */
async function measureFacts(child: RunningChild, name: string, order: Order): Promise<void> {
  const idle = await ask<Answer>(child, JSON.stringify({ ...order, append: false }));
  const answer = await ask<Answer>(child, JSON.stringify(order));
  if (answer.stored !== order.facts || answer.dropped !== 0) {
    throw new Error(`${name}: ${answer.stored} of ${order.facts} facts stored, ${answer.dropped} dropped`);
  }
  const server = (answer.serverMicros - idle.serverMicros) / order.facts;
  record(name, order.facts / answer.seconds, server, answer.engineMicros / order.facts);
}

async function measureDirect(child: RunningChild, format: string, rows: number, batches: number): Promise<void> {
  const { micros, seconds } = await ask<{ micros: number; seconds: number }>(child, `${format} ${rows} ${batches}`);
  const facts = rows * batches;
  record(`chDB directly, ${format}, ${rows} rows`, facts / seconds, Number.NaN, micros / facts);
}

const directory = mkdtempSync(join(tmpdir(), "sluice-bench-"));
const start = (script: string): RunningChild =>
  spawnChild([process.execPath, join(import.meta.dir, script), join(directory, script)]);
const facts = start("facts.ts");
const direct = start("direct.ts");
try {
  await Promise.all([facts.line(), direct.line()]);
  const order = { facts: steadyFacts, perSecond, append: true };
  const steps = [
    () => measureFacts(facts, `ledger, ${perSecond} facts/s`, order),
    () => measureDirect(direct, "JSONEachRow", 10_000, 8),
    () => measureFacts(facts, "ledger, as fast as taken", { facts: burstFacts, perSecond: null, append: true }),
    () => measureDirect(direct, "Native", 10_000, 8),
    () => measureDirect(direct, "Native", 40_000, 3),
  ];
  for (let round = 0; round <= rounds; round++) {
    for (const step of round % 2 === 0 ? steps : steps.toReversed()) await step();
    // The first round warms compilers and caches.
    if (round === 0) figures.clear();
  }
} finally {
  await Promise.all([facts.stop(), direct.stop()]);
  rmSync(directory, { recursive: true, force: true });
}

const cell = (value: number, digits: number): string =>
  (Number.isNaN(value) ? "-" : value.toFixed(digits)).padStart(14);
console.log(`${"".padEnd(40)}${["facts/s", "server µs", "engine µs"].map((text) => text.padStart(14)).join("")}`);
for (const [name, held] of figures) {
  const line = [cell(median(held.factsPerSecond), 0), cell(median(held.server), 2), cell(median(held.engine), 2)];
  console.log(`${name.padEnd(40)}${line.join("")}`);
}
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(Object.fromEntries(figures), null, 2));
