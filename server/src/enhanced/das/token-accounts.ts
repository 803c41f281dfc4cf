import type { JsonObject, JsonValue } from "@sluice/encode";
import { decodeTokenAccount } from "@sluice/wire/accounts/token";
import { decodeTokenExtensions } from "@sluice/wire/accounts/token-extensions";
import { programs } from "@sluice/wire/programs";
import { contextSlotOf, memberOf } from "../node-accounts.ts";
import { callNode, type NodeCallDependencies } from "../node-calls.ts";
import { type DasAnswer, type DasCall, failure, result } from "./das-call.ts";

const tokenPrograms = [programs.token, programs.token2022] as const;
const pageMax = 1_000;

interface Found {
  readonly address: string;
  readonly record: JsonObject;
  readonly isEmpty: boolean;
}

class Unanswered extends Error {
  readonly answer: Extract<DasAnswer, { ok: false }>;

  constructor(answer: Extract<DasAnswer, { ok: false }>) {
    super(answer.code);
    this.answer = answer;
  }
}

/**
 * getTokenAccounts: the token accounts of an owner, of a mint, or of an owner for a mint, in the order of their
 * addresses. A page is named by its number, or by the address that it begins behind (`after`, `cursor`) or ends before
 * (`before`). Source: helius-sdk 3.2.
 */
export async function getTokenAccounts(dependencies: NodeCallDependencies, call: DasCall): Promise<DasAnswer> {
  const { params } = call;
  const [owner, mint] = [textOf(params["owner"]), textOf(params["mint"])];
  if (owner === null && mint === null) return failure("INVALID_PARAMS", "Invalid params: owner or mint is missing");
  const after = textOf(params["after"]) ?? textOf(params["cursor"]);
  const before = textOf(params["before"]);
  const page = numberOf(params["page"]);
  if (page !== null && (after !== null || before !== null)) {
    return failure("INVALID_PARAMS", "Invalid params: page goes with neither cursor, after nor before");
  }
  try {
    const { accounts, slot } = await accountsOf(dependencies, call, { owner, mint });
    const showsZero = memberOf(params["options"], "showZeroBalance") === true;
    const shown = accounts.filter(({ isEmpty }) => showsZero || !isEmpty).toSorted(byAddress);
    return result(paged(shown, { page, after, before, limit: numberOf(params["limit"]) ?? pageMax, slot }));
  } catch (error) {
    if (error instanceof Unanswered) return error.answer;
    throw error;
  }
}

const byAddress = (one: Found, other: Found): number => (one.address < other.address ? -1 : 1);

interface Page {
  readonly page: number | null;
  readonly after: string | null;
  readonly before: string | null;
  readonly limit: number;
  readonly slot: bigint | null;
}

/** A cursor is there while more follow. */
function paged(accounts: readonly Found[], { page, after, before, limit, slot }: Page): JsonObject {
  const within = accounts.filter(
    ({ address }) => (after === null || address > after) && (before === null || address < before),
  );
  const start =
    page === null ? (before !== null && after === null ? Math.max(0, within.length - limit) : 0) : (page - 1) * limit;
  const listed = within.slice(start, start + limit);
  const last = listed.at(-1)?.address;
  const hasMore = last !== undefined && start + limit < within.length;
  return {
    ...(slot === null ? {} : { last_indexed_slot: slot }),
    total: listed.length,
    limit,
    ...(page === null ? {} : { page }),
    ...(hasMore ? { cursor: last } : {}),
    token_accounts: listed.map(({ record }) => record),
  };
}

async function accountsOf(
  dependencies: NodeCallDependencies,
  { asking }: DasCall,
  { owner, mint }: { readonly owner: string | null; readonly mint: string | null },
): Promise<{ readonly accounts: readonly Found[]; readonly slot: bigint | null }> {
  const config = { commitment: "confirmed", encoding: "base64" };
  const calls =
    owner === null
      ? tokenPrograms.map((program) => ({
          method: "getProgramAccounts",
          params: [program, { ...config, withContext: true, filters: filtersOf(program, mint ?? "") }],
        }))
      : (mint === null ? tokenPrograms.map((programId) => ({ programId })) : [{ mint }]).map((filter) => ({
          method: "getTokenAccountsByOwner",
          params: [owner, filter, config],
        }));
  const answers = await Promise.all(calls.map((each) => callNode(dependencies, asking, each)));
  let slot: bigint | null = null;
  const accounts = answers.flatMap((answer) => {
    // A node refuses the accounts of a mint that it does not know; a list that is too long comes in no one piece.
    if (!answer.ok) throw new Unanswered(failure(answer.code, refusals[answer.code]));
    const at = contextSlotOf(answer.result);
    if (at !== null && (slot === null || at < slot)) slot = at;
    const value = memberOf(answer.result, "value");
    return Array.isArray(value) ? value.flatMap(foundIn) : [];
  });
  return { accounts, slot };
}

const refusals: Readonly<Record<string, string>> = {
  UPSTREAM_INVALID:
    "The nodes do not list these token accounts: the mint is unknown, or has too many; name its owner too",
};

/** Accounts of Token have one length; those of Token-2022 say what they are in the byte behind it. */
function filtersOf(program: string, mint: string): JsonValue[] {
  const ofMint = { memcmp: { offset: 0, bytes: mint } };
  return program === programs.token ? [{ dataSize: 165 }, ofMint] : [ofMint, { memcmp: { offset: 165, bytes: "3" } }];
}

function foundIn(entry: JsonValue): Found[] {
  const address = textOf(memberOf(entry, "pubkey"));
  const account = memberOf(entry, "account");
  const data = memberOf(account, "data");
  const text = textOf(Array.isArray(data) ? data[0] : undefined);
  if (address === null || text === null) return [];
  const bytes = Buffer.from(text, "base64");
  const decoded = decodeTokenAccount(bytes);
  if (decoded === null || decoded.state === "uninitialized") return [];
  const { mint, owner, amount, delegate, delegatedAmount, state } = decoded;
  const is2022 = memberOf(account, "owner") === programs.token2022;
  const extensions = is2022 ? (decodeTokenExtensions(bytes) ?? []).map(({ name }) => name) : [];
  const delegated = delegate === null ? {} : { delegate };
  const counts = { amount, delegated_amount: delegatedAmount, ...delegated };
  return [
    {
      address,
      isEmpty: amount === 0n,
      record: {
        ...{ address, mint, owner },
        ...counts,
        frozen: state === "frozen",
        burnt: false,
        token_extensions: extensions,
      },
    },
  ];
}

const textOf = (value: JsonValue | undefined): string | null => (typeof value === "string" ? value : null);

const numberOf = (value: JsonValue | undefined): number | null =>
  typeof value === "number" || typeof value === "bigint" ? Number(value) : null;
