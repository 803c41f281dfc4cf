import { type ConfirmedBlock, instructionName } from "@sluice/encode";
import {
  type IdlPrograms,
  movementsOf,
  type ParsedTransaction,
  parseTransaction,
  type TransactionView,
} from "@sluice/parser";
import { encodeBase58 } from "@sluice/wire/base58";
import type { Stage } from "../../log/index.ts";
import { TransactionFacts } from "./transaction-facts.ts";
import { errorRecord, tokenTransfers } from "./transaction-members.ts";

/** What a webhook leaves out of a transaction: what is false is an empty list. */
export interface TransactionSwitches {
  readonly logs: boolean;
  readonly tokenTransfers: boolean;
}

interface Place {
  readonly block: ConfirmedBlock;
  /** From 0. */
  readonly index: number;
  readonly programs: IdlPrograms;
}

/** What a transaction of a block says, in the forms of webhooks and of `/ws`. Each part is written once, when asked. */
export class TransactionEvent {
  /** The place in the block, from 0. */
  readonly index: number;
  readonly view: TransactionView;
  readonly #block: ConfirmedBlock;
  readonly #idls: IdlPrograms;
  #facts: TransactionFacts | undefined;
  #parsed: ParsedTransaction | undefined;
  #accounts: string | undefined;
  #programs: string | undefined;
  #error: string | undefined;
  #main: string | undefined;
  #tokenTransfers: string | undefined;
  #logs: string | undefined;
  readonly #texts: Partial<Record<Stage, string>> = {};

  /** @throws {TypeError} when its bytes are not canonical, which no node confirms */
  constructor({ block, index, programs }: Place, view: TransactionView) {
    this.#block = block;
    this.#idls = programs;
    this.index = index;
    this.view = view;
  }

  get signature(): string {
    return this.view.transaction.signature;
  }

  /** What filters ask of it. */
  get facts(): TransactionFacts {
    this.#facts ??= new TransactionFacts(this.view);
    return this.#facts;
  }

  /** What it was, read once for all who ask. */
  get parsed(): ParsedTransaction {
    this.#parsed ??= parseTransaction(this.view);
    return this.#parsed;
  }

  /** The JSON text of a message's `data` on `/ws`: `transactionStreamData` of contract. */
  text(commitment: Stage): string {
    const written = this.#texts[commitment];
    if (written !== undefined) return written;
    const place = `"index":${this.index},"blockhash":${JSON.stringify(this.#block.blockhash)}`;
    const text = `${this.#members({ logs: true, tokenTransfers: true })},${place},"commitment":"${commitment}"}`;
    this.#texts[commitment] = text;
    return text;
  }

  /** The JSON text of `data` of transaction.confirmed and transaction.finalized: `transactionEventData` of contract. */
  eventText(switches: TransactionSwitches): string {
    return `${this.#members(switches)}}`;
  }

  /** The JSON text of `data` of transaction.failed: `failedEventData` of contract. */
  failedText(): string {
    const { signature } = this;
    const { slot } = this.#block;
    return (
      `{"signature":${JSON.stringify(signature)},"slot":${slot},"error":${this.#errorText()},` +
      `"accounts":${this.#accountsText()},"program_ids":${this.#programsText()},"fee":${this.view.meta?.fee ?? null}}`
    );
  }

  /** The members of the event, without the closing bracket. */
  #members({ logs, tokenTransfers: transfers }: TransactionSwitches): string {
    return (
      `${this.#mainText()},"token_transfers":${transfers ? this.#tokenTransfersText() : "[]"},` +
      `"log_messages":${logs ? this.#logsText() : "[]"}`
    );
  }

  #mainText(): string {
    if (this.#main !== undefined) return this.#main;
    const { slot, blockTime } = this.#block;
    this.#main =
      `{"signature":${JSON.stringify(this.signature)},"slot":${slot},"block_time":${blockTime},` +
      `"fee":${this.view.meta?.fee ?? null},"success":${!this.view.failed},"error":${this.#errorText()},` +
      `"accounts":${this.#accountsText()},"program_ids":${this.#programsText()},` +
      `"instructions":${instructionsText(this.view, this.#idls)}`;
    return this.#main;
  }

  #errorText(): string {
    if (this.#error === undefined) {
      const record = errorRecord(this.view.meta?.error ?? null);
      this.#error =
        record === null
          ? "null"
          : `{"type":${JSON.stringify(record.type)},"index":${record.index},"message":${JSON.stringify(record.message)}}`;
    }
    return this.#error;
  }

  #accountsText(): string {
    this.#accounts ??= JSON.stringify(this.view.keys);
    return this.#accounts;
  }

  #programsText(): string {
    this.#programs ??= JSON.stringify(this.view.programIds);
    return this.#programs;
  }

  #tokenTransfersText(): string {
    this.#tokenTransfers ??= JSON.stringify(tokenTransfers(movementsOf(this.view).tokens));
    return this.#tokenTransfers;
  }

  #logsText(): string {
    this.#logs ??= JSON.stringify(this.view.meta?.logs ?? null);
    return this.#logs;
  }
}

/** A key that an instruction names and the transaction does not have is shown as empty text. */
function instructionsText({ calls, keys }: TransactionView, programs: IdlPrograms): string {
  // One native call writes them in 6 µs a transaction of 10 calls; joining texts of their parts takes 40.
  return JSON.stringify(
    calls.map(({ programId, accounts: indexes, data }) => {
      const accounts: string[] = [];
      for (let position = 0; position < indexes.length; position++) accounts.push(keys[indexes[position] ?? -1] ?? "");
      const instruction = instructionName({ programId, accounts, data }) ?? programs.nameOf(programId, data);
      return { program_id: programId, instruction, accounts, data: encodeBase58(data) };
    }),
  );
}
