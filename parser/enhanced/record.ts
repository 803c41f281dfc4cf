import type { TokenBalance } from "@sluice/encode";
import { encodeBase58 } from "@sluice/wire/base58";
import type { Hop } from "../facts/hops.ts";
import type { AccountLeg, Leg, NativeLeg } from "../facts/legs.ts";
import type { NftFacts } from "../facts/nft.ts";
import { type IdlPrograms, noPrograms } from "../idl/programs.ts";
import type { TokenMovement } from "../neutral/movements.ts";
import type { ParsedTransaction } from "../parse.ts";
import type { Call, TransactionView } from "../transaction-view.ts";
import { describe, type Names, noNames } from "./describe.ts";
import { ExactDecimal, type RecordValue, recordText } from "./exact-decimal.ts";

/** Where a transaction stands in the chain. */
export interface RecordPlace {
  readonly slot: bigint;
  /** Unix seconds. */
  readonly blockTime: bigint | null;
}

type Members = { readonly [member: string]: RecordValue | undefined };

/**
 * The record of a parsed transaction in the shape that users of helius-sdk know. Lamports are integers, amounts of
 * tokens exact decimals, raw amounts texts. Null stands for what the transaction does not tell.
 */
export function enhancedRecord(
  view: TransactionView,
  parsed: ParsedTransaction,
  {
    place,
    names = noNames,
    programs = noPrograms,
  }: { readonly place: RecordPlace; readonly names?: Names; readonly programs?: IdlPrograms },
): Members {
  const head = headOf(view, parsed, { place, names });
  return {
    ...head,
    nativeTransfers: nativeTransfers(parsed),
    tokenTransfers: parsed.movements.tokens.flatMap(tokenTransfer),
    accountData: accountData(view),
    transactionError: view.failed ? { error: errorValue(view.meta?.error) } : null,
    instructions: instructionsOf(view, programs),
    events: eventsOf(parsed, head),
  };
}

/** The sentence of a record, and its events as JSON. Mints have no symbols there: nobody is asked. */
export function toldOf(
  view: TransactionView,
  parsed: ParsedTransaction,
  { nativeSymbol = noNames.nativeSymbol, ...place }: RecordPlace & { readonly nativeSymbol?: string | undefined },
) {
  const head = headOf(view, parsed, { place, names: { ...noNames, nativeSymbol } });
  return { description: head.description, events: recordText(eventsOf(parsed, head)) };
}

function headOf(
  view: TransactionView,
  parsed: ParsedTransaction,
  { place, names }: { readonly place: RecordPlace; readonly names: Names },
) {
  return {
    description: describe(parsed, names, view.failed),
    type: parsed.type,
    source: parsed.source,
    fee: view.meta?.fee ?? null,
    feePayer: view.keys[0] ?? "",
    signature: view.transaction.signature,
    slot: place.slot,
    timestamp: place.blockTime,
  };
}

/** Lamports behind wrapped tokens are told as tokens. */
function nativeTransfers({ movements }: ParsedTransaction): RecordValue[] {
  return movements.native.flatMap(({ kind, from, to, lamports }) =>
    kind === "wrapped" ? [] : [{ fromUserAccount: from, toUserAccount: to, amount: lamports }],
  );
}

/** Its amount is what arrives; what the mint withheld left the sender beside it. */
function tokenTransfer({ kind, ...moved }: TokenMovement): RecordValue[] {
  if (kind === "wrap" || kind === "unwrap" || kind === "withheld") return [];
  const { fromAccount, toAccount, fromOwner, toOwner, mint, amount, decimals, fee } = moved;
  return [
    {
      fromTokenAccount: fromAccount,
      toTokenAccount: toAccount,
      fromUserAccount: fromOwner,
      toUserAccount: toOwner,
      tokenAmount: decimals === null ? null : new ExactDecimal(amount - fee, decimals),
      mint,
      tokenStandard: decimals === null ? null : standardOf(decimals),
      rawTokenAmount: { tokenAmount: (amount - fee).toString(), decimals },
      ...(fee > 0n ? { feeAmount: fee.toString() } : {}),
    },
  ];
}

/** What a mint's decimals tell of its standard: without metadata, only units and parts are told apart. */
function standardOf(decimals: number): string {
  return decimals === 0 ? "NonFungible" : "Fungible";
}

function accountData(view: TransactionView): RecordValue[] {
  const { preBalances = [], postBalances = [], preTokenBalances, postTokenBalances } = view.meta ?? {};
  const before = new Map((preTokenBalances ?? []).map((balance) => [balance.accountIndex, balance]));
  const after = new Map((postTokenBalances ?? []).map((balance) => [balance.accountIndex, balance]));
  return view.keys.map((account, key) => {
    return {
      account,
      nativeBalanceChange: (postBalances[key] ?? 0n) - (preBalances[key] ?? 0n),
      tokenBalanceChanges: view.failed ? [] : tokenChanges(account, before.get(key), after.get(key)),
    };
  });
}

/** What an account's tokens changed by; of one that changes hands, for who had it and for who has it. */
function tokenChanges(account: string, before: TokenBalance | undefined, after: TokenBalance | undefined): Members[] {
  const one = ({ owner, mint, decimals }: TokenBalance, change: bigint): Members[] =>
    change === 0n
      ? []
      : [
          {
            userAccount: owner,
            tokenAccount: account,
            mint,
            rawTokenAmount: { tokenAmount: change.toString(), decimals },
          },
        ];
  if (before === undefined) return after === undefined ? [] : one(after, after.amount);
  if (after === undefined) return one(before, -before.amount);
  if (before.owner !== after.owner) return [...one(before, -before.amount), ...one(after, after.amount)];
  return one(after, after.amount - before.amount);
}

function instructionsOf(view: TransactionView, programs: IdlPrograms): RecordValue[] {
  const shown: { outer: Members; inner: Members[] }[] = [];
  const one = ({ programId, data, ...call }: Call): Members => {
    const accounts = Array.from(call.accounts, (index) => view.keys[index] ?? "");
    const decoded = programs.decode({ programId, accounts, data });
    return { accounts, data: encodeBase58(data), programId, ...(decoded === null ? {} : { decoded: { ...decoded } }) };
  };
  for (const call of view.calls) {
    if (call.inner === null) shown.push({ outer: one(call), inner: [] });
    else shown[shown.length - 1]?.inner.push(one(call));
  }
  return shown.map(({ outer, inner }) => ({ ...outer, innerInstructions: inner }));
}

/** An error of a transaction as JSON-RPC has it. */
function errorValue(error: unknown): RecordValue {
  if (error === null || error === undefined) return null;
  if (typeof error === "string" || typeof error === "number" || typeof error === "bigint") return error;
  if (Array.isArray(error)) return error.map(errorValue);
  if (typeof error !== "object") return String(error);
  return Object.fromEntries(Object.entries(error).map(([member, value]) => [member, errorValue(value)]));
}

function eventsOf(parsed: ParsedTransaction, head: Members): Members {
  const { swap, nfts, compressed, liquidity } = parsed;
  return {
    ...(nfts.length === 0 ? {} : { nft: nftEvent(parsed, head) }),
    ...(swap === null
      ? {}
      : {
          swap: {
            user: swap.user,
            input: legValue(swap.input),
            output: legValue(swap.output),
            nativeInput: nativeValue(swap.nativeInput),
            nativeOutput: nativeValue(swap.nativeOutput),
            tokenInputs: swap.tokenInputs.map(accountLegValue),
            tokenOutputs: swap.tokenOutputs.map(accountLegValue),
            tokenFees: swap.tokenFees.map(accountLegValue),
            nativeFees: swap.nativeFees.map(nativeValue),
            innerSwaps: swap.hops.map(hopValue),
          },
        }),
    ...(compressed.length === 0 ? {} : { compressed: compressed.map((each) => ({ ...each })) }),
    ...(liquidity.length === 0
      ? {}
      : { liquidity: liquidity.map(({ tokens, ...each }) => ({ ...each, tokens: tokens.map(legValue) })) }),
    ...plainEvents(parsed),
  };
}

function plainEvents({ transfers, created, closed, stakes }: ParsedTransaction): Members {
  return {
    ...(transfers.length === 0
      ? {}
      : {
          transfers: transfers.map(({ amount, fee, ...each }) => ({
            ...each,
            amount: amount.toString(),
            ...(fee > 0n ? { feeAmount: fee.toString() } : {}),
          })),
        }),
    ...(created.length === 0 ? {} : { createdAccounts: created.map((each) => ({ ...each })) }),
    ...(closed.length === 0 ? {} : { closedAccounts: closed.map((each) => ({ ...each })) }),
    ...(stakes.length === 0 ? {} : { stake: stakes.map((each) => ({ ...each })) }),
  };
}

function nftEvent({ type, nfts }: ParsedTransaction, head: Members): Members {
  const [first] = nfts;
  const lamports = nfts.map(({ priceLamports }) => priceLamports);
  const known = lamports.filter((price) => price !== null);
  const amount = known.length === 0 ? null : known.reduce((sum, price) => sum + price, 0n);
  const { feePayer, description, source, fee, signature, slot, timestamp } = head;
  return {
    ...{ description, type, source, amount, fee, feePayer, signature, slot, timestamp },
    priceToken: first === undefined ? null : legValue(first.priceToken),
    saleType: saleType(type, first ?? null, feePayer),
    buyer: first?.buyer ?? "",
    seller: first?.seller ?? "",
    staker: "",
    nfts: nfts.flatMap(({ mint }) => (mint === null ? [] : [{ mint, tokenStandard: "NonFungible" }])),
  };
}

function saleType(type: string, nft: NftFacts | null, feePayer: RecordValue | undefined): string {
  switch (type) {
    case "NFT_SALE":
      return nft !== null && nft.seller === feePayer ? "OFFER" : "INSTANT_SALE";
    case "NFT_MINT":
      return "MINT";
    default:
      return "UNKNOWN";
  }
}

function legValue(leg: Leg | null): RecordValue {
  return leg === null ? null : { mint: leg.mint, amount: leg.amount.toString(), decimals: leg.decimals };
}

function nativeValue(leg: NativeLeg | null): RecordValue {
  return leg === null ? null : { account: leg.account, amount: leg.lamports.toString() };
}

function accountLegValue({ userAccount, tokenAccount, mint, amount, decimals }: AccountLeg): RecordValue {
  return { userAccount, tokenAccount, mint, rawTokenAmount: { tokenAmount: amount.toString(), decimals } };
}

function hopValue({ programId, source, instruction, input, output }: Hop): RecordValue {
  return {
    tokenInputs: [legValue(input)],
    tokenOutputs: [legValue(output)],
    tokenFees: [],
    nativeFees: [],
    programInfo: { source, account: programId, programName: source, instructionName: instruction },
  };
}
