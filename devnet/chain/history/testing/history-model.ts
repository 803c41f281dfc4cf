import { decodeAddress, encodeBase58 } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import { encodeTransaction } from "@sluice/wire/transaction";
import { TextRandom } from "../../../random.ts";
import type { Block, ExecutedTransaction, TokenBalance, TransactionErrorJson } from "../../model/records.ts";
import { History, type RecordedTransaction } from "../history.ts";

const errors: readonly TransactionErrorJson[] = [
  "AccountInUse",
  { InstructionError: [1, { Custom: 6001 }] },
  { InsufficientFundsForRent: { account_index: 2 } },
];

interface ModelBlock {
  readonly block: Block;
  readonly recorded: readonly RecordedTransaction[];
}

/** The history and a plain list of blocks, walked through the same random appends, rollbacks and prunes. */
export class HistoryModel {
  readonly #random: TextRandom;
  readonly #options: { readonly slotsMax: number; readonly transactionsMax: number };
  readonly #history: History;
  readonly #addresses: readonly string[];
  #blocks: ModelBlock[] = [];
  #gone: string[] = [];
  #highest = 0n;
  #made = 0;

  constructor(seed: string) {
    this.#random = new TextRandom(seed);
    this.#options = { slotsMax: 1 + this.#random.below(9), transactionsMax: 1 + this.#random.below(12) };
    this.#history = new History(this.#options);
    const few = Array.from({ length: 6 }, () => encodeBase58(this.#bytes(32)));
    this.#addresses = [...few, programs.system, programs.memo];
  }

  /** One random step, then every question once; what differs is thrown. */
  step(): void {
    const draw = this.#random.next();
    if (draw < 0.8 || this.#blocks.length === 0) this.#append();
    else if (draw < 0.93) this.#rollback();
    else this.#dropBefore();
    this.#checkBlocks();
    this.#checkTransactions();
    this.#checkAddress();
    this.#checkPrices();
  }

  #bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.#random.below(256));
  }

  #u64(): bigint {
    return (BigInt(this.#random.below(2 ** 32)) << 32n) >> BigInt(this.#random.below(65));
  }

  #pick<T>(list: readonly T[]): T {
    const picked = list[this.#random.below(list.length)];
    if (picked === undefined) throw new RangeError("nothing to pick");
    return picked;
  }

  #some<T>(most: number, make: () => T): T[] {
    return Array.from({ length: this.#random.below(most + 1) }, make);
  }

  /** Wire bytes of a transaction of any version that names these keys, and its name. */
  #wire(keys: readonly string[], lookups: number): { bytes: Uint8Array; signature: string } {
    this.#made += 1;
    const own = this.#bytes(64);
    new DataView(own.buffer).setUint32(0, this.#made);
    const signers = 1 + this.#random.below(2);
    const bytes = encodeTransaction({
      signatures: [own, ...Array.from({ length: signers - 1 }, () => this.#bytes(64))],
      message: {
        version: lookups > 0 ? 0 : this.#pick(["legacy", 0, 1] as const),
        numRequiredSignatures: signers,
        numReadonlySignedAccounts: 0,
        numReadonlyUnsignedAccounts: 1,
        staticKeys: keys.map((key) => decodeAddress(key) ?? new Uint8Array(32)),
        blockhash: this.#bytes(32),
        instructions: [
          { programIndex: keys.length - 1, accountIndexes: [0], data: this.#bytes(this.#random.below(40)) },
        ],
        ...(lookups > 0 && {
          lookups: [{ tableBytes: this.#bytes(32), writableIndexes: [1], readonlyIndexes: lookups > 1 ? [2] : [] }],
        }),
      },
    });
    return { bytes, signature: encodeBase58(own) };
  }

  #tokens(keys: readonly string[]): TokenBalance[] {
    return this.#some(3, () => ({
      accountIndex: this.#random.below(keys.length),
      mint: this.#pick([...keys, ...this.#addresses, encodeBase58(this.#bytes(32))]),
      owner: this.#pick(this.#addresses),
      programId: programs.token,
      amount: this.#u64(),
      decimals: this.#random.below(20),
    }));
  }

  #transaction(slot: bigint, index: number): RecordedTransaction {
    const shuffled = this.#addresses.toSorted(() => this.#random.next() - 0.5);
    const lookups = this.#random.falls(0.3) ? 1 + this.#random.below(2) : 0;
    const keys = shuffled.slice(0, 3 + lookups + this.#random.below(2));
    const statics = keys.slice(0, keys.length - lookups);
    const loaded = keys.slice(statics.length);
    const preBalances = keys.map(() => this.#u64());
    const executed: ExecutedTransaction = {
      ...this.#wire(statics, lookups),
      slot,
      index,
      error: this.#random.falls(0.3) ? this.#pick(errors) : null,
      fee: this.#u64(),
      preBalances,
      postBalances: preBalances.map((balance) => (this.#random.falls(0.5) ? balance : this.#u64())),
      preTokenBalances: this.#tokens(keys),
      postTokenBalances: this.#tokens(keys),
      innerInstructions: this.#some(2, () => ({
        index: this.#random.below(200),
        instructions: this.#some(2, () => ({
          programIdIndex: this.#random.below(250),
          accounts: this.#some(4, () => this.#random.below(256)),
          data: this.#bytes(this.#random.below(200)),
          stackHeight: 2 + this.#random.below(4),
        })),
      })),
      logs: this.#some(4, () => this.#pick(["Program x invoke [1]", "", `über ${this.#made} 🚀`, "y".repeat(700)])),
      loadedAddresses: { writable: loaded.slice(0, 1), readonly: loaded.slice(1) },
      returnData: this.#random.falls(0.2)
        ? { programId: this.#pick(this.#addresses), data: this.#bytes(this.#random.below(50)) }
        : null,
      computeUnitsConsumed: this.#u64(),
      costUnits: this.#u64(),
      isVote: this.#random.falls(0.3),
    };
    const writable = keys.map(() => this.#random.falls(0.5));
    return { executed, keys, writable, unitPrice: this.#u64(), priorityFee: this.#u64() };
  }

  #append(): void {
    const parent = this.#blocks.at(-1)?.block;
    this.#highest += BigInt(1 + this.#random.below(3));
    const slot = this.#highest;
    const recorded = Array.from({ length: this.#random.below(4) }, (_, index) => this.#transaction(slot, index));
    const block: Block = {
      slot,
      parentSlot: parent?.slot ?? 0n,
      blockhash: encodeBase58(this.#bytes(32)),
      previousBlockhash: parent?.blockhash ?? "",
      blockTime: slot * 2n,
      blockHeight: (parent?.blockHeight ?? 0n) + 1n,
      transactions: recorded.map(({ executed }) => executed),
      rewards: [],
    };
    this.#history.append(block, recorded);
    this.#blocks.push({ block, recorded });
    const { slotsMax, transactionsMax } = this.#options;
    const held = () => this.#blocks.reduce((sum, each) => sum + each.recorded.length, 0);
    while (this.#blocks.length > 1 && (this.#blocks.length > slotsMax || held() > transactionsMax)) this.#lose(1);
  }

  /** The oldest blocks are gone. */
  #lose(count: number): void {
    const lost = this.#blocks.splice(0, count);
    this.#gone.push(...lost.flatMap(({ recorded }) => recorded.map(({ executed }) => executed.signature)));
    this.#gone = this.#gone.slice(-20);
  }

  #rollback(): void {
    const kept = 1 + this.#random.below(this.#blocks.length);
    const slot = this.#blocks[kept - 1]?.block.slot ?? 0n;
    const lost = this.#blocks.splice(kept).flatMap(({ recorded }) => recorded);
    expectSame("rolled back", this.#history.rollback(slot), lost);
    this.#gone.push(...lost.map(({ executed }) => executed.signature));
  }

  #dropBefore(): void {
    const slot = this.#pick(this.#blocks).block.slot;
    this.#history.dropBefore(slot);
    this.#lose(this.#blocks.findIndex(({ block }) => block.slot >= slot));
  }

  #slot(): bigint {
    return BigInt(this.#random.below(Number(this.#highest) + 3));
  }

  #checkBlocks(): void {
    const history = this.#history;
    const slots = this.#blocks.map(({ block }) => block.slot);
    expectSame("first slot", history.firstSlot, slots[0] ?? 0n);
    const [first, last, limit] = [this.#slot(), this.#slot(), this.#random.below(6)];
    const between = slots.filter((slot) => slot >= first && slot <= last).slice(0, limit);
    expectSame(`slots ${first} ${last} ${limit}`, history.slots(first, last, limit), between);
    const slot = this.#random.falls(0.3) ? this.#slot() : this.#pick(slots);
    const wanted = this.#blocks.find(({ block }) => block.slot === slot)?.block ?? null;
    const found = history.block(slot);
    expectSame(`block ${slot}`, found === null ? null : { ...found }, wanted);
  }

  #checkTransactions(): void {
    const all = this.#blocks.flatMap(({ recorded }) => recorded);
    expectSame("size", this.#history.size, all.length);
    expectSame("addresses", this.#history.addressCount, new Set(all.flatMap(({ keys }) => keys)).size);
    for (const recorded of all) {
      expectSame("transaction", this.#history.transaction(recorded.executed.signature), recorded);
    }
    for (const signature of this.#gone) expectSame("gone", this.#history.transaction(signature), null);
  }

  #checkAddress(): void {
    const address = this.#pick(this.#addresses);
    const all = this.#blocks.flatMap(({ block, recorded }) => recorded.map((each) => ({ block, ...each })));
    const bound = () => (this.#random.falls(0.5) || all.length === 0 ? null : this.#pick(all).executed.signature);
    const range = { newest: this.#random.falls(0.5) ? this.#highest : this.#slot(), before: bound(), until: bound() };
    const place = (signature: string | null) => all.findIndex(({ executed }) => executed.signature === signature);
    const end = range.before === null ? all.length : place(range.before);
    const wanted = all
      .filter(
        ({ block, keys }, at) =>
          at < end && at > place(range.until) && block.slot <= range.newest && keys.includes(address),
      )
      .map(({ block, executed: { signature, index, error, slot }, keys }) => ({
        signature,
        slot,
        index,
        error,
        blockTime: block.blockTime,
        hasMemo: keys[callee(keys, all, signature)] === programs.memo,
      }));
    expectSame("address", [...this.#history.ofAddress(address, range)], wanted.reverse());
  }

  #checkPrices(): void {
    const { block, recorded } = this.#pick(this.#blocks);
    const addresses = this.#some(2, () => this.#pick(this.#addresses));
    const locks = ({ keys, writable }: RecordedTransaction): boolean =>
      addresses.every((address) => writable[keys.indexOf(address)] === true);
    const prices = recorded
      .filter(({ executed }) => !executed.isVote)
      .filter(locks)
      .map(({ unitPrice }) => unitPrice);
    const lowest = prices.reduce<bigint | null>((low, price) => (low === null || price < low ? price : low), null);
    expectSame("price", this.#history.lowestUnitPrice(block.slot, addresses), lowest);
  }
}

/** Where the program of the one instruction stands: the last of the static keys. */
function callee(keys: readonly string[], all: readonly RecordedTransaction[], signature: string): number {
  const loaded = all.find(({ executed }) => executed.signature === signature)?.executed.loadedAddresses;
  return keys.length - (loaded?.writable.length ?? 0) - (loaded?.readonly.length ?? 0) - 1;
}

function expectSame(what: string, found: unknown, wanted: unknown): void {
  if (Bun.deepEquals(found, wanted)) return;
  throw new Error(`${what}: found ${Bun.inspect(found)}, wanted ${Bun.inspect(wanted)}`);
}
