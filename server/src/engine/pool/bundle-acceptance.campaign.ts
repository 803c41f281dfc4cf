import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemRandom } from "@sluice/lib";
import { openState } from "../../state/index.ts";
import type { NewBundle } from "../model/bundle.ts";
import { openBundlePool } from "./bundle-pool.ts";
import { poolLimits } from "./pool-options.ts";
import {
  anyChain,
  bundleNamed,
  bytesOf,
  KeptLedger,
  SeenEvents,
  signatureOf,
  withoutTimers,
} from "./testing/bundles.ts";

const writers = 256;
const transactionsEach = 3;
const transactionBytes = 400;

/**
 * Accepts `n` bundles of three transactions from 256 places at once, then ends each of them, and says how many of both
 * a second and how long one took. Passes when each is on disk as it was left and its outcome waits for the ledger.
 */
export async function run({ n }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const count = Math.min(n, poolLimits.liveMax);
  const directory = mkdtempSync(join(tmpdir(), "sluice-bundle-acceptance-"));
  try {
    await using state = await openState(
      { directory, databaseUrl: null },
      { clock: systemClock, random: systemRandom, log: { info: () => {}, warn: () => {} } },
    );
    const dependencies = {
      store: state.engine.of("mainnet").bundles,
      ...anyChain,
      ledger: new KeptLedger(),
      clock: withoutTimers(systemClock),
      events: new SeenEvents(),
    };
    await using pool = await openBundlePool({}, dependencies);
    const run = String(systemRandom.next());
    const bundles = Array.from({ length: count }, (_, index) => largeBundle(`${run} ${index}`));
    const accepted = await timed(bundles, async (bundle) => (await pool.accept(bundle)).fresh);
    const ended = await timed(bundles, async ({ id }) => {
      return (await pool.change(id, { to: "expired", reason: "blockhash_expired" })) !== null;
    });
    await pool.reportOutcomes();
    const reported = new Set(dependencies.ledger.rows.map((row) => row["id"]));
    const isWhole = bundles.every(({ id }) => reported.has(id)) && pool.liveCount === 0;
    const summary = `${state.driver}, ${count} bundles from ${writers} places: accepted ${accepted}; ended ${ended}`;
    return { passed: isWhole, summary };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function largeBundle(name: string): NewBundle {
  const parts = Array.from({ length: transactionsEach }, (_, index) => `${name} ${index}`);
  return bundleNamed(name, {
    transactions: parts.map((part) => bytesOf(part, transactionBytes)),
    signatures: parts.map(signatureOf),
  });
}

async function timed(bundles: readonly NewBundle[], work: (bundle: NewBundle) => Promise<boolean>): Promise<string> {
  const tookMs: number[] = [];
  let next = 0;
  const write = async (): Promise<void> => {
    for (;;) {
      const bundle = bundles[next];
      next += 1;
      if (bundle === undefined) return;
      const startedMs = systemClock.monotonic();
      if (!(await work(bundle))) throw new Error(`${bundle.id} was not as expected`);
      tookMs.push(systemClock.monotonic() - startedMs);
    }
  };
  const startedMs = systemClock.monotonic();
  await Promise.all(Array.from({ length: writers }, write));
  const seconds = (systemClock.monotonic() - startedMs) / 1_000;
  const sorted = tookMs.toSorted((left, right) => left - right);
  const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1);
  return `${Math.round(bundles.length / seconds)}/s, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`;
}
