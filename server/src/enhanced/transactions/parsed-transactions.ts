import type { ErrorCode } from "@sluice/contract/errors";
import { readTransaction } from "@sluice/encode";
import type { Clock } from "@sluice/lib";
import { enhancedRecord, type IdlPrograms, parseTransaction, recordText, TransactionView } from "@sluice/parser";
import { MalformedBytes } from "@sluice/wire/bytes";
import type { EnhancedEvents } from "../events.ts";
import { type Asking, callNode, type NodeCallDependencies } from "../node-calls.ts";
import type { TextCache } from "../text-cache.ts";
import type { SentenceSource } from "./sentence-source.ts";

export interface ParsedTransactionsDependencies extends NodeCallDependencies {
  readonly clock: Pick<Clock, "monotonic">;
  readonly cache: TextCache;
  /** Names the chain that a network is now; null while it is not known. */
  readonly chainOf: (network: Asking["network"]) => string | null;
  readonly events: EnhancedEvents;
  /** Of the operator's files. */
  readonly programs: IdlPrograms;
  readonly names: SentenceSource;
}

export interface TransactionsQuestion extends Asking {
  readonly signatures: readonly string[];
  readonly commitment: "confirmed" | "finalized";
}

/** The answer for one signature. */
export type ParsedItem =
  | { readonly ok: true; readonly text: string; readonly kept: boolean }
  | { readonly ok: false; readonly code: ErrorCode | "NOT_FOUND" };

/** Nodes asked at one time for one request. */
const runningMax = 16;
/** The newest version of transactions that this release reads. */
const maxSupportedTransactionVersion = 1;

/** Records of transactions by their signatures, kept for a while. */
export class ParsedTransactions {
  readonly #dependencies: ParsedTransactionsDependencies;

  constructor(dependencies: ParsedTransactionsDependencies) {
    this.#dependencies = dependencies;
  }

  /** One item for each signature, in their order; the same signature twice is read once. */
  async read(question: TransactionsQuestion): Promise<readonly ParsedItem[]> {
    const found = new Map<string, ParsedItem>();
    const waiting = [...new Set(question.signatures)];
    const work = async (): Promise<void> => {
      for (let signature = waiting.pop(); signature !== undefined; signature = waiting.pop()) {
        found.set(signature, await this.#readOne(question, signature));
      }
    };
    await Promise.all(Array.from({ length: Math.min(runningMax, waiting.length) }, work));
    return question.signatures.map((signature) => found.get(signature) ?? { ok: false, code: "NOT_FOUND" });
  }

  async #readOne(question: TransactionsQuestion, signature: string): Promise<ParsedItem> {
    const { cache, chainOf, events } = this.#dependencies;
    const { network, commitment } = question;
    const chain = chainOf(network);
    const key = `${network} ${chain} ${commitment} ${signature}`;
    const kept = chain === null ? null : cache.get(key);
    if (kept !== null) {
      events.answered("transaction", "kept");
      return { ok: true, text: kept, kept: true };
    }
    const item = await this.#parse(question, signature);
    if (!item.ok) {
      events.readFailed(item.code);
      return item;
    }
    events.answered("transaction", "chain");
    const { text, isComplete } = item;
    if (chain !== null && isComplete) cache.keep(key, text);
    return { ok: true, text, kept: false };
  }

  async #parse(
    question: TransactionsQuestion,
    signature: string,
  ): Promise<{ ok: true; text: string; isComplete: boolean } | Extract<ParsedItem, { ok: false }>> {
    const { commitment } = question;
    const config = { commitment, encoding: "base64", maxSupportedTransactionVersion };
    const call = { method: "getTransaction", params: [signature, config] };
    const answer = await callNode(this.#dependencies, question, call);
    if (!answer.ok) return answer;
    if (answer.result === null) return { ok: false, code: "NOT_FOUND" };
    const { clock, events, programs, names } = this.#dependencies;
    const startedMs = clock.monotonic();
    try {
      const { transaction, slot, blockTime } = readTransaction(answer.result);
      if (transaction.signature !== signature) return { ok: false, code: "UPSTREAM_INVALID" };
      const view = new TransactionView(transaction);
      const parsed = parseTransaction(view);
      events.transactionParsed(parsed.type, clock.monotonic() - startedMs);
      const read = await names.of(question, [parsed]);
      const text = recordText(
        enhancedRecord(view, parsed, { place: { slot, blockTime }, names: read.names, programs }),
      );
      return { ok: true, text, isComplete: read.isComplete };
    } catch (error) {
      if (error instanceof MalformedBytes || error instanceof TypeError) return { ok: false, code: "PARSING_FAILED" };
      throw error;
    }
  }
}
