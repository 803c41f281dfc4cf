/** What one reading node shows of one commitment. */
export interface SlotClaim {
  readonly node: object;
  /** The newest slot that it has shown; null before the first. */
  readonly slot: bigint | null;
  /** Whether it reports slots now. The last slot of a silent node confirms nothing. */
  readonly isHeard: boolean;
}

/** Why belief starts anew: no node reached the believed slot, the nodes that showed it were removed, another chain. */
export type RestartReason = "unreached" | "removed" | "chain";

/** Slots beyond the one that two nodes show up to which a claim of one node is believed (decisions.md, Gateway). */
const leadMax = 64n;
/** After this long in which no node reaches the believed slot, belief starts anew (decisions.md, Gateway). */
const unreachedMsMax = 30_000;
/** A pause of the slot that two nodes show that is shorter than this gives a single node no more lead. */
const pauseMsMin = 2_000;
/** How long the only node that is heard, or two that contradict each other, are watched before one is believed. */
const settleMs = { alone: 10_000, disputed: 2_000 };
/** Slots a second: a lead grows at twice the observed rate in a pause, and at this rate at least. */
const growthMin = 5;
/** The fastest development chain has 100 slots a second; more is observed only when nodes jump. */
const rateMax = 200;
/** The rate is observed over spans of at least this length. */
const rateSpanMs = 2_000;

interface Heard {
  readonly node: object;
  readonly slot: bigint;
}

/**
 * Which of the slots that the nodes of a network claim are believed (decisions.md, Gateway: second reading). A slot is
 * believed when two reading nodes show it or a later one, or when one shows it that is at most 64 slots further, and
 * in a pause of the others as many more as twice the observed rate makes. So one node that claims anything it likes
 * neither becomes the best one by far nor puts the others out; two that agree on a lie can.
 *
 * Pure: times are passed in, monotonic milliseconds.
 */
export class SlotBelief {
  #best: bigint | null = null;
  /** The newest slot that two nodes have shown. */
  #confirmed: bigint | null = null;
  #confirmedAtMs = 0;
  /** How far beyond the confirmed slot one node is believed; of a node alone, beyond its own last slot. */
  #lead = leadMax;
  #reachedAtMs = 0;
  #heardCount = 0;
  #highest: bigint | null = null;
  #isSettled = false;
  /** Whether a second node has been near the best slot; what was never proved gives way to the first two that agree. */
  #isProved = false;
  #settlesAtMs: number | null = null;
  /** The first slot of each node since belief started. */
  readonly #first = new Map<object, bigint>();
  #known: ReadonlySet<object> = new Set();
  #rate = 0;
  #rateFrom: { readonly slot: bigint; readonly atMs: number } | null = null;

  /** The highest slot that is believed; null before the first. */
  get best(): bigint | null {
    return this.#best;
  }

  /** The newest slot that two nodes have shown; where only one node is configured, its own. */
  get confirmed(): bigint | null {
    return this.#confirmed;
  }

  /** Whether two nodes that were heard last contradict each other, so that one of them is believed on its own word. */
  get isDisputed(): boolean {
    return this.#isSettled && !this.#isProved && this.#heardCount > 1;
  }

  /** The highest claim of a single node that is believed now; null while every claim is. */
  ceiling(nowMs: number): bigint | null {
    if (this.#best === null) return null;
    const from = this.#confirmed === null || !this.#isProved ? this.#best : this.#confirmed;
    const ceiling = from + this.#lead + this.#growth(nowMs - this.#confirmedAtMs);
    return largest(ceiling, this.#best);
  }

  /**
   * The slot against which lag is measured: the best one, as far as a node that is heard reaches it. The claim of one
   * alone puts no node out that moves on among three or more: for that node it counts less 64 slots.
   */
  standard(isMoving: boolean): bigint | null {
    if (this.#best === null || this.#highest === null) return this.#best;
    const best = smallest(this.#best, this.#highest);
    if (!isMoving || this.#heardCount < 3 || this.#confirmed === null) return best;
    return smallest(best, largest(this.#confirmed, best - leadMax));
  }

  /** Takes what the reading nodes show now. Gives the reason where belief has started anew. */
  update(claims: readonly SlotClaim[], nowMs: number): RestartReason | null {
    const heard = claims
      .flatMap(({ node, slot, isHeard }): Heard[] => (isHeard && slot !== null ? [{ node, slot }] : []))
      .sort((one, other) => (one.slot > other.slot ? -1 : one.slot < other.slot ? 1 : 0));
    const hasLost = [...this.#known].some((node) => !claims.some((claim) => claim.node === node));
    this.#known = new Set(claims.map(({ node }) => node));
    this.#heardCount = heard.length;
    const [highest, second] = heard;
    this.#highest = highest?.slot ?? null;
    if (highest === undefined) return null;
    const restarted = this.#outdated(highest.slot, hasLost, nowMs);
    if (restarted !== null) this.restart();
    if (claims.length === 1) this.#trust(highest.slot, nowMs);
    else if (second === undefined) this.#alone(highest.slot, nowMs);
    else if (this.#isSettled && (this.#isProved || heard.length === 2)) this.#advance(highest.slot, second.slot, nowMs);
    else this.#begin(heard, [highest, second], nowMs);
    if (this.#best !== null && highest.slot >= this.#best) this.#reachedAtMs = nowMs;
    return restarted;
  }

  /** Forgets everything: the next claims are the first. */
  restart(): void {
    this.#best = null;
    this.#confirmed = null;
    this.#lead = leadMax;
    this.#isSettled = false;
    this.#isProved = false;
    this.#settlesAtMs = null;
    this.#first.clear();
    this.#rateFrom = null;
  }

  #outdated(highest: bigint, hasLost: boolean, nowMs: number): RestartReason | null {
    if (this.#best === null || highest >= this.#best) return null;
    if (nowMs - this.#reachedAtMs >= unreachedMsMax) return "unreached";
    return hasLost ? "removed" : null;
  }

  /** The word of the only node there is. */
  #trust(slot: bigint, nowMs: number): void {
    this.#best = slot;
    this.#confirmed = slot;
    this.#confirmedAtMs = nowMs;
    this.#lead = leadMax;
    this.#isSettled = true;
    this.#isProved = true;
  }

  /** The word of the only one of several nodes that is heard. */
  #alone(slot: bigint, nowMs: number): void {
    if (this.#isProved) {
      this.#believeUpTo(slot, nowMs);
      return;
    }
    this.#settlesAtMs ??= nowMs + settleMs.alone;
    this.#isSettled = nowMs >= this.#settlesAtMs;
    this.#best = slot;
    this.#confirmedAtMs = nowMs;
  }

  /** Before anything is believed, with two nodes or more. */
  #begin(heard: readonly Heard[], [highest, second]: readonly [Heard, Heard], nowMs: number): void {
    const isJoined = heard.some(({ node }) => !this.#first.has(node));
    for (const { node, slot } of heard) if (!this.#first.has(node)) this.#first.set(node, slot);
    this.#confirmedAtMs = nowMs;
    this.#lead = leadMax;
    if (heard.length > 2 || highest.slot - second.slot <= leadMax) {
      this.#confirmed = second.slot;
      this.#best = heard.length > 2 ? second.slot : highest.slot;
      this.#isSettled = true;
      this.#isProved = true;
      this.#believeUpTo(highest.slot, nowMs);
      return;
    }
    if (isJoined || this.#settlesAtMs === null) this.#settlesAtMs = nowMs + settleMs.disputed;
    const moved = heard.find(({ node, slot }) => slot > (this.#first.get(node) ?? slot));
    this.#best = (moved ?? second).slot;
    this.#confirmed = second.slot;
    this.#isSettled = moved !== undefined && nowMs >= this.#settlesAtMs;
  }

  /** Goes on from what is believed. */
  #advance(highest: bigint, second: bigint, nowMs: number): void {
    const best = this.#best ?? second;
    const before = this.#confirmed ?? second;
    if (this.#confirmed === null || second > before) {
      const pauseMs = Math.max(0, nowMs - this.#confirmedAtMs - pauseMsMin);
      const used = best - second;
      this.#lead = largest(leadMax, smallest(this.#lead + this.#growth(pauseMs), used + leadMax));
      this.#confirmed = second;
      this.#confirmedAtMs = nowMs;
      this.#observeRate(second, nowMs);
    }
    if (second > best) this.#best = second;
    this.#believeUpTo(highest, nowMs);
    if (this.#best !== null && this.#confirmed !== null && this.#best - this.#confirmed <= leadMax) {
      this.#isProved = true;
    }
  }

  #believeUpTo(slot: bigint, nowMs: number): void {
    const ceiling = this.ceiling(nowMs);
    if (this.#best === null || ceiling === null || (slot > this.#best && slot <= ceiling)) this.#best = slot;
  }

  /** Slots by which a lead grows in so many milliseconds. */
  #growth(ms: number): bigint {
    return BigInt(Math.floor((Math.max(growthMin, 2 * this.#rate) * ms) / 1_000));
  }

  #observeRate(slot: bigint, nowMs: number): void {
    const from = this.#rateFrom;
    if (from !== null && nowMs - from.atMs < rateSpanMs) return;
    if (from !== null) this.#rate = Math.min(rateMax, (Number(slot - from.slot) * 1_000) / (nowMs - from.atMs));
    this.#rateFrom = { slot, atMs: nowMs };
  }
}

const largest = (one: bigint, other: bigint): bigint => (one > other ? one : other);
const smallest = (one: bigint, other: bigint): bigint => (one < other ? one : other);
