import { type ConfirmedBlock, type ConfirmedTransaction, packTransaction, type TransactionMeta } from "@sluice/encode";
import { packBlockUpdate, packUpdate } from "@sluice/encode/updates";
import { seededRandom } from "@sluice/lib";
import { encodeBase58 } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import { encodeTransaction } from "@sluice/wire/transaction";

/** Transactions of a block, about as many and of such kinds as a main network's block has. */
const votesOfBlock = 700;
const swapsOfBlock = 500;

const random = seededRandom(20_261_127);
const bytes = (length: number): Uint8Array => random.bytes(length);
const address = (): string => encodeBase58(bytes(32));
const balances = (count: number): bigint[] =>
  Array.from({ length: count }, () => BigInt(Math.floor(random.next() * 1e12)));

function executed(wire: Uint8Array, meta: TransactionMeta): ConfirmedTransaction {
  return { signature: encodeBase58(wire.subarray(1, 65)), bytes: wire, meta };
}

const plain = {
  error: null,
  fee: 5_000n,
  preTokenBalances: [],
  postTokenBalances: [],
  innerInstructions: [],
  loadedAddresses: { writable: [], readonly: [] },
  returnData: null,
} as const;

function vote(): ConfirmedTransaction {
  const wire = encodeTransaction({
    signatures: [bytes(64)],
    message: {
      version: "legacy",
      numRequiredSignatures: 1,
      numReadonlySignedAccounts: 0,
      numReadonlyUnsignedAccounts: 1,
      staticKeys: [bytes(32), bytes(32), bytes(32)],
      blockhash: bytes(32),
      instructions: [{ programIndex: 2, accountIndexes: Uint8Array.of(1, 0), data: bytes(148) }],
    },
  });
  const logs = [`Program ${programs.vote} invoke [1]`, `Program ${programs.vote} success`];
  const sums = { preBalances: balances(3), postBalances: balances(3) };
  return executed(wire, { ...plain, ...sums, logs, computeUnitsConsumed: 2_100n, costUnits: 3_428n });
}

/** A swap over a route of three pools: 14 static keys and 12 loaded ones, four outer instructions and twelve inner. */
function swap(): ConfirmedTransaction {
  const wire = encodeTransaction({
    signatures: [bytes(64)],
    message: {
      version: 0,
      numRequiredSignatures: 1,
      numReadonlySignedAccounts: 0,
      numReadonlyUnsignedAccounts: 6,
      staticKeys: Array.from({ length: 14 }, () => bytes(32)),
      blockhash: bytes(32),
      instructions: Array.from({ length: 4 }, () => {
        return {
          programIndex: 12,
          accountIndexes: Uint8Array.from({ length: 18 }, (_, index) => index),
          data: bytes(40),
        };
      }),
      lookups: [{ tableBytes: bytes(32), writableIndexes: bytes(7), readonlyIndexes: bytes(5) }],
    },
  });
  const tokens = Array.from({ length: 8 }, (_, accountIndex) => ({
    accountIndex,
    mint: address(),
    owner: address(),
    programId: programs.token,
    amount: BigInt(Math.floor(random.next() * 1e15)),
    decimals: 6,
  }));
  const program = address();
  return executed(wire, {
    ...plain,
    preBalances: balances(26),
    postBalances: balances(26),
    preTokenBalances: tokens,
    postTokenBalances: tokens.map((each) => ({ ...each, amount: each.amount + 1n })),
    innerInstructions: Array.from({ length: 3 }, (_, index) => ({
      index: index + 1,
      instructions: Array.from({ length: 4 }, () => {
        return { programIdIndex: 13, accounts: [1, 2, 3, 4, 5, 6], data: bytes(24), stackHeight: 2 };
      }),
    })),
    loadedAddresses: { writable: Array.from({ length: 7 }, address), readonly: Array.from({ length: 5 }, address) },
    logs: Array.from({ length: 24 }, (_, line) => `Program ${program} consumed ${line * 137} of 400000 compute units`),
    computeUnitsConsumed: 182_345n,
    costUnits: 190_001n,
  });
}

/** Blocks that follow on one another; the same ones each time. */
export function makeBlocks(count: number): ConfirmedBlock[] {
  const hashes = Array.from({ length: count + 1 }, address);
  return Array.from({ length: count }, (_, index) => ({
    slot: BigInt(index + 1),
    parentSlot: BigInt(index),
    blockhash: hashes[index + 1] ?? "",
    previousBlockhash: hashes[index] ?? "",
    blockTime: 1_764_000_000n,
    blockHeight: BigInt(index + 1),
    transactions: [...Array.from({ length: votesOfBlock }, vote), ...Array.from({ length: swapsOfBlock }, swap)],
    rewards: [],
  }));
}

/** What a node sends of a block to a stream of all of its transactions. */
export function updateOf(block: ConfirmedBlock): Uint8Array {
  const content = packBlockUpdate({
    block,
    transactions: block.transactions.map((each, index) => packTransaction(each, index)),
    accounts: [],
    entries: [],
    executedTransactionCount: block.transactions.length,
    updatedAccountCount: 0,
    entriesCount: 0,
  });
  return packUpdate(["all"], content, 0);
}
