const places = 1 << 16;
const countMax = 0xffff;
/** Rounds after which what was counted counts half. */
const halfLifeRounds = 1 << 15;

/**
 * How often keys were seen lately, those too that no filter names yet, by a part of their hash: at least as often as
 * they were, sometimes more. It decides only where a filter is looked for.
 */
export class KeyTraffic {
  readonly #counts = new Uint16Array(places);
  #rounds = 0;

  see(hash: number): void {
    const place = hash & (places - 1);
    const count = this.#counts[place] ?? 0;
    if (count < countMax) this.#counts[place] = count + 1;
  }

  seen(hash: number): number {
    return this.#counts[hash & (places - 1)] ?? 0;
  }

  endRound(): void {
    this.#rounds += 1;
    if (this.#rounds < halfLifeRounds) return;
    this.#rounds = 0;
    const counts = this.#counts;
    for (let place = 0; place < places; place++) counts[place] = (counts[place] ?? 0) >>> 1;
  }
}
