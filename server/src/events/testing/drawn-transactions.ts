import type { ConfirmedTransaction, InnerInstructions, TokenBalance, TransactionMeta } from "@sluice/encode";
import type { Random } from "@sluice/lib";
import { addressBytes, encodeBase58 } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import { encodeTransaction, type InstructionParts } from "@sluice/wire/transaction";

/** Addresses from which transactions and filters are drawn: the first ones are met most. */
export interface Addresses {
  readonly bytes: readonly Uint8Array[];
  readonly texts: readonly string[];
}

/** Programs of the chain among others, so that votes and calls that nodes know are drawn as well. */
export function drawAddresses(count: number, draw: () => Uint8Array): Addresses {
  const known = [programs.system, programs.vote, programs.token, programs.computeBudget];
  const texts = new Set<string>(known);
  while (texts.size < count) texts.add(encodeBase58(draw()));
  return { texts: [...texts], bytes: [...texts].map(addressBytes) };
}

/** Draws keys of the same pairs of bytes in other orders: a hash that adds pairs up has one value for all of them. */
export function alikeKeys(random: Random): () => Uint8Array {
  const pairs = Array.from({ length: 16 }, () => random.bytes(2));
  return () => {
    const shuffled = pairs.map((pair) => ({ pair, at: random.next() })).toSorted((one, other) => one.at - other.at);
    return new Uint8Array(shuffled.flatMap(({ pair }) => [...pair]));
  };
}

const below = (random: Random, bound: number): number => Math.floor(random.next() * bound);
/** The first of a list far more often than the last. */
export const popular = (random: Random, bound: number): number => Math.floor(random.next() ** 3 * bound);
const chance = (random: Random, share: number): boolean => random.next() < share;

function listOf<Item>(random: Random, countMax: number, draw: () => Item): Item[] {
  return Array.from({ length: below(random, countMax + 1) }, draw);
}

function distinct(random: Random, bound: number, count: number): number[] {
  const drawn = new Set<number>();
  while (drawn.size < Math.min(count, bound)) drawn.add(popular(random, bound));
  return [...drawn];
}

/** A vote as validators send it: legacy, one call of the vote program; or one that nodes do not count, in version 0. */
function drawVote(random: Random, addresses: Addresses): ConfirmedTransaction {
  const keys = [4 + popular(random, addresses.texts.length - 4), 1];
  const isCounted = chance(random, 0.7);
  return confirmed(random, addresses, {
    version: isCounted ? "legacy" : 0,
    keys,
    instructions: [{ programIndex: 1, accountIndexes: [0], data: random.bytes(4) }],
    loaded: isCounted ? [] : listOf(random, 3, () => popular(random, addresses.texts.length)),
    writable: 0,
    inner: chance(random, 0.5) ? [] : null,
  });
}

/** A transaction of any version; some lack meta or inner instructions, load keys that repeat others, or failed. */
export function drawTransaction(random: Random, addresses: Addresses): ConfirmedTransaction {
  if (chance(random, 0.2)) return drawVote(random, addresses);
  const version = random.next() < 0.5 ? ("legacy" as const) : chance(random, 0.9) ? (0 as const) : (1 as const);
  const keys = distinct(random, addresses.texts.length, 2 + below(random, 12));
  // As many as a transaction can name, now and then, with owners of tokens beside them.
  const loadedMax = chance(random, 0.01) ? 240 : 8;
  const loaded = version === 0 ? listOf(random, loadedMax, () => popular(random, addresses.texts.length)) : [];
  const all = keys.length + loaded.length;
  const instructions = listOf(random, 4, () => ({
    programIndex: 1 + below(random, keys.length - 1),
    accountIndexes: listOf(random, 6, () => below(random, all)),
    data: random.bytes(below(random, 12)),
  }));
  const inner = drawInner(random, { all, outer: instructions.length });
  return confirmed(random, addresses, {
    version,
    keys,
    instructions,
    loaded,
    inner,
    writable: below(random, loaded.length + 1),
  });
}

/** What nodes keep: nothing, or lists of some outer instructions; an index may be one that the transaction lacks. */
function drawInner(random: Random, { all, outer }: { all: number; outer: number }): InnerInstructions[] | null {
  if (outer === 0 || chance(random, 0.2)) return chance(random, 0.5) ? [] : null;
  return listOf(random, 2, () => ({
    index: below(random, outer),
    instructions: listOf(random, 3, () => ({
      programIdIndex: below(random, all + (chance(random, 0.02) ? 3 : 0)),
      accounts: listOf(random, 4, () => below(random, all)),
      data: random.bytes(below(random, 12)),
      stackHeight: chance(random, 0.2) ? null : 2,
    })),
  }));
}

interface Drawn {
  readonly version: "legacy" | 0 | 1;
  /** Places in the addresses. */
  readonly keys: readonly number[];
  readonly instructions: readonly InstructionParts[];
  readonly loaded: readonly number[];
  /** How many of the loaded ones are writable. */
  readonly writable: number;
  readonly inner: readonly InnerInstructions[] | null;
}

function confirmed(random: Random, addresses: Addresses, drawn: Drawn): ConfirmedTransaction {
  const { version, keys, instructions, loaded, writable, inner } = drawn;
  const signature = random.bytes(64);
  const indexes = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
  const lookup = {
    tableBytes: random.bytes(32),
    writableIndexes: indexes(writable),
    readonlyIndexes: indexes(loaded.length - writable),
  };
  const bytes = encodeTransaction({
    signatures: [signature],
    message: {
      version,
      numRequiredSignatures: 1,
      numReadonlySignedAccounts: 0,
      numReadonlyUnsignedAccounts: 0,
      staticKeys: keys.map((place) => addresses.bytes[place] ?? new Uint8Array(32)),
      blockhash: random.bytes(32),
      instructions,
      ...(version === 0 && { lookups: loaded.length === 0 ? [] : [lookup] }),
      ...(version === 1 && { config: {} }),
    },
  });
  // A node may name loaded keys by texts that are no addresses, or leave them out.
  const texts = chance(random, 0.02) ? [] : loaded.map((place) => nameOf(random, addresses, place));
  const meta: TransactionMeta = {
    error: chance(random, 0.3) ? "AccountInUse" : null,
    fee: 5_000n,
    preBalances: [],
    postBalances: [],
    preTokenBalances: drawBalances(random, addresses, keys.length + loaded.length),
    postTokenBalances: drawBalances(random, addresses, keys.length + loaded.length),
    innerInstructions: inner,
    logs: null,
    loadedAddresses: { writable: texts.slice(0, writable), readonly: texts.slice(writable) },
    returnData: null,
    computeUnitsConsumed: null,
    costUnits: null,
  };
  return { signature: encodeBase58(signature), bytes, meta: chance(random, 0.03) ? null : meta };
}

const nameOf = (random: Random, { texts }: Addresses, place: number): string =>
  chance(random, 0.005) ? "no address" : (texts[place] ?? "");

function drawBalances(random: Random, addresses: Addresses, keys: number): TokenBalance[] | null {
  if (chance(random, 0.1)) return null;
  const { texts } = addresses;
  const accounts = [...new Set(listOf(random, keys > 60 ? 150 : 3, () => below(random, keys)))];
  return accounts.map((accountIndex) => ({
    accountIndex,
    mint: texts[0] ?? "",
    owner: chance(random, 0.1) ? null : nameOf(random, addresses, popular(random, texts.length)),
    programId: null,
    amount: BigInt(below(random, 2)),
    decimals: 6,
  }));
}
