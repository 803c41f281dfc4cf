import { type JsonObject, type JsonValue, readJson } from "@sluice/encode";
import { parseJsonExact, sliceEnvelope, stringifyJsonExact } from "@sluice/wire/json";
import type { ChainReads, TransactionPlace, TransactionRow } from "../../ledger/index.ts";
import { answerText, type NodeAnswer } from "../../upstreams/index.ts";
import type { ArchiveQuestion } from "./blocks.ts";
import { integerOf } from "./call-config.ts";
import { resultAnswer, unknownTransaction } from "./node-answers.ts";

const signaturesMax = 1_000;
const blocksMax = 500_000n;

/** The list that a node answered: its items, and their text as the node wrote it. */
export interface NodeList {
  readonly items: readonly JsonValue[];
  /** Without the brackets. */
  readonly text: string;
}

const emptyList: NodeList = { items: [], text: "" };

/** Reads a node's list; null for an answer that is none. */
export function listOf(answer: NodeAnswer): NodeList | null {
  const text = answerText(answer);
  if (text === null) return null;
  const bytes = Buffer.from(text);
  const slice = sliceEnvelope(bytes);
  if (slice.kind !== "result") return null;
  const value = bytes.toString("utf8", slice.valueStart, slice.valueEnd).trim();
  const parsed = parseJsonExact(value);
  if (!parsed.ok || !Array.isArray(parsed.value)) return null;
  return { items: parsed.value, text: value.slice(1, -1).trim() };
}

const joined = (...parts: readonly string[]): NodeAnswer =>
  resultAnswer(`[${parts.filter((part) => part !== "").join(",")}]`);

const isBefore = (one: TransactionPlace, other: TransactionPlace): boolean =>
  one.slot < other.slot || (one.slot === other.slot && one.index < other.index);

/** A row as getSignaturesForAddress shows it; nodes of earlier versions show no place in the block. */
export function signatureRecord(row: TransactionRow, isFinal: boolean, showsIndex: boolean): JsonObject {
  return {
    signature: row.signature,
    slot: row.slot,
    err: row.error === "" ? null : readJson(row.error),
    memo: row.memo,
    blockTime: row.blockTime,
    confirmationStatus: isFinal ? "finalized" : "confirmed",
    ...(showsIndex && { transactionIndex: row.index }),
  };
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The place of the last row that a node listed; null where the ledger does not know it either. */
async function placeOfLast(
  chain: ChainReads,
  question: ArchiveQuestion,
  last: JsonValue,
): Promise<TransactionPlace | null> {
  if (!isObject(last)) return null;
  const { slot, transactionIndex, signature } = last;
  const [at, index] = [integerOf(slot), integerOf(transactionIndex)];
  if (at !== null && index !== null) return { slot: at, index: Number(index) };
  return typeof signature === "string" ? await chain.transactions.placeOf(question.network, signature) : null;
}

/**
 * getSignaturesForAddress: what the nodes list, and behind it what they do not hold any more. Without their list, since
 * they do not know a bound, the whole is the ledger's. Null where nothing is added.
 */
export async function archivedSignatures(
  chain: ChainReads,
  question: ArchiveQuestion,
  nodes: NodeList | null,
): Promise<NodeAnswer | null> {
  const { network, newest, config } = question;
  const limit = Number(config.integer("limit") ?? signaturesMax);
  const list = nodes ?? emptyList;
  if (list.items.length >= limit || newest < 0n) return null;
  const bound = async (name: "before" | "until"): Promise<TransactionPlace | "unknown" | null> => {
    const signature = config.text(name);
    return signature === null ? null : ((await chain.transactions.placeOf(network, signature)) ?? "unknown");
  };
  const [before, until] = await Promise.all([bound("before"), bound("until")]);
  if (nodes === null && (before === "unknown" || until === "unknown")) {
    return unknownTransaction(config.text(before === "unknown" ? "before" : "until") ?? "");
  }
  const last = list.items.at(-1);
  const after = last === undefined ? before : await placeOfLast(chain, question, last);
  // What the ledger does not know either bounds nothing here.
  if (after === "unknown" || until === "unknown" || (last !== undefined && after === null)) return null;
  const page = {
    network,
    order: "desc",
    from: until?.slot ?? 0n,
    to: newest,
    after,
    limit: limit - list.items.length,
  } as const;
  const places = await chain.transactions.ofAddress(page, config.textAt(0));
  const known = new Set(list.items.map((item) => (isObject(item) ? item["signature"] : null)));
  const rows = await chain.transactions.rows(
    network,
    places.filter((place) => until === null || isBefore(until, place)),
    "desc",
  );
  const added = rows.filter(({ signature }) => !known.has(signature));
  if (added.length === 0 && nodes !== null) return null;
  const showsIndex = last === undefined || (isObject(last) && last["transactionIndex"] !== undefined);
  const { finalBefore } = question.held;
  const records = added.map((row) => stringifyJsonExact(signatureRecord(row, row.slot < finalBefore, showsIndex)));
  return joined(list.text, records.join(","));
}

/** getBlocks and getBlocksWithLimit: before the first slot that the nodes list, what they do not hold any more. */
export async function archivedSlots(
  chain: ChainReads,
  question: ArchiveQuestion & { readonly method: string },
  nodes: NodeList,
): Promise<NodeAnswer | null> {
  const { network, newest, config, method } = question;
  const start = config.integerAt(0);
  if (start === null) return null;
  const isLimited = method === "getBlocksWithLimit";
  const second = config.integerAt(1);
  const limit = isLimited ? Number(second ?? 0n) : Number(blocksMax) + 1;
  const end = isLimited ? newest : least(second ?? start + blocksMax, newest);
  const first = integerOf(nodes.items[0]);
  const to = first === null ? end : least(first - 1n, end);
  if (limit === 0 || to < start) return null;
  const slots = await chain.blocks.slots({ network, from: start, to, limit });
  if (slots.length === 0) return null;
  const rest = nodes.items.slice(0, limit - slots.length);
  const text = rest.length === nodes.items.length ? nodes.text : rest.map((slot) => stringifyJsonExact(slot)).join(",");
  return joined(slots.join(","), text);
}

const least = (one: bigint, other: bigint): bigint => (other < one ? other : one);
