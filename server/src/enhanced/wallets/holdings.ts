import type { ErrorCode } from "@sluice/contract/errors";
import type { JsonValue } from "@sluice/encode";
import { decodeTokenAccount, tokenAccountSize } from "@sluice/wire/accounts/token";
import { isAddress } from "@sluice/wire/identifiers";
import { programs } from "@sluice/wire/programs";
import { contextSlotOf, memberOf } from "../node-accounts.ts";
import { type Asking, callNode, type NodeCallDependencies, type NodeResult } from "../node-calls.ts";

/** Tokens of one mint, over all accounts of a wallet. */
export interface TokenHolding {
  readonly mint: string;
  readonly tokenProgram: string;
  /** In the mint's smallest unit. */
  readonly amount: bigint;
  readonly accounts: readonly string[];
  /** Whether one of the accounts is frozen. */
  readonly isFrozen: boolean;
}

/** What a wallet holds, as of a slot. */
export interface Holdings {
  readonly slot: bigint;
  readonly lamports: bigint;
  /** In the order of their mints. */
  readonly tokens: readonly TokenHolding[];
}

export type HoldingsRead =
  | { readonly ok: true; readonly holdings: Holdings }
  | { readonly ok: false; readonly code: ErrorCode };

const commitment = "confirmed";
/** Extensions are not looked at: of an account, its beginning suffices, which both programs lay out alike. */
const accountForm = { commitment, encoding: "base64", dataSlice: { offset: 0, length: tokenAccountSize } } as const;

/**
 * What a wallet holds, by three calls to nodes, which the gateway answers from what it keeps of the slot where it can.
 * The slot is the earliest of the three answers.
 */
export async function readHoldings(
  dependencies: NodeCallDependencies,
  asking: Asking,
  address: string,
): Promise<HoldingsRead> {
  const ask = (method: string, params: readonly unknown[]): Promise<NodeResult> =>
    callNode(dependencies, asking, { method, params });
  const ofProgram = (programId: string) => ask("getTokenAccountsByOwner", [address, { programId }, accountForm]);
  const [balance, ...lists] = await Promise.all([
    ask("getBalance", [address, { commitment }]),
    ofProgram(programs.token),
    ofProgram(programs.token2022),
  ]);
  if (!balance.ok) return balance;
  const lamports = memberOf(balance.result, "value");
  const slots = [contextSlotOf(balance.result)];
  const tokens = new Map<string, TokenHolding>();
  for (const list of lists) {
    if (!list.ok) return list;
    slots.push(contextSlotOf(list.result));
    if (!addHoldings(tokens, memberOf(list.result, "value"))) return invalidAnswer;
  }
  const known = slots.filter((slot) => slot !== null);
  const [first] = known;
  if (first === undefined || (typeof lamports !== "bigint" && typeof lamports !== "number")) return invalidAnswer;
  const slot = known.reduce(least, first);
  const inOrder = [...tokens.values()].sort((one, other) => (one.mint < other.mint ? -1 : 1));
  return { ok: true, holdings: { slot, lamports: BigInt(lamports), tokens: inOrder } };
}

const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);

const invalidAnswer = { ok: false, code: "UPSTREAM_INVALID" } as const;

/** Adds the accounts of an answer; false where it is none. An account that no token program would make is left out. */
function addHoldings(tokens: Map<string, TokenHolding>, value: JsonValue | undefined): boolean {
  if (!Array.isArray(value)) return false;
  for (const each of value as readonly JsonValue[]) {
    const address = memberOf(each, "pubkey");
    const account = memberOf(each, "account");
    const tokenProgram = memberOf(account, "owner");
    const data = memberOf(account, "data");
    const [text] = Array.isArray(data) ? data : [];
    if (typeof address !== "string" || !isAddress(address)) return false;
    if (typeof tokenProgram !== "string" || typeof text !== "string") return false;
    const decoded = decodeTokenAccount(Buffer.from(text, "base64"));
    if (decoded === null || decoded.state === "uninitialized") continue;
    const held = tokens.get(decoded.mint);
    tokens.set(decoded.mint, {
      mint: decoded.mint,
      tokenProgram,
      amount: (held?.amount ?? 0n) + decoded.amount,
      accounts: [...(held?.accounts ?? []), address],
      isFrozen: (held?.isFrozen ?? false) || decoded.state === "frozen",
    });
  }
  return true;
}
