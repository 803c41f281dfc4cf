import { engineLimits } from "@sluice/contract/engine";
import { SluiceError } from "@sluice/contract/errors";
import type { Clock } from "@sluice/lib";
import type { Address, Signature, Slot } from "@sluice/wire/identifiers";
import type { Transaction } from "@sluice/wire/transaction";
import type { BundleIngress, BundlePool, BundleRecord, NewBundle, OpenedContent, Searcher } from "../model/bundle.ts";
import type { BundleContent, BundleSubmission, SubmitOutcome } from "../model/service.ts";
import type { BundleEffects, BundleFailure, BundleOutcome } from "../simulation/index.ts";
import {
  type AdmissionChain,
  bundleId,
  checkLifetimes,
  checkStatically,
  envelopeId,
  type Rejection,
  readTransactions,
  rejection,
} from "./bundle-checks.ts";

export interface AdmissionSimulator {
  simulate(bundle: { readonly id: string; readonly transactions: readonly Uint8Array[] }): Promise<BundleOutcome>;
}

export interface AdmissionPool
  extends Pick<BundlePool, "accept" | "addFollower" | "get" | "live" | "holding" | "simulated"> {}

/** Whether any leader that takes bundles has a slot that a bundle could land in. */
export interface AdmissionLeaders {
  reachable(targetSlot: bigint | null, transactionCount: number): boolean;
}

export interface AdmissionDependencies {
  readonly clock: Clock;
  readonly chain: AdmissionChain;
  readonly simulator: AdmissionSimulator;
  readonly pool: AdmissionPool;
  readonly leaders: AdmissionLeaders;
  readonly tipAccounts: ReadonlySet<Address>;
  /** Lamports that a bundle has to pay at this moment. */
  readonly tipFloor: () => bigint;
  /** What a simulation said of a searcher's bundle; not reported for those that could not be simulated. */
  readonly simulated: (searcherId: string, ok: boolean) => void;
  /** What a bundle did that has been accepted, so that it need not be run again before it competes. */
  readonly seen: (record: BundleRecord, effects: BundleEffects) => void;
}

/** What a bundle turned out to be when all its checks had passed. */
interface Checked extends OpenedContent {
  readonly id: string;
  readonly tip: bigint;
  readonly seen: BundleEffects;
}

/** What a signed 64-bit column holds; the chain has less than a tenth of it. */
const lamportsMax = 2n ** 63n - 1n;

type ReadBundle =
  | Rejection
  | {
      readonly ok: true;
      readonly id: string;
      readonly transactions: readonly Transaction[];
      readonly signatures: readonly Signature[];
    };

type Check = { readonly ok: true; readonly checked: Checked } | (Rejection & { readonly id: string });

/** Endpoints that have decoded texts themselves: what they hand in is bytes, even where it looks like text. */
const bytesOnly: ReadonlySet<BundleIngress> = new Set(["rest", "jito-rpc"]);

interface Origin {
  readonly searcherId: string;
  /** Out of an envelope, and in the pool under the envelope's id. */
  readonly isOpened: boolean;
}

/** What is checked of a bundle beside its transactions. */
export interface Claim {
  /** Lamports; null takes what the simulation sees. */
  readonly tip: bigint | null;
  readonly targetSlot: bigint | null;
}

/**
 * Checks bundles. What can be seen from the bytes comes first, then what memory knows, then the chain, then the
 * simulation, so that a bad bundle costs as little as it can. `accepted` is said when the bundle is on disk.
 */
export class Admission {
  readonly #dependencies: AdmissionDependencies;

  constructor(dependencies: AdmissionDependencies) {
    this.#dependencies = dependencies;
  }

  async submit(submission: BundleSubmission, searcher: Searcher): Promise<SubmitOutcome> {
    const tipFloor = this.#dependencies.tipFloor();
    const read = readBundle(submission.transactions, !bytesOnly.has(submission.ingress));
    // A live bundle of the same transactions was found right when it came, and the same again is no second bid.
    const known = read.ok ? this.#dependencies.pool.live(read.id) : null;
    if (known !== null && isPaidKnown(known, submission)) return await this.#answerKnown(known, submission, searcher);
    const check = await this.#check(read, submission, { searcherId: searcher.id, isOpened: false });
    if (!check.ok) {
      const landed = check.reason === "already_processed" ? await this.#dependencies.pool.get(check.id) : null;
      // The transactions landed as this bundle, so it must not be reported as dropped.
      if (landed?.state === "finalized" || landed?.state === "included")
        return await this.#answerKnown(landed, submission, searcher);
      const { id, reason, detail, logs = [] } = check;
      return { ok: false, id, reason, detail, logs, tipFloor };
    }
    const { checked } = check;
    const { fresh, record } = await this.#dependencies.pool.accept(this.#bundle(submission, searcher, checked));
    this.#dependencies.pool.simulated(record.id, checked.seen);
    if (!fresh) return await this.#answerKnown(record, submission, searcher);
    this.#dependencies.seen(record, checked.seen);
    return { ok: true, record, fresh, tipFloor };
  }

  /** A known bundle stays as it is, and its searcher is not told `accepted` to a claim that does not hold. */
  async #answerKnown(record: BundleRecord, claim: Claim, { id }: Searcher): Promise<SubmitOutcome> {
    const { pool, tipFloor } = this.#dependencies;
    const detail = claimAgainst(pool.live(record.id) ?? record, claim);
    if (detail !== null) return { ok: false, id: record.id, reason: "claims_differ", detail, tipFloor: tipFloor() };
    const followed = await pool.addFollower(record.id, id);
    return { ok: true, record: followed ?? record, fresh: false, tipFloor: tipFloor() };
  }

  /** The same checks for what a sealed bundle holds, which claims what its envelope claims. */
  async open(
    transactions: readonly Uint8Array[],
    claim: Claim,
    searcherId: string,
  ): Promise<{ readonly ok: true; readonly content: OpenedContent; readonly seen: Checked["seen"] } | Rejection> {
    const check = await this.#check(readBundle(transactions, true), claim, { searcherId, isOpened: true });
    return check.ok ? { ok: true, content: check.checked, seen: check.checked.seen } : check;
  }

  /** The slot, the tip and the leaders of a claim; null when nothing is against it. */
  checkClaim({ tip, targetSlot }: Claim, transactionCount: number): Rejection | null {
    const { leaders, tipFloor, chain } = this.#dependencies;
    const slot = chain.slot();
    // Before the chain has reported its slot the leader is unknown.
    if (slot === null) return rejection("no_leader", "the chain's slot is not known yet");
    if (targetSlot !== null) {
      if (targetSlot < slot) return rejection("target_slot_past", `the chain is at slot ${slot}`);
      if (targetSlot > slot + engineLimits.targetSlotsAhead) {
        return rejection("target_slot_too_far", `at most slot ${slot + engineLimits.targetSlotsAhead}`);
      }
    }
    if (tip !== null && tip < tipFloor()) return rejection("tip_below_floor", `the floor is ${tipFloor()} lamports`);
    if (tip !== null && tip > lamportsMax) return rejection("tip_not_paid", "there are not so many lamports");
    return leaders.reachable(targetSlot, transactionCount) ? null : rejection("no_leader");
  }

  async #check(read: ReadBundle, claim: Claim, { searcherId, isOpened }: Origin): Promise<Check> {
    if (!read.ok) return { ...read, id: "" };
    const { id, transactions, signatures } = read;
    const refuse = (because: Rejection): Check => ({ ...because, id });
    const broken =
      checkStatically(transactions, this.#dependencies) ??
      this.checkClaim(claim, transactions.length) ??
      this.#checkTwin(isOpened ? null : id, signatures);
    if (broken !== null) return refuse(broken);
    const lifetimes = await checkLifetimes(transactions, this.#dependencies.chain);
    if (!lifetimes.ok) return refuse(lifetimes);
    const outlived = this.#checkReach(claim, lifetimes.lastValidBlockHeight);
    if (outlived !== null) return refuse(outlived);
    const known = this.#dependencies.chain.seen(signatures);
    if (known !== null) return refuse(rejection("already_processed", known));
    const bytes = transactions.map((transaction) => transaction.bytes);
    // Nodes are asked about the newest slots while the bundle's accounts are read: nearly none of those asked about is
    // there.
    const [landed, seen] = await Promise.all([
      this.#dependencies.chain.processed(signatures),
      this.#dependencies.simulator.simulate({ id, transactions: bytes }),
    ]);
    if (landed[0] !== undefined) return refuse(rejection("already_processed", landed[0]));
    if (!seen.ok && seen.reason === "unavailable") throw new SluiceError("OVERLOADED");
    if (seen.ok || seen.reason === "simulation_failed") this.#dependencies.simulated(searcherId, seen.ok);
    if (!seen.ok) return refuse(simulationRejection(seen));
    const unpaid = this.#checkTip(seen.tip, claim);
    if (unpaid !== null) return refuse(unpaid);
    const { lastValidBlockHeight } = lifetimes;
    const tip = claim.tip ?? seen.tip;
    return { ok: true, checked: { id, transactions: bytes, signatures, lastValidBlockHeight, tip, seen } };
  }

  /** A slot has one block at most: what is further ahead than the blockhash has blocks left is not reached by it. */
  #checkReach({ targetSlot }: Claim, lastValidBlockHeight: bigint | null): Rejection | null {
    const { chain } = this.#dependencies;
    const [slot, height] = [chain.slot(), chain.height()];
    if (targetSlot === null || lastValidBlockHeight === null || slot === null || height === null) return null;
    // The block after the one at the last valid height takes it, too.
    const last = slot + lastValidBlockHeight + 1n - height;
    return targetSlot > last ? rejection("target_slot_too_far", `the blockhash lives to slot ${last} or so`) : null;
  }

  /**
   * The same transactions under another id, as an envelope has one, would be counted twice when they land once. An
   * envelope that is opened has no signatures yet, so what has these is another bundle, whatever its id (null).
   */
  #checkTwin(id: string | null, signatures: readonly Signature[]): Rejection | null {
    const [first] = signatures;
    const same = first === undefined ? [] : this.#dependencies.pool.holding(first);
    const isTwin = (record: BundleRecord): boolean =>
      record.id !== id &&
      record.signatures.length === signatures.length &&
      record.signatures.every((each, index) => each === signatures[index]);
    return same.some(isTwin) ? rejection("duplicate_transaction", "another bundle in flight holds the same") : null;
  }

  #checkTip(paid: bigint, { tip }: Claim): Rejection | null {
    const floor = this.#dependencies.tipFloor();
    if (tip === null && paid > 0n && paid < floor) {
      return rejection("tip_below_floor", `pays ${paid} lamports, the floor is ${floor}`);
    }
    const claimed = tip ?? floor;
    return paid < claimed ? rejection("tip_not_paid", `pays ${paid} of ${claimed} lamports`) : null;
  }

  #bundle(submission: BundleSubmission, searcher: Searcher, checked: Checked): NewBundle {
    const receivedAt = this.#dependencies.clock.now();
    return {
      id: checked.id,
      searcherId: searcher.id,
      ingress: submission.ingress,
      transactions: checked.transactions,
      signatures: checked.signatures,
      tip: checked.tip,
      mevType: submission.mevType,
      targetSlot: submission.targetSlot === null ? null : (submission.targetSlot as Slot),
      sealed: null,
      receivedAt,
      acceptedSlot: this.#slot(),
      lastValidBlockHeight: checked.lastValidBlockHeight,
      expiresAt: receivedAt + engineLimits.expiryMs,
    };
  }

  #slot(): Slot {
    return this.#dependencies.chain.slot() ?? (0n as Slot);
  }
}

/** Whether what a known bundle pays is known well enough to answer a claim; after a restart it may not be. */
const isPaidKnown = ({ tip, tipSeen }: BundleRecord, claim: Claim): boolean =>
  tipSeen !== null || claim.tip === null || claim.tip <= tip;

/** What is against a claim that comes with a known bundle; null where it holds. */
function claimAgainst({ targetSlot, tip, tipSeen }: BundleRecord, claim: Claim): string | null {
  if (claim.targetSlot !== null && claim.targetSlot !== targetSlot)
    return targetSlot === null ? "the known bundle has no target slot" : `the known bundle is for slot ${targetSlot}`;
  const paid = tipSeen ?? tip;
  return claim.tip !== null && claim.tip > paid ? `the known bundle pays ${paid} lamports` : null;
}

/** The id that a bundle of this content has; empty for transactions that cannot be read. */
export function submissionId({ transactions, sealed, ingress }: BundleContent): string {
  if (sealed !== null) return envelopeId(sealed);
  const read = readBundle(transactions, !bytesOnly.has(ingress));
  return read.ok ? read.id : "";
}

/** Transactions are read once, and what follows from them alone is found once. */
function readBundle(sent: readonly Uint8Array[], mayBeText: boolean): ReadBundle {
  const read = readTransactions(sent, mayBeText);
  if (!read.ok) return read;
  const signatures = read.transactions.map((transaction) => transaction.id);
  return { ...read, signatures, id: bundleId(signatures) };
}

function simulationRejection({ reason, index, error, logs }: BundleFailure): Rejection {
  if (reason !== "simulation_failed") return rejection(reason, `transaction ${index}`);
  const isOverBudget = /ComputationalBudgetExceeded|exceeded CUs/.test(error);
  return {
    ...rejection(isOverBudget ? "compute_exceeded" : "simulation_failed", `transaction ${index}: ${error}`),
    logs,
  };
}
