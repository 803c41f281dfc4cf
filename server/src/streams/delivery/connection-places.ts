/**
 * The places of accounts for connections, so that a tier's limit can be kept. An answer is a promise where other
 * processes share the places.
 */
export interface ConnectionPlaces {
  /** Takes a place; false, and none taken, when the account holds `max` already. */
  enter(accountId: string, max: number): boolean | Promise<boolean>;
  /** Gives a place back that `enter` gave. */
  leave(accountId: string): void;
  /** Gives one place back where the account holds more than `max`: true, and its connection must end. */
  leaveBeyond(accountId: string, max: number): boolean | Promise<boolean>;
}

/** The places of one process. Accounts without any take no memory. */
export class ConnectionCounts implements ConnectionPlaces {
  readonly #counts = new Map<string, number>();

  enter(accountId: string, max: number): boolean {
    const count = this.#counts.get(accountId) ?? 0;
    if (count >= max) return false;
    this.#counts.set(accountId, count + 1);
    return true;
  }

  leave(accountId: string): void {
    const count = (this.#counts.get(accountId) ?? 0) - 1;
    if (count > 0) this.#counts.set(accountId, count);
    else this.#counts.delete(accountId);
  }

  leaveBeyond(accountId: string, max: number): boolean {
    if ((this.#counts.get(accountId) ?? 0) <= max) return false;
    this.leave(accountId);
    return true;
  }
}

/** The place of one connection, which is given back once, however the connection ends. */
export class HeldPlace {
  readonly #places: ConnectionPlaces;
  readonly #accountId: string;
  #isHeld = true;

  constructor(places: ConnectionPlaces, accountId: string) {
    this.#places = places;
    this.#accountId = accountId;
  }

  leave(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#places.leave(this.#accountId);
  }

  /** Gives it back where its account holds more than `max`: true, and the connection must end. */
  async leaveBeyond(max: number): Promise<boolean> {
    if (!this.#isHeld || !(await this.#places.leaveBeyond(this.#accountId, max))) return false;
    if (this.#isHeld) {
      this.#isHeld = false;
      return true;
    }
    // It was given back meanwhile: the other one is another connection's.
    await this.#places.enter(this.#accountId, Number.MAX_SAFE_INTEGER);
    return false;
  }
}
