import { writeSync } from "node:fs";
import { join } from "node:path";
import { type Random, seededRandom, systemClock, systemRandom } from "@sluice/lib";
import { openState, type State } from "../../../state/index.ts";
import type { BundleChange } from "../../model/bundle.ts";
import { type DurableBundlePool, openBundlePool } from "../bundle-pool.ts";
import { addressOf, anyChain, bundleNamed, KeptLedger, SeenEvents, slotOf } from "./bundles.ts";

const writers = 8;
const liveMax = 400;
const log = { info: () => {}, warn: () => {} };

export function openHere(directory: string): Promise<State> {
  const options = { directory: join(directory, "state"), databaseUrl: null };
  return openState(options, { clock: systemClock, random: systemRandom, log });
}

/** The steps that a writer asks for; where it is in the chain names the bundle, so that a mix-up shows. */
export const stepsOf = (id: string): readonly BundleChange[] => [
  { to: "included", slot: slotOf(7), blockhash: id, index: 0, tip: 9n },
  { to: "included", slot: slotOf(7), blockhash: id, index: 0, tip: 9n },
  { to: "finalized" },
  { to: "dropped", reason: "fork" },
  { to: "dropped", reason: "tip_not_paid" },
  { to: "expired", reason: "blockhash_expired" },
];

const say = (...words: readonly string[]): void => {
  writeSync(1, `${words.join(" ")}\n`);
};

/** A ledger whose rows are lines: what was said before a kill has been reported. */
class SayingLedger extends KeptLedger {
  override async insert(table: string, rows: readonly object[]): Promise<void> {
    await super.insert(table, rows);
    for (const row of this.rows.splice(0)) say("ledger", String(row["id"]), String(row["state"]), `${row["reason"]}.`);
  }
}

/**
 * Accepts and changes bundles from several places at once until it is killed. A line says what is requested before it
 * is asked, and what was answered after: `accept <id> <name>`, `step <id> <state> <reason>`, `is <id> <state>
 * <reason>`.
 */
export async function writeForEver(directory: string, run: number): Promise<void> {
  const state = await openHere(directory);
  const dependencies = {
    ...anyChain,
    store: state.engine.of("mainnet").bundles,
    ledger: new SayingLedger(),
    clock: systemClock,
    events: new SeenEvents(),
  };
  const pool = await openBundlePool({}, dependencies);
  say("loaded", String(pool.liveCount));
  let next = 0;
  const write = async (random: Random): Promise<void> => {
    for (;;) {
      if (random.next() < 0.02) await pool.reportOutcomes();
      if (pool.liveCount < liveMax && random.next() < 0.4) {
        next += 1;
        await acceptOne(pool, `${run} ${next}`);
      } else await changeOne(pool, random);
    }
  };
  await Promise.all(Array.from({ length: writers }, (_, index) => write(seededRandom(run * writers + index))));
}

async function acceptOne(pool: DurableBundlePool, name: string): Promise<void> {
  const bundle = bundleNamed(name);
  say("accept", bundle.id, name);
  const { record } = await pool.accept(bundle);
  say("is", record.id, record.state, ".");
}

async function changeOne(pool: DurableBundlePool, random: Random): Promise<void> {
  const at = Math.floor(random.next() * pool.liveCount);
  const record = [...pool.everyLive()][at];
  if (record === undefined) return;
  const steps = stepsOf(record.id);
  const step = steps[Math.floor(random.next() * steps.length)];
  if (step === undefined) return;
  say("step", record.id, step.to, `${"reason" in step ? step.reason : ""}.`);
  if (random.next() < 0.3) pool.forwarded([record.id], { slot: slotOf(7), leader: addressOf("leader") });
  const stands = await pool.change(record.id, step);
  if (stands !== null) say("is", stands.id, stands.state, `${stands.reason ?? ""}.`);
}
