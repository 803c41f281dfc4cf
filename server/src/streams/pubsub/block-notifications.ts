import { encodeBlock, encodeTransaction, type JsonValue } from "@sluice/encode";
import { stringifyJsonExact } from "@sluice/wire/json";
import type { FlowBlock } from "../flow/flow-block.ts";
import type { SubscriptionSpec } from "./subscription-spec.ts";

/** What a blockSubscribe asks to be shown. */
export interface BlockForm {
  readonly encoding: "binary" | "base58" | "base64" | "json" | "jsonParsed";
  readonly transactionDetails: "full" | "accounts" | "signatures" | "none";
  readonly rewards: boolean;
  readonly maxSupportedTransactionVersion: number | undefined;
}

const encodings = ["binary", "base58", "base64", "json", "jsonParsed"] as const;
const details = ["full", "accounts", "signatures", "none"] as const;

/** The form of a call that was checked, with a node's defaults. */
export function blockFormOf({ config }: SubscriptionSpec): BlockForm {
  const version = config["maxSupportedTransactionVersion"];
  return {
    encoding: encodings.find((each) => each === config["encoding"]) ?? "base64",
    transactionDetails: details.find((each) => each === config["transactionDetails"]) ?? "full",
    rewards: config["showRewards"] === true,
    maxSupportedTransactionVersion: version === undefined ? undefined : Number(version),
  };
}

/** A transaction's text in one form, or the version that the form does not take. */
type TransactionText = string | { readonly version: number };

/**
 * The results of the notifications of one block, as texts. What several subscriptions show is written once: the logs of
 * a transaction, and its text in one form.
 */
export class BlockNotifications {
  readonly #block: FlowBlock["block"];
  readonly #context: string;
  readonly #logs: string[] = [];
  readonly #transactions = new Map<string, TransactionText[]>();

  constructor({ header, block }: FlowBlock) {
    this.#block = block;
    this.#context = `{"context":{"slot":${header.slot}},"value":`;
  }

  /** The result of logsNotification for the transaction at a place of the block. */
  logs(index: number): string {
    const known = this.#logs[index];
    if (known !== undefined) return known;
    const transaction = this.#block.transactions[index];
    const signature = JSON.stringify(transaction?.signature);
    const text = `${this.#context}{"signature":${signature},"err":${this.#error(index)},"logs":${JSON.stringify(transaction?.meta?.logs ?? [])}}}`;
    this.#logs[index] = text;
    return text;
  }

  signature(index: number): string {
    return `${this.#context}{"err":${this.#error(index)}}}`;
  }

  /** The result of blockNotification with the transactions at some places, null for all. */
  whole(form: BlockForm, places: readonly number[] | null): string {
    const { slot } = this.#block;
    const shown = places ?? this.#block.transactions.map((_, index) => index);
    const texts: string[] = [];
    for (const index of shown) {
      const text = this.#transaction(form, index);
      if (typeof text !== "string") {
        const error = `{"UnsupportedTransactionVersion":${text.version}}`;
        return `${this.#context}{"slot":${slot},"block":null,"err":${error}}}`;
      }
      texts.push(text);
    }
    const frame = encodeBlock({ ...this.#block, transactions: [] }, form);
    // Of a block without transactions no version is refused.
    const around = frame.ok ? stringifyJsonExact(frame.value) : "null";
    const list = form.transactionDetails === "signatures" ? '"signatures":[' : '"transactions":[';
    const at = around.indexOf(`${list}]`) + list.length;
    const block =
      form.transactionDetails === "none" ? around : around.slice(0, at) + texts.join(",") + around.slice(at);
    return `${this.#context}{"slot":${slot},"block":${block},"err":null}}`;
  }

  #transaction(form: BlockForm, index: number): TransactionText {
    const { encoding, transactionDetails, rewards, maxSupportedTransactionVersion } = form;
    const transaction = this.#block.transactions[index];
    if (transaction === undefined || transactionDetails === "none") return "";
    if (transactionDetails === "signatures") return JSON.stringify(transaction.signature);
    const key = `${encoding} ${transactionDetails} ${rewards} ${maxSupportedTransactionVersion}`;
    const texts = this.#transactions.get(key) ?? [];
    this.#transactions.set(key, texts);
    const known = texts[index];
    if (known !== undefined) return known;
    const encoded = encodeTransaction(transaction, {
      encoding,
      transactionDetails,
      maxSupportedTransactionVersion,
      showRewards: rewards,
    });
    const text = encoded.ok ? stringifyJsonExact(encoded.value) : { version: encoded.version };
    texts[index] = text;
    return text;
  }

  #error(index: number): string {
    return stringifyJsonExact((this.#block.transactions[index]?.meta?.error ?? null) as JsonValue);
  }
}
