import type { Clock, Random } from "@sluice/lib";
import type { Address } from "@sluice/wire/identifiers";
import type { SignInRole } from "./tokens.ts";

export interface Challenge {
  readonly text: string;
  readonly role: SignInRole;
  readonly pubkey: Address;
  /** Monotonic milliseconds. */
  readonly expiresAt: number;
}

export interface ChallengeBounds {
  readonly lifetimeMs: number;
  /** Over all addresses. */
  readonly liveMax: number;
  /** Of one address: many keys may sit behind one. */
  readonly perAddressMax: number;
  /** Of one key at one address: some clients sign in twice at once, and each challenge is good for one sign-in. */
  readonly perKeyMax: number;
}

const bounds: ChallengeBounds = { lifetimeMs: 1_800_000, liveMax: 100_000, perAddressMax: 64, perKeyMax: 4 };
const sweepMs = 180_000;
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const challengeLength = 9;
/** Bytes at or above this are drawn again, so that each character is equally likely. */
const unbiasedBytes = 248;

/** The challenges that wait for their signatures, by the address of the client. */
export class Challenges {
  readonly #bounds: ChallengeBounds;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #live = new Map<string, Challenge[]>();
  #count = 0;
  #sweptAt = 0;

  constructor(dependencies: { readonly clock: Clock; readonly random: Random }, chosen: Partial<ChallengeBounds> = {}) {
    this.#bounds = { ...bounds, ...chosen };
    this.#clock = dependencies.clock;
    this.#random = dependencies.random;
    this.#sweptAt = this.#clock.monotonic();
  }

  /** A challenge for the key; where it has as many as it may, its oldest again. Null where the server has too many. */
  issue(client: string, role: SignInRole, pubkey: Address): Challenge | null {
    const nowMs = this.#clock.monotonic();
    if (nowMs - this.#sweptAt >= sweepMs) this.#sweep(nowMs);
    const live = this.of(client);
    const ofKey = live.filter((each) => each.pubkey === pubkey && each.role === role);
    const [oldest] = ofKey;
    if (oldest !== undefined && ofKey.length >= this.#bounds.perKeyMax) return oldest;
    if (this.#count >= this.#bounds.liveMax) return null;
    const challenge = { text: this.#text(), role, pubkey, expiresAt: nowMs + this.#bounds.lifetimeMs };
    this.#keep(client, [...live, challenge].slice(-this.#bounds.perAddressMax));
    return challenge;
  }

  /** The address's challenges that have not expired, oldest first. */
  of(client: string): readonly Challenge[] {
    const nowMs = this.#clock.monotonic();
    return (this.#live.get(client) ?? []).filter((each) => each.expiresAt > nowMs);
  }

  /** Takes a challenge out, so that its signature is good once. */
  consume(client: string, challenge: Challenge): void {
    this.#keep(
      client,
      this.of(client).filter((each) => each !== challenge),
    );
  }

  #keep(client: string, challenges: readonly Challenge[]): void {
    this.#count += challenges.length - (this.#live.get(client)?.length ?? 0);
    if (challenges.length === 0) this.#live.delete(client);
    else this.#live.set(client, [...challenges]);
  }

  #sweep(nowMs: number): void {
    this.#sweptAt = nowMs;
    for (const client of [...this.#live.keys()]) this.#keep(client, this.of(client));
  }

  #text(): string {
    let text = "";
    while (text.length < challengeLength) {
      for (const byte of this.#random.bytes(16)) {
        if (byte < unbiasedBytes && text.length < challengeLength) text += alphabet.charAt(byte % alphabet.length);
      }
    }
    return text;
  }
}
