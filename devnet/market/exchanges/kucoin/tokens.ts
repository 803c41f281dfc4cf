import { createHash } from "node:crypto";

const lifeMs = 86_400_000;
/** Tokens that are good at once; the oldest is forgotten beyond. */
const tokensMax = 4_096;

/** The tokens with which clients open streams. */
export class Tokens {
  readonly #seed: string;
  readonly #issued = new Map<string, number>();
  #count = 0;

  constructor(options: { readonly seed: string }) {
    this.#seed = options.seed;
  }

  issue(nowMs: number): string {
    this.#count += 1;
    const token = createHash("sha512").update(`${this.#seed}/token/${this.#count}`).digest("base64url");
    this.#issued.set(token, nowMs);
    const [oldest] = this.#issued.keys();
    if (this.#issued.size > tokensMax && oldest !== undefined) this.#issued.delete(oldest);
    return token;
  }

  isGood(token: string, nowMs: number): boolean {
    const issuedMs = this.#issued.get(token);
    return issuedMs !== undefined && nowMs - issuedMs < lifeMs;
  }
}
