import { encodeBase58 } from "@sluice/wire/base58";
import { encodeTransaction } from "@sluice/wire/transaction";
import fc from "fast-check";
import { storedAmount } from "../../meta.ts";
import type { ConfirmedBlock, ConfirmedTransaction, Reward, TokenBalance, TransactionMeta } from "../../model.ts";
import { rewardTypes } from "../fields.ts";
import { instructionErrorNames, transactionErrorNames } from "../transaction-error.ts";

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const address = bytes(32).map(encodeBase58);
/** Small, at the edges of varints and of doubles, and any. */
const u64 = fc.oneof(
  fc.bigInt({ min: 0n, max: 300n }),
  fc.constantFrom(2n ** 49n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 56n, 2n ** 63n, 2n ** 64n - 1n),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
);
const i64 = u64.map((value) => BigInt.asIntN(64, value));
const text = fc.oneof(fc.string({ maxLength: 200 }), fc.string({ unit: "grapheme", maxLength: 40 }));
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const list = <T>(value: fc.Arbitrary<T>, maxLength = 4) => fc.array(value, { maxLength });

const reward: fc.Arbitrary<Reward> = fc
  .record({
    pubkey: address,
    lamports: i64,
    postBalance: u64,
    rewardType: fc.constantFrom(...rewardTypes),
    commission: maybe(fc.nat(255)),
    bps: fc.constantFrom(undefined, null, 0, 10_000),
  })
  .map(({ bps, ...rest }) => (bps === undefined ? rest : { ...rest, commissionBps: bps }));

/** What is shown is kept only where amount and decimals do not give it. */
const tokenBalance: fc.Arbitrary<TokenBalance> = fc
  .record({
    accountIndex: fc.nat(255),
    mint: address,
    owner: maybe(address),
    programId: maybe(address),
    amount: u64,
    decimals: fc.nat(255),
    shown: maybe(
      fc.record({
        uiAmount: fc.oneof(
          fc.constantFrom(null, 0, 0.1, 5e-324, 1.7976931348623157e308),
          fc.double({ noNaN: true, noDefaultInfinity: true, min: 0 }),
        ),
        uiAmountString: fc.oneof(fc.constant(""), text),
      }),
    ),
  })
  .map(({ shown, ...rest }) => {
    const usual = storedAmount(rest.amount, rest.decimals);
    const same = usual.uiAmount === shown?.uiAmount && usual.uiAmountString === shown?.uiAmountString;
    return shown === null || same ? rest : { ...rest, shown };
  });

const instructionError = fc.oneof(
  fc.constantFrom(...instructionErrorNames.filter((name) => name !== "Custom")),
  fc.nat().map((Custom) => ({ Custom })),
);
const holding = ["InstructionError", "DuplicateInstruction", "InsufficientFundsForRent"];
const error = fc.oneof(
  fc.constantFrom("OfALaterVersion", ...transactionErrorNames.filter((name) => !holding.includes(name))),
  fc.tuple(fc.nat(255), instructionError).map(([index, held]) => ({ InstructionError: [index, held] })),
  fc.nat(255).map((index) => ({ InsufficientFundsForRent: { account_index: index } })),
  text.map((OfALaterVersion) => ({ OfALaterVersion })),
);

const meta: fc.Arbitrary<TransactionMeta> = fc
  .record({
    error: maybe(error),
    fee: u64,
    preBalances: list(u64),
    postBalances: list(u64),
    preTokenBalances: maybe(list(tokenBalance)),
    postTokenBalances: maybe(list(tokenBalance)),
    innerInstructions: maybe(
      list(
        fc.record({
          index: fc.nat(255),
          instructions: list(
            fc.record({
              programIdIndex: fc.nat(255),
              accounts: fc.uint8Array({ maxLength: 20 }),
              data: fc.uint8Array({ maxLength: 60 }),
              stackHeight: maybe(fc.nat(5)),
            }),
          ),
        }),
        3,
      ),
    ),
    logs: maybe(list(text)),
    loadedAddresses: fc.record({ writable: list(address, 3), readonly: list(address, 3) }),
    returnData: maybe(fc.record({ programId: address, data: fc.uint8Array({ maxLength: 100 }) })),
    computeUnitsConsumed: maybe(u64),
    costUnits: maybe(u64),
    paid: maybe(list(reward, 2)),
  })
  .map(({ paid, ...rest }) => (paid === null || paid.length > 0 ? { ...rest, rewards: paid } : rest));

/** A transaction of any version that a node would take: six keys, of which one or two sign. */
const wire: fc.Arbitrary<Uint8Array> = fc
  .record({
    version: fc.constantFrom("legacy" as const, 0 as const, 1 as const),
    signers: fc.constantFrom(1, 2),
    seed: bytes(64),
    instructions: fc.array(
      fc.record({
        programIndex: fc.integer({ min: 1, max: 5 }),
        accountIndexes: fc.array(fc.nat(5), { maxLength: 8 }),
        data: fc.uint8Array({ maxLength: 200 }),
      }),
      { maxLength: 3 },
    ),
    lookups: list(
      fc.record({
        tableBytes: bytes(32),
        writableIndexes: fc.uint8Array({ minLength: 1, maxLength: 5 }),
        readonlyIndexes: fc.uint8Array({ maxLength: 5 }),
      }),
      2,
    ),
    config: fc.record({
      priorityFeeLamports: maybe(u64),
      computeUnitLimit: maybe(fc.nat()),
      loadedAccountsDataSizeLimit: maybe(fc.nat()),
      heapSize: maybe(fc.constantFrom(32_768, 262_144)),
    }),
  })
  .map(({ version, signers, seed, instructions, lookups, config }) =>
    encodeTransaction({
      signatures: Array.from({ length: signers }, (_, index) => seed.with(0, index)),
      message: {
        version,
        numRequiredSignatures: signers,
        numReadonlySignedAccounts: signers - 1,
        numReadonlyUnsignedAccounts: 2,
        staticKeys: Array.from({ length: 6 }, (_, index) => seed.slice(0, 32).with(12, index)),
        blockhash: seed.slice(32),
        instructions,
        ...(version === 0 && { lookups }),
        ...(version === 1 && { config }),
      },
    }),
  );

const transaction: fc.Arbitrary<ConfirmedTransaction> = fc
  .record({ bytes: wire, meta: maybe(meta) })
  .map((each) => ({ signature: firstSignature(each.bytes), ...each }));

/** The seed's bytes begin with the signer's index: 0 for the first. */
function firstSignature(bytes: Uint8Array): string {
  const messageFirst = bytes[0] === 0x81;
  const signers = messageFirst ? (bytes[1] ?? 0) : (bytes[0] ?? 0);
  const start = messageFirst ? bytes.length - signers * 64 : 1;
  return encodeBase58(bytes.subarray(start, start + 64));
}

/** Blocks in the one form that `readBlock` and `unpackBlock` give. */
export const arbitraryBlock: fc.Arbitrary<ConfirmedBlock> = fc
  .record({
    slot: u64,
    parentSlot: u64,
    blockhash: address,
    previousBlockhash: address,
    blockTime: maybe(i64),
    blockHeight: maybe(u64),
    transactions: list(transaction),
    rewards: list(reward),
    partitions: maybe(u64),
  })
  .map(({ partitions, ...block }) => (partitions === null ? block : { ...block, rewardPartitions: partitions }));
