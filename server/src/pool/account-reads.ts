import { type Address, parseAddress } from "@sluice/wire/identifiers";
import type { JsonValue } from "@sluice/wire/json";
import { type ChainValue, memberOf } from "../chain/index.ts";
import type { EngineChain } from "../engine/index.ts";

/** The reads that the pool's figures are made of. */
export type StakePoolChain = Pick<EngineChain, "read">;

/** An account as a node gave it. */
export interface ReadAccount {
  readonly owner: Address;
  readonly lamports: bigint;
  readonly data: Uint8Array;
}

/** Accounts of one slot, in the order in which they were asked for; null where there is none. */
export interface ReadAccounts {
  readonly slot: bigint;
  readonly accounts: readonly (ReadAccount | null)[];
}

/** Only these bytes of each account. */
export interface DataSlice {
  readonly offset: number;
  readonly length: number;
}

/** Accounts in one call; nodes take no more. */
const accountsMax = 100;

/** @throws {Error} when a node's answer has not the form that nodes give */
export function malformedAnswer(method: string): Error {
  return new Error(`a node answered ${method} in a form that is not read`);
}

function accountOf(value: ChainValue): ReadAccount | null {
  if (value === null) return null;
  const [owner, lamports, data] = ["owner", "lamports", "data"].map((name) => memberOf(value, name));
  const [text] = Array.isArray(data) ? data : [];
  const address = parseAddress(owner);
  if (address === null || typeof lamports !== "bigint" || typeof text !== "string") {
    throw malformedAnswer("getMultipleAccounts");
  }
  return { owner: address, lamports, data: Uint8Array.fromBase64(text) };
}

/** Reads accounts at one slot. */
export async function readAccounts(
  chain: StakePoolChain,
  addresses: readonly Address[],
  slice: DataSlice | null = null,
): Promise<ReadAccounts> {
  const options: JsonValue = {
    encoding: "base64",
    commitment: "confirmed",
    ...(slice === null ? {} : { dataSlice: { ...slice } }),
  };
  const result = await chain.read("getMultipleAccounts", [[...addresses], options]);
  const value = memberOf(result, "value");
  const slot = memberOf(memberOf(result, "context"), "slot");
  if (!Array.isArray(value) || value.length !== addresses.length || typeof slot !== "bigint") {
    throw malformedAnswer("getMultipleAccounts");
  }
  return { slot, accounts: value.map(accountOf) };
}

/** The same for any number of accounts, whose groups may be of different slots. */
export async function readAllAccounts(
  chain: StakePoolChain,
  addresses: readonly Address[],
  slice: DataSlice | null = null,
): Promise<readonly (ReadAccount | null)[]> {
  const read: (ReadAccount | null)[] = [];
  for (const group of groupsOf(addresses, accountsMax))
    read.push(...(await readAccounts(chain, group, slice)).accounts);
  return read;
}

/** Groups of a list, each of at most `max`. */
export function groupsOf<T>(list: readonly T[], max: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(list.length / max) }, (_, index) => list.slice(index * max, (index + 1) * max));
}
