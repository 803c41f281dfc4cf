import { readU64 } from "@sluice/wire/bytes";
import { addressOfBytes } from "@sluice/wire/identifiers";
import { wellKnownAddresses } from "@sluice/wire/programs";
import { endOfCall } from "../actions/call-tree.ts";
import type { Context } from "../actions/context.ts";
import type { Action } from "../actions/read-actions.ts";
import type { TokenMovement } from "../neutral/movements.ts";
import { type Instruction, isExchangeEvent, type ProgramParser } from "../program.ts";
import { parserFor } from "../programs/table.ts";
import type { Leg } from "./legs.ts";

/** One exchange of a route. */
export interface Hop {
  readonly programId: string;
  /** The short name of the market; null for a program that is not known. */
  readonly source: string | null;
  readonly instruction: string | null;
  readonly input: Leg;
  readonly output: Leg;
}

const { wrappedNativeMint } = wellKnownAddresses;
const eventHeader = 16;

/** The exchanges of a swap, in the order of execution. */
export function hopsOf(context: Context, swap: Action): readonly Hop[] {
  const told = eventHops(context, swap);
  if (told.length > 0) return told;
  const hops: Hop[] = [];
  const { calls } = context.view;
  for (let position = swap.start; position < swap.end; position += 1) {
    const call = calls[position];
    const parser = call === undefined ? undefined : parserFor(call.programId);
    if (call === undefined || parser === undefined || parser.kind !== "dex") continue;
    const end = position === swap.start ? swap.end : endOfCall(context.view, position);
    const instruction = parser.instructionOf(call, context.view);
    if (instruction !== null && instruction.does !== "swap") continue;
    const legs = tradeLegs(context, parser, [position, end]) ?? legsOf(context, instruction, [position, end]);
    if (legs === null) continue;
    hops.push({ programId: call.programId, source: parser.source, instruction: instruction?.name ?? null, ...legs });
    position = end - 1;
  }
  if (hops.length > 0) return hops;
  const legs = legsOf(context, swap.instruction, [swap.start, swap.end]);
  if (legs === null) return [];
  return [{ programId: swap.programId, source: swap.parser?.source ?? null, instruction: null, ...legs }];
}

/**
 * The exchanges that a route's own program tells: of each the program of its pool, mint and amount in, mint and amount
 * out. None where one of them is of more than what moved, since an event is no movement.
 */
function eventHops(context: Context, { start, end }: Action): Hop[] {
  const hops: Hop[] = [];
  for (let position = start; position < end; position += 1) {
    const call = context.view.calls[position];
    const parser = call === undefined ? undefined : parserFor(call.programId);
    if (call === undefined || parser === undefined || !isExchangeEvent(call, parser, "route")) continue;
    const { data } = call;
    if (data.length < eventHeader + 112) continue;
    const programId = addressOfBytes(data.subarray(16, 48));
    const leg = (at: number): Leg => {
      const mint = addressOfBytes(data.subarray(at, at + 32));
      return { mint, amount: readU64(data, at + 32), decimals: decimalsOf(context, mint) };
    };
    const source = parserFor(programId)?.source ?? null;
    hops.push({ programId, source, instruction: null, input: leg(48), output: leg(88) });
  }
  const told = hops.flatMap(({ input, output }) => [input, output]);
  return told.every((leg) => isMoved(context, leg, [start, end])) ? hops : [];
}

/** Lamports of a bonding curve move without a call: its event states mint, lamports, tokens, and which was bought. */
function tradeLegs(
  context: Context,
  parser: ProgramParser,
  [start, end]: readonly [number, number],
): { input: Leg; output: Leg } | null {
  for (let position = start; position < end; position += 1) {
    const call = context.view.calls[position];
    if (call === undefined || !isExchangeEvent(call, parser, "trade") || call.data.length < 65) continue;
    const { data } = call;
    const mint = addressOfBytes(data.subarray(16, 48));
    const native: Leg = { mint: wrappedNativeMint, amount: readU64(data, 48), decimals: 9 };
    const tokens: Leg = { mint, amount: readU64(data, 56), decimals: decimalsOf(context, mint) };
    if (!isMoved(context, native, [start, end]) || !isMoved(context, tokens, [start, end])) continue;
    return data[64] === 1 ? { input: native, output: tokens } : { input: tokens, output: native };
  }
  return null;
}

/**
 * Whether as much of a token moved in a range of calls as an event says. Native currency may move as wrapped tokens, as
 * lamports, or without a call.
 */
function isMoved(context: Context, { mint, amount }: Leg, [start, end]: readonly [number, number]): boolean {
  let moved = 0n;
  for (const each of context.tokensIn(start, end)) if (each.mint === mint) moved += each.amount;
  if (mint !== wrappedNativeMint || moved >= amount) return moved >= amount;
  for (const { call, lamports } of context.movements.native) {
    if (call === null || (call >= start && call < end)) moved += lamports;
  }
  return moved >= amount;
}

export function decimalsOf({ tokenAccounts, movements }: Context, mint: string): number | null {
  if (mint === wrappedNativeMint) return 9;
  for (const each of tokenAccounts.values()) if (each.mint === mint && each.decimals !== null) return each.decimals;
  return movements.tokens.find((each) => each.mint === mint)?.decimals ?? null;
}

/** What went in and what came out of a range of calls, for one party. */
function legsOf(
  context: Context,
  instruction: Instruction | null,
  [start, end]: readonly [number, number],
): { input: Leg; output: Leg } | null {
  const call = context.view.calls[start];
  const transfers = context.tokensIn(start, end).filter(({ kind, amount }) => kind === "transfer" && amount > 0n);
  const user =
    call === undefined || instruction?.user === undefined ? "" : context.view.accountOf(call, instruction.user);
  const pairs = transfers.flatMap((input) => {
    const back = ({ toOwner, mint }: TokenMovement): boolean => toOwner === input.fromOwner && mint !== input.mint;
    const output = input.fromOwner === null ? undefined : transfers.find(back);
    return output === undefined ? [] : [{ input, output }];
  });
  const owner = (pair: { input: TokenMovement }): string => pair.input.fromOwner ?? "";
  const chosen =
    pairs.find((pair) => owner(pair) === user) ?? pairs.find((pair) => context.signers.has(owner(pair))) ?? pairs[0];
  if (chosen === undefined) return null;
  const input = asLeg(chosen.input, chosen.input.amount);
  const output = asLeg(chosen.output, chosen.output.amount - chosen.output.fee);
  return input === null || output === null ? null : { input, output };
}

function asLeg({ mint, decimals }: TokenMovement, amount: bigint): Leg | null {
  return mint === null ? null : { mint, amount, decimals };
}
