import type { Network } from "@sluice/contract/tiers";
import { BoundedMap, type Clock } from "@sluice/lib";
import type { LedgerConnection } from "../connection.ts";
import { lookupSettings, type SlotWindow } from "./statements.ts";

/** What the ledger holds of a chain. */
export interface ChainHeld {
  /** Ranges of slots that are held whole and are final, apart and in their order. */
  readonly ranges: readonly SlotWindow[];
  /** Slots below it are final; 0 while nothing is. */
  readonly finalBefore: bigint;
  /** The lowest and the highest slot of a block, final or not; null without one. */
  readonly blocks: SlotWindow | null;
}

/** Milliseconds for which what is held is not read again: less than a slot, so that finality is told in time. */
const heldMs = 200;
/** Milliseconds for which the first slot of a moment is not looked for again; backfill may add blocks before it. */
const momentMs = 10_000;
const momentsMax = 1_024;

interface Kept<T> {
  readonly value: Promise<T>;
  readonly untilMs: number;
}

interface ProbedBlock {
  readonly slot: bigint;
  /** Unix seconds. */
  readonly time: bigint;
}

/** What is held of each network, and when its blocks were. */
export class ChainHoldings {
  readonly #connection: LedgerConnection;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #held = new Map<Network, Kept<ChainHeld>>();
  readonly #moments = new BoundedMap<string, Kept<bigint | null>>({ max: momentsMax });

  constructor(connection: LedgerConnection, clock: Pick<Clock, "monotonic">) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /** What is held of a network, at most a fifth of a second old. Throws LedgerUnavailableError, LedgerQueryError. */
  held(network: Network): Promise<ChainHeld> {
    const known = this.#held.get(network);
    if (known !== undefined && this.#clock.monotonic() < known.untilMs) return known.value;
    const value = this.#read(network);
    const kept = { value, untilMs: this.#clock.monotonic() + heldMs };
    this.#held.set(network, kept);
    value.catch(() => this.#held.get(network) === kept && this.#held.delete(network));
    return value;
  }

  /**
   * The first slot whose block is of a moment (Unix seconds) or later; null where all that are held are earlier. Times
   * of blocks never go back by more than the chain allows, and are taken as ascending.
   */
  firstSlotSince(network: Network, seconds: bigint): Promise<bigint | null> {
    const name = `${network} ${seconds}`;
    const known = this.#moments.get(name);
    if (known !== undefined && this.#clock.monotonic() < known.untilMs) return known.value;
    const value = this.#search(network, seconds);
    const kept = { value, untilMs: this.#clock.monotonic() + momentMs };
    this.#moments.set(name, kept);
    const forget = (): void => {
      if (this.#moments.get(name) === kept) this.#moments.delete(name);
    };
    // A moment that is ahead of the chain comes with its next block.
    value.then((slot) => slot === null && forget(), forget);
    return value;
  }

  /**
   * When the first block was since which none is missing, in Unix milliseconds: of the newest range that is held whole,
   * or of all blocks while none is final; null without a block.
   */
  async heldSinceMs(network: Network): Promise<number | null> {
    const { ranges, blocks } = await this.held(network);
    const from = ranges.at(-1)?.from ?? blocks?.from;
    if (from === undefined) return null;
    const [row] = await this.#connection.query<{ ms: string }>(
      "SELECT toUnixTimestamp64Milli(at) AS ms FROM blocks " +
        "WHERE network = {network:String} AND slot >= {from:UInt64} ORDER BY slot LIMIT 1",
      { network, from },
      lookupSettings,
    );
    return row === undefined ? null : Number(row.ms);
  }

  async #read(network: Network): Promise<ChainHeld> {
    const [ranges, [first], [last]] = await Promise.all([
      this.#connection.query<{ first_slot: string; until: string }>(
        "SELECT first_slot, until_slot AS until FROM held_ranges FINAL " +
          "WHERE network = {network:String} AND until_slot > first_slot ORDER BY first_slot, until_slot",
        { network },
        lookupSettings,
      ),
      this.#edge(network, "ASC"),
      this.#edge(network, "DESC"),
    ]);
    const joined: { from: bigint; to: bigint }[] = [];
    for (const { first_slot, until } of ranges) {
      const [from, to] = [BigInt(first_slot), BigInt(until) - 1n];
      const before = joined.at(-1);
      if (before === undefined || from > before.to + 1n) joined.push({ from, to });
      else if (to > before.to) before.to = to;
    }
    const blocks = first === undefined || last === undefined ? null : { from: first, to: last };
    return { ranges: joined, finalBefore: (joined.at(-1)?.to ?? -1n) + 1n, blocks };
  }

  async #edge(network: Network, direction: "ASC" | "DESC"): Promise<bigint[]> {
    const rows = await this.#connection.query<{ slot: string }>(
      `SELECT slot FROM blocks WHERE network = {network:String} ORDER BY slot ${direction} LIMIT 1`,
      { network },
      lookupSettings,
    );
    return rows.map(({ slot }) => BigInt(slot));
  }

  /** Bisects the slots that are held: some thirty reads of one granule each. */
  async #search(network: Network, seconds: bigint): Promise<bigint | null> {
    const { blocks } = await this.held(network);
    if (blocks === null) return null;
    const newest = await this.#firstFrom(network, blocks.to, blocks.to);
    if (newest !== null && newest.time < seconds) return null;
    let found: bigint | null = null;
    let { from, to } = blocks;
    while (from <= to) {
      const middle = (from + to) / 2n;
      const block = await this.#firstFrom(network, middle, to);
      if (block === null) to = middle - 1n;
      else if (block.time >= seconds) {
        found = block.slot;
        to = middle - 1n;
      } else from = block.slot + 1n;
    }
    return found;
  }

  async #firstFrom(network: Network, from: bigint, to: bigint): Promise<ProbedBlock | null> {
    const [row] = await this.#connection.query<{ slot: string; time: number }>(
      "SELECT slot, toUnixTimestamp(assumeNotNull(block_time)) AS time FROM blocks " +
        "WHERE network = {network:String} AND slot >= {from:UInt64} AND slot <= {to:UInt64} " +
        "AND block_time IS NOT NULL ORDER BY slot LIMIT 1",
      { network, from, to },
      lookupSettings,
    );
    return row === undefined ? null : { slot: BigInt(row.slot), time: BigInt(row.time) };
  }
}

/** Whether all slots of a window are held and final. */
export const isHeldWhole = ({ ranges }: ChainHeld, { from, to }: SlotWindow): boolean =>
  ranges.some((range) => range.from <= from && to <= range.to);
