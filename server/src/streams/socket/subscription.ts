import type { Slot } from "@sluice/wire/identifiers";
import type { BlockPlace, CursorPlace } from "../../log/index.ts";
import type { FrameGroup } from "../../net/index.ts";
import type { FlowEnd, FlowFrom, FlowMembership, FlowOutcome, FlowReceiver } from "../flow/flow-receiver.ts";
import type { NetworkFlow } from "../flow/flows.ts";
import { Replay, type ReplayDependencies, type WaitingMessage } from "./replay.ts";
import { type BeforeOwn, SentOnItsOwn } from "./sent-blocks.ts";
import { undoText } from "./server-messages.ts";
import type { LiveMember, StageStream, StreamGroup, Undone } from "./stage-stream.ts";
import type { ToldStage } from "./stream-events.ts";
import type { StreamSpec } from "./stream-spec.ts";

/** What a subscription asks of the connection that has it. */
export interface SubscriptionHost extends Pick<ReplayDependencies, "random" | "read" | "sees" | "nowMs"> {
  /** The client gets what the group publishes from now on. */
  readonly joined: (frames: FrameGroup) => void;
  readonly left: (frames: FrameGroup) => void;
  /** Sends to this client alone. */
  readonly say: (text: string) => void;
  /** Messages of a replay wait. */
  readonly offered: (subscription: Subscription) => void;
  /** It is live, or over: it is no replay any more. */
  readonly replayed: (subscription: Subscription) => void;
  readonly ended: (subscription: Subscription, end: FlowEnd | "tier") => void;
}

export interface SubscriptionParts {
  readonly spec: StreamSpec;
  readonly commitment: ToldStage;
  /** Differs from that of equal subscriptions where one connection holds several. */
  readonly id: string;
  /** Whether the client asked to be told where it is while nothing is sent. */
  readonly tellsCursors: boolean;
  readonly flow: NetworkFlow;
  readonly stage: StageStream;
}

export type BeginOutcome =
  | { readonly ok: true; readonly cursor: string }
  | { readonly ok: false; readonly code: "CURSOR_INVALID" }
  | { readonly ok: false; readonly code: "CURSOR_EXPIRED"; readonly firstSlot: Slot | null };

/** One subscription of one client: from where it begins over its replay, if it has one, into a group of equal ones. */
export class Subscription implements LiveMember {
  readonly #parts: SubscriptionParts;
  readonly #host: SubscriptionHost;
  /** What was published live since is known by the group. */
  #sent = new SentOnItsOwn(null);
  #group: StreamGroup | null = null;
  #replay: Replay | null = null;
  /** Nothing of a lower slot is told; null for no bound. */
  #from: Slot | null = null;
  /** As it was looked at last: what had been sent, and where it was. */
  #sentUntil = "";
  #cursorSeen = "";
  #membership: FlowMembership | null = null;

  constructor(parts: SubscriptionParts, host: SubscriptionHost) {
    this.#parts = parts;
    this.#host = host;
  }

  get id(): string {
    return this.#parts.id;
  }

  get spec(): StreamSpec {
    return this.#parts.spec;
  }

  /** Null once it is live. */
  get replay(): Replay | null {
    return this.#replay;
  }

  /** The newest slot of its commitment. */
  get head(): bigint | null {
    return this.#parts.flow.newest(this.#parts.commitment);
  }

  /** The first slot from which it could be told all; null when none. @throws {unknown} while the past cannot be read */
  firstSlot(): Promise<bigint | null> {
    return this.#parts.flow.firstSlot(this.#parts.commitment);
  }

  /** After what it was sent. */
  get cursor(): string {
    return this.#replay?.cursor ?? this.#parts.stage.cursor;
  }

  /** Where it has got to, for a client that asked for it and was sent nothing since this was asked last; else null. */
  quietPlace(): { readonly slot: bigint; readonly cursor: string } | null {
    const { tellsCursors, flow, commitment } = this.#parts;
    if (!tellsCursors) return null;
    const [sentBefore, cursorBefore] = [this.#sentUntil, this.#cursorSeen];
    this.#look();
    const isQuiet = sentBefore === this.#sentUntil && this.#replay?.isWaiting !== true;
    const cursor = this.#cursorSeen;
    const place = isQuiet && cursor !== cursorBefore ? flow.log.placeOf(cursor, commitment) : null;
    return place === null ? null : { slot: place.slot, cursor };
  }

  /**
   * Finds where it begins; nothing is sent before `start`. A promise where the log no longer holds that place, and the
   * past is asked.
   *
   * @throws {unknown} when the log is closed, or the past cannot be read
   */
  begin(from: FlowFrom): BeginOutcome | Promise<BeginOutcome> {
    if (from === "live") {
      this.#enter();
      this.#look();
      return { ok: true, cursor: this.#parts.stage.cursor };
    }
    const { flow, commitment } = this.#parts;
    const place = "cursor" in from ? flow.log.placeOf(from.cursor, commitment) : null;
    this.#from = "cursor" in from ? (place?.from ?? null) : from.slot;
    this.#sent = new SentOnItsOwn(place === null ? null : this.#before(place));
    const receiver = this.#receiver();
    const outcome = flow.join({ stage: commitment, from }, receiver);
    if (outcome.ok || outcome.code === "CURSOR_INVALID") return this.#begun(outcome);
    return flow.joinPast({ stage: commitment, from }, receiver).then((found) => this.#begun(found));
  }

  #look(): void {
    this.#sentUntil = this.#replay === null ? `live ${this.#group?.sent.order}` : `replay ${this.#replay.taken}`;
    this.#cursorSeen = this.cursor;
  }

  /** What of the chain a client may have that comes back with a cursor; null where it has nothing. */
  #before({ slot, blockhash, from }: CursorPlace): BeforeOwn | null {
    const { flow } = this.#parts;
    if (from !== null && slot < from) return null;
    const parentOf = (of: BlockPlace): BlockPlace | null => {
      const held = flow.log.find(of);
      return held === null ? null : { slot: held.header.parentSlot, blockhash: held.header.parentBlockhash };
    };
    return { place: { slot, blockhash }, from, parentOf };
  }

  /** Whoever comes back between two of them is told the rest. */
  #undoMessages(gone: readonly BlockPlace[], back: BlockPlace, cursor: string): readonly WaitingMessage[] {
    const { id, flow, commitment } = this.#parts;
    return gone.map((undo, index) => {
      const next = gone[index + 1];
      const after = next === undefined ? cursor : flow.log.cursorAfter(commitment, next, this.#from);
      return { text: undoText(id, { undo, backTo: (next ?? back).slot, cursor: after }), cursor: after };
    });
  }

  /** What comes first is told in a later step, when the replay is there. */
  #receiver(): FlowReceiver {
    return {
      block: (block, at) => this.#replay?.block(block, at) ?? null,
      undo: (undo, back, at) => this.#replay?.undo(undo, back, at),
      gap: (gap, at) => this.#replay?.gap(gap, at),
      ready: () => this.#replay?.ready() ?? null,
      caughtUp: () => this.#replay?.caughtUp(),
      ended: (end) => this.#replay?.ended(end),
    };
  }

  #begun(outcome: FlowOutcome): BeginOutcome {
    if (!outcome.ok) return outcome;
    const { commitment, spec, id } = this.#parts;
    this.#membership = outcome.membership;
    this.#replay = new Replay(
      { spec, id, commitment, cursor: outcome.cursor, from: this.#from },
      {
        ...this.#host,
        sent: this.#sent,
        undoMessages: (gone, back, at) => this.#undoMessages(gone, back, at),
        offered: () => this.#host.offered(this),
        caughtUp: () => this.#goLive(),
        ended: (end) => this.#host.ended(this, end),
      },
    );
    this.#look();
    return { ok: true, cursor: outcome.cursor };
  }

  /** The client knows of it. */
  start(): void {
    if (this.#group !== null) this.#host.joined(this.#group.frames);
  }

  undone({ back, cursor }: Undone, gone: readonly BlockPlace[]): void {
    const messages = this.#undoMessages([...gone, ...this.#sent.undo(back)], back, cursor);
    for (const { text } of messages) this.#host.say(text);
  }

  ended(end: FlowEnd): void {
    this.#group = null;
    this.#host.ended(this, end);
  }

  /** Nothing more of it is sent. */
  end(): void {
    this.#endReplay();
    const group = this.#group;
    this.#group = null;
    if (group === null) return;
    this.#host.left(group.frames);
    this.#parts.stage.leave(group, this);
  }

  /** It has been told what the live ones have been told: it goes on with them, before it leaves the flow itself. */
  #goLive(): void {
    this.#enter();
    this.#endReplay();
    this.start();
  }

  #enter(): void {
    const { stage, spec, id } = this.#parts;
    this.#group = stage.enter(spec, id, this);
  }

  #endReplay(): void {
    const replay = this.#replay;
    if (replay === null) return;
    this.#membership?.[Symbol.dispose]();
    this.#membership = null;
    this.#replay = null;
    replay.end();
    this.#host.replayed(this);
  }
}
