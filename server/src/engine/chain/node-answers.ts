import { decodeNonceAccount } from "@sluice/wire/accounts/native";
import { decodeAddress } from "@sluice/wire/base58";
import {
  type Address,
  parseAddress,
  parseSlot,
  parseU64,
  type Signature,
  type Slot,
  signatureOfBytes,
} from "@sluice/wire/identifiers";
import { programs } from "@sluice/wire/programs";
import { type Message, parseTransaction } from "@sluice/wire/transaction";
import { type ChainValue, memberOf } from "../../chain/index.ts";
import { type EngineChain, EngineChainError } from "../model/chain-port.ts";

/** Readers of nodes' answers. Each throws EngineChainError for what a node should not say; it is asked again then. */

export const isList = (value: ChainValue | undefined): value is readonly ChainValue[] => Array.isArray(value);

export function wrong(what: string): EngineChainError {
  return new EngineChainError(`A node's answer is not understood: ${what}.`, null);
}

function known<Value>(value: Value | null, what: string): Value {
  if (value === null) throw wrong(what);
  return value;
}

export const wholeOf = (value: ChainValue | undefined, name: string): bigint => {
  return known(parseU64(memberOf(value, name)), name);
};

export const slotOf = (value: ChainValue | undefined, name: string): Slot => {
  return known(parseSlot(memberOf(value, name)), name);
};

export const addressOf = (value: ChainValue | undefined, name: string): Address => {
  return known(parseAddress(memberOf(value, name)), name);
};

export const listOf = (value: ChainValue | undefined, what: string): readonly ChainValue[] => {
  return known(isList(value) ? value : null, what);
};

/** The `value` of an answer with a context. */
export function contextValue(answer: ChainValue): ChainValue {
  const value = memberOf(answer, "value");
  if (value === undefined) throw wrong("value");
  return value;
}

/** getBlocks: slots in rising order. */
export function readSlots(answer: ChainValue): Slot[] {
  const slots = listOf(answer, "a list of slots").map((each) => known(parseSlot(each), "a slot"));
  if (slots.some((slot, index) => index > 0 && slot <= (slots[index - 1] ?? slot))) throw wrong("slots out of order");
  return slots;
}

/** What getSignatureStatuses knows of one transaction. */
export interface SignatureStatus {
  readonly slot: Slot;
}

/** getSignatureStatuses: one for each signature that was requested, null for those that are in no block known. */
export function readStatuses(answer: ChainValue, count: number): (SignatureStatus | null)[] {
  const statuses = listOf(contextValue(answer), "signature statuses");
  if (statuses.length !== count) throw wrong("the number of signature statuses");
  return statuses.map((status) => (status === null ? null : { slot: slotOf(status, "slot") }));
}

/** getLatestBlockhash. */
export function readLatestBlockhash(answer: ChainValue): { blockhash: Address; lastValidBlockHeight: bigint } {
  const value = contextValue(answer);
  return {
    blockhash: addressOf(value, "blockhash"),
    lastValidBlockHeight: wholeOf(value, "lastValidBlockHeight"),
  };
}

/** getMultipleAccounts in base64: the nonce of each account, null where it holds none or does not exist. */
export function readNonces(
  answer: ChainValue,
  count: number,
): { readonly slot: Slot; readonly nonces: readonly (Address | null)[] } {
  const accounts = listOf(contextValue(answer), "accounts");
  if (accounts.length !== count) throw wrong("the number of accounts");
  return {
    slot: slotOf(memberOf(answer, "context"), "slot"),
    nonces: accounts.map((account) => {
      if (account === null || memberOf(account, "owner") !== programs.system) return null;
      const [text] = listOf(memberOf(account, "data"), "the data of an account");
      if (typeof text !== "string") throw wrong("the data of an account");
      return decodeNonceAccount(new Uint8Array(Buffer.from(text, "base64")))?.initialized?.nonce ?? null;
    }),
  };
}

/** isBlockhashValid. */
export function readValidity(answer: ChainValue): boolean {
  const value = contextValue(answer);
  if (typeof value !== "boolean") throw wrong("the validity of a blockhash");
  return value;
}

/** getEpochInfo: the epoch that a slot is in. */
export function readEpoch(answer: ChainValue): { readonly firstSlot: bigint; readonly slotCount: bigint } {
  const firstSlot = wholeOf(answer, "absoluteSlot") - wholeOf(answer, "slotIndex");
  const slotCount = wholeOf(answer, "slotsInEpoch");
  if (firstSlot < 0n || slotCount === 0n) throw wrong("the epoch");
  return { firstSlot, slotCount };
}

/**
 * getLeaderSchedule: null while the epoch's is not known; else each identity's slots, counted from the epoch's first.
 */
export function readSchedule(answer: ChainValue): Map<Address, number[]> | null {
  if (answer === null) return null;
  if (typeof answer !== "object" || isList(answer)) throw wrong("the leader schedule");
  return new Map(
    Object.entries(answer).map(([identity, indexes]) => {
      const leader = known(parseAddress(identity), "a leader");
      return [leader, listOf(indexes, "slots of a leader").map((each) => Number(known(parseU64(each), "a slot")))];
    }),
  );
}

export interface BlockTransaction {
  /** The first signature. */
  readonly signature: Signature;
  readonly failed: boolean;
  /** Units that it took of the block's: those of the cost model where the node reports them, else what it consumed. */
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

  /**
   * Lamports that these accounts gained by a transaction. What a sweep takes from one counts against none. `loaded` are
   * the writable addresses of its lookup tables, `gainOf` what the key of an index gained; null where it is not told,
   * which throws EngineChainError.
   */
  gained(
    message: Message,
    loaded: readonly (ChainValue | undefined)[],
    gainOf: (index: number) => bigint | null,
  ): bigint {
    let gained = 0n;
    const take = (index: number): void => {
      const gain = known(gainOf(index), "a balance");
      if (gain > 0n) gained += gain;
    };
    for (let index = 0; index < message.staticKeyCount; index += 1) {
      if (message.isWritable(index) && this.#hasKey(message.keyBytes(index))) take(index);
    }
    for (const [index, address] of loaded.entries()) {
      if (typeof address === "string" && this.#addresses.has(address)) take(message.staticKeyCount + index);
    }
    return gained;
  }

  #hasKey(key: Uint8Array): boolean {
    return this.#keys.some((each) => each[0] === key[0] && Buffer.compare(each, key) === 0);
  }
}

function tipIn(message: Message, meta: ChainValue, tips: TipAccounts): bigint {
  const before = listOf(memberOf(meta, "preBalances"), "balances");
  const after = listOf(memberOf(meta, "postBalances"), "balances");
  const loaded = memberOf(memberOf(meta, "loadedAddresses"), "writable");
  return tips.gained(message, isList(loaded) ? loaded : [], (index) => {
    const [from, to] = [parseU64(before[index]), parseU64(after[index])];
    return from === null || to === null ? null : to - from;
  });
}

const signatureBytes = 64;

/** Null for bytes of a version that is not known yet; no bundle holds such a transaction. */
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
    return { signature: transaction.id, failed, units, tip: tipIn(transaction.message, meta, tips) };
  }
  // What our parser refuses and the chain has taken still has its id in front, if it is of a form with signatures
  // first.
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

/** Reads getBlock's answer; throws EngineChainError for what is not valid. */
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

  /** A finalized block without its transactions; null where the node says that there is not valid, or none any more. */
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

  /** The hash of the chain's genesis; null where nodes do not tell it. */
  async genesis(): Promise<Address | null> {
    try {
      return known(parseAddress(await this.#chain.read("getGenesisHash", [])), "the genesis hash");
    } catch (error) {
      if (error instanceof EngineChainError && error.code === "CHAIN_REFUSED") return null;
      throw error;
    }
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
      if (error instanceof EngineChainError && neverCodes.has(error.details.nodeCode ?? 0)) return null;
      throw error;
    }
  }
}
