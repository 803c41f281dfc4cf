import type { ErrorCode } from "@sluice/contract/errors";
import { isAddress } from "@sluice/wire/identifiers";
import { programs } from "@sluice/wire/programs";
import { memberOf } from "../node-accounts.ts";
import { type Asking, callNode, type NodeCallDependencies } from "../node-calls.ts";

/** A token account of an owner, as nodes show it. */
export interface HeldToken {
  readonly account: string;
  readonly mint: string;
  readonly program: string;
  readonly amount: bigint;
  readonly decimals: number;
  readonly isFrozen: boolean;
  readonly delegate: string | null;
}

export type HeldTokens =
  | { readonly ok: true; readonly tokens: readonly HeldToken[] }
  | { readonly ok: false; readonly code: ErrorCode };

/** The tokens that an owner holds by now, of both token programs; accounts that cannot be read are left out. */
export async function heldTokens(
  dependencies: NodeCallDependencies,
  asking: Asking,
  owner: string,
): Promise<HeldTokens> {
  const answers = await Promise.all(
    [programs.token, programs.token2022].map(async (programId) => {
      const params = [owner, { programId }, { commitment: "confirmed", encoding: "jsonParsed" }];
      return { programId, answer: await callNode(dependencies, asking, { method: "getTokenAccountsByOwner", params }) };
    }),
  );
  const tokens: HeldToken[] = [];
  for (const { programId, answer } of answers) {
    if (!answer.ok) return answer;
    const value = memberOf(answer.result, "value");
    if (!Array.isArray(value)) return { ok: false, code: "UPSTREAM_INVALID" };
    for (const entry of value) tokens.push(...heldToken(entry, programId));
  }
  return { ok: true, tokens };
}

/** What is held of each mint over all accounts, told as the account with the most of it. */
export function heldByMint(tokens: readonly HeldToken[]): Map<string, HeldToken> {
  const held = new Map<string, HeldToken>();
  const largest = new Map<string, bigint>();
  for (const token of tokens) {
    const amount = (held.get(token.mint)?.amount ?? 0n) + token.amount;
    const isLargest = token.amount > (largest.get(token.mint) ?? -1n);
    if (isLargest) largest.set(token.mint, token.amount);
    held.set(token.mint, { ...(isLargest ? token : (held.get(token.mint) ?? token)), amount });
  }
  return held;
}

function heldToken(entry: Parameters<typeof memberOf>[0], program: string): HeldToken[] {
  const account = memberOf(entry, "pubkey");
  const info = memberOf(memberOf(memberOf(memberOf(entry, "account"), "data"), "parsed"), "info");
  const [mint, state, delegate] = ["mint", "state", "delegate"].map((name) => memberOf(info, name));
  const [amount, decimals] = ["amount", "decimals"].map((name) => memberOf(memberOf(info, "tokenAmount"), name));
  if (!isAddress(account) || !isAddress(mint) || typeof amount !== "string" || !/^\d{1,20}$/.test(amount)) return [];
  const isFrozen = state === "frozen";
  const told = { account, mint, program, amount: BigInt(amount), decimals: Number(decimals ?? 0), isFrozen };
  return [{ ...told, delegate: typeof delegate === "string" ? delegate : null }];
}
