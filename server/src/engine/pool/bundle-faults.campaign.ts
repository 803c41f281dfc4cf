import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BundleState } from "@sluice/contract/engine";
import { SluiceError } from "@sluice/contract/errors";
import { ManualClock, type Random, seededRandom, systemRandom } from "@sluice/lib";
import { LedgerUnavailableError } from "../../ledger/index.ts";
import { openState, type State } from "../../state/index.ts";
import type { BundleRecord, NewBundle } from "../model/bundle.ts";
import { canBecome, isTerminal } from "../model/lifecycle.ts";
import { type DurableBundlePool, openBundlePool } from "./bundle-pool.ts";
import {
  addressOf,
  anyChain,
  bundleNamed,
  KeptLedger,
  SeenEvents,
  signatureOf,
  slotOf,
  startMs,
  withoutTimers,
} from "./testing/bundles.ts";
import { FaultyStore } from "./testing/faulty-store.ts";
import { stepsOf } from "./testing/killed-writer.ts";

const roundsAlive = 60;
const actionsMax = 12;

/**
 * `n` rounds of up to twelve things at once asked of a pool whose disk fails now and then before or after a write,
 * whose ledger is away now and then, and which is left and opened again in between; after each round its memory, what
 * it reported and its disk are held against each other, and in the end the ledger against the disk.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-bundle-faults-"));
  try {
    await using state = await openState(
      { directory, databaseUrl: null },
      { clock: new ManualClock(startMs), random: systemRandom, log: { info: () => {}, warn: () => {} } },
    );
    const trial = new Trial(state, seededRandom(seed));
    for (let round = 0; round < n && trial.faults.length === 0; round += 1) await trial.round(round);
    await trial.end();
    const { restarts, store, caughtUp, ended, faults } = trial;
    const did = `${n} rounds, ${restarts} restarts, ${store.failures} failed writes, ${caughtUp} lost answers found, ${ended} bundles ended`;
    const summary = [`${did}, ${faults.length} faults`, ...faults.slice(0, 5)].join("\n");
    return { passed: faults.length === 0 && ended > 0 && store.failures > 0 && (n < 100 || caughtUp > 0), summary };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

class Trial {
  readonly faults: string[] = [];
  readonly store: FaultyStore;
  restarts = 0;
  caughtUp = 0;
  ended = 0;
  readonly #state: State;
  readonly #random: Random;
  readonly #ledger = new KeptLedger();
  readonly #clock = new ManualClock(startMs);
  /** Bundles of the last rounds; older ones are read once more in the end. */
  readonly #names: string[] = [];
  readonly #reported = new Map<string, BundleState>();
  readonly #ends = new Map<string, string>();
  #pool: DurableBundlePool | null = null;

  constructor(state: State, random: Random) {
    this.#state = state;
    this.#random = random;
    this.store = new FaultyStore(state.engine.of("mainnet").bundles, random);
    this.#ledger.fail = () => (this.#draw() < 0.2 ? new LedgerUnavailableError("it is away") : null);
  }

  async round(number: number): Promise<void> {
    this.#clock.advance(100);
    if (this.#draw() < 0.5) this.#names.push(`${number}`);
    if (this.#names.length > roundsAlive) this.#names.shift();
    this.store.rate = this.#draw() < 0.5 ? 0.3 : 0;
    this.#pool ??= await this.#open();
    const pool = this.#pool;
    const actions = Array.from({ length: 1 + Math.floor(this.#draw() * actionsMax) }, () => this.#act(pool));
    await Promise.all(actions.map((action) => action.catch(expectOverload)));
    for (const name of this.#names) await this.#compare(pool, bundleOf(name));
    if (this.#draw() < 0.2) for (const name of this.#names) await this.#catchUp(pool, bundleOf(name));
    if (this.#draw() < 0.1) {
      // Left without a word, as by a kill; what it has under way is over.
      this.#pool = null;
      this.restarts += 1;
    }
  }

  async end(): Promise<void> {
    this.store.rate = 0;
    this.#ledger.fail = null;
    await using pool = await this.#open();
    await pool.reportOutcomes();
    const rows = Map.groupBy(this.#ledger.rows, (row) => String(row["id"]));
    for (const [id, end] of this.#ends) {
      const reported = (rows.get(id) ?? []).map((row) => textOf(row));
      if (reported.length === 0) this.faults.push(`${id} is ${end} and the ledger has no row`);
      if (new Set(reported).size > 1) this.faults.push(`the ledger received two ends of ${id}`);
      if (String(rows.get(id)?.[0]?.["state"]) !== end) this.faults.push(`the ledger received another end of ${id}`);
    }
    for (const id of rows.keys())
      if (!this.#ends.has(id)) this.faults.push(`${id} has not ended, and the ledger received an end`);
    this.ended = this.#ends.size;
  }

  #draw(): number {
    return this.#random.next();
  }

  async #open(): Promise<DurableBundlePool> {
    const dependencies = {
      store: this.store,
      ...anyChain,
      ledger: this.#ledger,
      clock: withoutTimers(this.#clock),
      events: new SeenEvents(),
    };
    const pool = await openBundlePool({}, dependencies);
    pool.onChange((record, before) => {
      const last = this.#reported.get(record.id) ?? null;
      // A step that failed and was made all the same is reported by the process that finds it, or by the pool that is
      // opened next.
      if (last !== null && !canBecome(last, record.state))
        this.faults.push(`${record.id} was ${last}: ${record.state}`);
      if (before !== null && !canBecome(before, record.state))
        this.faults.push(`${record.id}: ${before} ${record.state}`);
      this.#reported.set(record.id, record.state);
    });
    return pool;
  }

  async #act(pool: DurableBundlePool): Promise<void> {
    const name = this.#names[Math.floor(this.#draw() * this.#names.length)];
    if (name === undefined) return;
    const bundle = bundleOf(name);
    const drawn = this.#draw();
    if (drawn < 0.3) return this.#said((await pool.accept(bundle)).record);
    if (drawn < 0.4) return void (await pool.opened(bundle.id, contentOf(name)));
    if (drawn < 0.45) return pool.forwarded([bundle.id], { slot: slotOf(7), leader: addressOf("leader") });
    if (drawn < 0.5) return pool.simulated(bundle.id, { tip: 3n, computeUnits: 4 });
    if (drawn < 0.55) return pool.reportOutcomes();
    if (drawn < 0.6) return pool.writeForwarded();
    const steps = stepsOf(bundle.id);
    const step = steps[Math.floor(this.#draw() * steps.length)];
    const record = step === undefined ? null : await pool.change(bundle.id, step);
    if (record !== null) this.#said(record);
  }

  /** What an answer says must not be ahead of what the listeners received in this or an earlier pool. */
  #said(record: BundleRecord): void {
    const reported = this.#reported.get(record.id) ?? null;
    if (reported === null || !canBecome(record.state, reported)) this.#reported.set(record.id, record.state);
  }

  /** Where a lost answer left memory behind its disk, the next step that is requested brings it up. */
  async #catchUp(pool: DurableBundlePool, { id }: NewBundle): Promise<void> {
    const { bundles } = this.#state.engine.of("mainnet");
    const behind = pool.live(id);
    if (behind === null || behind.state === (await bundles.get(id))?.state) return;
    this.store.rate = 0;
    this.caughtUp += 1;
    const isIn = behind.state === "included";
    await pool.change(id, isIn ? { to: "dropped", reason: "fork" } : { to: "expired", reason: "not_landed" });
    const at = (await bundles.get(id))?.state ?? null;
    const expected = at === null || isTerminal(at) ? null : at;
    if ((pool.live(id)?.state ?? null) !== expected) this.faults.push(`${id} is ${at} and memory did not catch up`);
    if (at !== null && isTerminal(at)) this.#ends.set(id, this.#ends.get(id) ?? at);
  }

  async #compare(pool: DurableBundlePool, bundle: NewBundle): Promise<void> {
    const { id } = bundle;
    const disk = await this.#state.engine.of("mainnet").bundles.get(id);
    const reported = this.#reported.get(id) ?? null;
    const live = pool.live(id);
    const claim = (holds: boolean, text: string): void => {
      if (!holds) this.faults.push(`${id}: ${text} (reported ${reported}, disk ${disk?.state}, memory ${live?.state})`);
    };
    claim(
      reported === null || (disk !== null && canBecome(reported, disk.state)),
      "the disk contradicts what was reported",
    );
    claim(live === null || (disk !== null && canBecome(live.state, disk.state)), "memory is ahead of the disk");
    claim(live === null || !isTerminal(live.state), "it has ended and is live");
    claim(live === null || pool.liveOf(live.searcherId).includes(live), "it is not found by its searcher");
    const found = live?.signatures.every((signature) => pool.holding(signature).includes(live));
    claim(found !== false, "it is not found by its signatures");
    claim(
      live !== null || !pool.holding(signatureOf(bundle.id)).some((each) => each.id === id),
      "it is found and not live",
    );
    if (disk === null || !isTerminal(disk.state)) return;
    const before = this.#ends.get(id);
    claim(before === undefined || before === disk.state, `it had ended as ${before}`);
    this.#ends.set(id, disk.state);
  }
}

/** Every third bundle comes sealed. */
function bundleOf(name: string): NewBundle {
  if (Number(name) % 3 !== 0) return bundleNamed(name);
  return bundleNamed(name, { sealed: Uint8Array.of(1, 2, 3), transactions: [], signatures: [] });
}

const contentOf = (name: string) => ({
  transactions: [Uint8Array.of(7)],
  signatures: [signatureOf(bundleOf(name).id)],
  lastValidBlockHeight: 9n,
});

const textOf = (row: object): string =>
  JSON.stringify(row, (_name, value: unknown) => (typeof value === "bigint" ? `${value}` : value));

function expectOverload(error: unknown): void {
  if (!(error instanceof SluiceError && error.code === "OVERLOADED")) throw error;
}
