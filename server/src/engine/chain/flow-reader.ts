import { type ConfirmedBlock, unpackOnce } from "@sluice/encode";
import { type Address, parseAddress, parseSignature, parseSlot, type Slot } from "@sluice/wire/identifiers";
import { parseTransaction } from "@sluice/wire/transaction";
import type { BlockHeader, BlockPlace, Follower, LogEvent } from "../../log/index.ts";
import type { BlockFlow } from "../model/block-flow.ts";
import type { BlockTransaction, ChainBlock, TipAccounts } from "./node-answers.ts";

/** What the flow tells of a block. */
export type ToldBlock =
  | {
      readonly type: "block";
      readonly slot: Slot;
      readonly blockhash: string;
      readonly parentSlot: Slot;
      /** Null where the flow's form of it lacks what the engine needs. */
      readonly block: ChainBlock | null;
    }
  | { readonly type: "undo"; readonly slot: Slot; readonly blockhash: string };

export interface FlowReaderDependencies {
  readonly flow: Pick<BlockFlow, "current">;
  readonly tips: TipAccounts;
  readonly events: FlowReaderEvents;
}

export interface FlowReaderEvents {
  /** The flow cannot be followed, or a block of it cannot be read; the nodes are asked meanwhile. */
  flowFailed(error: unknown): void;
}

/** What was told and waits to be taken, without bodies; the flow waits beyond that. */
const waitingMax = 64;

/** Follows the flow of blocks ahead of the tracker, which takes what was told when it makes a step. */
export class FlowReader implements Disposable {
  readonly #dependencies: FlowReaderDependencies;
  readonly #waiting: ToldBlock[] = [];
  #follower: Follower | null = null;
  #genesis: Address | null = null;
  #room: PromiseWithResolvers<void> | null = null;
  #listener: () => void = () => undefined;
  #isClosed = false;

  constructor(dependencies: FlowReaderDependencies) {
    this.#dependencies = dependencies;
  }

  /** Whether more may be told. A flow that has ended may begin again. */
  get isFollowing(): boolean {
    return this.#follower !== null;
  }

  /** Calls back whenever something was told. */
  onTold(listener: () => void): void {
    this.#listener = listener;
  }

  /**
   * Follows from the first block after a slot, or from the first that is held where that is later. Blocks of another
   * genesis are left out; null takes any.
   */
  begin(after: Slot, genesis: Address | null): void {
    this.#end();
    if (this.#isClosed) return;
    this.#genesis = genesis;
    this.#follow({ slot: (after + 1n) as Slot });
  }

  /** What was told first of what waits. */
  peek(): ToldBlock | null {
    return this.#waiting[0] ?? null;
  }

  /** What `peek` gave was taken, or is left. */
  shift(): void {
    this.#waiting.shift();
    this.#room?.resolve();
  }

  /** The newest block that is told to be finalized. */
  finalized(): BlockPlace | null {
    try {
      return this.#dependencies.flow.current()?.latest("finalized") ?? null;
    } catch {
      return null;
    }
  }

  #follow(from: { readonly slot: Slot } | "earliest"): void {
    try {
      const outcome = this.#dependencies.flow.current()?.follow({ stage: "confirmed", from }) ?? null;
      if (outcome === null) return;
      if (outcome.ok) {
        this.#follower = outcome.follower;
        void this.#read(outcome.follower);
      } else if (from !== "earliest") this.#follow("earliest");
    } catch (error) {
      this.#dependencies.events.flowFailed(error);
    }
  }

  async #read(follower: Follower): Promise<void> {
    try {
      for await (const event of follower) {
        if (this.#follower !== follower) return;
        if (event.type === "expired") {
          // What was trimmed is read from nodes.
          this.#follow("earliest");
          return;
        }
        const told = this.#toldBy(event);
        if (told === null) continue;
        this.#waiting.push(told);
        this.#listener();
        while (this.#waiting.length >= waitingMax && this.#follower === follower) {
          this.#room = Promise.withResolvers();
          await this.#room.promise;
        }
      }
    } catch (error) {
      this.#dependencies.events.flowFailed(error);
    } finally {
      if (this.#follower === follower) this.#follower = null;
    }
  }

  #toldBy(event: LogEvent): ToldBlock | null {
    if (event.type === "undo") return { type: "undo", slot: event.undo.slot, blockhash: event.undo.blockhash };
    // What is missing is found missing by the next block, whose parent nobody has told.
    if (event.type !== "block") return null;
    const { header, body } = event;
    if (this.#genesis !== null && header.chain.genesisHash !== this.#genesis) return null;
    const { slot, blockhash, parentSlot } = header;
    return { type: "block", slot, blockhash, parentSlot, block: this.#blockIn(header, body) };
  }

  #blockIn({ slot, blockhash }: BlockHeader, body: Uint8Array): ChainBlock | null {
    try {
      const block = chainBlockOf(unpackOnce(body), this.#dependencies.tips);
      return block !== null && block.slot === slot && block.blockhash === blockhash ? block : null;
    } catch (error) {
      this.#dependencies.events.flowFailed(error);
      return null;
    }
  }

  #end(): void {
    const follower = this.#follower;
    this.#follower = null;
    this.#waiting.length = 0;
    this.#room?.resolve();
    void follower?.return();
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#end();
  }
}

/** A block with what the engine needs of it; null where its node has left out what that is. */
export function chainBlockOf(block: ConfirmedBlock, tips: TipAccounts): ChainBlock | null {
  const { blockHeight: height, blockTime } = block;
  const [slot, parentSlot] = [parseSlot(block.slot), parseSlot(block.parentSlot)];
  const [blockhash, previousBlockhash] = [parseAddress(block.blockhash), parseAddress(block.previousBlockhash)];
  if (slot === null || parentSlot === null || blockhash === null || previousBlockhash === null || height === null) {
    return null;
  }
  const transactions: BlockTransaction[] = [];
  for (const { signature: text, bytes, meta } of block.transactions) {
    const parsed = parseTransaction(bytes);
    const signature = parsed.ok ? parsed.transaction.id : parseSignature(text);
    if (signature === null || meta === null) return null;
    const { preBalances, postBalances, loadedAddresses, costUnits, computeUnitsConsumed } = meta;
    const gainOf = (index: number): bigint | null => {
      const [before, after] = [preBalances[index], postBalances[index]];
      return before === undefined || after === undefined ? null : after - before;
    };
    transactions.push({
      signature,
      failed: meta.error !== null,
      units: Number(costUnits ?? computeUnitsConsumed ?? 0n),
      tip: parsed.ok ? tips.gained(parsed.transaction.message, loadedAddresses.writable, gainOf) : 0n,
    });
  }
  const time = Number(blockTime ?? 0n) || null;
  return { slot, blockhash, parentSlot, previousBlockhash, height, time, transactions };
}
