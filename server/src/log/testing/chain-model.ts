import { createHash } from "node:crypto";
import { type Random, seededRandom } from "@sluice/lib";
import { addressOfBytes, type Slot } from "@sluice/wire/identifiers";
import type { BlockHeader, ChainIdentity, LogEvent, LogRecord, Stage } from "../index.ts";
import type { BlockPlace, Follower } from "../records.ts";

const digest = (text: string): Uint8Array => new Uint8Array(createHash("sha256").update(text).digest());
export const hashOf = (text: string): string => addressOfBytes(digest(text));
export const chain: ChainIdentity = { genesisHash: hashOf("genesis"), firstBlockhash: hashOf("first") };
export const otherChain: ChainIdentity = { genesisHash: hashOf("genesis"), firstBlockhash: hashOf("another first") };
export const slotOf = (slot: number): Slot => BigInt(slot) as Slot;

/** A header of the slot on a branch; `parent` is a slot of the same branch, or a header. */
export function headerOf(slot: number, parent: BlockHeader | number = slot - 1, branch = "main"): BlockHeader {
  const isSlot = typeof parent === "number";
  return {
    chain,
    slot: slotOf(slot),
    blockhash: hashOf(`${branch} ${slot}`),
    parentSlot: isSlot ? slotOf(parent) : parent.slot,
    parentBlockhash: isSlot ? hashOf(`${branch} ${parent}`) : parent.blockhash,
    blockTime: 1_790_000_000n + BigInt(slot),
    height: BigInt(slot),
    transactions: slot % 7,
  };
}

/** A body that says which block it is of. */
export function bodyOf(header: BlockHeader, bytes = 400): Uint8Array {
  return new TextEncoder().encode(`${header.slot} ${header.blockhash} `.padEnd(bytes, "body "));
}

export const blockOf = (header: BlockHeader, stage: Stage = "confirmed", bytes = 400): LogRecord => ({
  kind: "block",
  header,
  stage,
  body: bodyOf(header, bytes),
});
export const stageOf = (header: BlockHeader, stage: "confirmed" | "finalized"): LogRecord => ({
  kind: "stage",
  header,
  stage,
});

export interface ModelChain {
  /** Every record of the chain, in an order in which an ingester may see them. */
  readonly records: readonly LogRecord[];
  /** The blocks of the chain in the end, and how many of them are finalized. */
  readonly blocks: readonly BlockHeader[];
  readonly finalized: number;
}

/** A chain with skipped slots, and with confirmed forks of one to three blocks that die. */
export function modelChain(seed: number, slots: number): ModelChain {
  const random = seededRandom(seed);
  const records: LogRecord[] = [];
  const blocks: BlockHeader[] = [headerOf(100, 99)];
  const finalityBlocks = 8;
  let finalized = 0;
  records.push(blockOf(headerOf(100, 99)));
  for (let slot = 101; slot < 100 + slots; slot += 1) {
    if (random.next() < 0.15) continue;
    const tip = blocks.at(-1);
    if (tip === undefined) break;
    if (random.next() < 0.12) {
      // A branch after the tip, which the next block of the chain does not follow.
      let end = tip;
      const length = 1 + Math.floor(random.next() * 3);
      for (let step = 0; step < length; step += 1) {
        end = headerOf(slot, end, `fork ${seed}`);
        records.push(blockOf(end));
        slot += 1;
      }
    }
    const block = headerOf(slot, tip, `chain ${seed}`);
    blocks.push(block);
    records.push(blockOf(block));
    if (blocks.length - finalized > finalityBlocks) {
      const header = blocks[finalized];
      if (header !== undefined) records.push(stageOf(header, "finalized"));
      finalized += 1;
    }
  }
  // The chain ends above all of its forks.
  for (let more = 0; more < 3; more += 1) {
    const tip = blocks.at(-1);
    if (tip === undefined) break;
    const block = headerOf(Number(tip.slot) + 5, tip, `chain ${seed}`);
    blocks.push(block);
    records.push(blockOf(block));
  }
  return { records, blocks, finalized };
}

/** What one of two ingesters writes: most records, out of order by a few places. Together they write all. */
export function shuffled(
  records: readonly LogRecord[],
  random: Random,
  keeps: (index: number) => boolean,
): LogRecord[] {
  const placed = records.flatMap((record, index) => (keeps(index) ? [{ record, at: index + random.next() * 6 }] : []));
  return placed.sort((left, right) => left.at - right.at).map(({ record }) => record);
}

/** Whether a body says that it is of this block. */
function saysItIs({ slot, blockhash }: BlockHeader, body: Uint8Array): boolean {
  return new TextDecoder().decode(body).startsWith(`${slot} ${blockhash} `);
}

/** Plays a follower's events: what it was told and not told to be undone. Throws on an event that cannot be. */
export class ToldChain {
  readonly #isBodyOf: (header: BlockHeader, body: Uint8Array) => boolean;
  readonly blocks: BlockHeader[] = [];
  readonly gaps: (readonly [bigint, bigint])[] = [];
  undone = 0;
  lagging = 0;
  firstSlot: bigint | null | undefined;

  constructor(isBodyOf: (header: BlockHeader, body: Uint8Array) => boolean = saysItIs) {
    this.#isBodyOf = isBodyOf;
  }

  take(event: LogEvent): void {
    if (event.type === "lagging") this.lagging += 1;
    else if (event.type === "expired") this.firstSlot = event.firstSlot;
    else if (event.type === "gap") this.gaps.push([event.from, event.to]);
    else if (event.type === "undo") this.#undo(event.undo, event.back);
    else this.#block(event.header, event.body);
  }

  #undo(undo: BlockPlace, back: BlockPlace): void {
    this.undone += 1;
    const top = this.blocks.pop();
    if (top?.blockhash !== undo.blockhash) throw new Error(`undo of ${undo.slot}, told last was ${top?.slot}`);
    // Nothing that was told after `back` stands.
    while ((this.blocks.at(-1)?.slot ?? back.slot) > back.slot) this.blocks.pop();
    const last = this.blocks.at(-1);
    if (last !== undefined && last.blockhash !== back.blockhash) throw new Error(`back to ${back.slot}`);
  }

  #block(header: BlockHeader, body: Uint8Array): void {
    const last = this.blocks.at(-1);
    const isAfterGap = this.gaps.some(([from, to]) => header.parentSlot >= from && header.parentSlot <= to);
    if (last !== undefined && last.blockhash !== header.parentBlockhash && !isAfterGap) {
      throw new Error(`block ${header.slot} is told after ${last.slot}, which is not its parent`);
    }
    if (!this.#isBodyOf(header, body)) throw new Error(`the body of ${header.slot} differs`);
    this.blocks.push(header);
  }
}

/** The next event; throws when the follower has ended. */
export async function nextOf(follower: Follower): Promise<LogEvent> {
  const { done, value } = await follower.next();
  if (done === true) throw new Error("the follower has ended");
  return value;
}

/** Events until `last` is told. */
export async function takeUntil(follower: Follower, last: BlockPlace, told = new ToldChain()): Promise<ToldChain> {
  for (;;) {
    const event = await nextOf(follower);
    told.take(event);
    if (event.type === "block" && event.header.blockhash === last.blockhash) return told;
    if (event.type === "expired") return told;
  }
}
