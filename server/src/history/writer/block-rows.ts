import type { Network } from "@sluice/contract/tiers";
import { isVote, memoPrograms, splitBody, transactionMemo, unpackOnce } from "@sluice/encode";
import { type RecordPlace, TransactionView } from "@sluice/parser";
import { AddressTexts } from "@sluice/wire/address-texts";
import { ChainRows, signatureKey } from "../../ledger/index.ts";
import { addChanges, addMovements } from "./changes.ts";
import { addParsed, parsedOrUnknown, type Unreadable } from "./parsed-row.ts";

export interface BlockRowsOptions {
  readonly network: Network;
  /** Whether instructions, movements, changes and what was parsed of votes have rows too. */
  readonly votes: boolean;
  /** What sentences call the native currency; SOL where it is left out. */
  readonly nativeSymbol?: string | undefined;
  readonly unreadable: Unreadable;
}

/** A transaction as rows are made of it. */
interface Placed {
  readonly index: number;
  readonly view: TransactionView;
  /** As the body has it. */
  readonly packed: Uint8Array;
  readonly isVote: boolean;
}

/** The last second that 32 bits hold. */
const secondsMax = 0xffff_ffff;

/** Makes the rows of blocks. */
export class BlockRows {
  readonly rows: ChainRows;
  readonly #votes: boolean;
  readonly #nativeSymbol: string | undefined;
  readonly #unreadable: Unreadable;
  readonly #addresses = new AddressTexts();

  constructor({ network, votes, nativeSymbol, unreadable }: BlockRowsOptions) {
    this.rows = new ChainRows(network);
    this.#votes = votes;
    this.#nativeSymbol = nativeSymbol;
    this.#unreadable = unreadable;
  }

  /**
   * Adds the rows of a block.
   *
   * @param body - as the log has it
   * @param nowMs - Unix milliseconds, for a block without a time
   * @throws {MalformedBytes} when the body is none; no row of it is there then
   */
  add(body: Uint8Array, nowMs: number): void {
    const block = unpackOnce(body);
    const { head, transactions } = splitBody(body);
    // All that may be malformed is read before the first row is there.
    const placed = block.transactions.map((transaction, index): Placed => {
      const view = new TransactionView(transaction, this.#addresses);
      return { index, view, packed: transactions[index] ?? head, isVote: isVote(view.parsed) };
    });
    const blockTime = secondsOf(block.blockTime);
    // As the column has it, so that what is parsed again later from the ledger is the same.
    const place = { slot: block.slot, blockTime: blockTime === null ? null : BigInt(blockTime) };
    for (const each of placed) this.#addTransaction(each, place);
    const rewards = this.rows.rewards.columns;
    block.rewards.forEach(({ pubkey, rewardType, lamports, postBalance, commission }, position) => {
      rewards.position.add(position);
      rewards.account.add(pubkey);
      rewards.reward_type.add(rewardType ?? "");
      rewards.lamports.add(lamports);
      rewards.balance.add(postBalance);
      rewards.commission.add(commission);
    });
    const { columns } = this.rows.blocks;
    const metas = block.transactions.flatMap(({ meta }) => meta ?? []);
    columns.parent_slot.add(block.parentSlot);
    columns.parent_blockhash.add(block.previousBlockhash);
    columns.block_height.add(block.blockHeight);
    columns.transactions.add(placed.length);
    columns.votes.add(placed.filter((each) => each.isVote).length);
    columns.failed.add(metas.filter(({ error }) => error !== null).length);
    columns.fees.add(metas.reduce((sum, { fee }) => sum + fee, 0n));
    columns.compute_units.add(metas.reduce((sum, { computeUnitsConsumed }) => sum + (computeUnitsConsumed ?? 0n), 0n));
    columns.leader.add(block.rewards.find(({ rewardType }) => rewardType === "Fee")?.pubkey ?? "");
    columns.body.addBytes(head);
    const atMs = blockTime === null ? nowMs : blockTime * 1_000;
    this.rows.endBlock({ slot: block.slot, blockhash: block.blockhash, blockTime, atMs });
  }

  #addTransaction(placed: Placed, place: RecordPlace): void {
    const { index, view } = placed;
    this.#addRow(placed);
    this.#addLookups(placed);
    if (placed.isVote && !this.#votes) return;
    this.#addInstructions(placed);
    addChanges(this.rows, index, view);
    const parsed = parsedOrUnknown(view, this.#unreadable);
    addMovements(this.rows, { index, signature: view.transaction.signature }, parsed.movements);
    addParsed(this.rows.parsed, { index, place, nativeSymbol: this.#nativeSymbol }, { view, parsed });
  }

  #addRow({ index, view, packed, isVote: vote }: Placed): void {
    const { keys, message, meta, calls } = view;
    const { columns } = this.rows.transactions;
    columns.transaction_index.add(index);
    columns.signature.add(view.transaction.signature);
    columns.success.add(view.failed ? 0 : 1);
    columns.error.add(meta === null || meta.error === null ? "" : JSON.stringify(meta.error));
    columns.fee.add(meta?.fee ?? 0n);
    columns.compute_units.add(meta?.computeUnitsConsumed ?? null);
    columns.is_vote.add(vote ? 1 : 0);
    columns.fee_payer.add(keys[0] ?? "");
    for (let place = 0; place < message.numRequiredSignatures; place++) columns.signers.push(keys[place] ?? "");
    columns.signers.end();
    columns.version.add(String(message.version));
    for (const key of keys) columns.accounts.push(key);
    columns.accounts.end();
    columns.static_accounts.add(message.staticKeyCount);
    columns.loaded_writable.add(meta?.loadedAddresses.writable.length ?? 0);
    for (const program of view.programIds) columns.program_ids.push(program);
    columns.program_ids.end();
    const hasMemo = calls.some(({ programId, inner }) => inner === null && memoPrograms.has(programId));
    columns.memo.add(hasMemo ? (transactionMemo(message) ?? "") : "");
    columns.body.addBytes(packed);
  }

  #addLookups({ index, view }: Placed): void {
    const signatures = this.rows.bySignature.columns;
    signatures.signature_key.add(signatureKey(view.parsed.signatureBytes(0)));
    signatures.transaction_index.add(index);
    const { columns } = this.rows.byAddress;
    const success = view.failed ? 0 : 1;
    for (const key of view.keys) {
      columns.address.add(key);
      columns.transaction_index.add(index);
      columns.success.add(success);
    }
  }

  #addInstructions({ index, view }: Placed): void {
    const { keys, calls } = view;
    const { columns } = this.rows.instructions;
    const success = view.failed ? 0 : 1;
    for (let position = 0; position < calls.length; position++) {
      const call = calls[position];
      if (call === undefined) continue;
      columns.transaction_index.add(index);
      columns.position.add(position);
      columns.outer_index.add(call.outer);
      columns.inner_index.add(call.inner);
      columns.stack_height.add(call.stackHeight);
      columns.signature.add(view.transaction.signature);
      columns.success.add(success);
      columns.program_id.add(call.programId);
      const { accounts } = call;
      for (let at = 0; at < accounts.length; at++) columns.accounts.push(keys[accounts[at] ?? -1] ?? "");
      columns.accounts.end();
      columns.data.addBytes(call.data);
    }
  }
}

function secondsOf(blockTime: bigint | null): number | null {
  return blockTime === null || blockTime < 0n || blockTime > secondsMax ? null : Number(blockTime);
}
