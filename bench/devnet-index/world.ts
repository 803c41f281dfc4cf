import { decodeAddress, encodeBase58 } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import { encodeTransaction } from "@sluice/wire/transaction";
import type { AccountStore } from "../../devnet/chain/accounts/account-store.ts";
import type { History, RecordedTransaction } from "../../devnet/chain/history/history.ts";
import type { Block, ChainAccount } from "../../devnet/chain/model/records.ts";

export const sizes = {
  /** Of the token program; three in four of one mint, the others of a thousand. */
  tokenAccounts: 700_000,
  /** Of one custom program. */
  customAccounts: 300_000,
  transactions: 1_000_000,
  transactionsABlock: 1_000,
} as const;

const accountsASlot = 20_000;
const mints = 1_000;
const wallets = 250_000;
const exchangeEvery = 70;
const neverEpoch = 0xffff_ffff_ffff_ffffn;

/** 32 bytes that follow from two numbers and look random. */
export function keyOf(kind: number, number: number): Uint8Array {
  const words = new Uint32Array(8);
  for (let word = 0; word < 8; word++) {
    let mixed = Math.imul(number + 1, 0x9e37_79b1) ^ Math.imul(kind * 8 + word + 1, 0x85eb_ca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b_3c6d);
    words[word] = Math.imul(mixed ^ (mixed >>> 12), 0x297a_2d39);
  }
  return new Uint8Array(words.buffer);
}

export const mint = (number: number): Uint8Array => keyOf(1, number);
export const wallet = (number: number): Uint8Array => keyOf(2, number);
/** A wallet that owns ten thousand token accounts. */
export const exchange = keyOf(3, 0);
export const customProgram = encodeBase58(keyOf(4, 0));
export const market = (number: number): Uint8Array => keyOf(5, number);
/** Named by every transaction. */
export const busy = encodeBase58(keyOf(6, 0));
export const text = (bytes: Uint8Array): string => encodeBase58(bytes);

export interface Written {
  readonly address: string;
  readonly account: ChainAccount;
}

const rentExempt = (account: Omit<ChainAccount, "executable" | "rentEpoch">): ChainAccount => ({
  ...account,
  executable: false,
  rentEpoch: neverEpoch,
});

function mintAccount(number: number): Written {
  const data = new Uint8Array(82);
  data.set([255, 255, 255, 255], 36);
  data[44] = 6;
  data[45] = 1;
  const account = rentExempt({ lamports: 1_461_600n, data, owner: programs.token });
  return { address: text(mint(number)), account };
}

function tokenAccount(number: number): Written {
  const data = new Uint8Array(165);
  data.set(mint(number % 4 === 0 ? 1 + (number % mints) : 0));
  data.set(number % exchangeEvery === 0 ? exchange : wallet(Math.imul(number, 7_919) % wallets), 32);
  new DataView(data.buffer).setUint32(64, Math.imul(number, 0x9e37_79b1) >>> 1, true);
  data[108] = 1;
  return {
    address: text(keyOf(7, number)),
    account: rentExempt({ lamports: 2_039_280n, data, owner: programs.token }),
  };
}

/**
 * 200 bytes, every three thousandth 300: a tag of 8, one of ten thousand markets, one of a hundred thousand traders.
 */
function customAccount(number: number): Written {
  const data = new Uint8Array(number % 3_000 === 0 ? 300 : 200);
  data.set([1, 2, 3, 4, 5, 6, 7, number % 3]);
  data.set(market(number % 10_000), 8);
  data.set(wallet(number % 100_000), 40);
  return {
    address: text(keyOf(8, number)),
    account: rentExempt({ lamports: 2_000_000n + BigInt(number), data, owner: customProgram }),
  };
}

export function* accounts(): Generator<Written> {
  for (let number = 0; number <= mints; number++) yield mintAccount(number);
  for (let number = 0; number < sizes.tokenAccounts; number++) yield tokenAccount(number);
  for (let number = 0; number < sizes.customAccounts; number++) yield customAccount(number);
}

/** Writes all accounts, a slot for each twenty thousand, all rooted; gives the newest slot. */
export function fillAccounts(store: AccountStore): bigint {
  let slot = 1n;
  let written = 0;
  for (const { address, account } of accounts()) {
    store.write(slot, address, account);
    written++;
    if (written % accountsASlot !== 0) continue;
    store.root(slot);
    slot++;
  }
  store.root(slot);
  return slot;
}

export const signatureOf = (number: number): Uint8Array => {
  const bytes = new Uint8Array(64);
  bytes.set(keyOf(9, number));
  bytes.set(keyOf(10, number), 32);
  return bytes;
};

const systemProgram = decodeAddress(programs.system) ?? new Uint8Array(32);
const blockhash = keyOf(11, 0);
const transferData = Uint8Array.of(2, 0, 0, 0, 64, 66, 15, 0, 0, 0, 0, 0);

/** A payment of one of five thousand wallets to one of two hundred thousand; one in a thousand names a market too. */
export function transaction(number: number, slot: bigint, index: number): RecordedTransaction {
  const named = number % 1_000 === 0 ? [market(0)] : [];
  const staticKeys = [
    wallet(number % 5_000),
    wallet(5_000 + (number % 200_000)),
    decodeAddress(busy),
    ...named,
    systemProgram,
  ].flatMap((key) => key ?? []);
  const signature = signatureOf(number);
  const bytes = encodeTransaction({
    signatures: [signature],
    message: {
      version: "legacy",
      numRequiredSignatures: 1,
      numReadonlySignedAccounts: 0,
      numReadonlyUnsignedAccounts: 1,
      staticKeys,
      blockhash,
      instructions: [{ programIndex: staticKeys.length - 1, accountIndexes: [0, 1], data: transferData }],
    },
  });
  const keys = staticKeys.map(text);
  const before = keys.map((_, key) => 10_000_000_000n + BigInt(number * 5 + key));
  const executed = {
    signature: text(signature),
    slot,
    index,
    bytes,
    error: null,
    fee: 5_000n,
    preBalances: before,
    postBalances: before.map((lamports, key) =>
      key === 0 ? lamports - 1_005_000n : key === 1 ? lamports + 1_000_000n : lamports,
    ),
    preTokenBalances: [],
    postTokenBalances: [],
    innerInstructions: [],
    logs: [`Program ${programs.system} invoke [1]`, `Program ${programs.system} success`],
    loadedAddresses: { writable: [], readonly: [] },
    returnData: null,
    computeUnitsConsumed: 150n,
    costUnits: 1_481n,
    isVote: false,
  };
  const writable = keys.map((_, key) => key < keys.length - 1);
  return { executed, keys, writable, unitPrice: 0n, priorityFee: 0n };
}

export function* blocks(): Generator<{ block: Block; recorded: readonly RecordedTransaction[] }> {
  for (let first = 0; first < sizes.transactions; first += sizes.transactionsABlock) {
    const slot = BigInt(first / sizes.transactionsABlock + 1);
    const recorded = Array.from({ length: sizes.transactionsABlock }, (_, index) =>
      transaction(first + index, slot, index),
    );
    const name = (at: bigint) => text(keyOf(12, Number(at)));
    const block: Block = {
      slot,
      parentSlot: slot - 1n,
      blockhash: name(slot),
      previousBlockhash: name(slot - 1n),
      blockTime: 1_800_000_000n + slot,
      blockHeight: slot,
      transactions: recorded.map(({ executed }) => executed),
      rewards: [],
    };
    yield { block, recorded };
  }
}

/** Appends all blocks; gives the CPU microseconds that each transaction took to append. */
export function fillHistory(history: History): number {
  let microseconds = 0;
  for (const { block, recorded } of blocks()) {
    const before = process.cpuUsage();
    history.append(block, recorded);
    microseconds += process.cpuUsage(before).user;
  }
  return microseconds / sizes.transactions;
}
