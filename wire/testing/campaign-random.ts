/** Reproducible choices for campaigns and fuzz tests: a 32-bit mix stepped from the seed. Not for secrets. */
export class CampaignRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number in [0, bound). */
  below(bound: number): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return Math.floor(((mixed ^ (mixed >>> 15)) >>> 0) * (bound / 2 ** 32));
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(256));
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new RangeError("there is nothing to pick from");
    return item;
  }
}

/** One to three changes of the kinds that break parsers: bits, bytes, cuts, insertions, repeated and removed ranges. */
export function mutate(bytes: Uint8Array, random: CampaignRandom, alphabet: ArrayLike<number>): Uint8Array {
  let mutated: Uint8Array = bytes.slice();
  for (let left = 1 + random.below(3); left > 0; left--) {
    const length = mutated.length;
    const at = random.below(length + 1);
    const special = alphabet[random.below(alphabet.length)] ?? 0;
    switch (random.below(7)) {
      case 0:
        if (at < length) mutated[at] = (mutated[at] ?? 0) ^ (1 << random.below(8));
        break;
      case 1:
        if (at < length) mutated[at] = special;
        break;
      case 2:
        mutated = mutated.slice(0, at);
        break;
      case 3:
        mutated = splice(mutated, at, 0, Uint8Array.of(special));
        break;
      case 4:
        mutated = splice(mutated, at, 1 + random.below(4), new Uint8Array(0));
        break;
      case 5: {
        const from = random.below(length + 1);
        mutated = splice(mutated, at, 0, mutated.slice(from, from + random.below(40)));
        break;
      }
      default:
        if (at < length) mutated[at] = random.below(256);
    }
  }
  return mutated;
}

function splice(bytes: Uint8Array, at: number, removed: number, inserted: Uint8Array): Uint8Array {
  const tail = bytes.subarray(Math.min(at + removed, bytes.length));
  const spliced = new Uint8Array(at + inserted.length + tail.length);
  spliced.set(bytes.subarray(0, at));
  spliced.set(inserted, at);
  spliced.set(tail, at + inserted.length);
  return spliced;
}
