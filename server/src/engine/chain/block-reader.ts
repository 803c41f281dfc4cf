import { decodeAddress } from "@sluice/wire/base58";
import { type Address, parseU64, type Signature, type Slot, signatureOfBytes } from "@sluice/wire/identifiers";
import { type Message, parseTransaction } from "@sluice/wire/transaction";
import { type ChainValue, memberOf } from "../../chain/index.ts";
import { type EngineChain, EngineChainError } from "../model/ports.ts";
import {
  addressOf,
  isList,
  listOf,
  readSlots,
  readStatuses,
  type SignatureStatus,
  slotOf,
  wholeOf,
  wrong,
} from "./answers.ts";

export interface BlockTransaction {
  /** The first signature. */
  readonly signature: Signature;
  readonly failed: boolean;
  /** Units that it took of the block's: those of the cost model where the node tells them, else what it consumed. */
  readonly units: number;
  /** Lamports that tip accounts gained by it. */
  readonly tip: bigint;
}

/** A block as a node has it, with what the engine needs of each transaction. */
export interface ChainBlock {
  readonly slot: Slot;
  readonly blockhash: Address;
  readonly parentSlot: Slot;
  readonly previousBlockhash: Address;
  readonly height: bigint;
  /** Unix seconds, as the cluster's clock has it. */
  readonly time: number | null;
  readonly transactions: readonly BlockTransaction[];
}

/** The accounts that tips are paid to. */
export class TipAccounts {
  readonly #addresses: ReadonlySet<string>;
  readonly #keys: readonly Uint8Array[];

  constructor(addresses: Iterable<Address>) {
    this.#addresses = new Set(addresses);
    this.#keys = [...this.#addresses].flatMap((address) => decodeAddress(address) ?? []);
  }

  /** Lamports that these accounts gained by a transaction. What a sweep takes from one counts against none. */
  gained(message: Message, meta: ChainValue | undefined): bigint {
    const before = listOf(memberOf(meta, "preBalances"), "balances");
    const after = listOf(memberOf(meta, "postBalances"), "balances");
    let gained = 0n;
    const take = (index: number): void => {
      const [from, to] = [parseU64(before[index]), parseU64(after[index])];
      if (from === null || to === null) throw wrong("a balance");
      if (to > from) gained += to - from;
    };
    for (let index = 0; index < message.staticKeyCount; index += 1) {
      if (message.isWritable(index) && this.#hasKey(message.keyBytes(index))) take(index);
    }
    const loaded = memberOf(memberOf(meta, "loadedAddresses"), "writable");
    if (isList(loaded)) {
      for (const [index, address] of loaded.entries()) {
        if (typeof address === "string" && this.#addresses.has(address)) take(message.staticKeyCount + index);
      }
    }
    return gained;
  }

  #hasKey(key: Uint8Array): boolean {
    return this.#keys.some((each) => each[0] === key[0] && Buffer.compare(each, key) === 0);
  }
}

const signatureBytes = 64;

/** Null for bytes of a version that nobody knows yet; no bundle holds such a transaction. */
function readTransaction(value: ChainValue, tips: TipAccounts): BlockTransaction | null {
  const meta = memberOf(value, "meta");
  const [text] = listOf(memberOf(value, "transaction"), "a transaction in base64");
  if (typeof text !== "string" || meta === undefined || meta === null) throw wrong("a transaction");
  const bytes = new Uint8Array(Buffer.from(text, "base64"));
  const parsed = parseTransaction(bytes);
  const failed = (memberOf(meta, "err") ?? null) !== null;
  const units = Number(parseU64(memberOf(meta, "costUnits")) ?? parseU64(memberOf(meta, "computeUnitsConsumed")) ?? 0n);
  if (parsed.ok) {
    const { transaction } = parsed;
    return { signature: transaction.id, failed, units, tip: tips.gained(transaction.message, meta) };
  }
  // What our parser refuses and the chain has taken still has its id in front, if it is of a form with signatures first.
  const count = bytes[0] ?? 0;
  if (count === 0 || count >= 0x80 || bytes.length < 1 + signatureBytes) return null;
  return { signature: signatureOfBytes(bytes.subarray(1, 1 + signatureBytes)), failed, units, tip: 0n };
}

/** Parameters with which getBlock gives what `readBlock` reads. */
export const blockParameters = {
  encoding: "base64",
  transactionDetails: "full",
  maxSupportedTransactionVersion: 1,
  rewards: false,
} as const;

/** Reads getBlock's answer; throws EngineChainError for what is none. */
export function readBlock(slot: Slot, answer: ChainValue, tips: TipAccounts): ChainBlock {
  const transactions = listOf(memberOf(answer, "transactions"), "transactions");
  return {
    ...readBlockLink(slot, answer),
    transactions: transactions.flatMap((each) => readTransaction(each, tips) ?? []),
  };
}

/** The part of a block that says where it stands in the chain. */
export type BlockLink = Omit<ChainBlock, "transactions">;

export function readBlockLink(slot: Slot, answer: ChainValue): BlockLink {
  return {
    slot,
    blockhash: addressOf(answer, "blockhash"),
    parentSlot: slotOf(answer, "parentSlot"),
    previousBlockhash: addressOf(answer, "previousBlockhash"),
    height: wholeOf(answer, "blockHeight"),
    time: Number(parseU64(memberOf(answer, "blockTime")) ?? 0n) || null,
  };
}

type Settled = "confirmed" | "finalized";

/** A node's codes for a block that it will never have: cleaned up, skipped, skipped or missing in long-term storage. */
const neverCodes: ReadonlySet<number> = new Set([-32001, -32007, -32009]);
const statusesPerCall = 256;

/** What the tracker asks of nodes. Each method throws EngineChainError where no node answers what is asked. */
export class BlockReader {
  readonly #chain: EngineChain;
  readonly #tips: TipAccounts;

  constructor(chain: EngineChain, tips: TipAccounts) {
    this.#chain = chain;
    this.#tips = tips;
  }

  async block(slot: Slot, commitment: Settled): Promise<ChainBlock> {
    const answer = await this.#chain.read("getBlock", [slot, { ...blockParameters, commitment }], {
      commitment,
      minimumSlot: slot,
    });
    return readBlock(slot, answer, this.#tips);
  }

  /** A finalized block without its transactions; null where the node says that there is none, or none any more. */
  async finalLink(slot: Slot): Promise<BlockLink | null> {
    const parameters = { ...blockParameters, transactionDetails: "none", commitment: "finalized" };
    const answer = await this.#orNever(
      this.#chain.read("getBlock", [slot, parameters], { commitment: "finalized", minimumSlot: slot }),
    );
    return answer === null ? null : readBlockLink(slot, answer);
  }

  /** A finalized block of any age; null where no node has it any more. */
  async oldBlock(slot: Slot): Promise<ChainBlock | null> {
    const answer = await this.#orNever(
      this.#chain.read("getBlock", [slot, { ...blockParameters, commitment: "finalized" }], { archive: true }),
    );
    return answer === null ? null : readBlock(slot, answer, this.#tips);
  }

  /** Up to `count` slots with blocks from `from` on. */
  async slotsFrom(from: bigint, count: number): Promise<Slot[]> {
    const parameters = [from, BigInt(count), { commitment: "confirmed" }];
    return readSlots(await this.#chain.read("getBlocksWithLimit", parameters, { commitment: "confirmed" }));
  }

  async finalSlots(from: bigint, to: bigint): Promise<Slot[]> {
    const parameters = [from, to, { commitment: "finalized" }];
    return readSlots(await this.#chain.read("getBlocks", parameters, { commitment: "finalized" }));
  }

  /** Where transactions of any age are, by a node that has reached this slot. */
  async statuses(signatures: readonly Signature[], minimumSlot: bigint): Promise<Map<Signature, SignatureStatus>> {
    const found = new Map<Signature, SignatureStatus>();
    for (let at = 0; at < signatures.length; at += statusesPerCall) {
      const asked = signatures.slice(at, at + statusesPerCall);
      const parameters = [asked, { searchTransactionHistory: true }];
      const answer = await this.#chain.read("getSignatureStatuses", parameters, { archive: true, minimumSlot });
      for (const [index, status] of readStatuses(answer, asked.length).entries()) {
        const signature = asked[index];
        if (signature !== undefined && status !== null) found.set(signature, status);
      }
    }
    return found;
  }

  async #orNever<Value>(reading: Promise<Value>): Promise<Value | null> {
    try {
      return await reading;
    } catch (error) {
      if (error instanceof EngineChainError && error.code !== null && neverCodes.has(error.code)) return null;
      throw error;
    }
  }
}
