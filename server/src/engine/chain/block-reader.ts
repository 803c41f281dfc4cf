import type { Signature, Slot } from "@sluice/wire/identifiers";
import { type EngineChain, EngineChainError } from "../model/ports.ts";
import { readSlots, readStatuses, type SignatureStatus } from "./answers.ts";
import {
  type BlockLink,
  blockParameters,
  type ChainBlock,
  readBlock,
  readBlockLink,
  type TipAccounts,
} from "./chain-block.ts";

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
