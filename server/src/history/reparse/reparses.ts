import type { ReparseRecord } from "@sluice/contract/schemas";
import type { Network } from "@sluice/contract/tiers";
import type { Clock, Random } from "@sluice/lib";
import { parserVersion } from "@sluice/parser";
import {
  type LedgerChainStore,
  type LedgerParsedStore,
  missing,
  type ReparseOrder,
  type SlotSpan,
  versionOrder,
} from "../../ledger/index.ts";
import type { ReparseProgress } from "./chain-reparse.ts";

export interface ReparsesDependencies {
  readonly store: Pick<LedgerChainStore, "held">;
  readonly parsed: LedgerParsedStore;
  /** Those whose logs this process opens. */
  readonly networks: () => readonly Network[];
  /** Of what runs in this process; null where another one parses. */
  readonly progressOf: (network: Network) => ReparseProgress | null;
  /** Has what runs in this process look for orders at once. */
  readonly wake: (network: Network) => void;
  readonly clock: Pick<Clock, "now">;
  readonly random: Random;
}

/** Active orders of one network. */
const activeMax = 100;

/** Orders to parse history again, for operators. They are rows of the ledger, so that any process works on them. */
export class Reparses {
  readonly #dependencies: ReparsesDependencies;

  constructor(dependencies: ReparsesDependencies) {
    this.#dependencies = dependencies;
  }

  /** All orders, each network's own one first. @throws {LedgerUnavailableError | LedgerQueryError} */
  async list(): Promise<readonly ReparseRecord[]> {
    const { parsed, networks } = this.#dependencies;
    const records: ReparseRecord[] = [];
    for (const network of networks()) {
      records.push(...(await parsed.orders(network)).map((order) => this.#record(network, order)));
    }
    return records;
  }

  /**
   * Orders the slots from `first` to below `until`, or all that is held, as far as it is held and final.
   *
   * @param of - null where there is one network alone
   * @throws {LedgerUnavailableError | LedgerQueryError}
   */
  async add(of: Network | null, span: { readonly first: bigint | null; readonly until: bigint | null }) {
    const { store, parsed, networks, clock, random, wake } = this.#dependencies;
    const all = networks();
    const network = of ?? (all.length === 1 ? all[0] : undefined);
    if (network === undefined) return { ok: false, reason: "networks" } as const;
    if (!all.includes(network)) return { ok: false, reason: "network" } as const;
    const { ranges } = await store.held(network);
    const part = heldPart(ranges, span);
    if (part === null) return { ok: false, reason: "not-held" } as const;
    const active = (await parsed.orders(network)).filter(({ id, state }) => id !== versionOrder && state === "active");
    if (active.length >= activeMax) return { ok: false, reason: "full" } as const;
    // By time first, so that the oldest order is the first.
    const id = `${Math.trunc(clock.now()).toString(36)}${Buffer.from(random.bytes(4)).toString("hex")}`;
    const order = { ...part, id, next: part.first, state: "active", parserVersion, transactions: 0n } as const;
    await parsed.putOrder(network, order);
    wake(network);
    return { ok: true, record: this.#record(network, order) } as const;
  }

  /** False where no active order has the id. @throws {LedgerUnavailableError | LedgerQueryError} */
  async cancel(id: string): Promise<boolean> {
    const { parsed, networks } = this.#dependencies;
    if (id === versionOrder) return false;
    for (const network of networks()) {
      const order = (await parsed.orders(network)).find((each) => each.id === id && each.state === "active");
      if (order === undefined) continue;
      await parsed.putOrder(network, { ...order, state: "cancelled" });
      return true;
    }
    return false;
  }

  #record(network: Network, order: ReparseOrder): ReparseRecord {
    const progress = this.#dependencies.progressOf(network);
    const isRunning = progress !== null && progress.order?.id === order.id;
    const { next, transactions } = isRunning && progress.order !== null ? progress.order : order;
    const state = isRunning ? "active" : order.state;
    const left = Number(order.until > next ? order.until - next : 0n);
    const pace = isRunning ? progress.slotsPerSecond : null;
    return {
      ...{ id: order.id, network, from: String(order.first), to: String(order.until - 1n), state },
      parser_version: order.parserVersion,
      slots: Number(order.until - order.first),
      done: Number(next - order.first),
      transactions: String(transactions),
      transactions_per_second: isRunning ? rounded(progress.transactionsPerSecond) : null,
      eta_seconds: pace === null || pace === 0 || state !== "active" ? null : Math.ceil(left / pace),
      fault: state === "active" ? (progress?.fault ?? null) : null,
    };
  }
}

const rounded = (value: number | null): number | null => (value === null ? null : Math.round(value * 10) / 10);

/** From the first to the last slot of a span that is held; null where none is. */
function heldPart(
  ranges: readonly SlotSpan[],
  { first, until }: { readonly first: bigint | null; readonly until: bigint | null },
): SlotSpan | null {
  const [least] = ranges;
  const last = ranges.at(-1);
  if (least === undefined || last === undefined) return null;
  const from = first === null || first < least.first ? least.first : first;
  const to = until === null || until > last.until ? last.until : until;
  if (from >= to) return null;
  const absent = missing({ first: from, until: to }, ranges);
  return absent.length === 1 && absent[0]?.first === from && absent[0].until === to ? null : { first: from, until: to };
}
