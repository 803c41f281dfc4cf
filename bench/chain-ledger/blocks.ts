/** Bodies of blocks as a log has them: transfers, and what a public chain has: votes and transactions of about 5 KB. */
import { type ConfirmedBlock, type ConfirmedTransaction, packBlock } from "@sluice/encode";
import { type Random, seededRandom } from "@sluice/lib";
import { addressBytes, encodeBase58 } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import { encodeTransaction, type InstructionParts } from "@sluice/wire/transaction";

const accounts = 20_000;
const keysOf = (random: Random, count: number): Uint8Array[] => Array.from({ length: count }, () => random.bytes(32));

interface World {
  readonly random: Random;
  readonly people: readonly Uint8Array[];
  readonly programs: readonly Uint8Array[];
}

interface Made {
  readonly keys: readonly Uint8Array[];
  readonly readonlyKeys: number;
  readonly instructions: readonly InstructionParts[];
  readonly moved: bigint;
  readonly logs: readonly string[];
  readonly inner?: NonNullable<ConfirmedTransaction["meta"]>["innerInstructions"];
}

function transactionOf({ random }: World, of: Made): ConfirmedTransaction {
  const signature = random.bytes(64);
  const bytes = encodeTransaction({
    signatures: [signature],
    message: {
      version: "legacy",
      numRequiredSignatures: 1,
      numReadonlySignedAccounts: 0,
      numReadonlyUnsignedAccounts: of.readonlyKeys,
      staticKeys: of.keys,
      blockhash: random.bytes(32),
      instructions: of.instructions,
    },
  });
  const before = of.keys.map(() => 10_000_000n + BigInt(Math.floor(random.next() * 1e10)));
  const after = before.map((lamports, index) => {
    if (index === 0) return lamports - 5_000n - of.moved;
    return index === 1 ? lamports + of.moved : lamports;
  });
  return {
    signature: encodeBase58(signature),
    bytes,
    meta: {
      error: null,
      fee: 5_000n,
      preBalances: before,
      postBalances: after,
      preTokenBalances: [],
      postTokenBalances: [],
      innerInstructions: of.inner ?? [],
      logs: of.logs,
      loadedAddresses: { writable: [], readonly: [] },
      returnData: null,
      computeUnitsConsumed: 150n + BigInt(Math.floor(random.next() * 200_000)),
      costUnits: 1_479n,
    },
  };
}

const invoked = (program: string): string[] => [`Program ${program} invoke [1]`, `Program ${program} success`];

function transferData(lamports: bigint): Uint8Array {
  const data = new Uint8Array(12);
  data[0] = 2;
  new DataView(data.buffer).setBigUint64(4, lamports, true);
  return data;
}

const person = ({ people }: World, index: number): Uint8Array => people[index % accounts] ?? new Uint8Array(32);

function transfer(world: World, index: number): ConfirmedTransaction {
  const half = accounts / 2;
  const from = person(world, index % half);
  const to = person(world, half + Math.floor(world.random.next() * half));
  return transactionOf(world, {
    keys: [from, to, addressBytes(programs.system)],
    readonlyKeys: 1,
    instructions: [{ programIndex: 2, accountIndexes: [0, 1], data: transferData(1_000n) }],
    moved: 1_000n,
    logs: invoked(programs.system),
  });
}

function vote(world: World, index: number): ConfirmedTransaction {
  return transactionOf(world, {
    keys: [person(world, index * 2), person(world, index * 2 + 1), addressBytes(programs.vote)],
    readonlyKeys: 1,
    instructions: [{ programIndex: 2, accountIndexes: [1, 0], data: world.random.bytes(120) }],
    moved: 0n,
    logs: invoked(programs.vote),
  });
}

/** Twenty-four keys, three calls with sixteen inner ones that transfer, and logs. */
function swap(world: World, index: number): ConfirmedTransaction {
  const keys = Array.from({ length: 20 }, (_, place) => person(world, index * 31 + place));
  const names = world.programs.map((key) => encodeBase58(key));
  const inner = Array.from({ length: 16 }, () => ({
    programIdIndex: 23,
    accounts: Uint8Array.of(0, 1),
    data: transferData(10n),
    stackHeight: 2,
  }));
  const logs = Array.from(
    { length: 48 },
    (_, line) => `Program ${names[line % 3]} consumed ${line * 991} of 200000 compute units`,
  );
  return transactionOf(world, {
    keys: [...keys, ...world.programs, addressBytes(programs.system)],
    readonlyKeys: 4,
    instructions: [20, 21, 22].map((programIndex) => ({
      programIndex,
      accountIndexes: Array.from({ length: 18 }, (_, place) => place),
      data: world.random.bytes(40),
    })),
    moved: 160n,
    logs,
    inner: [{ index: 0, instructions: inner }],
  });
}

export type Workload = "transfers" | "mix";

export interface BlocksWish {
  readonly slots: number;
  readonly transactions: number;
  readonly seed: number;
}

/** Blocks of consecutive slots from 1 on, each after the one before. A mix has seven votes for three larger ones. */
export function* confirmedBlocksOf(
  workload: Workload,
  { slots, transactions, seed }: BlocksWish,
): Generator<ConfirmedBlock> {
  const random = seededRandom(seed);
  const world = { random, people: keysOf(random, accounts), programs: keysOf(random, 3) };
  const made = (index: number): ConfirmedTransaction => {
    if (workload === "transfers") return transfer(world, index);
    return index % 10 < 7 ? vote(world, index) : swap(world, index);
  };
  let previousBlockhash = encodeBase58(random.bytes(32));
  for (let slot = 0; slot < slots; slot += 1) {
    const blockhash = encodeBase58(random.bytes(32));
    yield {
      slot: BigInt(slot + 1),
      parentSlot: BigInt(slot),
      blockhash,
      previousBlockhash,
      blockTime: 1_790_000_000n + BigInt(slot),
      blockHeight: BigInt(slot),
      transactions: Array.from({ length: transactions }, (_, index) => made(index)),
      rewards: [],
    };
    previousBlockhash = blockhash;
  }
}

/** The same as bodies of the log. */
export const blocksOf = (workload: Workload, wish: BlocksWish): Uint8Array[] =>
  Array.from(confirmedBlocksOf(workload, wish), packBlock);
