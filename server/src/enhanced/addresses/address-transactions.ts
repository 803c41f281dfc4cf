import type { ErrorCode } from "@sluice/contract/errors";
import type { JsonValue } from "@sluice/encode";
import { callNode, type NodeCallDependencies } from "../node-calls.ts";
import type { ParsedTransactions } from "../transactions/parsed-transactions.ts";
import type { WalletAsking } from "../wallets/wallet-ledger.ts";
import type { AddressQuestion } from "./address-question.ts";
import type { LedgerTransactions } from "./ledger-transactions.ts";

export interface AddressTransactionsDependencies extends NodeCallDependencies {
  readonly transactions: Pick<ParsedTransactions, "read">;
  readonly fromLedger: Pick<LedgerTransactions, "read">;
}

export type AddressAnswer =
  | { readonly ok: true; readonly texts: readonly string[] }
  | { readonly ok: false; readonly code: ErrorCode };

/** Signatures that one request looks at: a filter that few transactions match ends there. */
const scannedMax = 1_000;
const pageMax = 100;

interface SignatureInfo {
  readonly signature: string;
  readonly slot: number;
  readonly blockTime: number | null;
}

/**
 * Records of the transactions that name an address. The newest first come from nodes, behind which the gateway has the
 * ledger; other orders and transactions of token accounts from the ledger alone, which has an index of them.
 */
export class AddressTransactions {
  readonly #dependencies: AddressTransactionsDependencies;

  constructor(dependencies: AddressTransactionsDependencies) {
    this.#dependencies = dependencies;
  }

  /** A page: at most `limit` records, of the first 1,000 transactions that it looks at. */
  async read(question: AddressQuestion & WalletAsking): Promise<AddressAnswer> {
    const { query } = question;
    if (query["sort-order"] === "asc" || query["token-accounts"] !== "none") {
      return { ok: true, texts: await this.#dependencies.fromLedger.read(question) };
    }
    const texts: string[] = [];
    let before = query["before-signature"] ?? query.before;
    for (let scanned = 0; scanned < scannedMax && texts.length < query.limit; ) {
      const page = await this.#signatures(question, before);
      if (!page.ok) return page;
      const read = await this.#records(question, page.infos);
      if (!read.ok) return read;
      texts.push(...read.texts);
      scanned += page.infos.length;
      before = page.infos.at(-1)?.signature;
      if (page.infos.length < pageMax) break;
    }
    return { ok: true, texts: texts.slice(0, query.limit) };
  }

  async #signatures(
    question: AddressQuestion,
    before: string | undefined,
  ): Promise<{ ok: true; infos: readonly SignatureInfo[] } | { ok: false; code: ErrorCode }> {
    const { address, query } = question;
    const until = query["after-signature"] ?? query.until;
    const bounds = { ...(before === undefined ? {} : { before }), ...(until === undefined ? {} : { until }) };
    const call = {
      method: "getSignaturesForAddress",
      params: [address, { commitment: query.commitment, limit: pageMax, ...bounds }],
    };
    const answer = await callNode(this.#dependencies, question, call);
    return answer.ok ? { ok: true, infos: infosOf(answer.result) } : answer;
  }

  async #records(question: AddressQuestion, infos: readonly SignatureInfo[]): Promise<AddressAnswer> {
    const { query, network, keyId, nowMs } = question;
    const signatures = infos.filter((info) => isWithin(info, query)).map(({ signature }) => signature);
    const items = await this.#dependencies.transactions.read({
      ...{ network, keyId, nowMs, signatures },
      commitment: query.commitment,
    });
    const texts: string[] = [];
    for (const item of items) {
      if (item.ok) {
        if (matches(item.text, query)) texts.push(item.text);
      } else if (item.code !== "NOT_FOUND") return { ok: false, code: item.code };
    }
    return { ok: true, texts };
  }
}

function infosOf(result: JsonValue): SignatureInfo[] {
  if (!Array.isArray(result)) return [];
  return result.flatMap((each: JsonValue) => {
    if (typeof each !== "object" || each === null || Array.isArray(each)) return [];
    const { signature, slot, blockTime } = each as { readonly [member: string]: JsonValue };
    if (typeof signature !== "string") return [];
    return [{ signature, slot: Number(slot), blockTime: blockTime === null ? null : Number(blockTime) }];
  });
}

function isWithin({ slot, blockTime }: SignatureInfo, query: AddressQuestion["query"]): boolean {
  const within = (value: number | null, name: "slot" | "time"): boolean => {
    const bounds = [query[`gt-${name}`], query[`gte-${name}`], query[`lt-${name}`], query[`lte-${name}`]] as const;
    if (bounds.every((bound) => bound === undefined)) return true;
    if (value === null) return false;
    const [above, from, below, to] = bounds;
    return (
      (above === undefined || value > above) &&
      (from === undefined || value >= from) &&
      (below === undefined || value < below) &&
      (to === undefined || value <= to)
    );
  };
  return within(slot, "slot") && within(blockTime, "time");
}

/** Whether a record is of the type and source that are asked for. */
function matches(text: string, { type, source }: AddressQuestion["query"]): boolean {
  if (type === undefined && source === undefined) return true;
  const record: { readonly type?: unknown; readonly source?: unknown } = JSON.parse(text);
  return (type === undefined || record.type === type) && (source === undefined || record.source === source);
}
