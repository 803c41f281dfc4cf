import { loadSync } from "@grpc/proto-loader";
import { engineLimits } from "@sluice/contract/engine";
import { SluiceError } from "@sluice/contract/errors";
import { type BundleRequestMessage, protoFiles, protoLoading } from "@sluice/contract/proto";
import { additionalData, readEnvelope, unpad } from "@sluice/contract/sealed-bundle";
import type { Network } from "@sluice/contract/tiers";
import type { Clock } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { ReplayStore } from "../../state/index.ts";
import { type Admission, envelopeId, type Rejection, rejection } from "../admission/index.ts";
import type { BundlePool, BundleRecord, Searcher } from "../model/bundle.ts";
import { EngineChainError } from "../model/chain-port.ts";
import type { BundleSubmission, SubmitOutcome } from "../model/service.ts";
import { type KeyRing, openCiphertext } from "./key-ring.ts";

type Decode = (bytes: Buffer) => BundleRequestMessage;

/** Reads the transactions of a serialized BundleRequest; null for bytes that are none. */
export function bundleRequestReader(): (bytes: Uint8Array) => readonly Uint8Array[] | null {
  const service = loadSync(protoFiles.blockEngine, protoLoading)["blockengine.v1.BlockEngine"];
  if (service === undefined || "format" in service) throw new Error("the block engine's service is not described");
  const method = service["SubmitBundle"];
  if (method === undefined) throw new Error("the block engine's service has no SubmitBundle");
  // The loader types every message as an object; what this one has is what its .proto says.
  const decode = method.requestDeserialize as Decode;
  return (bytes) => {
    try {
      const { transactions } = decode(Buffer.from(bytes));
      return transactions.map((each) => new Uint8Array(each));
    } catch {
      return null;
    }
  };
}

export interface SealedDependencies {
  readonly network: Network;
  readonly clock: Pick<Clock, "now">;
  readonly ring: Pick<KeyRing, "valid" | "privateKey">;
  readonly replays: Pick<ReplayStore, "claim">;
  readonly pool: Pick<BundlePool, "accept" | "addFollower" | "live" | "everySealed" | "opened" | "change">;
  readonly admission: Pick<Admission, "open" | "checkClaim">;
  readonly slot: () => Slot | null;
  readonly tipFloor: () => bigint;
  /** The transactions of a serialized BundleRequest; null for bytes that are none. */
  readonly decodeRequest: (bytes: Uint8Array) => readonly Uint8Array[] | null;
  /** A bundle could not be opened by a fault of this system; it stays sealed until the next tick. */
  readonly internalError: (error: unknown) => void;
}

/** An `enc` is remembered for as long as its key is good, and a bundle's life beyond it: a week covers both. */
const rememberedMs = 7 * 24 * 3_600_000;
/** Envelopes that are opened at a time: each is a simulation. */
const openingMax = 64;

/**
 * Encrypted bundles. What is accepted of one is its envelope and its claim; what is in it is seen at the start of its
 * tick and not before, and is checked then as any other bundle.
 */
export class SealedBundles {
  readonly #dependencies: SealedDependencies;
  /** Bundles of which nothing could be said at the last tick; never more than are opened at a time. */
  readonly #postponed = new Set<string>();

  constructor(dependencies: SealedDependencies) {
    this.#dependencies = dependencies;
  }

  async submit(sealed: Uint8Array, submission: BundleSubmission, searcher: Searcher): Promise<SubmitOutcome> {
    const { pool, tipFloor } = this.#dependencies;
    const id = envelopeId(sealed);
    const known = pool.live(id);
    if (known !== null) {
      const isSame = known.tip === submission.tip && known.targetSlot === submission.targetSlot;
      const detail = "the envelope is known with other claims";
      if (!isSame) return { ok: false, id, reason: "claims_differ", detail, tipFloor: tipFloor() };
      const record = (await pool.addFollower(id, searcher.id)) ?? known;
      return { ok: true, record, fresh: false, tipFloor: tipFloor() };
    }
    const broken = await this.#check(id, sealed, submission);
    if (broken !== null) {
      return { ok: false, id, reason: broken.reason, detail: broken.detail, tipFloor: tipFloor() };
    }
    const receivedAt = this.#dependencies.clock.now();
    const { fresh, record } = await pool.accept({
      id,
      searcherId: searcher.id,
      ingress: submission.ingress,
      transactions: [],
      signatures: [],
      tip: submission.tip ?? 0n,
      mevType: submission.mevType,
      targetSlot: submission.targetSlot === null ? null : (submission.targetSlot as Slot),
      sealed,
      receivedAt,
      acceptedSlot: this.#dependencies.slot() ?? (0n as Slot),
      lastValidBlockHeight: null,
      expiresAt: receivedAt + engineLimits.expiryMs,
    });
    return { ok: true, record, fresh, tipFloor: tipFloor() };
  }

  async #check(id: string, sealed: Uint8Array, submission: BundleSubmission): Promise<Rejection | null> {
    const envelope = readEnvelope(sealed);
    if (envelope === null) return rejection("decryption_failed", "the envelope is of no known form");
    if (submission.transactions.length > 0) {
      return rejection("malformed_transaction", "an encrypted bundle has its transactions in its envelope");
    }
    // Its claim is all that the auction sees of it until it is opened.
    if (submission.tip === null) return rejection("tip_below_floor", "an encrypted bundle claims a tip");
    const slot = this.#dependencies.slot() ?? 0n;
    const isValid = this.#dependencies.ring.valid(slot).some((key) => key.id === envelope.keyId);
    if (!isValid) return rejection("decryption_failed", "the key is unknown or not valid now");
    const against = this.#dependencies.admission.checkClaim(submission, 1);
    if (against !== null) return against;
    const expiresAt = this.#dependencies.clock.now() + rememberedMs;
    const holder = await this.#dependencies.replays.claim({ enc: envelope.enc, holder: id, expiresAt });
    return holder === id ? null : rejection("decryption_failed", "the encapsulated key was used before");
  }

  /**
   * Opens those whose tick this is: of those for one slot only when it is open, since they are not handed over before.
   * What cannot be opened, or breaks a rule, is dropped with its reason.
   */
  async open({ slot, isOpen }: OpeningTick): Promise<readonly Opened[]> {
    const due: BundleRecord[] = [];
    for (const record of this.#dependencies.pool.everySealed()) {
      if (record.targetSlot !== null && (record.targetSlot !== slot || !isOpen)) continue;
      if (!this.#postponed.has(record.id)) due.push(record);
      if (due.length === openingMax) break;
    }
    // Those that could not be checked are tried again when others have had their turn.
    this.#postponed.clear();
    const opened = await Promise.all(due.map((record) => this.#tryOne(record)));
    return opened.filter((each) => each !== null);
  }

  /** One bundle that fails for a reason that is not its own keeps no other from being opened. */
  async #tryOne(record: BundleRecord): Promise<Opened | null> {
    try {
      return await this.#openOne(record);
    } catch (error) {
      this.#postponed.add(record.id);
      const isExpected = error instanceof EngineChainError || error instanceof SluiceError;
      if (!isExpected) this.#dependencies.internalError(error);
      return null;
    }
  }

  async #openOne(record: BundleRecord): Promise<Opened | null> {
    const { pool, admission } = this.#dependencies;
    const transactions = await this.#transactionsOf(record);
    const check =
      transactions === null
        ? rejection("decryption_failed")
        : await admission.open(transactions, record, record.searcherId);
    if (!check.ok) {
      const detail = check.detail === null ? {} : { detail: check.detail };
      await pool.change(record.id, { to: "dropped", reason: check.reason, ...detail });
      return null;
    }
    const open = await pool.opened(record.id, check.content);
    return open === null ? null : { record: open, seen: check.seen };
  }

  async #transactionsOf(record: BundleRecord): Promise<readonly Uint8Array[] | null> {
    const envelope = record.sealed === null ? null : readEnvelope(record.sealed);
    const privateKey = envelope === null ? null : this.#dependencies.ring.privateKey(envelope.keyId);
    if (envelope === null || privateKey === null) return null;
    const { network } = this.#dependencies;
    const { tip, mevType, targetSlot } = record;
    const additional = additionalData({ network, keyId: envelope.keyId, tip, mevType, targetSlot });
    const padded = await openCiphertext(envelope, privateKey, additional);
    const message = padded === null ? null : unpad(padded);
    return message === null ? null : this.#dependencies.decodeRequest(message);
  }
}

type Seen = Extract<Awaited<ReturnType<Admission["open"]>>, { ok: true }>["seen"];

/** A bundle that was sealed, and what its first simulation saw. */
interface Opened {
  readonly record: BundleRecord;
  readonly seen: Seen;
}

/** The slot that a tick builds for, and whether it is the one that is open. */
export interface OpeningTick {
  readonly slot: Slot;
  readonly isOpen: boolean;
}

/** Statements of one sweep; the rest waits for the next. */
const sweepStepsMax = 20;

/** Deletes expired encapsulated keys, so that their memory stays bounded. Rejects as the store does. */
export async function sweepReplays(replays: Pick<ReplayStore, "forgetExpired">): Promise<void> {
  for (let step = 0; step < sweepStepsMax; step += 1) if ((await replays.forgetExpired()) === 0) return;
}
