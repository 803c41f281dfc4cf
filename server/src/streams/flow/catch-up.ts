import type { PastReader } from "../../history/index.ts";
import { type ChainIdentity, type ChainLog, cursorWithin, type Follower, type Stage } from "../../log/index.ts";
import type { StreamsEvents } from "../events.ts";
import type { FlowBlocks } from "./flow-block.ts";
import type { FlowEnd, FlowReceiver } from "./flow-receiver.ts";
import type { ReplayTurns } from "./replay-turns.ts";
import { type ToldEvent, tellingOf } from "./telling.ts";

export interface CatchUpOptions {
  readonly stage: Stage;
  readonly receiver: FlowReceiver;
  /** Where the receiver begins. */
  readonly cursor: string;
}

export interface CatchUpDependencies {
  readonly log: Pick<ChainLog, "network" | "follow">;
  readonly chain: ChainIdentity;
  readonly blocks: FlowBlocks;
  readonly turns: ReplayTurns;
  /** What the log no longer holds; null where nothing else holds it. */
  readonly past: Pick<PastReader, "next"> | null;
  readonly events: StreamsEvents;
  /** Makes the receiver live where it has been told what the live ones have been told; false where it has not. */
  readonly joins: (one: CatchUp) => boolean;
  /** It reads no more: it is live, has left, or has ended for a reason that its receiver is to be told. */
  readonly over: (one: CatchUp, how: "live" | "left" | FlowEnd) => void;
}

/**
 * One receiver behind the head, with a follower of its own. What a follower tells is a function of the log and of its
 * position: where it has told the same as the live one, the receiver goes on with that, without gap or duplicate. What
 * was read ahead for it by then is dropped, since it is told live.
 */
export class CatchUp {
  readonly #options: CatchUpOptions;
  readonly #dependencies: CatchUpDependencies;
  /** Null where what comes next is to be asked for by the cursor. */
  #follower: Follower | null = null;
  /** After what the receiver has handled. */
  #cursor: string;
  #state: "reading" | "waiting" | "live" | "over" = "waiting";

  constructor(options: CatchUpOptions, dependencies: CatchUpDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#cursor = options.cursor;
  }

  get cursor(): string {
    return this.#cursor;
  }

  get isLive(): boolean {
    return this.#state === "live";
  }

  /** Begins in a later step: whoever called knows its membership by then. */
  begin(): void {
    queueMicrotask(() => void this.#run());
  }

  /** Goes live where the receiver is ready and has been told as much as the live ones. */
  tryJoin(): void {
    if (this.#state !== "reading" || !this.#dependencies.joins(this)) return;
    this.#state = "live";
    this.#unfollow();
    this.#dependencies.over(this, "live");
  }

  end(reason: FlowEnd | "left"): void {
    if (this.#hasLeft) return;
    this.#state = "over";
    this.#unfollow();
    this.#dependencies.over(this, reason);
  }

  async #run(): Promise<void> {
    try {
      while (await this.#readOn());
    } catch (error) {
      // Who has left between two steps reads a log that may be closed by then.
      if (this.#hasLeft) return;
      this.#dependencies.events.flowFailed(this.#dependencies.log.network, error);
      this.end("failed");
    }
  }

  get #hasLeft(): boolean {
    return this.#state === "live" || this.#state === "over";
  }

  /** Tells what comes next and waits until the receiver takes more; false when it reads no more. */
  async #readOn(): Promise<boolean> {
    if (!(await this.#isReady())) return false;
    const event = await this.#next();
    if (this.#hasLeft) return false;
    if (typeof event === "string") {
      this.end(event);
      return false;
    }
    // It may have gone live, or have left, by the time that it has its turn.
    await this.#dependencies.turns.run(() => this.#hasLeft || this.#take(event));
    return !this.#hasLeft;
  }

  /** The rest of a block is read again once there is room for it, so that nobody holds it meanwhile. */
  #take(event: ToldEvent): void {
    this.#state = "waiting";
    if (!this.#tell(event)) this.#unfollow();
  }

  /** What comes next, from the log where that holds it, else from the past. */
  async #next(): Promise<ToldEvent | FlowEnd> {
    if (this.#follower === null) {
      const { log } = this.#dependencies;
      const outcome = log.follow({ stage: this.#options.stage, from: { cursor: this.#cursor } });
      if (outcome.ok) this.#follower = outcome.follower;
      else return outcome.code === "CURSOR_INVALID" ? "failed" : await this.#nextOfPast();
    }
    const { done, value } = await this.#follower.next();
    if (done === true) return "closed";
    if (value.type !== "expired") return value;
    this.#follower = null;
    return await this.#nextOfPast();
  }

  async #nextOfPast(): Promise<ToldEvent | FlowEnd> {
    return (await this.#dependencies.past?.next(this.#cursor)) ?? "expired";
  }

  #unfollow(): void {
    void this.#follower?.return();
    this.#follower = null;
  }

  /** Waits until the receiver takes more, and goes live where it can; false when it has left. */
  async #isReady(): Promise<boolean> {
    const waits = this.#hasLeft ? null : this.#options.receiver.ready();
    if (waits !== null) await waits;
    if (this.#hasLeft) return false;
    this.#state = "reading";
    this.tryJoin();
    return !this.#hasLeft;
  }

  /** Whether the receiver took all of it. */
  #tell(event: ToldEvent): boolean {
    const tell = tellingOf(event, { stage: this.#options.stage, ...this.#dependencies });
    const last = tell === null ? null : tell(this.#options.receiver);
    if (last === null) this.#cursor = event.cursor;
    else if (last >= 0) this.#cursor = cursorWithin(event.cursor, last);
    return last === null;
  }
}
