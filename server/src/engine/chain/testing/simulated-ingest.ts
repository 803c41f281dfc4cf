import { type ConfirmedBlock, packBlock } from "@sluice/encode";
import type { Random } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { BlockHeader, ChainIdentity, ChainLog } from "../../../log/index.ts";
import { type MemoryLog, openMemoryLog } from "../../../log/testing/memory-log.ts";
import { addressNamed } from "./names.ts";
import { type Heads, type SimulatedBlock, wireText } from "./simulated-chain.ts";

/** How the flow of blocks misbehaves. */
export interface FlowFaults {
  /** It is so many moments behind the nodes. */
  readonly lag: number;
  /** The share of moments at which it begins to receive nothing, for up to 40. */
  readonly outages: number;
  /** The share of outages whose blocks never come, and are told as missing later. */
  readonly gaps: number;
  /** The share of blocks that lack their height or what a transaction has changed. */
  readonly lacking: number;
  /** The share of moments at which all but the newest blocks are trimmed. */
  readonly trims: number;
}

const chain: ChainIdentity = { genesisHash: addressNamed("genesis"), firstBlockhash: null };

function headerOf({ slot, height, parent, blockhash, transactions }: SimulatedBlock): BlockHeader | null {
  if (parent === null) return null;
  return {
    chain,
    slot: slot as Slot,
    blockhash,
    parentSlot: parent.slot as Slot,
    parentBlockhash: parent.blockhash,
    blockTime: 1_800_000_000n + slot,
    height,
    transactions: transactions.length,
  };
}

function bodyOf(block: SimulatedBlock, header: BlockHeader, lacks: "height" | "meta" | null): Uint8Array {
  const model: ConfirmedBlock = {
    slot: header.slot,
    parentSlot: header.parentSlot,
    blockhash: header.blockhash,
    previousBlockhash: header.parentBlockhash,
    blockTime: header.blockTime,
    blockHeight: lacks === "height" ? null : header.height,
    rewards: [],
    transactions: block.transactions.map(({ signature, failed }) => ({
      signature,
      bytes: new Uint8Array(Buffer.from(wireText(signature), "base64")),
      meta:
        lacks === "meta"
          ? null
          : {
              error: failed ? "AccountNotFound" : null,
              fee: 5_000n,
              preBalances: [1n, 1n],
              postBalances: [0n, 1n],
              preTokenBalances: null,
              postTokenBalances: null,
              innerInstructions: null,
              logs: null,
              loadedAddresses: { writable: [], readonly: [] },
              returnData: null,
              computeUnitsConsumed: 400n,
              costUnits: 500n,
            },
    })),
  };
  return packBlock(model);
}

/** Writes what nodes show into a log, late, with holes, and in any order. */
export class SimulatedIngest {
  readonly #random: Random;
  readonly #heads: Heads[] = [];
  readonly #told = new Set<SimulatedBlock>();
  faults: FlowFaults;
  #held: MemoryLog;
  #outage = 0;
  #isGap = false;
  /** The first slot of an outage whose blocks never come. */
  #lostFrom: bigint | null = null;
  gaps = 0;
  trims = 0;

  private constructor(random: Random, faults: FlowFaults, held: MemoryLog) {
    this.#random = random;
    this.faults = faults;
    this.#held = held;
  }

  static async open(random: Random, faults: FlowFaults): Promise<SimulatedIngest> {
    return new SimulatedIngest(random, faults, await openMemoryLog(chain));
  }

  get log(): ChainLog {
    return this.#held.log;
  }

  /** The process that kept the log is another one now, which begins with what comes. */
  async startAnew(): Promise<void> {
    await this.log[Symbol.asyncDispose]();
    this.#held = await openMemoryLog(chain);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.log[Symbol.asyncDispose]();
  }

  /** A moment passes. */
  async tick(heads: Heads): Promise<void> {
    this.#heads.push(heads);
    const [late] =
      this.#heads.length > this.faults.lag ? this.#heads.splice(0, this.#heads.length - this.faults.lag) : [];
    if (late !== undefined) this.#receive(late);
    if (this.#random.next() < this.faults.trims) this.#trim();
    // Followers are told in turns of the event loop.
    for (let turns = 0; turns < 2; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  #receive({ confirmed, finalized }: Heads): void {
    if (this.#outage === 0 && this.#random.next() < this.faults.outages) {
      this.#outage = 1 + Math.floor(this.#random.next() * 40);
      this.#isGap = this.#random.next() < this.faults.gaps;
      this.#lostFrom = null;
    }
    const fresh: SimulatedBlock[] = [];
    for (let at: SimulatedBlock | null = confirmed; at !== null && !this.#told.has(at); at = at.parent) fresh.push(at);
    if (this.#outage > 0) {
      this.#outage -= 1;
      if (!this.#isGap) return;
      // Nobody will ever bring these.
      for (const block of fresh) this.#told.add(block);
      const first = fresh.at(-1);
      if (first !== undefined) this.#lostFrom ??= first.slot;
      return;
    }
    this.#tellGap(fresh);
    for (const block of shuffled(fresh, this.#random)) this.#append(block);
    const header = headerOf(finalized);
    if (header !== null) this.#write({ kind: "stage", header, stage: "finalized" });
  }

  #tellGap(fresh: readonly SimulatedBlock[]): void {
    const next = fresh.at(-1);
    if (this.#lostFrom === null || next === undefined || next.parent === null) return;
    const [from, to] = [this.#lostFrom as Slot, next.parent.slot as Slot];
    this.#lostFrom = null;
    if (to < from) return;
    this.gaps += 1;
    this.#write({ kind: "gap", from, to, reason: "unavailable" });
  }

  #append(block: SimulatedBlock): void {
    this.#told.add(block);
    const header = headerOf(block);
    if (header === null) return;
    const lacks = this.#random.next() < this.faults.lacking ? (block.slot % 2n === 0n ? "height" : "meta") : null;
    this.#write({ kind: "block", header, stage: "confirmed", body: bodyOf(block, header, lacks) });
  }

  #trim(): void {
    const newest = this.log.latest("confirmed");
    if (newest === null) return;
    this.trims += 1;
    this.#held.trimBelow(newest.slot);
  }

  #write(record: Parameters<ChainLog["append"]>[0]): void {
    // Followers are told at once; that a log which is closed stores nothing is what a restart does.
    this.log.append(record).catch(() => undefined);
  }
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  return items
    .map((item) => ({ item, at: random.next() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item);
}
