import type { ConfirmedTransaction, ExecutedInstruction, TransactionMeta } from "@sluice/encode";
import { decodeAddress } from "@sluice/wire/base58";
import fc from "fast-check";
import { recordText } from "./enhanced/exact-decimal.ts";
import { enhancedRecord } from "./enhanced/record.ts";
import { type ParsedTransaction, parseTransaction } from "./parse.ts";
import { breaches } from "./testing/conservation.ts";
import { realTransactions } from "./testing/fixtures.ts";
import { TransactionView } from "./transaction-view.ts";

const real = realTransactions();

/** What a mutation does to the inner instructions, which are where a transaction tells most. */
const mutation = fc.record({
  kind: fc.constantFrom(
    "drop",
    "double",
    "swap",
    "cut",
    "byte",
    "account",
    "program",
    "heights",
    "balances",
    "owners",
    "fail",
    "forget",
  ),
  at: fc.nat(60),
  to: fc.nat(60),
  value: fc.nat(255),
});
type Mutation = typeof mutation extends fc.Arbitrary<infer Value> ? Value : never;

function changed(each: ExecutedInstruction, { kind, to, value }: Mutation): ExecutedInstruction {
  switch (kind) {
    case "cut":
      return { ...each, data: each.data.subarray(0, to) };
    case "byte": {
      const data = Uint8Array.from(each.data);
      if (data.length > 0) data[to % data.length] = value;
      return { ...each, data };
    }
    case "account": {
      const accounts = Array.from(each.accounts);
      if (accounts.length > 0) accounts[to % accounts.length] = value;
      return { ...each, accounts };
    }
    case "program":
      return { ...each, programIdIndex: to };
    default:
      return each;
  }
}

function mutateInner(instructions: readonly ExecutedInstruction[], how: Mutation): readonly ExecutedInstruction[] {
  if (instructions.length === 0) return instructions;
  const at = how.at % instructions.length;
  const to = how.to % instructions.length;
  const list = [...instructions];
  const [one, other] = [list[at], list[to]];
  if (one === undefined || other === undefined) return list;
  if (how.kind === "drop") list.splice(at, 1);
  else if (how.kind === "double") list.splice(at, 0, one);
  else if (how.kind === "swap") [list[at], list[to]] = [other, one];
  else if (how.kind === "heights") return list.map((each) => ({ ...each, stackHeight: null }));
  else list[at] = changed(one, how);
  return list;
}

function mutateMeta(meta: TransactionMeta, how: Mutation): TransactionMeta {
  switch (how.kind) {
    case "fail":
      return { ...meta, error: { InstructionError: [0, { Custom: how.value }] } };
    case "forget":
      return { ...meta, innerInstructions: null, logs: null };
    case "balances":
      return { ...meta, preTokenBalances: null, postTokenBalances: null };
    case "owners": {
      const without = (balances: TransactionMeta["preTokenBalances"]) =>
        balances?.map((each) => ({ ...each, owner: null, programId: null })) ?? null;
      return {
        ...meta,
        preTokenBalances: without(meta.preTokenBalances),
        postTokenBalances: without(meta.postTokenBalances),
      };
    }
    default: {
      const groups = meta.innerInstructions ?? [];
      const chosen = how.at % Math.max(groups.length, 1);
      const innerInstructions = groups.map((group, at) =>
        at === chosen ? { ...group, instructions: mutateInner(group.instructions, how) } : group,
      );
      return { ...meta, innerInstructions };
    }
  }
}

function mutated(transaction: ConfirmedTransaction, how: readonly Mutation[]): ConfirmedTransaction {
  const { meta } = transaction;
  return meta === null ? transaction : { ...transaction, meta: how.reduce(mutateMeta, meta) };
}

/** All texts of facts that may be addresses. */
function addressesIn(value: unknown, found: Set<string>): void {
  if (typeof value === "string") {
    if (value.length >= 32 && value.length <= 44 && decodeAddress(value) !== null) found.add(value);
  } else if (typeof value === "object" && value !== null) {
    for (const each of Object.values(value)) addressesIn(each, found);
  }
}

/** Addresses of facts that the transaction names nowhere: neither among keys and balances nor in data. */
function invented(view: TransactionView, parsed: ParsedTransaction): string[] {
  const found = new Set<string>();
  addressesIn(parsed, found);
  const known = new Set(view.keys);
  for (const { mint, owner } of [...(view.meta?.preTokenBalances ?? []), ...(view.meta?.postTokenBalances ?? [])]) {
    known.add(mint);
    if (owner !== null) known.add(owner);
  }
  // Native currency is told by the mint of its wrapped form.
  known.add("So11111111111111111111111111111111111111112");
  return [...found].filter((address) => {
    const bytes = decodeAddress(address);
    if (known.has(address) || bytes === null) return false;
    return !view.calls.some(({ data }) => Buffer.from(data).includes(Buffer.from(bytes)));
  });
}

/** Faults of facts: what a failed transaction moved, amounts below nothing, addresses from nowhere. */
function faults(view: TransactionView, parsed: ParsedTransaction): string[] {
  const { movements, swap, transfers, nfts, created, closed } = parsed;
  const legs = [swap?.input, swap?.output, ...(swap?.hops ?? []).flatMap(({ input, output }) => [input, output])];
  const amounts = [
    ...legs.map((leg) => leg?.amount ?? 0n),
    ...transfers.map(({ amount }) => amount),
    ...nfts.map(({ priceLamports }) => priceLamports ?? 0n),
    ...[...created, ...closed].map(({ lamports }) => lamports),
  ];
  const moved = movements.native.length + movements.tokens.length + transfers.length;
  return [
    ...invented(view, parsed).map((address) => `${address} is named nowhere`),
    ...amounts.filter((amount) => amount < 0n).map((amount) => `an amount of ${amount}`),
    ...(view.failed && moved > 0 ? ["a failed transaction moved something"] : []),
    // A mutation that makes a transaction fail leaves its balances as they are.
    ...(view.failed ? [] : breaches(view, movements)),
  ];
}

/** Parses `n` mutated real transactions: passes when none is a crash and no fact is invented. */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  if (real.length === 0) return { passed: true, summary: "NOT RUN: no real transactions" };
  const types = new Map<string, number>();
  const law = fc.property(fc.nat(real.length - 1), fc.array(mutation, { maxLength: 5 }), (which, how) => {
    const chosen = real[which];
    if (chosen === undefined) return;
    const view = new TransactionView(mutated(chosen.executed, how));
    const parsed = parseTransaction(view);
    types.set(parsed.type, (types.get(parsed.type) ?? 0) + 1);
    const text = recordText(enhancedRecord(view, parsed, { place: { slot: 1n, blockTime: null } }));
    JSON.parse(text);
    const found = faults(view, parsed);
    if (found.length > 0) throw new Error(`${chosen.name}: ${found.join("; ")}`);
  });
  const result = fc.check(law, { numRuns: n, seed });
  const summary = result.failed
    ? `${fc.stringify(result.counterexample)}: ${result.errorInstance}`
    : `${n} transactions: ${[...types].map(([type, count]) => `${count} ${type}`).join(", ")}`;
  return { passed: !result.failed, summary: `seed ${seed}: ${summary}` };
}
