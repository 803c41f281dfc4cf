/** How many connections each account holds, so that a tier's limit can be kept. Accounts without any take no memory. */
export class ConnectionCounts {
  readonly #counts = new Map<string, number>();

  /** False, and nothing counted, when the account holds `max` already. */
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

  of(accountId: string): number {
    return this.#counts.get(accountId) ?? 0;
  }
}
