import type { CommitmentName } from "@sluice/contract/rpc";
import type { Clock, MonotonicMs, Random } from "@sluice/lib";
import { ResponseReader } from "../../net/http1/client/response-reader.ts";
import type { ConnectNode, NodeConnections } from "../node.ts";
import { type ExchangeOptions, type ExchangeOutcome, exchangeOutcome } from "../transport.ts";
import { type ChainView, resultOf, type SimulatedChain, slotsAt } from "./simulated-chain.ts";

/** A call as a simulated node receives it. */
export interface SimulatedCall {
  readonly id: string;
  readonly method: string;
  readonly params: readonly unknown[];
  readonly view: ChainView;
  readonly clock: Clock;
  readonly random: Random;
  /** Calls that the node received before, by second. */
  readonly inThisSecond: number;
}

/** What a node puts on the wire, and how the connection ends. */
export interface WireAnswer {
  readonly bytes: Uint8Array;
  readonly afterMs: number;
  /** What follows the bytes: the connection stays as it is, is closed, or is reset. */
  readonly end: "open" | "closed" | "reset";
}

/** How a node behaves: what it answers to calls, and what it claims of its slots. */
export interface Behaviour {
  readonly name: string;
  readonly answer: (call: SimulatedCall) => WireAnswer;
  /** The slot that it claims, null for none; and whether its root is claimed truly. */
  readonly claim: (truth: number, node: SimulatedNode) => { readonly slot: number; readonly root?: number } | null;
  /** Whether a caller can tell what is wrong: such a node's answers are never taken for good ones. */
  readonly kind: "refuses" | "ends" | "lies" | "well";
  /** Whether it stays on the branch that it knew when the behaviour began. */
  readonly staysOnBranch?: boolean;
  /** How many slots it may be behind in one answer, and be well in all else. */
  readonly behindMax?: number;
}

export const text = (body: string): Uint8Array => Buffer.from(body);

/** An HTTP answer with a stated length. */
export function http(
  status: number,
  body: string | Uint8Array,
  fields: Readonly<Record<string, string>> = {},
): Uint8Array {
  const bytes = typeof body === "string" ? text(body) : body;
  const lines = Object.entries({ "Content-Type": "application/json", ...fields }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const head = `HTTP/1.1 ${status} X\r\n${lines.join("")}Content-Length: ${bytes.length}\r\n\r\n`;
  return Buffer.concat([text(head), bytes]);
}

/** The body of a well node's answer. */
export function goodBody({ id, method, params, view }: SimulatedCall): string {
  const result = resultOf(view, method, params);
  if (typeof result === "string") return `{"jsonrpc":"2.0","result":${result},"id":${id}}`;
  return `{"jsonrpc":"2.0","error":{"code":${result},"message":"Block not available"},"id":${id}}`;
}

export const sent = (bytes: Uint8Array, afterMs = 3, end: WireAnswer["end"] = "open"): WireAnswer => ({
  bytes,
  afterMs,
  end,
});

export const well: Behaviour = {
  name: "well",
  answer: (call) => sent(http(200, goodBody(call)), 2 + Math.floor(call.random.next() * 20)),
  claim: (truth) => ({ slot: truth }),
  kind: "well",
};

export interface SimulatedNodeDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly chain: SimulatedChain;
}

/** A node without sockets: its bytes pass the reader of real answers, and its slots are claims of its behaviour. */
export class SimulatedNode {
  /** Slots that it is late by while it is well. */
  readonly lateSlots: number;
  calls = 0;
  /** What it answers to getProgramAccounts, however well it is: a call that no node can answer. */
  poison: Behaviour["answer"] | null = null;
  readonly #dependencies: SimulatedNodeDependencies;
  #behaviour: Behaviour = well;
  #beganMs = 0;
  #feed: SimulatedFeed | null = null;
  #second = -1;
  #inThisSecond = 0;

  constructor(options: { readonly lateSlots: number }, dependencies: SimulatedNodeDependencies) {
    this.lateSlots = options.lateSlots;
    this.#dependencies = dependencies;
  }

  get behaviour(): Behaviour {
    return this.#behaviour;
  }

  /** The slot at which its present behaviour began. */
  get beganSlot(): number {
    const { chain, clock } = this.#dependencies;
    return chain.slot - Math.floor((clock.monotonic() - this.#beganMs) / 400);
  }

  /** Milliseconds since its behaviour last changed. */
  get forMs(): number {
    return this.#dependencies.clock.monotonic() - this.#beganMs;
  }

  behave(behaviour: Behaviour): void {
    this.#behaviour = behaviour;
    this.#beganMs = this.#dependencies.clock.monotonic();
  }

  connect(onSlot: (commitment: CommitmentName, slot: bigint) => void): NodeConnections {
    const { clock } = this.#dependencies;
    this.#feed = new SimulatedFeed({ clock, onSlot });
    const exchange = (body: string, options: ExchangeOptions): Promise<ExchangeOutcome> =>
      this.#exchange(body, options);
    return { transport: { exchange, inFlight: 0, [Symbol.dispose]: () => undefined }, feed: this.#feed };
  }

  /** Reports its slots, as it does at each slot of the chain. */
  announce(): void {
    const truth = this.#dependencies.chain.slot - this.lateSlots;
    const claim = this.#behaviour.claim(truth, this);
    if (claim === null) return;
    const slots = slotsAt(claim.slot);
    this.#feed?.report("processed", slots.processed);
    this.#feed?.report("confirmed", slots.confirmed);
    this.#feed?.report("finalized", claim.root === undefined ? slots.finalized : BigInt(claim.root));
  }

  async #exchange(body: string, options: ExchangeOptions): Promise<ExchangeOutcome> {
    const { clock, random, chain } = this.#dependencies;
    const parsed = JSON.parse(body) as { id: number; method: string; params?: readonly unknown[] };
    this.calls += 1;
    const second = Math.floor(clock.monotonic() / 1_000);
    this.#inThisSecond = second === this.#second ? this.#inThisSecond + 1 : 0;
    this.#second = second;
    const forksUntilMs = this.#behaviour.staysOnBranch === true ? this.#beganMs : clock.monotonic();
    const isPoisoned = this.poison !== null && parsed.method === "getProgramAccounts";
    const answer = isPoisoned && this.poison !== null ? this.poison : this.#behaviour.answer;
    const { bytes, afterMs, end } = answer({
      id: String(parsed.id),
      method: parsed.method,
      params: parsed.params ?? [],
      view: chain.view(this.lateSlots, forksUntilMs),
      clock,
      random,
      inThisSecond: this.#inThisSecond,
    });
    if (afterMs >= options.deadlineMs) return await timedOut(clock, options.deadlineMs);
    await pause(clock, afterMs);
    const outcome = await this.#read(bytes, end, options);
    return outcome ?? (await timedOut(clock, options.deadlineMs - afterMs));
  }

  /** Null when the bytes have no end and the connection stays. */
  async #read(bytes: Uint8Array, end: WireAnswer["end"], options: ExchangeOptions): Promise<ExchangeOutcome | null> {
    if (bytes.length === 0) return end === "open" ? null : { kind: "closed" };
    const reader = new ResponseReader();
    reader.begin(options.answerBytesMax);
    let state: ReturnType<ResponseReader["feed"]> = "more";
    for (let at = 0; at < bytes.length && state === "more"; ) {
      const length = 1 + Math.floor(this.#dependencies.random.next() * 200);
      state = reader.feed(new Uint8Array(bytes.subarray(at, at + length)));
      at += length;
    }
    if (state === "more" && end === "open") return null;
    if (state === "more") state = end === "closed" ? reader.end() : "malformed";
    if (state === "more") return { kind: "malformed" };
    if (state !== "done") return { kind: state };
    const { status, retryAfter, location, contentEncoding: coding } = reader.head;
    return await exchangeOutcome(
      { kind: "answered", status, retryAfter, location, bytes: reader.body(), coding },
      options,
    );
  }
}

const pause = (clock: Clock, ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));

async function timedOut(clock: Clock, afterMs: number): Promise<ExchangeOutcome> {
  await pause(clock, afterMs);
  return { kind: "timeout" };
}

interface SimulatedFeedDependencies {
  readonly clock: Clock;
  readonly onSlot: (commitment: CommitmentName, slot: bigint) => void;
}

/** The slots that a node has claimed. */
class SimulatedFeed implements AsyncDisposable {
  readonly #dependencies: SimulatedFeedDependencies;
  readonly #slots = new Map<CommitmentName, bigint>();
  readonly #movedAtMs = new Map<CommitmentName, MonotonicMs>();
  #reportedAtMs = Number.NEGATIVE_INFINITY;

  constructor(dependencies: SimulatedFeedDependencies) {
    this.#dependencies = dependencies;
  }

  report(commitment: CommitmentName, slot: bigint): void {
    const nowMs = this.#dependencies.clock.monotonic();
    this.#reportedAtMs = nowMs;
    if (this.#slots.get(commitment) === slot) return;
    this.#slots.set(commitment, slot);
    this.#movedAtMs.set(commitment, nowMs);
    this.#dependencies.onSlot(commitment, slot);
  }

  start(): void {}

  slotOf(commitment: CommitmentName): bigint | null {
    return this.#slots.get(commitment) ?? null;
  }

  isLive(): boolean {
    return this.silentForMs() < 5_000;
  }

  silentForMs(): number {
    return this.#dependencies.clock.monotonic() - this.#reportedAtMs;
  }

  stillForMs(commitment: CommitmentName): number {
    return this.#dependencies.clock.monotonic() - (this.#movedAtMs.get(commitment) ?? Number.NEGATIVE_INFINITY);
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** Connects the node of each label to its simulation. */
export const connectTo =
  (nodes: ReadonlyMap<string, SimulatedNode>): ConnectNode =>
  ({ label }, { onSlot }) => {
    const node = nodes.get(label);
    if (node === undefined) throw new RangeError(`no simulated node ${label}`);
    return node.connect(onSlot);
  };
