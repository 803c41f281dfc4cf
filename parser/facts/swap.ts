import { wellKnownAddresses } from "@sluice/wire/programs";
import type { Context } from "../actions/context.ts";
import type { Action } from "../actions/read-actions.ts";
import { isWrapped } from "../neutral/token-accounts.ts";
import { type Hop, hopsOf } from "./hops.ts";
import { type AccountLeg, accountsOf, type Leg, type NativeLeg, walletChange } from "./legs.ts";

/** A swap as its wallet sees it: what it gave and got in all, whatever the route was. */
export interface SwapFacts {
  readonly user: string;
  /** The short names of the programs that were called for it and of the markets of the route, each once. */
  readonly sources: readonly string[];
  /** Null where the transaction failed, or nothing is left of one side: a round trip. */
  readonly input: Leg | null;
  readonly output: Leg | null;
  readonly nativeInput: NativeLeg | null;
  readonly nativeOutput: NativeLeg | null;
  readonly tokenInputs: readonly AccountLeg[];
  readonly tokenOutputs: readonly AccountLeg[];
  /** Tokens of the wallet that went to others than the markets of the route, or that it sent to others beside it. */
  readonly tokenFees: readonly AccountLeg[];
  /** Lamports that the wallet sent to others beside the route. */
  readonly nativeFees: readonly NativeLeg[];
  readonly hops: readonly Hop[];
}

/** Who trades: whom the call names, where he signs; else the signer whose tokens changed, else the fee payer. */
function traderOf(context: Context, swaps: readonly Action[]): string {
  for (const { instruction, start } of swaps) {
    const call = context.view.calls[start];
    if (call === undefined || instruction.user === undefined) continue;
    const named = context.view.accountOf(call, instruction.user);
    if (context.signers.has(named)) return named;
  }
  const changed = [...context.signers].find((signer) => walletChange(context, signer).tokens.length > 0);
  return changed ?? context.feePayer;
}

/** Token accounts that calls name as the trader's own. */
function namedAccounts(context: Context, swaps: readonly Action[]): string[] {
  return swaps.flatMap(({ instruction: { source, destination }, start }) => {
    const call = context.view.calls[start];
    if (call === undefined) return [];
    const positions = [source, destination].filter((position) => position !== undefined);
    return positions.map((position) => context.view.accountOf(call, position));
  });
}

export function swapFacts(context: Context, swaps: readonly Action[]): SwapFacts {
  const user = traderOf(context, swaps);
  if (!context.view.succeeded) return { ...unmoved, user, sources: sourcesOf(swaps, []) };
  const named = namedAccounts(context, swaps);
  const { tokens, lamports, sent, sentTokens } = walletChange(context, user, named);
  const own = accountsOf(context, user, named);
  const tokenInputs = tokens.filter(({ amount }) => amount < 0n).map((leg) => ({ ...leg, amount: -leg.amount }));
  const got = tokens.filter(({ amount }) => amount > 0n);
  // Between two tokens, lamports are rent; they are a side where one side has no token.
  const nativeInput = tokenInputs.length === 0 && lamports < 0n ? { account: user, lamports: -lamports } : null;
  const ownOutput = got.length === 0 && lamports > 0n ? { account: user, lamports } : null;
  const others = got.length === 0 && ownOutput === null ? outputOfOthers(context, swaps, own) : null;
  const { tokenOutputs, nativeOutput } = others ?? { tokenOutputs: got, nativeOutput: ownOutput };
  const hops = swaps.flatMap((swap) => hopsOf(context, swap));
  return {
    user,
    sources: sourcesOf(swaps, hops),
    input: legOf(nativeInput) ?? main(tokenInputs, hops[0]?.input),
    output: legOf(nativeOutput) ?? main(tokenOutputs, hops[hops.length - 1]?.output),
    nativeInput,
    nativeOutput,
    tokenInputs,
    tokenOutputs,
    tokenFees: [...feesOf(context, { user, swaps, own, hops }), ...sentTokens],
    nativeFees: sent,
    hops,
  };
}

/** What came into an account that a call names for it, where that is another's: the wallet pays by the swap. */
function outputOfOthers(
  context: Context,
  swaps: readonly Action[],
  own: ReadonlySet<string>,
): Pick<SwapFacts, "tokenOutputs" | "nativeOutput"> | null {
  for (const { instruction, start, end } of swaps.toReversed()) {
    const call = context.view.calls[start];
    if (call === undefined || instruction.destination === undefined) continue;
    const tokenAccount = context.view.accountOf(call, instruction.destination);
    const known = context.tokenAccounts.get(tokenAccount);
    if (known === undefined || known.owner === null || own.has(tokenAccount)) continue;
    let amount = 0n;
    for (const moved of context.tokensIn(start, end)) {
      if (moved.toAccount === tokenAccount) amount += moved.amount - moved.fee;
    }
    if (amount === 0n) continue;
    const { mint, owner, decimals } = known;
    if (isWrapped(mint)) return { tokenOutputs: [], nativeOutput: { account: owner, lamports: amount } };
    return { tokenOutputs: [{ userAccount: owner, tokenAccount, mint, amount, decimals }], nativeOutput: null };
  }
  return null;
}

function sourcesOf(swaps: readonly Action[], hops: readonly Hop[]): string[] {
  const called = swaps.map(({ parser }) => parser?.source ?? "unknown");
  return [...new Set([...called, ...hops.map(({ source }) => source ?? "unknown")])];
}

const unmoved: Omit<SwapFacts, "user" | "sources"> = {
  input: null,
  output: null,
  nativeInput: null,
  nativeOutput: null,
  tokenInputs: [],
  tokenOutputs: [],
  tokenFees: [],
  nativeFees: [],
  hops: [],
};

function legOf(native: NativeLeg | null): Leg | null {
  return native === null ? null : { mint: wellKnownAddresses.wrappedNativeMint, amount: native.lamports, decimals: 9 };
}

/** Of several tokens on one side, the one with which the route begins or ends. */
function main(legs: readonly AccountLeg[], ofRoute: Leg | undefined): Leg | null {
  const found = legs.find(({ mint }) => mint === ofRoute?.mint) ?? legs[0];
  return found === undefined ? null : { mint: found.mint, amount: found.amount, decimals: found.decimals };
}

interface Trade {
  readonly user: string;
  readonly swaps: readonly Action[];
  readonly own: ReadonlySet<string>;
  readonly hops: readonly Hop[];
}

/** Transfers of the trader within the swap that no hop took in. */
function feesOf(context: Context, { user, swaps, own, hops }: Trade): AccountLeg[] {
  const fees: AccountLeg[] = [];
  const taken = new Set(hops.map(({ input }) => `${input.mint} ${input.amount}`));
  for (const { parser, start, end } of swaps) {
    if (parser?.kind !== "aggregator") continue;
    for (const { kind, fromAccount, toAccount, mint, amount, decimals, call } of context.tokensIn(start, end)) {
      if (kind !== "transfer" || fromAccount === null || mint === null || !own.has(fromAccount)) continue;
      if (toAccount === null || own.has(toAccount) || taken.has(`${mint} ${amount}`)) continue;
      // A transfer that the aggregator itself calls for, and on which nothing is built, is its fee.
      const height = context.view.calls[call ?? -1]?.stackHeight ?? 0;
      const onward = context.tokensIn(start, end).some((other) => other.fromAccount === toAccount);
      if (height > 2 || onward) continue;
      fees.push({ userAccount: user, tokenAccount: toAccount, mint, amount, decimals });
    }
  }
  return fees;
}
