import { SluiceError } from "@sluice/contract/errors";
import type { HistoryBlocksQuery, HistorySearchBody, HistoryTransactionsQuery } from "@sluice/contract/schemas";
import { isAddress } from "@sluice/wire/identifiers";
import { canonicalJson, type JsonValue } from "@sluice/wire/json";
import { anyTransaction, type TransactionConditions } from "../../ledger/index.ts";
import { readCursor } from "../lookups/cursor.ts";
import type { Asker, BlocksQuestion, TransactionQuestion } from "../lookups/lookups.ts";
import type { StatedRange } from "../lookups/reach.ts";

/** A question with its text, by which its cursors know it. */
export interface Asked<Question> {
  readonly question: Question;
  readonly text: string;
}

const invalid = (path: string, message: string): SluiceError =>
  new SluiceError("INVALID_INPUT", { message: `${path} ${message}`, details: { errors: [{ path, message }] } });

function requireAddress(path: string, value: string | undefined): void {
  if (value !== undefined && !isAddress(value)) throw invalid(path, "must be an address: 32 bytes in base58");
}

interface StatedMembers {
  readonly from_slot?: string | undefined;
  readonly to_slot?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

function rangeOf({ from_slot, to_slot, since, until }: StatedMembers): StatedRange {
  const range = {
    fromSlot: from_slot === undefined ? null : BigInt(from_slot),
    toSlot: to_slot === undefined ? null : BigInt(to_slot),
    sinceMs: since === undefined ? null : Date.parse(since),
    untilMs: until === undefined ? null : Date.parse(until),
  };
  const { fromSlot, toSlot, sinceMs, untilMs } = range;
  if (fromSlot !== null && toSlot !== null && fromSlot > toSlot)
    throw invalid("from_slot", "must not be above to_slot");
  if (sinceMs !== null && untilMs !== null && sinceMs >= untilMs) throw invalid("since", "must be before until");
  return range;
}

/** The text of a question: all that decides its order and its items, and neither how many nor how they are shown. */
function textOf(path: string, asker: Asker, members: Readonly<Record<string, unknown>>): string {
  const {
    limit: _limit,
    cursor: _cursor,
    encoding: _encoding,
    details: _details,
    network: _network,
    ...rest
  } = members;
  return `${path} ${asker.network} ${canonicalJson(rest as JsonValue)}`;
}

/** @throws {SluiceError} INVALID_INPUT */
export function transactionsQuestion(asker: Asker, query: HistoryTransactionsQuery): Asked<TransactionQuestion> {
  const { address, program, success, votes, type, source, order, details, encoding, limit, cursor } = query;
  requireAddress("address", address);
  requireAddress("program", program);
  const text = textOf("transactions", asker, query);
  const conditions: TransactionConditions = {
    ...anyTransaction,
    accounts: address === undefined ? [] : [address],
    program: program ?? null,
    success: success ?? null,
    votes: votes ?? null,
    types: type === undefined ? null : [type],
    sources: source === undefined ? null : [source],
  };
  const after = cursor === undefined ? null : readCursor(text, cursor);
  const shown = { details, encoding: encoding ?? null };
  return { text, question: { ...asker, ...shown, range: rangeOf(query), order, after, limit, conditions } };
}

/** @throws {SluiceError} INVALID_INPUT */
export function blocksQuestion(asker: Asker, query: HistoryBlocksQuery): Asked<BlocksQuestion> {
  const { address, program, order, limit, cursor } = query;
  requireAddress("address", address);
  requireAddress("program", program);
  if (address !== undefined && program !== undefined) throw invalid("program", "does not go with address");
  const text = textOf("blocks", asker, query);
  const after = cursor === undefined ? null : readCursor(text, cursor);
  return {
    text,
    question: { ...asker, address: address ?? program ?? null, range: rangeOf(query), order, after, limit },
  };
}

const amountOf = (text: string | undefined): bigint | null => (text === undefined ? null : BigInt(text));

function requireOrder(name: string, least: bigint | null, most: bigint | null): void {
  if (least !== null && most !== null && least > most) throw invalid(`min_${name}`, `must not be above max_${name}`);
}

function movementOf({
  mint,
  min_amount,
  max_amount,
  counterparties,
}: HistorySearchBody): TransactionConditions["movement"] {
  const [one, other] = counterparties ?? [];
  const movement = {
    mint: mint ?? null,
    amountMin: amountOf(min_amount),
    amountMax: amountOf(max_amount),
    between: one === undefined || other === undefined ? null : ([one, other] as const),
  };
  requireOrder("amount", movement.amountMin, movement.amountMax);
  return Object.values(movement).every((each) => each === null) ? null : movement;
}

/** @throws {SluiceError} INVALID_INPUT */
export function searchQuestion(asker: Asker, body: HistorySearchBody): Asked<TransactionQuestion> {
  const {
    accounts = [],
    program,
    fee_payer,
    mint,
    counterparties = [],
    order,
    details,
    encoding,
    limit,
    cursor,
  } = body;
  for (const [index, account] of accounts.entries()) requireAddress(`accounts.${index}`, account);
  for (const [index, wallet] of counterparties.entries()) requireAddress(`counterparties.${index}`, wallet);
  requireAddress("program", program);
  requireAddress("fee_payer", fee_payer);
  requireAddress("mint", mint);
  const text = textOf("search", asker, body);
  const conditions: TransactionConditions = {
    ...anyTransaction,
    accounts: [...new Set(accounts)],
    program: program ?? null,
    feePayer: fee_payer ?? null,
    success: body.success ?? (body.error === undefined ? null : false),
    error: body.error ?? null,
    votes: body.votes ? null : false,
    feeMin: amountOf(body.min_fee),
    feeMax: amountOf(body.max_fee),
    movement: movementOf(body),
    types: body.types ?? null,
    sources: body.sources ?? null,
  };
  requireOrder("fee", conditions.feeMin, conditions.feeMax);
  const after = cursor === undefined ? null : readCursor(text, cursor);
  const shown = { details, encoding: encoding ?? null };
  return { text, question: { ...asker, ...shown, range: rangeOf(body), order, after, limit, conditions } };
}
