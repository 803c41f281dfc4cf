import { type BundleReason, type EngineErrorCode, engineLimits } from "@sluice/contract/engine";
import type { ErrorCode } from "@sluice/contract/errors";
import { decodeBase58 } from "@sluice/wire/base58";
import type { JsonValue } from "@sluice/wire/json";
import { parseTransaction, type Transaction } from "@sluice/wire/transaction";
import { decodeBase64 } from "../admission/index.ts";
import type { BundleRecord, Searcher } from "../model/bundle.ts";
import { EngineChainError } from "../model/chain-port.ts";
import { jitoText } from "../model/jito-texts.ts";
import type { BlockEngineService, BundleSubmission } from "../model/service.ts";

/** How far back getInflightBundleStatuses looks. */
const inflightMs = 300_000;
const idsMax = 5;

export interface JitoCall {
  readonly method: string;
  readonly params: readonly JsonValue[];
  /** `bundleOnly` in the query of /transactions: the transaction lands as a bundle or not at all. */
  readonly bundleOnly: boolean;
  readonly searcher: Searcher;
}

export interface JitoRpcDependencies {
  readonly engine: BlockEngineService;
  /** Sends a transaction to the leader as a node does, beside no bundle. */
  readonly send: (transaction: Uint8Array) => Promise<boolean>;
  /** A node's answer to simulateBundle; rejects with EngineChainError. */
  readonly simulate: (params: readonly JsonValue[]) => Promise<JsonValue>;
  readonly nowMs: () => number;
}

export type JitoAnswer =
  | { readonly ok: true; readonly result: JsonValue; readonly bundleId?: string }
  | {
      readonly ok: false;
      readonly status: number;
      readonly code: number;
      readonly message: string;
      /** The public code: of a refused bundle its reason; null for a node's own refusal. */
      readonly reason: BundleReason | EngineErrorCode | ErrorCode | null;
      /** A node's own refusal: it was asked, and its answer costs what any answer costs. */
      readonly isNodes?: true;
    };

type Refused = Extract<JitoAnswer, { readonly ok: false }>;

/** Of a call with wrong parameters, unless it says otherwise. */
function refuse(message: string, parts: Partial<Pick<Refused, "status" | "code" | "reason">> = {}): Refused {
  return { ok: false, status: 400, code: -32_602, reason: "INVALID_PARAMS", message, ...parts };
}

const unavailable = { status: 503, code: -32_603, reason: "UNAVAILABLE" } as const;

/** Methods that enter something into the auction, and so are bound by its rate. */
export const submittingMethods: ReadonlySet<string> = new Set(["sendBundle", "sendTransaction"]);

/** Jito's JSON-RPC methods of a block engine. Sources: wire facts, JSON-RPC bundle API; jito-js-rpc. */
export class JitoRpc {
  readonly #dependencies: JitoRpcDependencies;

  constructor(dependencies: JitoRpcDependencies) {
    this.#dependencies = dependencies;
  }

  async answer(call: JitoCall): Promise<JitoAnswer> {
    switch (call.method) {
      case "sendBundle":
        return this.#sendBundle(call);
      case "sendTransaction":
        return this.#sendTransaction(call);
      case "getTipAccounts":
        return { ok: true, result: [...this.#dependencies.engine.tipAccounts] };
      case "simulateBundle":
        return this.#simulate(call);
      case "getBundleStatuses":
        return this.#statuses(call, landedStatus);
      case "getInflightBundleStatuses":
        return this.#statuses(call, (id, record) => this.#inflightStatus(id, record));
      default:
        return refuse(`Method ${call.method.slice(0, 64)} not found`, { code: -32_601, reason: "METHOD_NOT_FOUND" });
    }
  }

  async #sendBundle({ params, searcher }: JitoCall): Promise<JitoAnswer> {
    const [texts, config] = params;
    if (!isTexts(texts)) return refuse("params[0] must be an array of encoded transactions");
    const encoding = encodingOf(config);
    if (encoding === null) return refuse("encoding must be base58 or base64");
    const transactions: Uint8Array[] = [];
    for (const [index, text] of texts.entries()) {
      const bytes = decode(text, encoding);
      if (bytes === null) return refuse(`transaction #${index} could not be decoded`);
      transactions.push(bytes);
    }
    const outcome = await this.#dependencies.engine.submit(submissionOf(transactions), searcher);
    if (!outcome.ok) return refused(outcome.reason, outcome.detail);
    return { ok: true, result: outcome.record.id, bundleId: outcome.record.id };
  }

  async #sendTransaction({ params, searcher, bundleOnly }: JitoCall): Promise<JitoAnswer> {
    const [text, config] = params;
    const encoding = encodingOf(config);
    if (typeof text !== "string") return refuse("params[0] must be an encoded transaction");
    if (encoding === null) return refuse("encoding must be base58 or base64");
    const bytes = decode(text, encoding);
    const parsed = bytes === null ? null : parseTransaction(bytes);
    if (bytes === null || parsed?.ok !== true || bytes.length > engineLimits.transactionBytes) {
      return refuse("transaction #0 could not be decoded");
    }
    const { id } = parsed.transaction;
    if (this.#dependencies.engine.isInMaintenance) return refused("maintenance", null);
    // Without a tip it is no bundle, and still a transaction that a leader may take.
    if (!bundleOnly && !this.#namesTip(parsed.transaction)) return await this.#send(bytes, id);
    const outcome = await this.#dependencies.engine.submit(submissionOf([bytes]), searcher);
    if (outcome.ok) {
      if (!bundleOnly) await this.#dependencies.send(bytes);
      return { ok: true, result: id, bundleId: outcome.record.id };
    }
    if (bundleOnly || !sendableReasons.has(outcome.reason)) return refused(outcome.reason, outcome.detail);
    return await this.#send(bytes, id);
  }

  /** Its own runs are of another shape and kept to bundles; who asks wants a node's view of the state that he names. */
  async #simulate({ params }: JitoCall): Promise<JitoAnswer> {
    try {
      return { ok: true, result: await this.#dependencies.simulate(params) };
    } catch (error) {
      if (!(error instanceof EngineChainError)) throw error;
      const { nodeCode } = error.details;
      return nodeCode === null
        ? refuse(error.message, unavailable)
        : { ...refuse(error.message, { code: nodeCode, reason: null }), isNodes: true };
    }
  }

  #namesTip({ message }: Transaction): boolean {
    const { tipAccounts } = this.#dependencies.engine;
    return message.staticAddresses.some((address, key) => tipAccounts.includes(address) && message.isWritable(key));
  }

  async #send(transaction: Uint8Array, id: string): Promise<JitoAnswer> {
    const isTaken = await this.#dependencies.send(transaction);
    return isTaken ? { ok: true, result: id } : refuse("no leader took the transaction", unavailable);
  }

  async #statuses(
    { params, searcher }: JitoCall,
    shown: (id: string, record: BundleRecord | null) => JsonValue,
  ): Promise<JitoAnswer> {
    const [ids] = params;
    if (!isTexts(ids)) return refuse("params[0] must be an array of bundle ids");
    if (ids.length > idsMax) return refuse(`at most ${idsMax} bundle ids`);
    const records = await Promise.all(ids.map((id) => this.#dependencies.engine.get(id, searcher)));
    const value = ids.map((id, index) => shown(id, records[index] ?? null));
    return { ok: true, result: { context: { slot: Number(this.#dependencies.engine.currentSlot() ?? 0n) }, value } };
  }

  #inflightStatus(id: string, record: BundleRecord | null): JsonValue {
    const isOld = record === null || this.#dependencies.nowMs() - record.receivedAt > inflightMs;
    if (isOld) return { bundle_id: id, status: "Invalid", landed_slot: null };
    if (record.landed !== null && (record.state === "included" || record.state === "finalized")) {
      return { bundle_id: id, status: "Landed", landed_slot: Number(record.landed.slot) };
    }
    return { bundle_id: id, status: record.state === "accepted" ? "Pending" : "Failed", landed_slot: null };
  }
}

/**
 * Reasons for which a transaction is no bundle and is sent all the same: it asked for no preflight and no protection.
 */
const sendableReasons: ReadonlySet<BundleReason> = new Set([
  "tip_not_paid",
  "tip_below_floor",
  "no_leader",
  "simulation_failed",
  "compute_exceeded",
]);

function landedStatus(_id: string, record: BundleRecord | null): JsonValue {
  if (record?.landed == null || (record.state !== "included" && record.state !== "finalized")) return null;
  return {
    bundle_id: record.id,
    transactions: [...record.signatures],
    slot: Number(record.landed.slot),
    confirmation_status: record.state === "finalized" ? "finalized" : "confirmed",
    err: { Ok: null },
  };
}

function refused(reason: BundleReason, detail: string | null): JitoAnswer {
  const message = jitoText(reason, detail);
  if (reason === "maintenance") return refuse(message, { status: 503, code: -32_603, reason });
  if (reason === "rate_limited") return refuse(message, { status: 429, code: -32_097, reason });
  return refuse(message, { reason });
}

const submissionOf = (transactions: readonly Uint8Array[]): BundleSubmission => ({
  transactions,
  tip: null,
  mevType: "unknown",
  targetSlot: null,
  sealed: null,
  ingress: "jito-rpc",
});

const isTexts = (value: JsonValue | undefined): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === "string");

/** base58 is what the method's first clients sent, and its default still. */
function encodingOf(config: JsonValue | undefined): "base58" | "base64" | null {
  if (config === undefined || config === null) return "base58";
  if (typeof config !== "object" || Array.isArray(config)) return null;
  const encoding = (config as { readonly encoding?: JsonValue }).encoding ?? "base58";
  return encoding === "base58" || encoding === "base64" ? encoding : null;
}

function decode(text: string, encoding: "base58" | "base64"): Uint8Array | null {
  if (encoding === "base64") return decodeBase64(text);
  return decodeBase58(text, engineLimits.transactionBytes);
}
