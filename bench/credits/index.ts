/**
 * bench/credits: what a take of credits costs while the lease lasts, with the tally in a mapped file as a server has
 * it, beside the same in plain memory, over a thousand accounts in turns. In one process, alternating, medians of the
 * rounds. Run it with `npm run bench -- credits`; it takes about five seconds.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemRandom } from "@sluice/lib";
import { type Credits, createCredits, openCredits, tallyInMemory } from "../../server/src/credits/index.ts";
import { MeterInMemory } from "../../server/src/credits/testing/meter-in-memory.ts";

const rounds = 7;
const takes = 2_000_000;
/** Leases so large that none is fetched while it is measured. */
const block = 1_000_000_000;
const accounts = Array.from({ length: 1_000 }, (_, index) => `acct_${index}`);
const allowance = 10n ** 18n;

const directory = mkdtempSync(join(tmpdir(), "sluice-bench-"));
const deps = { clock: systemClock, random: systemRandom, log: { warn: () => undefined } };
const options = { blockMin: block, blockMax: block };
const store = () => Object.assign(new MeterInMemory(), { closeBooksBefore: async () => 0 });
const subjects = {
  "tally in a mapped file": openCredits(
    { ...options, directory, meter: "credits" },
    { ...deps, store: store(), events: { creditsReconciled: () => undefined, creditsHeld: () => undefined } },
  ),
  "tally in memory": createCredits(options, { ...deps, store: store(), tally: tallyInMemory("bench", 10_000) }),
} satisfies Record<string, Credits>;

/** Nanoseconds of one take. */
function measure(credits: Credits): number {
  const startMs = performance.now();
  for (let index = 0; index < takes; index += 1) {
    const outcome = credits.take(accounts[index % accounts.length] ?? "", allowance, 1);
    if (outcome !== true) throw new Error("a take had to wait");
  }
  return ((performance.now() - startMs) * 1e6) / takes;
}

const times = new Map<string, number[]>();
for (const credits of Object.values(subjects)) for (const id of accounts) await credits.take(id, allowance, 1);
for (let round = 0; round < rounds; round += 1) {
  const order = Object.entries(subjects);
  for (const [name, credits] of round % 2 === 0 ? order : order.toReversed()) {
    times.set(name, [...(times.get(name) ?? []), measure(credits)]);
  }
}
for (const [name, of] of times) {
  const sorted = of.toSorted((left, right) => left - right);
  console.log(`${name.padEnd(24)} ${sorted[rounds >> 1]?.toFixed(1)} ns a take (best ${sorted[0]?.toFixed(1)})`);
}
for (const credits of Object.values(subjects)) await credits[Symbol.asyncDispose]();
rmSync(directory, { recursive: true });
