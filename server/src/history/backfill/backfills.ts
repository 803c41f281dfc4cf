import type { BackfillRecord } from "@sluice/contract/schemas";
import type { Network } from "@sluice/contract/tiers";
import { type Clock, invariant, type Random } from "@sluice/lib";
import type { BackfillOrder, LedgerChainStore } from "../../ledger/index.ts";
import { type BackfillProgress, heldSlots } from "./chain-backfill.ts";

export interface BackfillsDependencies {
  readonly store: LedgerChainStore;
  /** Those whose logs this process opens. */
  readonly networks: () => readonly Network[];
  /** The moment from which the ledger keeps blocks, Unix milliseconds; null where that is for ever. */
  readonly keptSince: () => number | null;
  /** Of the backfill that runs in this process; null where another one fills. */
  readonly progressOf: (network: Network) => BackfillProgress | null;
  readonly clock: Pick<Clock, "now">;
  readonly random: Random;
}

/** Active orders of one network. */
const activeMax = 100;

/** Orders of slots that are to be held, for operators. They are rows of the ledger, so that any process fills them. */
export class Backfills {
  readonly #dependencies: BackfillsDependencies;

  constructor(dependencies: BackfillsDependencies) {
    this.#dependencies = dependencies;
  }

  /** All orders, active ones first. @throws {LedgerUnavailableError | LedgerQueryError} */
  async list(): Promise<readonly BackfillRecord[]> {
    const { store, networks } = this.#dependencies;
    const records: BackfillRecord[] = [];
    for (const network of networks()) {
      const orders = await store.backfills(network);
      if (orders.length === 0) continue;
      records.push(...(await this.#records(network, orders)));
    }
    return records;
  }

  /**
   * Orders the slots from `first` to below `until`.
   *
   * @throws {LedgerUnavailableError | LedgerQueryError}
   */
  async add(network: Network, { first, until }: { readonly first: bigint; readonly until: bigint }) {
    const { store, networks, clock, random } = this.#dependencies;
    if (!networks().includes(network)) return { ok: false, reason: "network" } as const;
    if (until <= (await this.#agedBefore(network))) return { ok: false, reason: "aged" } as const;
    const active = (await store.backfills(network)).filter(({ state }) => state === "active");
    if (active.length >= activeMax) return { ok: false, reason: "full" } as const;
    // By time first, so that the oldest order is the first.
    const id = `${Math.trunc(clock.now()).toString(36)}${Buffer.from(random.bytes(4)).toString("hex")}`;
    const order = { id, first, until, state: "active" } as const;
    await store.putBackfill(network, order);
    const [record] = await this.#records(network, [order]);
    invariant(record !== undefined, "an order has a record");
    return { ok: true, record } as const;
  }

  /** False where no active order has the id. @throws {LedgerUnavailableError | LedgerQueryError} */
  async cancel(id: string): Promise<boolean> {
    const { store, networks } = this.#dependencies;
    for (const network of networks()) {
      const order = (await store.backfills(network)).find((each) => each.id === id && each.state === "active");
      if (order === undefined) continue;
      await store.putBackfill(network, { ...order, state: "cancelled" });
      return true;
    }
    return false;
  }

  /** Slots below it are older than the ledger keeps blocks, as the ledger shows it. */
  async #agedBefore(network: Network): Promise<bigint> {
    const { store, keptSince } = this.#dependencies;
    const sinceMs = keptSince();
    return sinceMs === null ? 0n : await store.agedBefore(network, sinceMs);
  }

  async #records(network: Network, orders: readonly BackfillOrder[]): Promise<BackfillRecord[]> {
    const { store, progressOf } = this.#dependencies;
    const { ranges } = await store.held(network);
    const shown = await this.#agedBefore(network);
    // Nodes tell the one who fills of more than the ledger shows.
    const found = progressOf(network)?.agedBefore ?? 0n;
    const aged = shown > found ? shown : found;
    return orders.map((order) => this.#record(network, order, { held: heldSlots(order, ranges, aged), aged }));
  }

  #record(
    network: Network,
    order: BackfillOrder,
    { held, aged }: { readonly held: bigint; readonly aged: bigint },
  ): BackfillRecord {
    const total = order.until - order.first;
    const below = aged < order.first ? 0n : aged < order.until ? aged - order.first : total;
    // An order that is done lacks nothing else, whoever has filled it.
    const tooOld = order.state === "done" ? total - held : below;
    const left = Number(total - held - tooOld);
    const progress = order.state === "active" ? this.#dependencies.progressOf(network) : null;
    const pace = progress?.slotsPerSecond ?? null;
    return {
      id: order.id,
      network,
      from: String(order.first),
      to: String(order.until - 1n),
      state: left === 0 && order.state === "active" ? "done" : order.state,
      slots: Number(total),
      held: Number(held),
      too_old: Number(tooOld),
      slots_per_second: pace === null ? null : Math.round(pace * 10) / 10,
      eta_seconds: pace === null || pace === 0 || left === 0 ? null : Math.ceil(left / pace),
      fault: progress?.fault ?? null,
    };
  }
}
