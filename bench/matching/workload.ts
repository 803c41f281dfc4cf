/** Transactions of 25 keys and filters over the same addresses, drawn so that a few are met often and most seldom. */
import type { ConfirmedTransaction } from "@sluice/encode";
import type { Random } from "@sluice/lib";
import { encodeBase58 } from "@sluice/wire/base58";
import { encodeTransaction } from "@sluice/wire/transaction";
import type { TransactionFilter } from "../../server/src/events/index.ts";

const wallets = 500_000;
const pools = 50_000;
const programs = 200;
const staticKeys = { wallets: 1, pools: 8, programs: 3 } as const;
const loadedKeys = { wallets: 3, pools: 10 } as const;

export const keysOfTransaction = 25;

/** The first of a list far more often than the last. */
const popular = (random: Random, bound: number): number => Math.floor(random.next() ** 4 * bound);
const below = (random: Random, bound: number): number => Math.floor(random.next() * bound);

/** The address with a number, of a kind. */
function address(kind: "wallet" | "pool" | "program" | "stranger", number: number): Uint8Array {
  return new Uint8Array(new Bun.CryptoHasher("sha256").update(`${kind} ${number}`).digest());
}

function distinct(count: number, draw: () => number): number[] {
  const drawn = new Set<number>();
  while (drawn.size < count) drawn.add(draw());
  return [...drawn];
}

/** A transaction of version 0 with 12 keys of its own, 13 loaded ones and calls of its three programs. */
export function drawTransaction(random: Random): ConfirmedTransaction {
  const owners = distinct(staticKeys.wallets + loadedKeys.wallets, () => popular(random, wallets));
  const used = distinct(staticKeys.pools + loadedKeys.pools, () => popular(random, pools));
  const called = distinct(staticKeys.programs, () => popular(random, programs));
  const own = [
    ...owners.slice(0, 1).map((at) => address("wallet", at)),
    ...used.slice(0, staticKeys.pools).map((at) => address("pool", at)),
    ...called.map((at) => address("program", at)),
  ];
  const loaded = [
    ...owners.slice(1).map((at) => address("wallet", at)),
    ...used.slice(staticKeys.pools).map((at) => address("pool", at)),
  ].map(encodeBase58);
  const signature = random.bytes(64);
  const lookup = {
    tableBytes: random.bytes(32),
    writableIndexes: loaded.map((_, at) => at),
    readonlyIndexes: [],
  };
  const bytes = encodeTransaction({
    signatures: [signature],
    message: {
      version: 0,
      numRequiredSignatures: 1,
      numReadonlySignedAccounts: 0,
      numReadonlyUnsignedAccounts: staticKeys.programs,
      staticKeys: own,
      blockhash: random.bytes(32),
      instructions: called.map((_, at) => ({
        programIndex: staticKeys.wallets + staticKeys.pools + at,
        accountIndexes: [0, 1, 2],
        data: random.bytes(16),
      })),
      lookups: [lookup],
    },
  });
  return {
    signature: encodeBase58(signature),
    bytes,
    meta: {
      error: random.next() < 0.2 ? "AccountInUse" : null,
      fee: 5_000n,
      preBalances: [],
      postBalances: [],
      preTokenBalances: [],
      postTokenBalances: [],
      innerInstructions: [],
      logs: [],
      loadedAddresses: { writable: loaded, readonly: [] },
      returnData: null,
      computeUnitsConsumed: null,
      costUnits: null,
    },
  };
}

/**
 * A filter as customers have them: a few wallets of their own; a program's transactions with a wallet; two accounts
 * that must both be there; a pool without a program's own wallet; or all that succeeded.
 */
export function drawFilter(random: Random): TransactionFilter {
  const wallet = (): string => encodeBase58(address("wallet", below(random, wallets)));
  const pool = (): string => encodeBase58(address("pool", below(random, pools)));
  const program = (): string => encodeBase58(address("program", popular(random, programs)));
  const kind = random.next();
  if (kind < 0.7) return { accountInclude: Array.from({ length: 1 + below(random, 4) }, wallet), vote: false };
  if (kind < 0.8) return { accountInclude: [wallet(), wallet()], programs: [program()], failed: false };
  if (kind < 0.9) return { accountRequired: [encodeBase58(address("pool", popular(random, 100))), wallet()] };
  if (kind < 0.999) return { accountInclude: [pool()], accountExclude: [wallet()], failed: false };
  return { vote: false, failed: false };
}

/** 32 bytes each, of addresses that no other list names. */
export function drawList(random: Random, count: number): Uint8Array {
  const list = new Uint8Array(count * 32);
  for (let at = 0; at < count; at++) list.set(address("stranger", below(random, 2 ** 31)), at * 32);
  for (let at = 0; at < count; at += 1_000) list.set(address("wallet", below(random, wallets)), at * 32);
  return list;
}
