import type { Log, Timer, Timers } from "@sluice/lib";
import { addressBytes } from "@sluice/wire/base58";
import { parseTransaction, type Transaction } from "@sluice/wire/transaction";
import { TextRandom } from "../../random.ts";
import type { Chain } from "../bank/index.ts";
import { airdropTransaction } from "../rpc/index.ts";
import { setUnitLimit, setUnitPrice } from "./instructions.ts";
import { drawPlan, type TrafficKind } from "./kinds.ts";
import { LookupTables, type MaintenanceTask, maintenanceTasks } from "./maintenance.ts";
import { type Draft, signedBytes } from "./message.ts";
import { nftCountMax } from "./nft-roster.ts";
import { Holds, type Plan, TrafficWorld, type WorldChain } from "./traffic-world.ts";
import { createTrafficAccounts, type TrafficAccounts } from "./wallets.ts";

/** Transactions that prepare or repair the traffic in one slot. */
const maintenancePerSlot = 8;
/** The shortest time between two submissions of one slot; those that would come closer go together. */
const gapMsMin = 10;
/** What a slot counts for when its clock is stopped. */
const nominalSlotMs = 400;

interface TrafficOptions {
  readonly transactionsPerSecond: number;
  /** Any text: wallets, mints and all that is drawn follow from it. */
  readonly seed: string;
  /** Nominal length of a slot; 0 when slots are closed by hand, and then each gets its transactions at once. */
  readonly slotMs: number;
  /** Tokens of one unit that are ever minted under the Token program; 500 when absent. */
  readonly nftsMax?: number;
}

interface TrafficDependencies {
  readonly chain: Chain;
  readonly clock: Pick<Timers, "after">;
  readonly log: Log;
  /** Receives every transaction as it is submitted. */
  readonly submitted?: (kind: TrafficKind | "maintenance", transaction: Transaction) => void;
}

interface Ready {
  readonly kind: TrafficKind | "maintenance";
  readonly transaction: Transaction;
}

/**
 * Traffic of a seed. When a slot opens, its share of the rate is drawn and signed from the state that the chain then
 * has, and submitted over the slot like clients' transactions. The same seed gives the same transactions as long as
 * the chain gives the same slots. Nothing is remembered but which accounts are in use, so that a lost transaction, a
 * fork or an empty wallet costs nothing but itself.
 */
export class Traffic implements Disposable {
  readonly #options: TrafficOptions;
  readonly #dependencies: TrafficDependencies;
  readonly #accounts: TrafficAccounts;
  readonly #holds = new Holds();
  readonly #tables = new LookupTables();
  readonly #view: WorldChain;
  #waiting: Ready[] = [];
  #timer: Timer | null = null;
  #stopped = false;

  constructor(options: TrafficOptions, dependencies: TrafficDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    const { chain } = dependencies;
    this.#accounts = createTrafficAccounts(options.seed, chain.genesis.description, options.nftsMax ?? nftCountMax);
    this.#view = { read: (address) => chain.accounts.newest(address), faucet: chain.genesis.faucet.address };
    chain.watch({
      received() {},
      opened: (slot) => this.#opened(slot),
      frozen() {},
      confirmed() {},
      finalized() {},
    });
  }

  #opened(slot: bigint): void {
    if (this.#stopped) return;
    try {
      this.#submit(this.#waiting.length);
      this.#waiting = this.#draw(slot);
      if (this.#options.slotMs === 0) this.#submit(this.#waiting.length);
      else this.#spread();
    } catch (error) {
      // A defect of the traffic costs one slot's share of it and nothing else.
      this.#dependencies.log.error({ error, slot }, "the traffic of a slot is left out");
    }
  }

  /** How many transactions this slot gets: over many slots exactly the rate. */
  #share(slot: bigint): number {
    const rate = (this.#options.transactionsPerSecond * (this.#options.slotMs || nominalSlotMs)) / 1_000;
    const number = Number(slot);
    return Math.floor((number + 1) * rate) - Math.floor(number * rate);
  }

  #draw(slot: bigint): Ready[] {
    const { chain } = this.#dependencies;
    this.#holds.open(slot);
    const world = new TrafficWorld({
      accounts: this.#accounts,
      chain: this.#view,
      draw: new TextRandom(`${this.#options.seed}/${slot}`),
      holds: this.#holds,
      table: this.#tables.usable(this.#view, slot),
      slot,
      epoch: chain.epochs.epochOf(slot),
      votes: chain.genesis.validators.map(({ vote }) => vote),
    });
    const { blockhash } = chain.at("confirmed");
    const hash = addressBytes(blockhash);
    const ready: Ready[] = maintenanceTasks(world, this.#tables, maintenancePerSlot).map((task) => ({
      kind: "maintenance",
      transaction: this.#maintenance(task, blockhash),
    }));
    const share = this.#share(slot) - ready.length;
    for (let count = 0; count < share; count += 1) {
      const drawn = drawPlan(world);
      if (drawn === null) break;
      ready.push({ kind: drawn.kind, transaction: parsed(withBid(drawn.plan, world.draw), hash) });
    }
    return ready;
  }

  #maintenance(task: MaintenanceTask, blockhash: string): Transaction {
    if (task.kind === "draft") return parsed(task.draft, addressBytes(blockhash));
    const { faucet } = this.#dependencies.chain.genesis;
    return airdropTransaction(faucet, task.to.bytes, task.lamports, blockhash, 0);
  }

  #spread(): void {
    const { slotMs } = this.#options;
    const count = this.#waiting.length;
    if (count === 0) return;
    const gap = Math.max(gapMsMin, slotMs / (count + 1));
    const each = Math.ceil(count / Math.max(1, Math.floor(slotMs / gap)));
    const { clock } = this.#dependencies;
    const next = () => {
      this.#timer = null;
      this.#submit(each);
      if (this.#waiting.length > 0) this.#timer = clock.after(gap, next);
    };
    this.#timer = clock.after(gap, next);
  }

  #submit(count: number): void {
    if (this.#timer !== null && count >= this.#waiting.length) {
      this.#timer.cancel();
      this.#timer = null;
    }
    for (const { kind, transaction } of this.#waiting.splice(0, count)) {
      this.#dependencies.submitted?.(kind, transaction);
      // Its signatures were made here a moment ago.
      this.#dependencies.chain.submit(transaction, true);
    }
  }

  [Symbol.dispose](): void {
    this.#stopped = true;
    this.#waiting = [];
    this.#timer?.cancel();
    this.#timer = null;
  }
}

/** Starts the traffic of a chain; null for a rate of 0. It goes on until it is disposed of. */
export function startTraffic(options: TrafficOptions, dependencies: TrafficDependencies): Traffic | null {
  return options.transactionsPerSecond > 0 ? new Traffic(options, dependencies) : null;
}

function parsed(draft: Draft, blockhash: Uint8Array): Transaction {
  const result = parseTransaction(signedBytes(draft, blockhash));
  if (!result.ok) throw new Error(`the traffic made a transaction with a fault: ${result.fault}`);
  return result.transaction;
}

/** Two in five bid for their place: most a little, a few a lot. */
function withBid(plan: Plan, draw: TextRandom): Draft {
  const tier = draw.next();
  if (tier < 0.6) return plan;
  const [fewest, most] = tier < 0.88 ? [0, 4] : tier < 0.98 ? [4, 5.7] : [5.7, 6.7];
  const bid = [setUnitLimit(plan.units), setUnitPrice(BigInt(draw.magnitude(fewest, most)))];
  return { ...plan, instructions: [...bid, ...plan.instructions] };
}
