import { type BundleReason, shownState } from "@sluice/contract/engine";
import { type ErrorCode, SluiceError } from "@sluice/contract/errors";
import type { BundleConfirmationMessage, BundleRequestMessage } from "@sluice/contract/proto";
import { BoundedQueue, type Clock } from "@sluice/lib";
import { type DuplexSession, GrpcStatusError, type RequestStream, type ResponseStream } from "../../net/index.ts";
import type { BundleRecord, Searcher } from "../model/bundle.ts";
import type { BlockEngineService, SubmitOutcome } from "../model/service.ts";
import { confirmationOf, droppedAtOnce, type ReadSubmission, readSubmission } from "./block-engine.ts";
import type { Refusals } from "./refusals.ts";

/** Submissions of one stream that the engine works on at once; while there are as many, its requests are not read. */
const inProgressMax = 32;
/** Changes of others' bundles that may wait until a stream's own submissions in progress are answered. */
const heldMax = 1_024;
/** Bundles whose end a stream remembers having reported. */
const endedMax = 1_024;

/** What passes: the bundle is to be sent again shortly. */
const passing: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["OVERLOADED", "STORE_UNAVAILABLE"]);

type Outcome = SubmitOutcome | { readonly error: unknown };

export interface BundleStreamDependencies {
  readonly engine: BlockEngineService;
  readonly searcher: Searcher;
  readonly responses: ResponseStream<BundleConfirmationMessage>;
  readonly requests: RequestStream;
  readonly refusals: Refusals;
  readonly clock: Pick<Clock, "monotonic">;
  /** A bundle of this stream that came at `sinceMs` was not taken. */
  readonly rejected: (reason: BundleReason, sinceMs: number) => void;
  readonly internalError: (error: unknown) => void;
}

/**
 * One searcher's stream: takes bundles, and reports each change of the status of each of the searcher's bundles, those
 * of its other streams included. The answers to its own submissions come in the order of the submissions, so that one
 * that no id can be computed of is found by its place.
 */
export class BundleStream implements DuplexSession<BundleRequestMessage> {
  readonly #dependencies: BundleStreamDependencies;
  /** What was reported last of each bundle that can still change. */
  readonly #reported = new Map<string, string>();
  readonly #ended = new Set<string>();
  /** Bundles of this stream that can still change. */
  readonly #own = new Set<string>();
  readonly #held = new BoundedQueue<BundleRecord>({ max: heldMax });
  readonly #following: Disposable;
  #answers: Promise<void> = Promise.resolve();
  #inProgress = 0;
  /** Refusals that are ahead of their pace: nothing is read until none is. */
  #early = 0;
  #isPaused = false;
  #isHalfClosed = false;

  constructor(dependencies: BundleStreamDependencies) {
    this.#dependencies = dependencies;
    const { engine, searcher, responses } = dependencies;
    this.#following = engine.follow(searcher.id, (record) => this.#changed(record));
    responses.onClose(() => this.#following[Symbol.dispose]());
    const inFlight = engine.inFlight(searcher.id);
    for (const record of inFlight) this.#reported.set(record.id, shownOf(record));
    responses.begin(inFlight.values().map(confirmationOf));
  }

  take(message: BundleRequestMessage): void {
    const sinceMs = this.#dependencies.clock.monotonic();
    const read = readSubmission(message, "stream");
    this.#inProgress += 1;
    this.#steer();
    const outcome = this.#submit(read).catch((error: unknown): Outcome => ({ error }));
    this.#answers = this.#answers.then(async () => this.#answer(await outcome, sinceMs));
  }

  broken(fault: GrpcStatusError): void {
    const { responses, requests } = this.#dependencies;
    void this.#answers.then(() => {
      responses.end(fault);
      requests.resume();
    });
  }

  halfClosed(): void {
    this.#isHalfClosed = true;
    this.#endIfDone();
  }

  /** A fault of one bundle is that bundle's answer: it is no reason to end the stream of all others. */
  async #submit(read: ReadSubmission): Promise<Outcome> {
    const { engine, searcher } = this.#dependencies;
    const content = read.ok ? read.submission : read.content;
    if (engine.isInMaintenance) return droppedAtOnce(engine, content, { reason: "maintenance" });
    const { allowed } = await engine.takeRate(searcher);
    if (!allowed) {
      this.#slowDown();
      return droppedAtOnce(engine, content, { reason: "rate_limited" });
    }
    if (!read.ok) return droppedAtOnce(engine, content, { reason: "invalid_field", detail: read.fault });
    try {
      return await engine.submit(read.submission, searcher);
    } catch (error) {
      if (!(error instanceof SluiceError) || !passing.has(error.code)) throw error;
      return droppedAtOnce(engine, content, { reason: "engine_overloaded" });
    }
  }

  /** What is sent beyond the rate is answered at once, and the next of it is read when that is due. */
  #slowDown(): void {
    const { refusals, searcher } = this.#dependencies;
    const wait = refusals.pace(searcher.id);
    if (wait === null) return;
    this.#early += 1;
    this.#steer();
    void wait.then(() => {
      this.#early -= 1;
      this.#steer();
    });
  }

  #steer(): void {
    const { requests } = this.#dependencies;
    const isPaused = this.#inProgress >= inProgressMax || this.#early > 0;
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    if (isPaused) requests.pause();
    else requests.resume();
  }

  #answer(outcome: Outcome, sinceMs: number): void {
    this.#inProgress -= 1;
    if ("error" in outcome) {
      this.#dependencies.internalError(outcome.error);
      return;
    }
    if (!outcome.ok) {
      this.#send(confirmationOf(outcome));
      this.#dependencies.rejected(outcome.reason, sinceMs);
    } else this.#answerAccepted(outcome.record, outcome.fresh);
    this.#release();
    this.#steer();
    this.#endIfDone();
  }

  /** A bundle that was known before is answered with how it stands: it is no change, but an answer. */
  #answerAccepted(record: BundleRecord, fresh: boolean): void {
    if (!fresh || !this.#reported.has(record.id)) this.#send(confirmationOf(record));
    if (isOver(record)) this.#forget(record.id);
    else {
      this.#reported.set(record.id, shownOf(record));
      this.#own.add(record.id);
    }
  }

  /** While submissions are in progress, what is known an unknown bundle may be of one of them: it waits its turn. */
  #changed(record: BundleRecord): void {
    const { responses } = this.#dependencies;
    if (!responses.isOpen) this.#following[Symbol.dispose]();
    else if (this.#inProgress === 0 || this.#reported.has(record.id)) this.#report(record);
    else if (!this.#held.push(record)) this.#overflow();
  }

  #release(): void {
    for (const record of this.#held.take(this.#held.length)) this.#changed(record);
  }

  #report(record: BundleRecord): void {
    const { id } = record;
    if (this.#ended.has(id)) return;
    const before = this.#reported.get(id);
    const shown = shownOf(record);
    // Each bundle begins with its acceptance, by whichever stream it came.
    if (before === undefined && record.state !== "accepted")
      this.#send({ bundle_id: id, status: "accepted", signatures: [] });
    if (before !== shown) this.#send(confirmationOf(record));
    this.#reported.set(id, shown);
    if (!isOver(record)) return;
    this.#forget(id);
    this.#endIfDone();
  }

  #forget(id: string): void {
    this.#reported.delete(id);
    this.#own.delete(id);
    this.#ended.add(id);
    const [oldest] = this.#ended;
    if (this.#ended.size > endedMax && oldest !== undefined) this.#ended.delete(oldest);
  }

  #send(message: BundleConfirmationMessage): void {
    if (!this.#dependencies.responses.send(message)) this.#overflow();
  }

  /**
   * Nothing is left out of a stream: one that cannot take everything ends, and the next one begins with how things
   * stand.
   */
  #overflow(): void {
    this.#dependencies.responses.end(
      new GrpcStatusError("RESOURCE_EXHAUSTED", "The confirmations are not read fast enough", { retryAfterSeconds: 1 }),
    );
  }

  #endIfDone(): void {
    if (this.#isHalfClosed && this.#inProgress === 0 && this.#own.size === 0) this.#dependencies.responses.end();
  }
}

/** What a client knows of a bundle: that it is included in another block than it was is news. */
const shownOf = ({ state, landed }: BundleRecord): string => `${shownState(state)} ${landed?.slot ?? ""}`;

const isOver = ({ state }: BundleRecord): boolean => state !== "accepted" && state !== "included";
