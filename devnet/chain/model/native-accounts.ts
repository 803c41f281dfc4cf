import type { AccountWrite } from "@sluice/svm/bank";
import { ByteWriter } from "@sluice/wire/bytes";
import { maxU64 } from "@sluice/wire/identifiers";
import { programs, sysvars } from "@sluice/wire/programs";
import { feeRules } from "@sluice/wire/runtime-rules";
import type { ChainAccount } from "./records.ts";

const rentExemptEpoch = 0xffff_ffff_ffff_ffffn;
const slotHashesMax = 512;
const recentBlockhashesMax = 150;
const slotHistoryBits = 1_048_576n;

/** Lamports that make `bytes` of data rent exempt: 6,960 for each byte and 128 bytes of overhead. */
export function rentExemptLamports(bytes: number): bigint {
  return BigInt(bytes + 128) * 6_960n;
}

function sysvar(address: string, data: Uint8Array): AccountWrite {
  const account: ChainAccount = {
    lamports: rentExemptLamports(data.length),
    data,
    owner: sysvars.owner,
    executable: false,
    rentEpoch: rentExemptEpoch,
  };
  return { address, account };
}

interface ClockValue {
  readonly slot: bigint;
  readonly epochStartTimestamp: bigint;
  readonly epoch: bigint;
  readonly leaderScheduleEpoch: bigint;
  readonly unixTimestamp: bigint;
}

export function clockSysvar(clock: ClockValue): AccountWrite {
  const data = new ByteWriter()
    .u64(clock.slot)
    .i64(clock.epochStartTimestamp)
    .u64(clock.epoch)
    .u64(clock.leaderScheduleEpoch)
    .i64(clock.unixTimestamp)
    .finish();
  return sysvar(sysvars.clock, data);
}

export function epochScheduleSysvar(slotsPerEpoch: bigint): AccountWrite {
  return sysvar(
    sysvars.epochSchedule,
    new ByteWriter().u64(slotsPerEpoch).u64(slotsPerEpoch).u8(0).u64(0n).u64(0n).finish(),
  );
}

export interface SlotHash {
  readonly slot: bigint;
  readonly hash: Uint8Array;
}

/** At most the newest 512, newest first. */
export function slotHashesSysvar(newestFirst: readonly SlotHash[]): AccountWrite {
  const kept = newestFirst.slice(0, slotHashesMax);
  const writer = new ByteWriter().u64(BigInt(kept.length));
  for (const { slot, hash } of kept) writer.u64(slot).bytes(hash);
  return sysvar(sysvars.slotHashes, writer.finish(8 + slotHashesMax * 40));
}

/** At most the newest 150, newest first. */
export function recentBlockhashesSysvar(newestFirst: readonly Uint8Array[]): AccountWrite {
  const kept = newestFirst.slice(0, recentBlockhashesMax);
  const writer = new ByteWriter().u64(BigInt(kept.length));
  for (const hash of kept) writer.bytes(hash).u64(feeRules.lamportsPerSignature);
  return sysvar(sysvars.recentBlockhashes, writer.finish(8 + recentBlockhashesMax * 40));
}

export interface StakeHistoryEntry {
  readonly epoch: bigint;
  readonly effective: bigint;
  readonly activating: bigint;
  readonly deactivating: bigint;
}

export function stakeHistorySysvar(newestFirst: readonly StakeHistoryEntry[]): AccountWrite {
  const kept = newestFirst.slice(0, 512);
  const writer = new ByteWriter().u64(BigInt(kept.length));
  for (const entry of kept) writer.u64(entry.epoch).u64(entry.effective).u64(entry.activating).u64(entry.deactivating);
  return sysvar(sysvars.stakeHistory, writer.finish(8 + 512 * 32));
}

/** The bit vector of slots that have a block, as an account's bytes: 131,097 of them. */
export class SlotHistory {
  readonly #words = new BigUint64Array(Number(slotHistoryBits / 64n));
  #next = 0n;

  /** Slots between the one added before and this one had no block; their bits may be old ones that came round. */
  add(slot: bigint): void {
    if (slot >= this.#next + slotHistoryBits) this.#words.fill(0n);
    else for (let skipped = this.#next; skipped < slot; skipped += 1n) this.#set(skipped, 0n);
    this.#set(slot, 1n);
    this.#next = slot + 1n;
  }

  /** Forgets the slots from `slot` on, which must not be so far back that their bits have come round. */
  rollback(slot: bigint): void {
    for (let gone = slot; gone < this.#next; gone += 1n) this.#set(gone, 0n);
    if (slot < this.#next) this.#next = slot;
  }

  #set(slot: bigint, value: 0n | 1n): void {
    const bit = slot % slotHistoryBits;
    const word = Number(bit / 64n);
    const cleared = (this.#words[word] ?? 0n) & ~(1n << (bit % 64n));
    this.#words[word] = cleared | (value << (bit % 64n));
  }

  sysvar(nextSlot: bigint): AccountWrite {
    const words = new Uint8Array(this.#words.buffer);
    const writer = new ByteWriter().u8(1).u64(BigInt(this.#words.length)).bytes(words);
    return sysvar(sysvars.slotHistory, writer.u64(slotHistoryBits).u64(nextSlot).finish());
  }
}

/** An account of `owner` that pays no rent: with just enough lamports for that when none are named. */
export function ownedAccount(owner: string, data: Uint8Array, lamports?: bigint): ChainAccount {
  return {
    lamports: lamports ?? rentExemptLamports(data.length),
    data,
    owner,
    executable: false,
    rentEpoch: maxU64,
  };
}

export function systemAccount(lamports: bigint): ChainAccount {
  return ownedAccount(programs.system, new Uint8Array(), lamports);
}

/**
 * A program that only stands there, as one of the node itself: it can be seen and not called, and no loader looks into
 * it. What it would do the chain does.
 */
export function standInProgram(name: string): ChainAccount {
  const data = new TextEncoder().encode(name);
  return { ...ownedAccount(programs.nativeLoader, data), executable: true };
}
