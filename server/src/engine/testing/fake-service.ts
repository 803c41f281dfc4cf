import { createHash } from "node:crypto";
import type { BundleReason } from "@sluice/contract/engine";
import { type Address, addressOfBytes, type Signature, type Slot, signatureOfBytes } from "@sluice/wire/identifiers";
import type { LimitDecision } from "../../limits/index.ts";
import { type BundleChange, type BundleRecord, isSubmitter, type Searcher } from "../model/bundle.ts";
import type {
  BlockEngineService,
  BundleContent,
  BundleSubmission,
  LostBid,
  ReputationFigures,
  SubmitOutcome,
  TipFloorFigures,
  UpcomingLeader,
} from "../model/service.ts";
import { acceptedBundle } from "./accepted-bundle.ts";

/** A service that takes every bundle whose transactions are not `refused`, and lets a test make each bundle's fate. */
export class FakeBlockEngineService implements BlockEngineService {
  readonly submissions: { readonly submission: BundleSubmission; readonly searcher: Searcher }[] = [];
  readonly records = new Map<string, BundleRecord>();
  /** What is answered instead of taking the next bundles. */
  refusal: {
    readonly reason: BundleReason;
    readonly detail: string | null;
    readonly logs?: readonly string[];
  } | null = null;
  /** While set, submissions wait for it. */
  gate: Promise<void> | null = null;
  error: Error | null = null;
  rate: Partial<LimitDecision> = {};
  tokensTaken = 0;
  isInMaintenance = false;
  tipAccounts: readonly Address[] = [addressOf(200), addressOf(201)];
  slot: Slot | null = 100n as Slot;
  leader: UpcomingLeader | null = null;
  readonly leaders = new Map<Address, readonly Slot[]>();
  readonly leaderOfSlot = new Map<Slot, Address>();
  readonly lost = new Map<string, LostBid>();
  readonly #losers = new Set<(bid: LostBid) => void>();
  readonly losses = {
    of: (id: string): LostBid | null => this.lost.get(id) ?? null,
    follow: (_searcherId: string, listener: (bid: LostBid) => void): Disposable => {
      this.#losers.add(listener);
      return { [Symbol.dispose]: () => void this.#losers.delete(listener) };
    },
  };
  readonly #followers = new Set<{ readonly searcherId: string; readonly listener: (record: BundleRecord) => void }>();

  get followers(): number {
    return this.#followers.size;
  }

  async submit(submission: BundleSubmission, searcher: Searcher): Promise<SubmitOutcome> {
    this.submissions.push({ submission, searcher });
    const { refusal } = this;
    await this.gate;
    if (this.error !== null) throw this.error;
    const id = idOf(submission);
    const tipFloor = this.tipFloor().floor;
    if (refusal !== null) return { ok: false, id, ...refusal, tipFloor };
    const known = this.records.get(id);
    if (known !== undefined) {
      const isOwn = isSubmitter(known, searcher.id);
      const followed = isOwn ? known : { ...known, followers: [...known.followers, searcher.id] };
      if (!isOwn) this.#put(followed);
      return { ok: true, record: followed, fresh: false, tipFloor };
    }
    const record = recordOf(id, submission, searcher);
    this.#put(record);
    return { ok: true, record, fresh: true, tipFloor };
  }

  /** Has a bundle lose a slot. */
  outbid(bid: LostBid): void {
    this.lost.set(bid.id, bid);
    for (const listener of this.#losers) listener(bid);
  }

  /** Makes a step of a bundle's life. */
  change(id: string, change: BundleChange): void {
    const before = this.records.get(id);
    if (before === undefined) throw new Error(`there is no bundle ${id}`);
    const ended = change.to === "dropped" || change.to === "expired";
    this.#put({
      ...before,
      state: change.to,
      reason: ended ? change.reason : null,
      detail: ended ? (change.detail ?? null) : null,
      landed:
        change.to === "included"
          ? { slot: change.slot, blockhash: change.blockhash, index: change.index }
          : ended
            ? null
            : (change.landed ?? before.landed),
    });
  }

  idOf(content: BundleContent): string {
    return idOf(content);
  }

  async get(id: string, reader: Pick<Searcher, "id">): Promise<BundleRecord | null> {
    const record = this.records.get(id) ?? null;
    return record !== null && (record.landed !== null || isSubmitter(record, reader.id)) ? record : null;
  }

  leaderOf(slot: Slot): Address | null {
    return this.leaderOfSlot.get(slot) ?? null;
  }

  follow(searcherId: string, listener: (record: BundleRecord) => void): Disposable {
    const follower = { searcherId, listener };
    this.#followers.add(follower);
    return { [Symbol.dispose]: () => void this.#followers.delete(follower) };
  }

  inFlight(searcherId: string): readonly BundleRecord[] {
    const isLive = ({ state }: BundleRecord): boolean => state === "accepted" || state === "included";
    return [...this.records.values()].filter((record) => isSubmitter(record, searcherId) && isLive(record));
  }

  takeRate(_searcher?: Searcher): LimitDecision | Promise<LimitDecision> {
    this.tokensTaken += 1;
    return { ...allowed, ...this.rate };
  }

  tipFloor(): TipFloorFigures {
    const shares = { utilization: 0.25, bundleShare: 0.5, landedBlocks: 150, landedTips: 5 };
    const landed = { p25: 1n, p50: 2n, p75: 3n, p95: 4n, p99: 5n, emaP50: 2n };
    return { floor: 18_446_744_073_709_551_615n, average24h: 1_234n, ...shares, landed, at: 0 };
  }

  async reputation(searcherId: string): Promise<ReputationFigures> {
    const submitted = BigInt(this.submissions.filter(({ searcher }) => searcher.id === searcherId).length);
    return { score: 41.5, tier: "silver", landingRate: 0.5, simSuccess: 0.75, submitted, landed: 0n };
  }

  currentSlot(): Slot | null {
    return this.slot;
  }

  nextLeader(): UpcomingLeader | null {
    return this.leader;
  }

  connectedLeaders(): ReadonlyMap<Address, readonly Slot[]> {
    return this.leaders;
  }

  #put(record: BundleRecord): void {
    this.records.set(record.id, record);
    for (const { searcherId, listener } of this.#followers) if (isSubmitter(record, searcherId)) listener(record);
  }
}

export const allowed: LimitDecision = {
  allowed: true,
  limit: 5,
  burst: 10,
  remaining: 9,
  resetAt: 0,
  retryAfterSeconds: 0,
};

/** An address that is the same for the same number. */
export const addressOf = (seed: number): Address => addressOfBytes(new Uint8Array(32).fill(seed));
const signatureOf = (bytes: Uint8Array): Signature =>
  signatureOfBytes(new Uint8Array(createHash("sha512").update(bytes).digest()));

function idOf({ transactions, sealed }: BundleContent): string {
  const hash = createHash("sha256");
  for (const each of sealed === null ? transactions : [sealed]) hash.update(each);
  return hash.digest("hex");
}

function recordOf(id: string, submission: BundleSubmission, searcher: Searcher): BundleRecord {
  const { ingress, transactions, mevType, sealed } = submission;
  return acceptedBundle({
    id,
    searcherId: searcher.id,
    ingress,
    transactions,
    signatures: transactions.map(signatureOf),
    tip: submission.tip ?? 0n,
    mevType,
    sealed,
    acceptedSlot: 100n as Slot,
    lastValidBlockHeight: 250n,
  });
}
