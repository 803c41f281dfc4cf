import type { StreamFilters } from "@sluice/contract/schemas";
import type { StreamChannel } from "@sluice/contract/streams";
import type { Random } from "@sluice/lib";
import type { Stage } from "../../../log/index.ts";
import { specOf } from "../../socket/stream-spec.ts";
import type { PlayedSocket } from "./played-socket.ts";
import { addresses, firstSlot, type StreamedChain, type ToldSpec } from "./streamed-chain.ts";
import type { StreamsHost } from "./streams-host.ts";
import { type StreamMessage, ToldView } from "./told-view.ts";

/** What a client's world knows. */
export interface ClientWorld {
  readonly random: Random;
  readonly chain: StreamedChain;
  /** The chain that a cursor is of: this one, or the one before it. */
  chainOf(cursor: string): StreamedChain | null;
  readonly hasPast: boolean;
  readonly hasGaps: boolean;
  /** The slot after which a stream begins that is live from now on; 0 without one. Holes may be below it. */
  liveAfter(stage: Stage): bigint;
  host(): StreamsHost | null;
  /** The first slots that the log has held since it was trimmed first. */
  readonly floors: readonly bigint[];
  failed(what: string): void;
  count(what: "resumes" | "expired" | "slow" | "lagged" | "drained" | "unsubscribed"): void;
}

interface Want {
  readonly channel: StreamChannel;
  readonly filters: StreamFilters;
  readonly spec: ToldSpec;
  view: ToldView | null;
  state: "none" | "asked" | "open" | "leaving";
  id: string;
  ref: number;
  /** It is not wanted any more. */
  isOver: boolean;
  /** Whether it asks to be told where it is while nothing else comes. */
  readonly cursors: boolean;
  /** What it asked to begin with. */
  from: { readonly cursor?: string; readonly from_slot?: number };
  /** The chain that it is of. */
  chain: StreamedChain;
}

interface ServerMessage extends StreamMessage {
  readonly ref?: number | null;
  readonly code?: string;
  readonly first_slot?: number | null;
  readonly subscriptions?: readonly { readonly subscriptionId: string; readonly cursor: string | null }[];
}

export interface StreamClientOptions {
  readonly key: string;
  /** What it does about what is dropped: goes on from its last cursor, or without. */
  readonly onLagged: "resume" | "go on";
}

/** A client of `/ws` that keeps its subscriptions over any number of connections. */
export class StreamClient {
  readonly key: string;
  readonly #options: StreamClientOptions;
  readonly #world: ClientWorld;
  #wants: Want[] = [];
  readonly #over: ToldView[] = [];
  #socket: PlayedSocket | null = null;
  #isConnecting = false;
  /** Since the server said that it is connected, all that is wanted is asked for. */
  #isGreeted = false;
  #ref = 0;
  /** Frames that it takes at a time; few while it is slow. */
  takesAtOnce = Number.POSITIVE_INFINITY;
  waitTicks = 0;

  constructor(options: StreamClientOptions, world: ClientWorld) {
    this.key = options.key;
    this.#options = options;
    this.#world = world;
  }

  get views(): readonly ToldView[] {
    return [...this.#over, ...this.#wants.flatMap(({ view }) => view ?? [])];
  }

  /** Whether a server keeps its connection. */
  get isServed(): boolean {
    return this.#socket !== null && this.#socket.closed === null && !this.#socket.isCut;
  }

  want(channel: StreamChannel, filters: StreamFilters): void {
    const outcome = specOf({ channel, network: "devnet" }, filters);
    if (!outcome.ok || outcome.spec.commitment === "processed") throw new Error(`no filters of ${channel}`);
    const spec = { ...outcome.spec, commitment: outcome.spec.commitment };
    const { chain, random } = this.#world;
    const from = random.next() < 0.3 ? { from_slot: firstSlot + Math.floor(random.next() * 20) } : {};
    const want: Want = {
      channel,
      filters,
      spec,
      view: null,
      state: "none",
      id: "",
      ref: 0,
      isOver: false,
      cursors: this.#wants.length % 2 === 0,
      from,
      chain,
    };
    this.#wants.push(want);
    if (this.#isGreeted) this.#subscribe(want);
  }

  /** Leaves one of its subscriptions, for good or to come back to it. */
  unsubscribe(isForGood: boolean): void {
    const open = this.#wants.filter(({ state }) => state === "open");
    const want = open[Math.floor(this.#world.random.next() * open.length)];
    if (want === undefined) return;
    this.#world.count("unsubscribed");
    want.isOver = isForGood;
    this.#leave(want);
  }

  makeSlow(): void {
    this.takesAtOnce = 0;
    if (this.#socket !== null) this.#socket.slowness = 400;
  }

  wellAgain(): void {
    this.takesAtOnce = Number.POSITIVE_INFINITY;
    if (this.#socket !== null) this.#socket.slowness = 0;
  }

  /** The connection is lost after some of what is on its way. */
  cut(): void {
    const socket = this.#socket;
    if (socket === null) return;
    this.#receive(socket, Math.floor(this.#world.random.next() * 12));
    socket.cut();
    this.#lost();
  }

  async tick(): Promise<void> {
    const socket = this.#socket;
    if (socket !== null) {
      this.#receive(socket, this.takesAtOnce);
      if (socket.closed !== null && this.takesAtOnce < 1) this.#receive(socket, Number.POSITIVE_INFINITY);
      if (socket.isOver) {
        if (socket.closed === 4408) this.#world.count("slow");
        this.#lost();
      }
      return;
    }
    if (this.waitTicks > 0) {
      this.waitTicks -= 1;
      return;
    }
    const host = this.#world.host();
    if (host === null || this.#isConnecting) return;
    this.#isConnecting = true;
    this.#socket = await host.connect(this.key, "ws");
    this.#isConnecting = false;
  }

  #lost(): void {
    this.#socket = null;
    this.#isGreeted = false;
    this.wellAgain();
    const { random } = this.#world;
    this.waitTicks = Math.floor(random.next() * (random.next() < 0.15 ? 100 : 8));
    for (const want of this.#wants) want.state = "none";
    this.#wants = this.#wants.filter((want) => !this.#isDone(want));
  }

  #isDone({ isOver, view }: Want): boolean {
    if (isOver && view !== null) this.#over.push(view);
    return isOver;
  }

  #receive(socket: PlayedSocket, max: number): void {
    for (const text of socket.take(max)) {
      try {
        this.#take(JSON.parse(text) as ServerMessage, text);
      } catch (error) {
        this.#world.failed(`${this.key}: ${error instanceof Error ? error.message : error}`);
      }
    }
  }

  #subscribe(want: Want): void {
    this.#ref += 1;
    want.ref = this.#ref;
    want.state = "asked";
    if (want.view !== null) {
      want.view.resumed();
      want.from = { cursor: want.view.cursor };
      this.#world.count("resumes");
    }
    const { channel, filters, ref, cursors } = want;
    this.#socket?.say({ action: "subscribe", channel, filters, ref, cursors, ...want.from });
  }

  #leave(want: Want): void {
    want.state = "leaving";
    this.#socket?.say({ action: "unsubscribe", subscriptionId: want.id, ref: want.ref });
  }

  #take(message: ServerMessage, text: string): void {
    switch (message.type) {
      case "connected":
        this.#isGreeted = true;
        for (const want of this.#wants) this.#subscribe(want);
        return;
      case "subscribed":
        this.#subscribed(message);
        return;
      case "unsubscribed":
        this.#unsubscribed(message);
        return;
      case "draining":
        this.#world.count("drained");
        for (const { subscriptionId, cursor } of message.subscriptions ?? []) {
          const want = this.#open(subscriptionId);
          if (want?.state === "open" && cursor !== null) want.view?.moved(cursor);
        }
        return;
      case "error":
        this.#refused(message);
        return;
      default:
        this.#told(message, text);
    }
  }

  #open(id: string): Want | undefined {
    return this.#wants.find((want) => want.id === id && (want.state === "open" || want.state === "leaving"));
  }

  #told(message: ServerMessage, text: string): void {
    const want = this.#open(message.subscriptionId);
    if (want === undefined) throw new Error(`a message of no subscription: ${text}`);
    if (want.state === "leaving") return;
    if (message.type === "lagged") {
      this.#world.count("lagged");
      if (this.#options.onLagged === "resume") {
        this.#leave(want);
        return;
      }
    }
    want.view?.take(message, text);
  }

  #subscribed({ ref, subscriptionId, cursor }: ServerMessage): void {
    const want = this.#wants.find((each) => each.ref === ref && each.state === "asked");
    if (want === undefined) throw new Error(`a subscription that was not asked for: ${subscriptionId}`);
    want.state = "open";
    want.id = subscriptionId;
    const { from, spec } = want;
    if (want.view === null) {
      want.chain = this.#world.chainOf(cursor) ?? want.chain;
      const slot = BigInt(from.from_slot ?? 0);
      want.view = new ToldView({ spec, chain: want.chain, from: slot }, cursor);
      if (slot > 0n && want.view.startSlot >= slot) {
        throw new Error(`a subscription from ${slot} begins after ${want.view.startSlot}`);
      }
    } else if (cursor !== from.cursor) throw new Error("a subscription begins at another cursor than was asked for");
  }

  #unsubscribed({ subscriptionId }: ServerMessage): void {
    const want = this.#wants.find(({ id, state }) => id === subscriptionId && state === "leaving");
    if (want === undefined) throw new Error(`${subscriptionId} was not left`);
    want.state = "none";
    if (want.isOver) this.#wants = this.#wants.filter((each) => each !== want || !this.#isDone(each));
    else this.#subscribe(want);
  }

  #refused({ ref, code, subscriptionId, first_slot: first }: ServerMessage): void {
    const want = this.#wants.find((each) =>
      subscriptionId === undefined ? each.ref === ref && each.state === "asked" : each.id === subscriptionId,
    );
    switch (code) {
      case "CURSOR_EXPIRED":
        if (want === undefined) throw new Error("a subscription that is not there has expired");
        this.#beginAgain(want, first ?? null);
        return;
      case "CURSOR_INVALID":
        if (want === undefined || want.chain === this.#world.chain) throw new Error("a cursor of the chain is invalid");
        this.#forget(want);
        this.#subscribe(want);
        return;
      case "STREAM_UNAVAILABLE":
        // The log is closed for a moment; where the connection goes on it is given up.
        if (subscriptionId === undefined) this.cut();
        return;
      case "REPLAY_TOO_SLOW":
      case "KEY_INACTIVE":
        return;
      default:
        throw new Error(`refused with ${code}`);
    }
  }

  /** What comes next is no longer held. */
  #beginAgain(want: Want, first: number | null): void {
    this.#world.count("expired");
    const { floors, hasPast, hasGaps } = this.#world;
    // From a block that died before anything was final nothing leads back to what the ledger holds.
    const hadFinal = want.chain.hadFinal(want.view?.cursor ?? want.from.cursor);
    if (hasPast && !hasGaps && hadFinal) throw new Error("what the ledger holds is told to be gone");
    // A log that had not stored the first block when it was killed begins behind it until that comes again.
    if (floors.length === 0 && first === null) throw new Error("nothing was trimmed, and a cursor has expired");
    // What is on its way may have been said before the last trim.
    if (!hasPast && floors.length > 0 && (first === null || !floors.includes(BigInt(first)))) {
      throw new Error(`the first slot is told to be ${first}, and what was held began at ${floors.join()}`);
    }
    this.#forget(want);
    want.from = first === null ? {} : { from_slot: first };
    this.#subscribe(want);
  }

  #forget(want: Want): void {
    want.view = null;
    want.from = {};
    want.chain = this.#world.chain;
  }

  /** Whether all that is wanted was told, up to the end. */
  get isDone(): boolean {
    return this.#wants.every(({ view, state }) => state === "open" && view?.isUpTo(this.#world.chain.tip) === true);
  }

  verify(): void {
    for (const { view, state, channel } of this.#wants) {
      try {
        if (view === null || state !== "open") throw new Error(`the subscription is ${state}`);
        view.verify(this.#world.chain.tip);
      } catch (error) {
        this.#world.failed(`${this.key} ${channel}: ${error instanceof Error ? error.message : error}`);
      }
    }
  }
}

/** Filters of a channel that some transactions meet. */
export function drawFilters(random: Random, channel: StreamChannel): StreamFilters {
  const some = (): string[] =>
    Array.from({ length: 1 + Math.floor(random.next() * 3) }, () => {
      return addresses.texts[Math.floor(random.next() ** 2 * addresses.texts.length)] ?? "";
    });
  const commitment = random.next() < 0.6 ? "confirmed" : "finalized";
  if (channel === "slots" || channel === "blocks") return { commitment };
  const accounts = random.next() < 0.5 ? { accounts: some() } : {};
  if (channel === "accounts") {
    return "accounts" in accounts && random.next() < 0.3
      ? { commitment, ...accounts, programs: [addresses.texts[0] ?? "", ...some()] }
      : { commitment, ...accounts };
  }
  return {
    commitment,
    ...accounts,
    ...(random.next() < 0.3 ? { programs: some() } : {}),
    ...(random.next() < 0.5 ? { votes: true } : {}),
    ...(random.next() < 0.3 ? { failed: false } : {}),
  };
}
