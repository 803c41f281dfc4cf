import type { Conversation } from "./conversation.ts";

/**
 * The connections of each account over all workers of a host: the parent holds them by the process that has them, so
 * that those of one that died are free at once.
 */
export class HostPlaces {
  readonly #held = new Map<number, Map<string, number>>();
  readonly #totals = new Map<string, number>();

  /** From now on this process may take places. */
  joined(pid: number): void {
    if (!this.#held.has(pid)) this.#held.set(pid, new Map());
  }

  /** Takes a place for the process; false when the account holds `max` over all processes, or the process has ended. */
  enter(pid: number, accountId: string, max: number): boolean {
    const held = this.#held.get(pid);
    if (held === undefined || this.of(accountId) >= max) return false;
    held.set(accountId, (held.get(accountId) ?? 0) + 1);
    this.#totals.set(accountId, this.of(accountId) + 1);
    return true;
  }

  /** Gives a place of the process back; it has to hold one. */
  leave(pid: number, accountId: string): void {
    const held = this.#held.get(pid);
    const count = held?.get(accountId) ?? 0;
    if (held === undefined || count === 0) return;
    lower(held, accountId, 1);
    lower(this.#totals, accountId, 1);
  }

  /** Gives one back where the account holds more than `max`; whether it did. */
  leaveBeyond(pid: number, accountId: string, max: number): boolean {
    if (this.of(accountId) <= max || (this.#held.get(pid)?.get(accountId) ?? 0) === 0) return false;
    this.leave(pid, accountId);
    return true;
  }

  /** The process has ended: what it held is free. */
  ended(pid: number): void {
    for (const [accountId, count] of this.#held.get(pid) ?? []) lower(this.#totals, accountId, count);
    this.#held.delete(pid);
  }

  of(accountId: string): number {
    return this.#totals.get(accountId) ?? 0;
  }

  /** Places that are taken, of all accounts. */
  get total(): number {
    let total = 0;
    for (const count of this.#totals.values()) total += count;
    return total;
  }
}

function lower(counts: Map<string, number>, accountId: string, by: number): void {
  const count = (counts.get(accountId) ?? 0) - by;
  if (count > 0) counts.set(accountId, count);
  else counts.delete(accountId);
}

/** A parent that needs longer has worse to do; the client is refused and comes again. */
const askMsMax = 2_000;

/** The places of the host, as a worker takes them from its parent. */
export class ParentPlaces {
  readonly #parent: Pick<Conversation, "ask" | "tell">;

  constructor(parent: Pick<Conversation, "ask" | "tell">) {
    this.#parent = parent;
  }

  async enter(accountId: string, max: number): Promise<boolean> {
    // A place that is given too late is given back: nobody waits for it any more.
    const late = (given: unknown): void => {
      if (given === true) this.leave(accountId);
    };
    return await this.#parent.ask({ what: "enter", accountId, max }, askMsMax, late).then(isTrue, () => false);
  }

  leave(accountId: string): void {
    this.#parent.tell({ what: "leave", accountId });
  }

  /** False while the parent does not answer: it is asked again at the connection's next check. */
  async leaveBeyond(accountId: string, max: number): Promise<boolean> {
    return await this.#parent.ask({ what: "leaveBeyond", accountId, max }, askMsMax).then(isTrue, () => false);
  }
}

const isTrue = (value: unknown): boolean => value === true;
