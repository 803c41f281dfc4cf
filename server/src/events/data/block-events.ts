import { type ConfirmedBlock, isVote } from "@sluice/encode";
import { type IdlPrograms, noPrograms, TransactionView } from "@sluice/parser";
import { AddressTexts } from "@sluice/wire/address-texts";
import type { Stage } from "../../log/index.ts";
import { type AccountEvents, accountEventsOf } from "./account-events.ts";
import { TransactionEvent } from "./transaction-event.ts";

/** What a webhook leaves out of a block, or has in addition. */
export interface BlockSwitches {
  /** False: an empty list. */
  readonly rewards: boolean;
  /** The signatures of the block's transactions. */
  readonly transactions: boolean;
}

/** What a block says, in the forms of webhooks and of `/ws`. Each part is made once, when asked. */
export class BlockEvents {
  readonly block: ConfirmedBlock;
  /** In the order of execution. */
  readonly transactions: readonly TransactionEvent[];
  #counts: string | undefined;
  #rewards: string | undefined;
  #signatures: string | undefined;
  #accounts: AccountEvents | undefined;
  readonly #texts: Partial<Record<Stage, string>> = {};

  /** @throws {TypeError} when the bytes of a transaction are not canonical, which no node confirms */
  constructor(
    block: ConfirmedBlock,
    { addresses, programs }: { readonly addresses: AddressTexts; readonly programs: IdlPrograms },
  ) {
    this.block = block;
    this.transactions = block.transactions.map(
      (transaction, index) =>
        new TransactionEvent({ block, index, programs }, new TransactionView(transaction, addresses)),
    );
  }

  /** What its balances say of accounts. */
  get accounts(): AccountEvents {
    this.#accounts ??= accountEventsOf(this.transactions);
    return this.#accounts;
  }

  /** The JSON text of a message's `data` on `/ws`: `blockStreamData` of contract. */
  text(commitment: Stage): string {
    const written = this.#texts[commitment];
    if (written !== undefined) return written;
    const text = `${this.#members({ rewards: true, transactions: false })},"commitment":"${commitment}"}`;
    this.#texts[commitment] = text;
    return text;
  }

  /** The JSON text of `data` of block.confirmed and block.finalized: `blockEventData` of contract. */
  eventText(switches: BlockSwitches): string {
    return `${this.#members(switches)}}`;
  }

  /** The members of the event, without the closing bracket. */
  #members({ rewards, transactions }: BlockSwitches): string {
    const text = `${this.#countsText()},"rewards":${rewards ? this.#rewardsText() : "[]"}`;
    return transactions ? `${text},"transactions":${this.#signaturesText()}` : text;
  }

  #countsText(): string {
    if (this.#counts !== undefined) return this.#counts;
    const { block, transactions } = this;
    let failed = 0;
    let votes = 0;
    for (const transaction of transactions) {
      if (transaction.view.failed) failed += 1;
      if (isVote(transaction.view.parsed)) votes += 1;
    }
    this.#counts =
      `{"slot":${block.slot},"parent_slot":${block.parentSlot},"blockhash":${JSON.stringify(block.blockhash)},` +
      `"previous_blockhash":${JSON.stringify(block.previousBlockhash)},"block_time":${block.blockTime},` +
      `"block_height":${block.blockHeight},"transaction_count":${transactions.length},` +
      `"successful_transactions":${transactions.length - failed},"failed_transactions":${failed},` +
      `"vote_transactions":${votes}`;
    return this.#counts;
  }

  #rewardsText(): string {
    this.#rewards ??= `[${this.block.rewards
      .map(
        ({ pubkey, lamports, postBalance, rewardType }) =>
          `{"pubkey":${JSON.stringify(pubkey)},"lamports":${lamports},"post_balance":${postBalance},` +
          `"reward_type":${JSON.stringify(rewardType)}}`,
      )
      .join(",")}]`;
    return this.#rewards;
  }

  #signaturesText(): string {
    this.#signatures ??= JSON.stringify(this.transactions.map(({ signature }) => signature));
    return this.#signatures;
  }
}

/** Reads blocks for all who tell of them in a process, each block once while it is held. */
export class BlockReader {
  readonly #addresses = new AddressTexts();
  readonly #read = new WeakMap<ConfirmedBlock, BlockEvents>();
  readonly #programs: IdlPrograms;

  /** @param programs - that name instructions which no code here knows */
  constructor(programs: IdlPrograms = noPrograms) {
    this.#programs = programs;
  }

  /** @throws {TypeError} when the bytes of a transaction are not canonical, which no node confirms */
  events(block: ConfirmedBlock): BlockEvents {
    const known = this.#read.get(block);
    if (known !== undefined) return known;
    const events = new BlockEvents(block, { addresses: this.#addresses, programs: this.#programs });
    this.#read.set(block, events);
    return events;
  }
}
