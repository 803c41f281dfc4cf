/**
 * Listens to the streams that report on bundles, and holds against them what they report twice, too late or out of
 * order.
 */
import { competingText } from "../../src/engine/grpc/jito/bundle-results.ts";
import type { BundleStatus, Handed } from "./chaos-status.ts";

/** What a searcher's streams have reported over all lives of the server, as far as the verdict needs it. */
export interface ReportedStories {
  /** Ends that were reported: of each bundle the status, with its reason. */
  readonly ends: Map<string, string>;
  /** Bundles that were reported to be in a block, with the slot reported last. */
  readonly included: Map<string, number>;
  /** What may not be reported, whatever else has happened. */
  readonly faults: string[];
  /** The same of bundles that were handed in once; others may be reported again as an answer. */
  readonly suspects: { readonly id: string; readonly fault: string }[];
  /** Streams that were begun. */
  streams: number;
}

export const noStories = (): ReportedStories => ({
  ends: new Map(),
  included: new Map(),
  faults: [],
  suspects: [],
  streams: 0,
});

/** A stream as it is listened to. */
export interface MessageSource {
  received: ((message: Record<string, unknown>) => void) | null;
  readonly ended: Promise<unknown>;
  cancel(): void;
}

/** One that takes bundles as well. */
export interface Spoken extends MessageSource {
  say(message: object): boolean;
}

const answerWithinMs = 10_000;

/** One of our own streams: takes bundles, and reports each change of the searcher's bundles. */
export class ConfirmationStream {
  readonly #stream: Spoken;
  readonly #reported: ReportedStories;
  /** What was reported last of each bundle in this stream. */
  readonly #last = new Map<string, string>();
  /** How often each was handed in here, less how often it was answered by being reported again. */
  readonly #said = new Map<string, number>();
  /** In the order in which they were said. */
  readonly #waiting = new Map<string, Set<(handed: Handed) => void>>();
  #isOpen = true;

  constructor(stream: Spoken, reported: ReportedStories) {
    this.#stream = stream;
    this.#reported = reported;
    reported.streams += 1;
    stream.received = (message) => this.#received(message);
    void stream.ended.then(() => {
      this.#isOpen = false;
      for (const id of [...this.#waiting.keys()]) this.#answer(id, { said: "unknown", reason: "the stream has ended" });
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  submit(id: string, message: object): Promise<Handed> {
    return new Promise((resolve) => {
      const answered = (handed: Handed): void => {
        clearTimeout(timer);
        resolve(handed);
      };
      const timer = setTimeout(() => {
        this.#waiting.get(id)?.delete(answered);
        resolve({ said: "unknown", reason: "the stream is silent" });
      }, answerWithinMs);
      const waiting = this.#waiting.get(id) ?? new Set();
      this.#waiting.set(id, waiting.add(answered));
      this.#said.set(id, (this.#said.get(id) ?? 0) + 1);
      if (!this.#isOpen) return this.#answer(id, { said: "unknown", reason: "the stream has ended" });
      this.#stream.say(message);
    });
  }

  /** Bundles that this stream has said to be on their way, and whose end it has not reported. */
  unreported(states: ReadonlyMap<string, BundleStatus>): readonly string[] {
    return [...this.#last].flatMap(([id, last]) => {
      const state = states.get(id);
      if (state === undefined || last === "rejected") return [];
      const shown = state.status === "included" ? `included ${state.slot}` : state.status;
      return last === shown ? [] : [`${id} was reported as ${last} by a stream that is open, and is ${shown}`];
    });
  }

  cancel(): void {
    this.#isOpen = false;
    this.#stream.cancel();
  }

  #received({ bundle_id, status, slot, reason }: Record<string, unknown>): void {
    if (!this.#isOpen) return;
    const id = String(bundle_id);
    if (id === "") {
      // It is too broken to have an id: an answer to the oldest that waits.
      const [oldest] = this.#waiting.keys();
      if (oldest !== undefined) this.#answer(oldest, { said: "refused", reason: String(reason) });
      return;
    }
    if (status === "dropped" && answers.has(String(reason))) {
      // Of the submission alone: what is known of the bundle stands.
      const said = reason === "claims_differ" ? "rejected" : "refused";
      this.#answer(id, { said, reason: String(reason) });
      return;
    }
    // One that is not waited for any more is an answer all the same.
    const isAnswer = this.#waiting.has(id) || (this.#said.get(id) ?? 0) > 0;
    const last = this.#last.get(id);
    const isOver = last === undefined || last === "rejected" || isEnd(last);
    if (status === "dropped" && isAnswer && isOver) {
      // What has ended is refused with the reason of its end when it comes again.
      if (last === undefined) this.#last.set(id, "rejected");
      this.#answer(id, { said: "rejected", reason: String(reason) });
      return;
    }
    const reported = status === "included" ? `included ${slot}` : String(status);
    this.#note(id, reported, `${reported} ${reason ?? ""}`.trim());
    this.#answer(id, { said: "accepted", id });
  }

  #note(id: string, reported: string, whole: string): void {
    const last = this.#last.get(id);
    const { faults, suspects, ends, included } = this.#reported;
    if (last === reported) {
      const said = this.#said.get(id) ?? 0;
      // The first time that it was said was answered by the first message.
      if (said <= 1) suspects.push({ id, fault: `${id} was reported as ${reported} twice by one stream` });
      if (said === 0) faults.push(`${id} was reported as ${reported} twice by one stream, and never handed in there`);
      this.#said.set(id, said - 1);
      return;
    }
    if (!mayFollow(last, reported, whole)) faults.push(`${id} was reported as ${whole} after ${last ?? "nothing"}`);
    this.#last.set(id, reported);
    if (reported.startsWith("included")) included.set(id, Number(reported.slice("included ".length)));
    if (!isEnd(reported)) return;
    const before = ends.get(id);
    if (before !== undefined && before !== whole) faults.push(`${id} was reported to end as ${before} and as ${whole}`);
    ends.set(id, whole);
  }

  #answer(id: string, handed: Handed): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    for (const answered of waiting ?? []) answered(handed);
  }
}

/** Reasons for which a submission was not looked at, or does not fit the bundle that is known: they end no bundle. */
const answers: ReadonlySet<string> = new Set(["rate_limited", "maintenance", "engine_overloaded", "claims_differ"]);

const isEnd = (reported: string): boolean => reported === "dropped" || reported === "expired";

/** Whether a stream may report this after that. What was reported first may be how a bundle in flight stands. */
function mayFollow(last: string | undefined, reported: string, whole: string): boolean {
  if (last === undefined || last === "rejected") return !isEnd(reported);
  if (isEnd(last)) return false;
  if (last === "accepted") return !whole.startsWith("dropped fork");
  // In a block: another one, or lost with its fork.
  return reported.startsWith("included") || whole.startsWith("dropped fork");
}

const resultKinds = ["accepted", "processed", "finalized", "rejected", "dropped"] as const;
type ResultKind = (typeof resultKinds)[number];

/** Jito's stream of results. */
export class ResultsStream {
  readonly #stream: MessageSource;
  readonly #reported: ReportedStories;
  readonly #last = new Map<string, string>();
  readonly #outbid = new Set<string>();
  #isOpen = true;

  constructor(stream: MessageSource, reported: ReportedStories) {
    this.#stream = stream;
    this.#reported = reported;
    reported.streams += 1;
    stream.received = (message) => this.#received(message);
    void stream.ended.then(() => {
      this.#isOpen = false;
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  unreported(states: ReadonlyMap<string, BundleStatus>): readonly string[] {
    return [...this.#last].flatMap(([id, last]) => {
      const state = states.get(id);
      if (state === undefined) return [];
      const isReported = state.status === "included" ? last === "finalized" : last === "rejected" || last === "dropped";
      return isReported ? [] : [`${id} was reported as ${last} by results that are open, and is ${state.status}`];
    });
  }

  cancel(): void {
    this.#isOpen = false;
    this.#stream.cancel();
  }

  #received(message: Record<string, unknown>): void {
    if (!this.#isOpen) return;
    const id = String(message["bundle_id"]);
    const kind = resultKinds.find((each) => message[each] !== undefined && message[each] !== null);
    const { slot } = { ...(message["processed"] as { slot?: string } | undefined) };
    const last = this.#last.get(id);
    if (isOutbid(message)) {
      // A bid that lost its first slot, which is reported once while the bundle competes on.
      if (this.#outbid.has(id) || last !== "accepted")
        this.#reported.faults.push(`${id} is outbid after ${last ?? "nothing"}`);
      this.#outbid.add(id);
      return;
    }
    const reported = kind === "processed" ? `processed ${slot}` : `${kind}`;
    const isFine = kind !== undefined && last !== reported && mayResult(last, kind);
    if (!isFine) this.#reported.faults.push(`${id} is a result ${reported} after ${last ?? "nothing"}`);
    this.#last.set(id, reported);
  }
}

function isOutbid({ rejected }: Record<string, unknown>): boolean {
  const bids = rejected as Partial<Record<string, { msg?: string } | null>> | null | undefined;
  const reported = bids?.["state_auction_bid_rejected"] ?? bids?.["winning_batch_bid_rejected"];
  return reported?.msg === competingText;
}

function mayResult(last: string | undefined, kind: ResultKind): boolean {
  if (last === undefined) return kind === "accepted" || kind === "processed";
  if (last === "accepted") return kind !== "accepted" && kind !== "finalized";
  return last.startsWith("processed") && (kind === "processed" || kind === "finalized" || kind === "dropped");
}
