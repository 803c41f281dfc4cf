import type { ErrorCode } from "@sluice/contract/errors";
import type { JsonValue } from "@sluice/encode";
import type { Clock } from "@sluice/lib";
import { callNode, type NodeCallDependencies } from "../node-calls.ts";
import type { ParsedTransactions } from "../transactions/parsed-transactions.ts";
import type { WalletAsking } from "../wallets/wallet-ledger.ts";
import type { AddressPage, AddressQuestion } from "./address-question.ts";
import type { LedgerTransactions } from "./ledger-transactions.ts";

export interface AddressTransactionsDependencies extends NodeCallDependencies {
  readonly transactions: Pick<ParsedTransactions, "read">;
  readonly fromLedger: Pick<LedgerTransactions, "read">;
  /** Bounds how many reads of the ledger run at a time. */
  readonly reads: { readonly bounded: <T>(work: () => Promise<T>) => Promise<T> };
  readonly clock: Pick<Clock, "monotonic">;
}

export type AddressAnswer = ({ readonly ok: true } & AddressPage) | { readonly ok: false; readonly code: ErrorCode };

/** Bounds of one request, which the next one goes on from: a filter that few transactions pass ends there. */
const bounds = {
  /** Signatures that it looks at. */
  scanned: 1_000,
  /** Milliseconds after which it begins to read no more of them. */
  answerMs: 4_000,
} as const;
/** Signatures of one call, and transactions that are read together. */
const pageMax = 100;

interface AddressRecord {
  readonly signature: string;
  readonly text: string;
}

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

  /** A page: at most `limit` records, of the first 1,000 transactions that it looks at in four seconds. */
  async read(question: AddressQuestion & WalletAsking): Promise<AddressAnswer> {
    const { query } = question;
    const { fromLedger, reads, clock } = this.#dependencies;
    if (query["sort-order"] === "asc" || query["token-accounts"] !== "none") {
      return { ok: true, ...(await reads.bounded(() => fromLedger.read(question))) };
    }
    const untilMs = clock.monotonic() + bounds.answerMs;
    const texts: string[] = [];
    let before = query["before-signature"] ?? query.before;
    for (let scanned = 0; scanned < bounds.scanned && clock.monotonic() < untilMs; ) {
      const limit = hasFilter(query) ? pageMax : query.limit - texts.length;
      const page = await this.#signatures(question, before, limit);
      if (!page.ok) return page;
      const read = await this.#records(question, page.infos);
      if (!read.ok) return read;
      const room = query.limit - texts.length;
      texts.push(...read.records.slice(0, room).map(({ text }) => text));
      const isLast = page.infos.length < limit || isBelow(page.infos.at(-1), query);
      if (read.records.length >= room) {
        const last = read.records[room - 1]?.signature ?? null;
        const isEnd = isLast && read.records.length === room && last === page.infos.at(-1)?.signature;
        return { ok: true, texts, nextSignature: isEnd ? null : last };
      }
      if (isLast) return { ok: true, texts, nextSignature: null };
      scanned += page.infos.length;
      before = page.infos.at(-1)?.signature;
    }
    return { ok: true, texts, nextSignature: before ?? null };
  }

  async #signatures(
    question: AddressQuestion,
    before: string | undefined,
    limit: number,
  ): Promise<{ ok: true; infos: readonly SignatureInfo[] } | { ok: false; code: ErrorCode }> {
    const { address, query } = question;
    const until = query["after-signature"] ?? query.until;
    const edges = { ...(before === undefined ? {} : { before }), ...(until === undefined ? {} : { until }) };
    const call = {
      method: "getSignaturesForAddress",
      params: [address, { commitment: query.commitment, limit, ...edges }],
    };
    const answer = await callNode(this.#dependencies, question, call);
    return answer.ok ? { ok: true, infos: infosOf(answer.result) } : answer;
  }

  async #records(
    question: AddressQuestion,
    infos: readonly SignatureInfo[],
  ): Promise<{ ok: true; records: readonly AddressRecord[] } | { ok: false; code: ErrorCode }> {
    const { query, network, keyId, nowMs } = question;
    const signatures = infos.filter((info) => isWithin(info, query)).map(({ signature }) => signature);
    const items = await this.#dependencies.transactions.read({
      ...{ network, keyId, nowMs, signatures },
      commitment: query.commitment,
    });
    const records: AddressRecord[] = [];
    for (const [at, item] of items.entries()) {
      if (item.ok) {
        if (matches(item.text, query)) records.push({ signature: signatures[at] ?? "", text: item.text });
      } else if (item.code !== "NOT_FOUND") return { ok: false, code: item.code };
    }
    return { ok: true, records };
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

/** Whether a transaction lies below the bounds of a query, as all that follow it do. */
function isBelow(info: SignatureInfo | undefined, query: AddressQuestion["query"]): boolean {
  if (info === undefined) return true;
  const [above, from] = [query["gt-slot"], query["gte-slot"]];
  return (above !== undefined && info.slot <= above) || (from !== undefined && info.slot < from);
}

const filters = [
  ...(["type", "source", "gt-slot", "gte-slot", "lt-slot", "lte-slot"] as const),
  ...(["gt-time", "gte-time", "lt-time", "lte-time"] as const),
];

/** Whether some of the transactions that are looked at may be left out. */
const hasFilter = (query: AddressQuestion["query"]): boolean => filters.some((name) => query[name] !== undefined);

/** Whether a record is of the type and source that are asked for. */
function matches(text: string, { type, source }: AddressQuestion["query"]): boolean {
  if (type === undefined && source === undefined) return true;
  const record: { readonly type?: unknown; readonly source?: unknown } = JSON.parse(text);
  return (type === undefined || record.type === type) && (source === undefined || record.source === source);
}
