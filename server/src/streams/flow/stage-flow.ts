import type { Slot } from "@sluice/wire/identifiers";
import { type PastBlocks, PastReader } from "../../history/index.ts";
import { areLevel, type ChainIdentity, type ChainLog, type Follower, LogError, type Stage } from "../../log/index.ts";
import type { StreamsEvents } from "../events.ts";
import { CatchUp } from "./catch-up.ts";
import type { FlowBlocks } from "./flow-block.ts";
import type { FlowEnd, FlowFrom, FlowMembership, FlowOutcome, FlowReceiver } from "./flow-receiver.ts";
import type { ReplayTurns } from "./replay-turns.ts";
import { type ToldEvent, tellingOf } from "./telling.ts";

export interface StageFlowDependencies {
  readonly log: Pick<ChainLog, "network" | "follow" | "placeOf" | "cursorAfter" | "earliest">;
  readonly chain: ChainIdentity;
  readonly blocks: FlowBlocks;
  readonly turns: ReplayTurns;
  /** What the log no longer holds; null where nothing else holds it. */
  readonly past: PastBlocks | null;
  readonly events: StreamsEvents;
}

/** The follower at the head, and the cursor of what was told last to those who are live. */
interface Live {
  follower: Follower;
  cursor: string;
}

/**
 * The blocks of one network at one stage for all who want them: one follower at the head for those who are live, and
 * one for each that has to catch up, until it has been told what they have been told.
 */
export class StageFlow {
  readonly #stage: Stage;
  readonly #dependencies: StageFlowDependencies;
  readonly #receivers = new Set<FlowReceiver>();
  readonly #catchingUp = new Set<CatchUp>();
  readonly #past: PastReader | null;
  #live: Live | null = null;
  #isClosed = false;

  constructor(stage: Stage, dependencies: StageFlowDependencies) {
    this.#stage = stage;
    this.#dependencies = dependencies;
    const { past } = dependencies;
    this.#past = past === null || stage === "processed" ? null : new PastReader(stage, { ...dependencies, past });
  }

  get counts(): { readonly live: number; readonly catchingUp: number } {
    return { live: this.#receivers.size, catchingUp: this.#catchingUp.size };
  }

  /** @throws {LogError} when the log is closed */
  join(from: FlowFrom, receiver: FlowReceiver): FlowOutcome {
    this.#requireOpen();
    if (from !== "live") return this.#catchUp(from, receiver);
    const { cursor } = this.#beginLive();
    return { ok: true, membership: this.#enter(receiver), cursor };
  }

  /** As `join` from what the log no longer holds. @throws {unknown} as the past does while it is away, and as `join` */
  async joinPast(from: Exclude<FlowFrom, "live">, receiver: FlowReceiver): Promise<FlowOutcome> {
    if (this.#past === null) return this.join(from, receiver);
    const found = await this.#past.begin(from);
    this.#requireOpen();
    if (!found.ok) return found;
    return { ok: true, membership: this.#catchUpFrom(found.cursor, receiver), cursor: found.cursor };
  }

  /** The first slot from which all can be told; null when none can. @throws {unknown} as the past does */
  async firstSlot(): Promise<Slot | null> {
    return this.#past === null ? (this.#dependencies.log.earliest()?.slot ?? null) : await this.#past.firstSlot();
  }

  /** Ends all receivers; nobody joins once the log is closed. */
  end(reason: FlowEnd): void {
    if (reason === "closed") this.#isClosed = true;
    const live = this.#live;
    this.#live = null;
    void live?.follower.return();
    const receivers = [...this.#receivers];
    this.#receivers.clear();
    for (const receiver of receivers) this.#guarded(receiver, () => receiver.ended(reason));
    for (const each of [...this.#catchingUp]) each.end(reason);
  }

  /** Whoever waited for something before it joins may come too late. */
  #requireOpen(): void {
    if (this.#isClosed) throw new LogError("CLOSED", "The chain's log is closed");
  }

  #enter(receiver: FlowReceiver): FlowMembership {
    this.#receivers.add(receiver);
    return { isLive: true, [Symbol.dispose]: () => this.#leave(receiver) };
  }

  #leave(receiver: FlowReceiver): void {
    this.#receivers.delete(receiver);
    this.#endIdle();
  }

  /** Nobody is told anything: the log is followed no longer. */
  #endIdle(): void {
    if (this.#receivers.size > 0 || this.#catchingUp.size > 0) return;
    const live = this.#live;
    this.#live = null;
    void live?.follower.return();
  }

  #catchUp(from: Exclude<FlowFrom, "live">, receiver: FlowReceiver): FlowOutcome {
    const outcome = this.#dependencies.log.follow({ stage: this.#stage, from });
    if (!outcome.ok) return outcome;
    const cursor = outcome.follower.cursor();
    void outcome.follower.return();
    return { ok: true, membership: this.#catchUpFrom(cursor, receiver), cursor };
  }

  #catchUpFrom(cursor: string, receiver: FlowReceiver): FlowMembership {
    const dependencies = this.#dependencies;
    this.#beginLive();
    const catchUp: CatchUp = new CatchUp(
      { stage: this.#stage, receiver, cursor },
      {
        ...dependencies,
        past: this.#past,
        joins: (one) => this.#joins(one, receiver),
        over: (one, how) => {
          this.#catchingUp.delete(one);
          if (how === "live") this.#guarded(receiver, () => receiver.caughtUp());
          else if (how !== "left") this.#guarded(receiver, () => receiver.ended(how));
          this.#endIdle();
        },
      },
    );
    this.#catchingUp.add(catchUp);
    catchUp.begin();
    return {
      get isLive(): boolean {
        return catchUp.isLive;
      },
      [Symbol.dispose]: (): void => {
        catchUp.end("left");
        this.#leave(receiver);
      },
    };
  }

  /** Makes it live where it has been told all that the live ones have been told, and nothing more. */
  #joins({ cursor }: CatchUp, receiver: FlowReceiver): boolean {
    if (this.#live === null || !areLevel(cursor, this.#live.cursor)) return false;
    this.#receivers.add(receiver);
    return true;
  }

  #beginLive(): Live {
    if (this.#live !== null) return this.#live;
    const outcome = this.#dependencies.log.follow({ stage: this.#stage, from: "latest" });
    // The head is always held; a log that says otherwise cannot be followed.
    if (!outcome.ok) throw new TypeError(`the head of the log cannot be followed: ${outcome.code}`);
    const live: Live = { follower: outcome.follower, cursor: outcome.follower.cursor() };
    this.#live = live;
    void this.#follow(live);
    return live;
  }

  async #follow(live: Live): Promise<void> {
    let end: FlowEnd;
    try {
      do end = await this.#readLog(live);
      while (end === "expired" && (await this.#readPast(live)));
    } catch (error) {
      end = "failed";
      this.#dependencies.events.flowFailed(this.#dependencies.log.network, error);
    }
    if (this.#live === live) this.end(end);
  }

  /** Tells what the log holds, and gives why that ends. */
  async #readLog(live: Live): Promise<FlowEnd> {
    for await (const event of live.follower) {
      if (this.#live !== live) break;
      if (event.type === "expired") return "expired";
      this.#tell(live, event);
    }
    return "closed";
  }

  /**
   * The log was trimmed beyond what was told: tells the past until the log goes on; false where that does not hold it.
   * Those who are live stay together, so that whoever catches up joins them.
   */
  async #readPast(live: Live): Promise<boolean> {
    const { log } = this.#dependencies;
    for (let isOpen = true; isOpen; ) {
      const event = (await this.#past?.next(live.cursor)) ?? null;
      if (event === null || this.#live !== live) return false;
      this.#tell(live, event);
      const outcome = log.follow({ stage: this.#stage, from: { cursor: live.cursor } });
      if (outcome.ok) live.follower = outcome.follower;
      isOpen = !outcome.ok && outcome.code === "CURSOR_EXPIRED";
    }
    return this.#live === live;
  }

  #tell(live: Live, event: ToldEvent): void {
    live.cursor = event.cursor;
    // Who joins while this runs has been told the event already, or begins after it.
    const receivers = [...this.#receivers];
    const tell = tellingOf(event, { stage: this.#stage, ...this.#dependencies });
    if (tell !== null) {
      for (const receiver of receivers) {
        if (this.#receivers.has(receiver)) this.#guarded(receiver, () => tell(receiver));
      }
    }
    for (const each of [...this.#catchingUp]) each.tryJoin();
  }

  /** What fails in one receiver ends it alone. */
  #guarded(receiver: FlowReceiver, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#dependencies.events.flowFailed(this.#dependencies.log.network, error);
      if (!this.#receivers.delete(receiver)) return;
      this.#guarded(receiver, () => receiver.ended("failed"));
      this.#endIdle();
    }
  }
}
