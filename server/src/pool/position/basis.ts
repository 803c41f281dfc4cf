/**
 * What a wallet paid for the pool's tokens that it holds, by average cost: a token that leaves takes its part of the
 * cost with it. Pure arithmetic on what the ledger has; tokens of which nobody knows what they cost stay apart.
 */

/** What a transaction did with a wallet's tokens of a pool. */
export interface PositionMovement {
  readonly signature: string;
  readonly slot: bigint;
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly changes: readonly { readonly account: string; readonly before: bigint; readonly after: bigint }[];
  /** Tokens that the pool minted for the wallet, and lamports that their deposits cost; null where that is not told. */
  readonly deposited: { readonly tokens: bigint; readonly lamports: bigint } | null;
  /** The pool as it was sampled last before; null where no sample is near enough. */
  readonly rate: { readonly lamports: bigint; readonly tokens: bigint; readonly atMs: number } | null;
}

/** What is known of a wallet's tokens. */
export interface PositionBasis {
  /** Tokens whose cost is known, and that cost in lamports. */
  readonly known: bigint;
  readonly lamports: bigint;
  /** Tokens whose cost is not known. */
  readonly unknown: bigint;
  /** Since when the known ones are held, weighted by what they cost, in Unix milliseconds; 0 without any. */
  readonly heldSinceMs: number;
  /** The first movement that is known, in Unix milliseconds; null without one. */
  readonly sinceMs: number | null;
  /** One line for each step. */
  readonly steps: readonly string[];
}

/** Adds a wallet's movements up, in the order of the chain, to the tokens that it holds now. */
export function basisOf(movements: readonly PositionMovement[], held: bigint): PositionBasis {
  const book = new CostBook();
  const balances = new Map<string, bigint>();
  for (const movement of movements) {
    for (const { account, before, after } of movement.changes) {
      // What the ledger has not seen: tokens of before its first block, or of blocks that it lacks.
      book.unexplained(before - (balances.get(account) ?? 0n), movement.slot);
      balances.set(account, after);
    }
    const net = movement.changes.reduce((sum, { before, after }) => sum + after - before, 0n);
    if (net > 0n) gain(book, movement, net);
    else if (net < 0n) book.leave(-net, `${movement.signature}: ${-net} tokens left`);
  }
  const counted = [...balances.values()].reduce((sum, each) => sum + each, 0n);
  book.unexplained(held - counted, null);
  return { ...book.end(), sinceMs: movements[0]?.atMs ?? null };
}

function gain(book: CostBook, { signature, atMs, deposited, rate }: PositionMovement, net: bigint): void {
  const minted = deposited === null ? 0n : least(deposited.tokens, net);
  if (deposited !== null && minted > 0n) {
    const cost = (deposited.lamports * minted) / deposited.tokens;
    book.add(minted, cost, {
      atMs,
      line: `${signature}: ${minted} tokens of a deposit of ${deposited.lamports} lamports for ${deposited.tokens}, cost ${cost}`,
    });
  }
  const others = net - minted;
  if (others === 0n) return;
  if (rate === null || rate.tokens === 0n) {
    book.addUnknown(others, `${signature}: ${others} tokens of unknown cost, as no sample is near`);
    return;
  }
  const cost = (others * rate.lamports) / rate.tokens;
  book.add(others, cost, {
    atMs,
    line:
      `${signature}: ${others} tokens at the rate of the sample of ${new Date(rate.atMs).toISOString()}, ` +
      `cost floor(${others} · ${rate.lamports} / ${rate.tokens}) = ${cost}`,
  });
}

const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);

/** Tokens and what they cost, as they come and go. */
class CostBook {
  #known = 0n;
  #unknown = 0n;
  #lamports = 0n;
  /** The sum of cost times moment, in lamports and Unix milliseconds. */
  #weighted = 0n;
  readonly #steps: string[] = [];

  add(tokens: bigint, cost: bigint, { atMs, line }: { readonly atMs: number; readonly line: string }): void {
    this.#known += tokens;
    this.#lamports += cost;
    this.#weighted += cost * BigInt(atMs);
    this.#steps.push(line);
  }

  addUnknown(tokens: bigint, line: string): void {
    this.#unknown += tokens;
    this.#steps.push(line);
  }

  /** Both kinds leave in proportion, and of the known ones the same part of their cost. */
  leave(tokens: bigint, line: string): void {
    const total = this.#known + this.#unknown;
    const left = least(tokens, total);
    if (left === 0n) return;
    const unknown = (left * this.#unknown) / total;
    const known = left - unknown;
    const cost = this.#known === 0n ? 0n : (this.#lamports * known) / this.#known;
    if (this.#lamports > 0n) this.#weighted -= (this.#weighted * cost) / this.#lamports;
    this.#known -= known;
    this.#unknown -= unknown;
    this.#lamports -= cost;
    this.#steps.push(`${line} with ${cost} lamports of cost`);
  }

  /** Tokens that are there, or gone, without a movement; `slot` is null for what is held now. */
  unexplained(tokens: bigint, slot: bigint | null): void {
    const where = slot === null ? "now" : `before slot ${slot}`;
    if (tokens > 0n) this.addUnknown(tokens, `${tokens} tokens ${where} that no movement explains, of unknown cost`);
    if (tokens < 0n) this.leave(-tokens, `${-tokens} tokens ${where} that left without a movement`);
  }

  end(): Omit<PositionBasis, "sinceMs"> {
    return {
      known: this.#known,
      unknown: this.#unknown,
      lamports: this.#lamports,
      heldSinceMs: this.#lamports === 0n ? 0 : Number(this.#weighted / this.#lamports),
      steps: this.#steps,
    };
  }
}
