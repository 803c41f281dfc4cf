import { createHash, type Hash } from "node:crypto";
import { durableNonce, type SvmOutcome, type SvmTransaction } from "@sluice/svm/bank";
import { addressBytes } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import type { Transaction } from "@sluice/wire/transaction";
import type { AccountStore } from "../accounts/index.ts";
import type { History, RecordedTransaction } from "../history/index.ts";
import type { BankSlot, Reward } from "../model/index.ts";
import { BlockLimits, costUnits } from "./costs.ts";
import { admit, closesProgram, type OpenBank, recordOutcome } from "./executor.ts";
import type { BlockhashQueue, StatusCache } from "./recent-blocks.ts";

import { type ResolvedTransaction, svmTransaction } from "./resolve.ts";

/** A call of the hash costs a microsecond, whatever it is given. */
const hashedAtATime = 64;

/** A transaction that was handed to the chain. */
export interface Submission {
  readonly transaction: Transaction;
  /** The first signature in base58. */
  readonly signature: string;
  /** Whether its signatures were checked already. */
  readonly verified: boolean;
}

interface OpenSlotDependencies {
  readonly accounts: AccountStore;
  readonly blockhashes: BlockhashQueue;
  readonly statuses: StatusCache;
  readonly history: History;
  readonly isRecentSlot: (slot: bigint) => boolean;
  /** A program has no code any more, which the machine's cache does not notice. */
  readonly programClosed: () => void;
}

/** A transaction that may run in the open slot, with its form for the machine. */
export interface Admitted {
  readonly submission: Submission;
  readonly resolved: ResolvedTransaction;
  readonly machine: SvmTransaction;
  /** Cost units that the block has reserved for it. */
  readonly reserved: number;
  /** Whether it names the program of lookup tables, and so could change one. */
  readonly touchesTables: boolean;
}

/** A refused one never lands; one that the block or an account of it has no room for waits for the next slot. */
type SlotAdmission = Admitted | "refused" | "block full" | "account full";

/** The slot into which transactions go: who may run in it, and what ran. */
export class OpenSlot {
  readonly slot: bigint;
  readonly parent: BankSlot;
  /** Unix seconds. */
  readonly time: bigint;
  readonly nextNonce: Uint8Array;
  readonly recorded: RecordedTransaction[] = [];
  /** The rewards that the slot paid at its opening, as the first of an epoch. */
  rewards: readonly Reward[] = [];
  readonly #dependencies: OpenSlotDependencies;
  readonly #bank: OpenBank;
  readonly #limits = new BlockLimits();
  readonly #hash: Hash;
  #unhashed: string[] = [];

  constructor(at: Pick<OpenSlot, "slot" | "parent" | "time">, dependencies: OpenSlotDependencies) {
    const { slot, parent, time } = at;
    this.slot = slot;
    this.parent = parent;
    this.time = time;
    this.#dependencies = dependencies;
    this.nextNonce = durableNonce(addressBytes(parent.blockhash));
    this.#bank = {
      slot,
      nextNonce: this.nextNonce,
      read: (address) => dependencies.accounts.get(address, slot),
      isRecentSlot: dependencies.isRecentSlot,
      isBlockhashValid: (blockhash) => dependencies.blockhashes.isValid(blockhash, parent.blockHeight),
      wasProcessed: (signature) => dependencies.statuses.slotOf(signature) !== null,
    };
    this.#hash = createHash("sha256").update(addressBytes(parent.blockhash));
    // Blocks on two forks must not share a hash, as they do not on a real chain, where skipped slots have ticks too.
    if (slot !== parent.slot + 1n) this.#hash.update(`slot ${slot}`);
  }

  /** Checks a transaction against the state as it is recorded so far. */
  admit(submission: Submission): SlotAdmission {
    const { transaction, signature, verified } = submission;
    const admission = admit(transaction, this.#bank, { signature });
    if (!admission.ok) return "refused";
    const { resolved, nonceAddress } = admission;
    const machine = svmTransaction(resolved, nonceAddress, !verified);
    const { fees, message } = resolved;
    const reserved = costUnits(message, fees, machine.writable.length, fees.unitLimit, 0);
    const room = this.#limits.reserve(reserved, machine.writable);
    if (room !== "reserved") return room;
    const touchesTables = resolved.keys.includes(programs.addressLookupTable);
    return { submission, resolved, machine, reserved, touchesTables };
  }

  /**
   * Records what became of an admitted transaction. Each is recorded once, in the order in which the machine ran them.
   */
  record({ resolved, machine, reserved }: Admitted, outcome: SvmOutcome): void {
    const { writable } = machine;
    if (!outcome.included) {
      this.#limits.add(-reserved, writable);
      return;
    }
    const position = { slot: this.slot, index: this.recorded.length };
    if (closesProgram(resolved.keys, outcome, this.#bank)) this.#dependencies.programClosed();
    const ran = { resolved, writableCount: writable.length };
    const recorded = recordOutcome(ran, outcome, position, this.#bank, this.#dependencies.accounts);
    this.recorded.push(recorded);
    this.#dependencies.history.stage(recorded);
    this.#unhashed.push(resolved.signature);
    if (this.#unhashed.length >= hashedAtATime) this.#hashSignatures();
    this.#dependencies.statuses.add(resolved.signature, this.slot);
    this.#limits.add(Number(recorded.executed.costUnits) - reserved, writable);
  }

  /** Gives back what was reserved for a transaction that is given up. */
  release({ machine, reserved }: Admitted): void {
    this.#limits.add(-reserved, machine.writable);
  }

  #hashSignatures(): void {
    this.#hash.update(this.#unhashed.join(""));
    this.#unhashed = [];
  }

  /** The hash of the block as it stands; asked once, when the slot is frozen. */
  blockhash(): Uint8Array {
    this.#hashSignatures();
    return new Uint8Array(this.#hash.digest());
  }
}
