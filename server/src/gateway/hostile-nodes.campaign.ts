import type { CommitmentName } from "@sluice/contract/rpc";
import { ManualClock, type Random, seededRandom } from "@sluice/lib";
import { AnswerCache } from "../cache/index.ts";
import { Rpc } from "../rpc/index.ts";
import { createUpstreams, type NodeAnswer, type UpstreamOutcome } from "../upstreams/index.ts";
import { endings, lies, misbehaviours, nearBalancer, nodesWords } from "../upstreams/testing/misbehaviours.ts";
import { SimulatedChain, skippedSlots, slotsAt } from "../upstreams/testing/simulated-chain.ts";
import { type Behaviour, connectTo, SimulatedNode, well } from "../upstreams/testing/simulated-node.ts";

/** The parts of a schedule, in milliseconds from its start: all nodes are well before and after the hostile part. */
const hostileFromMs = 2_000;
const hostileUntilMs = 14_000;
const callsUntilMs = 16_000;
/** Every call is over by then: its deadline is 30 s. */
const settledMs = 48_000;
/** A minute of rest at most, a try every 30 s at least after a denial, and trials. */
const recoveredMs = 82_000;
const stepMs = 20;
/** A fork is known to every node after two slots, and what was stored by then is gone a slot later. */
const forkSeenMs = 2_000;

const program = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const account = "9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g";

interface Drawn {
  readonly index: number;
  readonly behaviours: readonly Behaviour[];
}

const pick = <T>(random: Random, among: readonly T[]): T => {
  const found = among[Math.floor(random.next() * among.length)];
  if (found === undefined) throw new RangeError("there is nothing to draw from");
  return found;
};

/** One to three hostile nodes; of those that lie about slots or refuse the form of every call, one at most. */
function draw(random: Random): Drawn[] {
  const order = [0, 1, 2].sort(() => random.next() - 0.5);
  const several = (among: readonly Behaviour[]): Behaviour[] =>
    Array.from({ length: 1 + Math.floor(random.next() * 3) }, () => pick(random, among));
  const kind = random.next();
  // Nodes that say where they are, so that a liar stands against two.
  const heard = misbehaviours.filter(({ claim }) => claim === well.claim);
  const [first = 0, second = 1] = order;
  if (kind < 0.35) {
    const liar = { index: first, behaviours: several(lies) };
    return random.next() < 0.5 ? [liar] : [liar, { index: second, behaviours: several(heard) }];
  }
  if (kind < 0.4) return order.map((index) => ({ index, behaviours: [nearBalancer] }));
  if (kind < 0.47) return [{ index: first, behaviours: several(endings) }];
  const count = 1 + Math.floor(random.next() * 3);
  return order.slice(0, count).map((index) => ({ index, behaviours: several(misbehaviours) }));
}

/** What went wrong, and how much was tried. */
export interface Tally {
  readonly faults: string[];
  readonly seen: Set<string>;
  calls: number;
  answered: number;
  forks: number;
}

export const emptyTally = (): Tally => ({ faults: [], seen: new Set(), calls: 0, answered: 0, forks: 0 });

/** Planted defects, to see that a campaign finds them. */
export interface Defects {
  /** Answers that move with the head stay stored when it moves. */
  readonly keepsSlotAnswers: boolean;
}

/** One gateway before three simulated nodes, and three keys that call it. */
class Schedule {
  readonly #random: Random;
  readonly #clock = new ManualClock(1_800_000_000_000);
  readonly #chain = new SimulatedChain(5_000, { clock: this.#clock });
  readonly #nodes: readonly SimulatedNode[];
  readonly #drawn: readonly Drawn[];
  readonly #rpc: Rpc;
  readonly #upstreams: ReturnType<typeof createUpstreams>;
  readonly #tally: Tally;
  readonly #name: string;
  /** The newest slot that each key has been shown of each commitment. */
  readonly #shown = new Map<string, bigint>();
  #pending = 0;

  constructor(seed: number, { keepsSlotAnswers }: Defects, tally: Tally) {
    const random = seededRandom(seed);
    const clock = this.#clock;
    this.#random = random;
    this.#tally = tally;
    this.#drawn = draw(random);
    this.#nodes = [0, 1, 2].map(
      () => new SimulatedNode({ lateSlots: Math.floor(random.next() * 3) }, { clock, random, chain: this.#chain }),
    );
    if (random.next() < 0.4) {
      const { answer } = pick(random, [...misbehaviours.filter((each) => isPoison(each)), ...endings]);
      for (const node of this.#nodes) node.poison = answer;
    }
    this.#name = `schedule ${seed} (${this.#drawn.map(({ index, behaviours }) => `${labelOf(index)}: ${behaviours.map(({ name }) => name).join(", ")}`).join("; ")})`;
    for (const { behaviours } of this.#drawn) for (const { name } of behaviours) tally.seen.add(name);
    const cache = new AnswerCache<NodeAnswer, UpstreamOutcome>(
      {},
      { clock, isLive: (network, commitment) => this.#upstreams.isLive(network, commitment) },
    );
    this.#upstreams = createUpstreams(
      { networks: { mainnet: [], testnet: [], devnet: this.#nodes.map((_node, index) => upstreamOf(index)) } },
      {
        clock,
        random,
        connect: connectTo(new Map(this.#nodes.map((node, index) => [labelOf(index), node]))),
        onSlot: (network, commitment) => {
          if (!keepsSlotAnswers) cache.slotMoved(network, commitment);
        },
        events: {
          upstreamCalled: () => {},
          extraCall: () => {},
          rested: () => {},
          floorMissed: () => {},
          beliefRestarted: () => {},
          chainChanged: () => {},
          chainUnread: () => {},
          membershipChanged: () => {},
          internalError: (_where, error) => this.#fault(`internal error ${error}`),
        },
      },
    );
    const pool = this.#upstreams.pool.bind(this.#upstreams);
    this.#rpc = new Rpc({ allowUnknownMethods: false }, { clock, cache, pool, sent: null });
  }

  #fault(what: string): void {
    this.#tally.faults.push(`${this.#name} at ${this.#clock.monotonic()} ms: ${what}`);
  }

  #isWell(index: number): boolean {
    return this.#drawn.every((drawn) => drawn.index !== index);
  }

  /** Whether some node is well, or well but for some slots, from the beginning to the end. */
  get #hasGood(): boolean {
    return this.#nodes.some((_node, index) => this.#behindMax(index) !== null);
  }

  /** How many slots a node that is well in all else may be behind in one answer; null for another. */
  #behindMax(index: number): number | null {
    const drawn = this.#drawn.find((each) => each.index === index);
    if (drawn === undefined) return 0;
    const behind = drawn.behaviours.map(({ behindMax }) => behindMax ?? null);
    return behind.includes(null) ? null : Math.max(...behind.map(Number));
  }

  async run(): Promise<void> {
    this.#upstreams.start();
    const clock = this.#clock;
    const changes = this.#changes();
    // No node is asked before it has said where it is.
    this.#tick(0);
    for (let nowMs = 0; nowMs < recoveredMs; ) {
      const step = nowMs < callsUntilMs ? stepMs : 200;
      clock.advance(step);
      nowMs += step;
      if (nowMs % 400 === 0) this.#tick(nowMs);
      while (changes[0] !== undefined && changes[0].atMs <= nowMs) changes.shift()?.make();
      const isCalling = nowMs < callsUntilMs || nowMs > settledMs;
      if (isCalling && this.#random.next() < 0.25) void this.#call();
      // A macrotask ends the chains of promises that the step has started.
      await new Promise((resolve) => setImmediate(resolve));
      if (nowMs === settledMs && this.#pending > 0) this.#fault(`${this.#pending} calls are not over`);
    }
    for (const [index, { out }] of (this.#upstreams.pool("devnet")?.health() ?? []).entries()) {
      if (out !== null) this.#fault(`${labelOf(index)} is ${out} although it has been well for long`);
    }
    await this.#upstreams[Symbol.asyncDispose]();
  }

  #tick(nowMs: number): void {
    for (const node of this.#nodes) node.announce();
    if (nowMs < hostileFromMs) return;
    for (const [index, { out }] of (this.#upstreams.pool("devnet")?.health() ?? []).entries()) {
      if (out !== null && this.#isWell(index)) this.#fault(`${labelOf(index)} is ${out} although it is well`);
    }
  }

  /** What changes in the hostile part, in its order: behaviours, and forks of the chain. */
  #changes(): { readonly atMs: number; readonly make: () => void }[] {
    const within = (): number => hostileFromMs + this.#random.next() * (hostileUntilMs - hostileFromMs);
    const changes = this.#drawn.flatMap(({ index, behaviours }) => {
      const node = this.#nodes[index];
      const times = [hostileFromMs, ...behaviours.slice(1).map(within)].sort((one, other) => one - other);
      return [...behaviours, well].map((behaviour, at) => ({
        atMs: times[at] ?? hostileUntilMs,
        make: () => node?.behave(behaviour),
      }));
    });
    const forks = Array.from({ length: Math.floor(this.#random.next() * 4) }, () => ({
      atMs: within(),
      make: () => {
        this.#tally.forks += 1;
        this.#chain.fork(this.#random);
      },
    }));
    return [...changes, ...forks].sort((one, other) => one.atMs - other.atMs);
  }

  #drawCall(): { readonly method: string; readonly params: unknown[] } {
    const commitment = pick(this.#random, ["processed", "confirmed", "finalized"]);
    const kind = this.#random.next();
    if (kind < 0.25) return { method: "getBalance", params: [account, { commitment }] };
    if (kind < 0.45) return { method: pick(this.#random, ["getSlot", "getBlockHeight"]), params: [{ commitment }] };
    if (kind < 0.8) {
      const slot = this.#chain.slot - 6 - Math.floor(this.#random.next() * 40);
      return { method: "getBlockTime", params: [slot] };
    }
    if (kind < 0.85) return { method: "sendTransaction", params: ["A".repeat(1_000), { encoding: "base64" }] };
    return { method: "getProgramAccounts", params: [program, { commitment }] };
  }

  /** The slot that some node has reached that is well from the beginning to the end. */
  #reached(commitment: CommitmentName): bigint {
    const late = this.#nodes.flatMap(({ lateSlots }, index) => {
      const behindMax = this.#behindMax(index);
      return behindMax === null ? [] : [lateSlots + behindMax];
    });
    return late.length === 0 ? 0n : slotsAt(this.#chain.slot - Math.min(...late))[commitment];
  }

  async #call(): Promise<void> {
    const { method, params } = this.#drawCall();
    const keyId = pick(this.#random, ["one", "two", "three"]);
    const entry = this.#rpc.method(method);
    const { plan } = entry?.plan(JSON.stringify(params)) ?? { plan: null };
    if (entry === null || plan === null || !plan.ok) throw new Error(`${method} is not planned`);
    const startedMs = this.#clock.monotonic();
    const isHeight = method === "getBlockHeight";
    const view = `${keyId} ${plan.commitment}${isHeight ? " height" : ""}`;
    const reached = this.#reached(plan.commitment) - (isHeight ? skippedSlots : 0n);
    const shownBefore = smallest(this.#shown.get(view) ?? 0n, reached);
    this.#pending += 1;
    this.#tally.calls += 1;
    try {
      const known = this.#rpc.known("devnet", plan, keyId, startedMs);
      const outcome: UpstreamOutcome =
        known === undefined
          ? (await this.#rpc.ask("devnet", entry, plan, keyId)).outcome
          : { ok: true, answer: known, latencyMs: 0 };
      this.#check(method, params, outcome, { startedMs, view, shownBefore });
    } catch (error) {
      this.#fault(`${method} was thrown: ${error}`);
    } finally {
      this.#pending -= 1;
    }
  }

  #check(
    method: string,
    params: readonly unknown[],
    outcome: UpstreamOutcome,
    {
      startedMs,
      view,
      shownBefore,
    }: { readonly startedMs: number; readonly view: string; readonly shownBefore: bigint },
  ): void {
    const isPoisoned = method === "getProgramAccounts" && this.#nodes[0]?.poison !== null;
    if (!outcome.ok) {
      const isEnded = outcome.refused === "BODY_TOO_LARGE" || outcome.refused === "INVALID_PARAMS";
      if (this.#hasGood && !isPoisoned && !isEnded) this.#fault(`${method} was refused with ${outcome.refused}`);
      if (
        isEnded &&
        !isPoisoned &&
        !this.#drawn.some(({ behaviours }) => behaviours.some(({ kind }) => kind === "ends"))
      ) {
        this.#fault(`${method} was ended with ${outcome.refused} although no node does so`);
      }
      return;
    }
    this.#tally.answered += 1;
    const { body, label, errorCode, contextSlot, number } = outcome.answer;
    const isPosition = method === "getSlot" || method === "getBlockHeight";
    const shown = isPosition ? number : contextSlot;
    const said = body.kind === "text" ? body.head : nodesWords;
    if (this.#hasGood && !isPoisoned && errorCode !== null)
      this.#fault(`${method} was answered with the error ${errorCode}`);
    if (this.#hasGood && !isPoisoned && said.includes(nodesWords)) this.#fault(`${method} was answered with a refusal`);
    if (shown !== null && this.#hasGood) {
      if (shown < shownBefore) this.#fault(`${view} went back from ${shownBefore} to ${shown} by ${label}`);
      const newest = this.#shown.get(view) ?? 0n;
      if (shown > newest) this.#shown.set(view, shown);
    }
    if (method === "getBlockTime" && errorCode === null)
      this.#checkBranch(Number(params[0]), outcome.answer, startedMs);
  }

  /** No answer, stored ones included, is from a branch that was abandoned before the call. */
  #checkBranch(slot: number, { body, label }: NodeAnswer, startedMs: number): void {
    const time = body.kind === "text" ? /"result":([0-9]+)/.exec(body.head)?.[1] : undefined;
    const index = label.charCodeAt(0) - 97;
    const node = this.#nodes[index];
    if (time === undefined || node === undefined) {
      this.#fault("a block's time was answered without one");
      return;
    }
    const sinceMs = this.#clock.monotonic() - startedMs + forkSeenMs;
    // What a node says of a slot below the root is stored for minutes: no other answer tells that its branch is dead.
    const stayed = this.#drawn.find((drawn) => drawn.index === index)?.behaviours.some((each) => each.staysOnBranch);
    const isOwn = stayed === true || node.forMs < forkSeenMs;
    if (!isOwn && this.#chain.wasAbandoned(slot, Number(time) - 1_000_000, sinceMs)) {
      this.#fault(`the block of slot ${slot} is from an abandoned branch, by ${label}`);
    }
  }
}

const smallest = (one: bigint, other: bigint): bigint => (one < other ? one : other);
const labelOf = (index: number): string => String.fromCharCode(97 + index);

/** Whether every node may answer a call like this without being hostile. */
const isPoison = ({ kind, name, claim }: Behaviour): boolean =>
  kind === "refuses" &&
  claim === well.claim &&
  !/429|-32429|calls a second|stall|after two seconds|half|other second/.test(name);

const upstreamOf = (index: number) => ({
  label: labelOf(index),
  url: "http://127.0.0.1:1/",
  ws: "ws://127.0.0.1:1/",
  headers: {},
  groups: ["read", "archive"] as const,
  weight: 1,
  requestsPerSecond: null,
});

/**
 * `n` schedules of one to three hostile nodes among three: no customer sees what a node refuses while another is well,
 * no answer goes back in time for a key, nothing stored survives the fork that removed it, no node that is well is out,
 * and every node is in again some time after it is well.
 */
export async function run(
  { n, seed }: { n: number; seed: number },
  defects: Defects = { keepsSlotAnswers: false },
): Promise<{ passed: boolean; summary: string }> {
  const tally = emptyTally();
  for (let index = 0; index < n && tally.faults.length < 20; index += 1) {
    await new Schedule(seed * 1_000_003 + index, defects, tally).run();
  }
  const counts = `${tally.calls} calls, ${tally.answered} answered, ${tally.forks} forks, ${tally.seen.size} kinds of misbehaviour`;
  return {
    passed: tally.faults.length === 0,
    summary: [`${n} schedules, seed ${seed}: ${counts}`, ...tally.faults].join("\n"),
  };
}
