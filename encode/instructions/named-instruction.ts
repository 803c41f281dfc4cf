import { MalformedBytes } from "@sluice/wire/bytes";
import type { JsonObject } from "../json.ts";

/** An instruction with its accounts named. */
export interface NamedInstruction {
  readonly programId: string;
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
}

/** The parsed form of an instruction; the memo program's is a plain string. */
export type ParsedInstruction = string | { readonly type: string; readonly info?: JsonObject };

/** Reads one program's instructions; throws `MalformedBytes` when data or accounts do not fit. */
export type InstructionParser = (instruction: NamedInstruction) => ParsedInstruction;

/** The first accounts under the given names; refuses an instruction that has fewer. Further accounts are not shown. */
export function nameAccounts(instruction: NamedInstruction, ...names: readonly string[]): JsonObject {
  requireAccounts(instruction, names.length);
  return Object.fromEntries(names.map((name, position) => [name, instruction.accounts[position]]));
}

/** Refuses an instruction with fewer accounts than its layout needs. */
export function requireAccounts(instruction: NamedInstruction, minimum: number): void {
  if (instruction.accounts.length < minimum) throw new MalformedBytes("The instruction lacks accounts.");
}

/**
 * The authority at `position`: under `single` when it is the last account, or under `multisig` with `signers` when more
 * accounts follow it. Nothing when the account is not there.
 */
export function nameAuthority(
  accounts: readonly string[],
  position: number,
  single: string,
  multisig = `multisig${single.charAt(0).toUpperCase()}${single.slice(1)}`,
): JsonObject {
  const authority = accounts[position];
  if (accounts.length > position + 1) return { [multisig]: authority, signers: accounts.slice(position + 1) };
  return { [single]: authority };
}

/** Picks the name of a variant by its number. */
export function variantName(names: readonly string[], variant: number): string {
  const name = names[variant];
  if (name === undefined) throw new MalformedBytes("A variant is unknown.");
  return name;
}
