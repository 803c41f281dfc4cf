import type { Random } from "@sluice/lib";
import { encodeBase58 } from "@sluice/wire/base58";
import { naiveTest } from "../../../events/testing/naive-matcher.ts";
import { addresses, pool, type StreamedChain, type WorldBlock } from "./streamed-chain.ts";

export type GeyserCommitment = "processed" | "confirmed" | "finalized";

const ladder = ["SLOT_PROCESSED", "SLOT_CONFIRMED", "SLOT_FINALIZED"] as const;
type LadderStatus = (typeof ladder)[number];
const ownStatus: Readonly<Record<GeyserCommitment, LadderStatus>> = {
  processed: "SLOT_PROCESSED",
  confirmed: "SLOT_CONFIRMED",
  finalized: "SLOT_FINALIZED",
};

/** What one request of a stream asks for. Its filters have its number in their names, so updates say whose they are. */
export interface GeyserAsked {
  readonly include: readonly string[];
  readonly vote: boolean | undefined;
  readonly failed: boolean | undefined;
  readonly hasStatuses: boolean;
  readonly hasBlocks: boolean;
}

export function drawAsked(random: Random): GeyserAsked {
  const some = (): string => addresses.texts[Math.floor(random.next() ** 2 * addresses.texts.length)] ?? "";
  return {
    include: random.next() < 0.5 ? Array.from({ length: 1 + Math.floor(random.next() * 3) }, some) : [],
    vote: random.next() < 0.3 ? false : undefined,
    failed: random.next() < 0.3 ? random.next() < 0.5 : undefined,
    hasStatuses: random.next() < 0.5,
    hasBlocks: random.next() < 0.5,
  };
}

/** A request with these filters, as a client sends it. */
export function requestOf(
  { include, vote, failed, hasStatuses, hasBlocks }: GeyserAsked,
  { number, commitment, from }: { readonly number: number; readonly commitment: string; readonly from: bigint | null },
): object {
  const filter = {
    account_include: include,
    ...(vote === undefined ? {} : { vote }),
    ...(failed === undefined ? {} : { failed }),
  };
  return {
    commitment: commitment.toUpperCase(),
    transactions: { [`t${number}`]: filter },
    ...(hasStatuses ? { transactions_status: { [`s${number}`]: filter } } : {}),
    ...(hasBlocks ? { blocks: { [`b${number}`]: { account_include: include, include_transactions: true } } } : {}),
    blocks_meta: { [`m${number}`]: {} },
    slots: { [`l${number}`]: { filter_by_commitment: false } },
    ...(from === null ? {} : { from_slot: String(from) }),
  };
}

/** An update as the loader of the .proto file gives it. */
export interface GeyserUpdate {
  readonly filters: readonly string[];
  readonly update_oneof: string;
  readonly slot?: { readonly slot: string; readonly status: string };
  readonly transaction?: {
    readonly slot: string;
    readonly transaction: { readonly signature: Uint8Array; readonly index: string };
  };
  readonly transaction_status?: { readonly slot: string; readonly signature: Uint8Array; readonly index: string };
  readonly block?: {
    readonly slot: string;
    readonly blockhash: string;
    readonly transactions: readonly { readonly signature: Uint8Array; readonly index: string }[];
  };
  readonly block_meta?: {
    readonly slot: string;
    readonly blockhash: string;
    readonly parent_slot: string;
    readonly parent_blockhash: string;
    readonly executed_transaction_count: string;
  };
  readonly pong?: { readonly id: number };
}

/** Something of a block that came before its meta. */
interface Collected {
  /** Of the request whose filter it met. */
  readonly number: number;
  readonly text: string;
}

/** What is known of the stream of one connection. */
interface Connection {
  readonly from: bigint | null;
  /** The slot after which it began, where it began live. */
  liveAfter: bigint;
  before: WorldBlock | null;
  collected: Collected[];
  readonly blocks: Set<WorldBlock>;
  /** The last status of each slot, by its place. */
  readonly ranks: Map<string, number>;
}

/**
 * What a client makes of a Yellowstone stream over all its connections: the blocks that it was told, each whole. Throws
 * on an update that cannot be. The protocol has no word for what a fork takes back; so whoever is to miss nothing asks,
 * when it comes back, for the slot after the last one that it was told to be final.
 */
export class GeyserView {
  readonly chain: StreamedChain;
  readonly commitment: GeyserCommitment;
  readonly #asked = new Map<number, GeyserAsked>();
  readonly #seen = new Set<WorldBlock>();
  #connection: Connection | null = null;
  /** Nothing below it has to be told. */
  #start: bigint | null;
  #lastFinal: bigint | null = null;
  #lastWhole: bigint | null = null;
  items = 0;
  /** Blocks that another connection had told before. */
  repeats = 0;

  /** `start` is the slot that is asked for first; null for what comes. */
  constructor(chain: StreamedChain, commitment: GeyserCommitment, start: bigint | null) {
    this.chain = chain;
    this.commitment = commitment;
    this.#start = start;
  }

  /** The slot from which the next connection goes on. */
  get next(): bigint | null {
    if (this.commitment === "finalized" && this.#lastWhole !== null) return this.#lastWhole;
    return this.#lastFinal === null ? this.#start : this.#lastFinal + 1n;
  }

  connected(from: bigint | null): void {
    this.#connection = { from, liveAfter: -1n, before: null, collected: [], blocks: new Set(), ranks: new Map() };
  }

  /** Its stream begins, or has just begun, where what is live comes after a slot. */
  begins(liveAfter: bigint): void {
    if (this.#connection !== null) this.#connection.liveAfter = liveAfter;
  }

  asks(number: number, asked: GeyserAsked): void {
    this.#asked.set(number, asked);
  }

  take(update: GeyserUpdate): void {
    const connection = this.#connection;
    if (connection === null) throw new Error("an update comes without a connection");
    const number = Number(update.filters[0]?.slice(1));
    const { transaction, transaction_status: status, block, block_meta: meta, slot } = update;
    if (update.update_oneof === "slot" && slot !== undefined) this.#status(connection, slot);
    else if (update.update_oneof === "block_meta" && meta !== undefined) this.#meta(connection, number, meta);
    else {
      const text =
        update.update_oneof === "transaction" && transaction !== undefined
          ? `t ${transaction.slot} ${textOf(transaction.transaction)}`
          : update.update_oneof === "transaction_status" && status !== undefined
            ? `s ${status.slot} ${textOf(status)}`
            : update.update_oneof === "block" && block !== undefined
              ? `b ${block.slot} ${block.blockhash} ${block.transactions.map(textOf).join()}`
              : null;
      if (text === null) throw new Error(`an update of another kind: ${update.update_oneof}`);
      connection.collected.push({ number, text });
      this.items += 1;
    }
  }

  #meta(connection: Connection, number: number, meta: NonNullable<GeyserUpdate["block_meta"]>): void {
    const block = this.chain.blocks.get(meta.blockhash);
    if (block === undefined || block.isUnavailable) throw new Error(`the block of ${meta.slot} is of no chain`);
    const { slot, parentSlot, parentBlockhash } = block.header;
    const said = [meta.slot, meta.parent_slot, meta.parent_blockhash, meta.executed_transaction_count].join();
    const is = [slot, parentSlot, parentBlockhash, block.places.length].join();
    if (said !== is) throw new Error(`the meta of ${slot} is ${said}, not ${is}`);
    this.#isWhole(connection, number, block);
    this.#isNext(connection, block);
    connection.before = block;
    connection.collected = [];
    connection.blocks.add(block);
    if (this.#seen.has(block)) this.repeats += 1;
    this.#seen.add(block);
    this.#start ??= slot;
    this.#lastWhole = slot;
  }

  /** All that the request asks of the block came before its meta, in order. */
  #isWhole({ collected }: Connection, number: number, block: WorldBlock): void {
    const asked = this.#asked.get(number);
    if (asked === undefined) throw new Error(`a block comes for the request ${number}, which was not made`);
    // What was told of a block before its filters were replaced is told again.
    const of = collected.filter((each) => each.number === number);
    if (collected.some((each) => each.number > number)) throw new Error("an update of a later request came before");
    const told = of.map(({ text }) => text).join("\n");
    const expected = expectedOf(block, asked).join("\n");
    if (told !== expected) throw new Error(`of ${block.header.slot} was told\n${told}\nand not\n${expected}`);
  }

  #isNext({ before, from, blocks }: Connection, block: WorldBlock): void {
    const { slot } = block.header;
    if (this.commitment === "processed") {
      if (blocks.has(block)) throw new Error(`the block ${slot} is told twice`);
      return;
    }
    const parent = heldParent(block);
    if (before === null) {
      const isFirst = from === null || parent === null || parent.header.slot < from;
      if (!isFirst) throw new Error(`from ${from} the first block is ${slot}, after ${parent?.header.slot}`);
      return;
    }
    const mayDie = this.commitment === "confirmed";
    for (let at: WorldBlock | null = before; at !== null; at = mayDie ? at.parent : null) if (at === parent) return;
    throw new Error(`the block ${slot} comes after ${before.header.slot}`);
  }

  #status(connection: Connection, { slot, status }: NonNullable<GeyserUpdate["slot"]>): void {
    const rank = ladder.indexOf(status as LadderStatus);
    if (rank < 0) throw new Error(`the slot ${slot} is told to be ${status}`);
    const isOwn = status === ownStatus[this.commitment];
    const { before, ranks } = connection;
    if (isOwn && before?.header.slot !== BigInt(slot)) throw new Error(`${slot} is ${status} before it was told`);
    const last = ranks.get(slot) ?? -1;
    // Another block of the slot, or the same by a second fork, may reach the same once more; nothing follows the end.
    const isForked = last < ladder.length - 1 && (isOwn || this.chain.blocksOf(BigInt(slot)) > 1);
    if (rank <= last && !isForked) throw new Error(`${slot} is told to be ${status} after ${ladder[last]}`);
    ranks.set(slot, Math.max(last, rank));
    if (status === "SLOT_FINALIZED" && BigInt(slot) > (this.#lastFinal ?? -1n)) this.#lastFinal = BigInt(slot);
  }

  /** All blocks of the chain up to one, from where it began, were told; throws where one was not. */
  verify(tip: WorldBlock): void {
    const { before, from: asked, liveAfter = -1n } = this.#connection ?? {};
    // Who comes for what is new when all is over is told nothing.
    if (this.#start === null && asked === null && liveAfter >= tip.header.slot) return;
    if (this.commitment !== "processed" && before !== tip) {
      throw new Error(`the last block that was told is ${before?.header.slot}, the chain's is ${tip.header.slot}`);
    }
    const from = this.#start ?? tip.header.slot;
    for (let at: WorldBlock | null = tip; at !== null && at.header.slot >= from; at = at.parent) {
      const isTold = at.isUnavailable || at === this.chain.root || this.#seen.has(at);
      if (!isTold) throw new Error(`the block ${at.header.slot} was not told`);
    }
    if (this.#lastFinal !== tip.header.slot) throw new Error(`the last slot told to be final is ${this.#lastFinal}`);
  }
}

const textOf = ({ index, signature }: { readonly index: string; readonly signature: Uint8Array }): string =>
  `${index} ${encodeBase58(signature)}`;

/** What a stream is told of a block before its meta. */
function expectedOf(block: WorldBlock, { include, vote, failed, hasStatuses, hasBlocks }: GeyserAsked): string[] {
  const { slot, blockhash } = block.header;
  const accounts = include.length === 0 ? {} : { accountInclude: include };
  const meets = naiveTest({
    ...accounts,
    ...(vote === undefined ? {} : { vote }),
    ...(failed === undefined ? {} : { failed }),
  });
  const isShown = naiveTest(accounts);
  const texts: string[] = [];
  const shown: string[] = [];
  for (const [index, place] of block.places.entries()) {
    const pooled = pool[place];
    if (pooled === undefined) continue;
    const text = `${index} ${pooled.transaction.signature}`;
    if (isShown(pooled.facts)) shown.push(text);
    if (!meets(pooled.facts)) continue;
    texts.push(`t ${slot} ${text}`);
    if (hasStatuses) texts.push(`s ${slot} ${text}`);
  }
  return hasBlocks ? [...texts, `b ${slot} ${blockhash} ${shown.join()}`] : texts;
}

/** The block before it that somebody has. */
export function heldParent({ parent }: WorldBlock): WorldBlock | null {
  let at = parent;
  while (at?.isUnavailable === true) at = at.parent;
  return at;
}
