import { decodeAddress, encodeBase58 } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import { TextRandom } from "../../../random.ts";
import type { ChainAccount } from "../../model/records.ts";
import { type AccountFilter, AccountStore } from "../account-store.ts";

const sizes = [0, 5, 40, 82, 107, 165, 165, 165, 170, 355, 1_024, 1_025, 2_000];
const custom = encodeBase58(new Uint8Array(32).fill(77));
const owners = [programs.token, programs.token, programs.token, programs.token2022, custom, custom, programs.system];
/** Few enough that everything meets everything, and bounds so low that every index comes and goes. */
const lowBounds = { scanRowsMax: 2, rankedMintsMax: 2, candidatesMax: 4, shapesMax: 4 };

type State = ReadonlyMap<string, ChainAccount>;

function bytesOf(address: string): Uint8Array {
  return decodeAddress(address) ?? new Uint8Array(32);
}

function compareAddresses(left: string, right: string): number {
  return Buffer.compare(bytesOf(left), bytesOf(right));
}

function amountOf(data: Uint8Array): bigint {
  return Buffer.from(data).readBigUInt64LE(64);
}

function isTokenAccount(data: Uint8Array): boolean {
  const sized = data.length === 165 || (data.length > 165 && data.length !== 355 && data[165] === 2);
  return sized && (data[108] === 1 || data[108] === 2);
}

function passes(filter: AccountFilter, data: Uint8Array): boolean {
  if (filter.kind === "dataSize") return data.length === Number(filter.size);
  if (filter.kind === "tokenAccountState") return isTokenAccount(data);
  const start = Number(filter.offset);
  if (start + filter.bytes.length > data.length) return false;
  return Buffer.from(data.slice(start, start + filter.bytes.length)).equals(filter.bytes);
}

/** The store and a plain copy of every slot, walked through the same random writes, roots and forks. */
export class AccountsModel {
  readonly #random: TextRandom;
  readonly #store = new AccountStore(lowBounds);
  readonly #keys: readonly Uint8Array[];
  readonly #addresses: readonly string[];
  /** Slots from the root on, oldest first; the last one is open. */
  #slots: { slot: bigint; state: State; written: Set<string> }[] = [{ slot: 0n, state: new Map(), written: new Set() }];
  #highest = 0n;
  #program: string = custom;
  #filters: readonly AccountFilter[] = [];

  constructor(seed: string) {
    this.#random = new TextRandom(seed);
    const key = () => Uint8Array.from({ length: 32 }, () => this.#random.below(256));
    this.#keys = [new Uint8Array(32), ...Array.from({ length: 5 }, key)];
    // Some share their first four bytes, so that the order is decided behind them.
    const alike = key();
    const addresses = Array.from({ length: 14 }, (_, index) => {
      const bytes = key();
      if (index < 5) bytes.set(alike.subarray(0, 4));
      return bytes;
    });
    this.#addresses = addresses.map((bytes) => encodeBase58(bytes));
  }

  /** One random step and one random question at every slot that can be asked; what differs is thrown. */
  step(): void {
    const draw = this.#random.next();
    if (draw < 0.62) this.#write();
    else if (draw < 0.85) this.#open(BigInt(1 + this.#random.below(3)));
    else if (draw < 0.95) this.#root();
    else this.#fork();
    // The same is asked again while the state moves on, so that an index is built, kept up to date and used.
    if (this.#random.falls(0.2)) {
      this.#program = this.#pick(owners);
      this.#filters = Array.from({ length: this.#random.below(5) }, () => this.#filter());
    }
    for (const { slot, state, written } of this.#slots) {
      this.#checkReads(slot, state, written);
      this.#checkFind(slot, state, this.#program, this.#filters);
      this.#checkLargest(slot, state);
    }
    const newest = this.#slots.at(-1)?.state ?? new Map<string, ChainAccount>();
    const lamports = [...newest.values()].reduce((sum, account) => sum + account.lamports, 0n);
    this.#expect("lamports", this.#store.lamports, lamports);
  }

  #pick<T>(list: readonly T[]): T {
    const picked = list[this.#random.below(list.length)];
    if (picked === undefined) throw new RangeError("nothing to pick");
    return picked;
  }

  #account(): ChainAccount {
    const data = new Uint8Array(this.#pick(sizes));
    const put = (bytes: Uint8Array, offset: number) => {
      if (offset + bytes.length <= data.length) data.set(bytes, offset);
    };
    put(this.#pick(this.#keys.slice(0, 3)), 0);
    put(this.#pick(this.#keys.slice(0, 4)), 32);
    put(Uint8Array.of(this.#random.below(4), 0, 0, 0, this.#random.below(3)), 64);
    put(Uint8Array.of(this.#random.below(2), 0, 0, 0, ...this.#pick(this.#keys.slice(0, 3))), 72);
    put(Uint8Array.of(this.#random.falls(0.8) ? 1 : this.#random.below(4)), 108);
    put(Uint8Array.of(this.#random.falls(0.8) ? 2 : this.#random.below(3)), 165);
    return {
      lamports: BigInt(this.#random.below(4)) << BigInt(this.#random.below(62)),
      data,
      owner: this.#pick(owners),
      executable: this.#random.falls(0.1),
      rentEpoch: this.#random.falls(0.9) ? 0xffff_ffff_ffff_ffffn : BigInt(this.#random.below(5)),
    };
  }

  #write(): void {
    const open = this.#slots.at(-1);
    if (open === undefined) return;
    const address = this.#pick(this.#addresses);
    const account = this.#random.falls(0.25) ? null : this.#account();
    const state = new Map(open.state);
    if (account === null) state.delete(address);
    else state.set(address, account);
    open.state = state;
    open.written.add(address);
    this.#store.write(open.slot, address, account);
  }

  #open(after: bigint): void {
    const state = this.#slots.at(-1)?.state ?? new Map<string, ChainAccount>();
    this.#highest += after;
    this.#slots.push({ slot: this.#highest, state, written: new Set() });
  }

  #root(): void {
    const kept = this.#random.below(this.#slots.length);
    const root = this.#slots[kept];
    if (root === undefined || kept === this.#slots.length - 1) return;
    this.#store.root(root.slot);
    this.#slots = this.#slots.slice(kept);
    root.written.clear();
  }

  #fork(): void {
    const kept = this.#random.below(this.#slots.length);
    const parent = this.#slots[kept];
    if (parent === undefined) return;
    const gone = new Set(this.#slots.slice(kept + 1).flatMap(({ written }) => [...written]));
    const restored = this.#store.rollback(parent.slot);
    this.#slots = this.#slots.slice(0, kept + 1);
    this.#expect("restored", restored.map(({ address }) => address).sort(), [...gone].sort());
    for (const { address, account } of restored) this.#expect("restored", account, parent.state.get(address) ?? null);
    this.#open(1n);
  }

  #filter(): AccountFilter {
    const memcmp = (offset: number, bytes: Uint8Array): AccountFilter => ({
      kind: "memcmp",
      offset: BigInt(offset),
      bytes,
    });
    const key = this.#pick(this.#keys.slice(0, 4));
    const kind = this.#random.below(9);
    if (kind === 0) return { kind: "dataSize", size: BigInt(this.#pick(sizes)) };
    if (kind === 1) return { kind: "tokenAccountState" };
    if (kind === 2) return memcmp(0, key);
    if (kind === 3) return memcmp(32, key);
    if (kind === 4) return memcmp(76, key);
    if (kind === 5) return memcmp(72, Uint8Array.of(1, 0, 0, 0, ...key));
    if (kind === 6) return memcmp(0, Uint8Array.of(...this.#pick(this.#keys.slice(0, 3)), ...key));
    if (kind === 7) return memcmp(this.#pick([64, 1_020, 2 ** 40]), new Uint8Array(this.#random.below(3)));
    return memcmp(108, Uint8Array.of(1));
  }

  #checkReads(slot: bigint, state: State, written: ReadonlySet<string>): void {
    const address = this.#pick(this.#addresses);
    this.#expect(`get ${slot}`, this.#store.get(address, slot), state.get(address) ?? null);
    this.#expect(`written ${slot}`, [...this.#store.written(slot)].sort(), [...written].sort());
    const all = [...this.#store.all(slot)].sort(([left], [right]) => compareAddresses(left, right));
    this.#expect(`all ${slot}`, all, sorted(state));
    const last = this.#slots.findLast((each) => each.written.has(address));
    const changed = last !== undefined && last.slot > slot;
    this.#expect(`changed after ${slot}`, this.#store.changedAfter(address, slot), changed);
  }

  #checkFind(slot: bigint, state: State, program: string, filters: readonly AccountFilter[]): void {
    const wanted = sorted(state).filter(
      ([, account]) => account.owner === program && filters.every((filter) => passes(filter, account.data)),
    );
    this.#expect(`find ${slot} ${Bun.inspect(filters)}`, [...this.#store.find(program, filters, slot)], wanted);
    const all = [...this.#store.ofProgram(program, slot)].map(([address]) => address).sort(compareAddresses);
    const held = sorted(state).filter(([, account]) => account.owner === program);
    this.#expect(
      `program ${slot}`,
      all,
      held.map(([address]) => address),
    );
  }

  #checkLargest(slot: bigint, state: State): void {
    const program = this.#pick([programs.token, programs.token2022]);
    const mint = this.#pick(this.#keys.slice(0, 3));
    const count = 1 + this.#random.below(3);
    const holders = sorted(state).filter(
      ([, { owner, data }]) =>
        owner === program && isTokenAccount(data) && passes({ kind: "memcmp", offset: 0n, bytes: mint }, data),
    );
    const holding = holders.filter(([, { data }]) => amountOf(data) > 0n).reverse();
    const largest = holding.sort(([, left], [, right]) => Number(amountOf(right.data) - amountOf(left.data)));
    const shown = this.#store.largestHolders(program, encodeBase58(mint), count, slot);
    this.#expect(`holders ${slot}`, shown, largest.slice(0, count));
    const rich = sorted(state)
      .reverse()
      .sort(([, left], [, right]) => Number(right.lamports > left.lamports) - Number(right.lamports < left.lamports));
    this.#expect(`richest ${slot}`, this.#store.richest(count, slot), rich.slice(0, count));
  }

  #expect(what: string, found: unknown, wanted: unknown): void {
    if (Bun.deepEquals(found, wanted, true)) return;
    throw new Error(`${what}: found ${textOf(found)}, wanted ${textOf(wanted)}`);
  }
}

/** A value in one line, with bytes by their digest. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => {
    if (typeof each === "bigint") return `${each}`;
    return each instanceof Uint8Array ? `${each.length} bytes ${Bun.hash(each)}` : each;
  });
}

function sorted(state: State): [string, ChainAccount][] {
  return [...state].sort(([left], [right]) => compareAddresses(left, right));
}
