import { SluiceError } from "@sluice/contract/errors";
import type { Network } from "@sluice/contract/tiers";
import type { Clock } from "@sluice/lib";
import type { EnhancedEvents, WalletRead } from "../events.ts";
import type { TextCache } from "../text-cache.ts";
import type { EnhancedAnswer } from "./route.ts";

/** Reads of the ledger that run at one time in this process. */
const readsMax = 6;

export interface WalletReadsDependencies {
  readonly clock: Pick<Clock, "monotonic">;
  readonly events: Pick<EnhancedEvents, "walletRead" | "walletPartial">;
}

/** Measures reads of wallets, and refuses those of the ledger beyond a number: each may keep it busy for seconds. */
export class WalletReads {
  readonly #dependencies: WalletReadsDependencies;
  #running = 0;

  constructor(dependencies: WalletReadsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Records how long work took, whether it succeeds or not. */
  async timed<T>(kind: WalletRead, work: () => Promise<T>): Promise<T> {
    const { clock, events } = this.#dependencies;
    const startedMs = clock.monotonic();
    try {
      return await work();
    } finally {
      events.walletRead(kind, clock.monotonic() - startedMs);
    }
  }

  /** @throws {SluiceError} OVERLOADED, and what the work throws */
  async bounded<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= readsMax) throw new SluiceError("OVERLOADED");
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
    }
  }

  /** Records an answer that ended by its bounds of time or number. */
  partial(kind: WalletRead): void {
    this.#dependencies.events.walletPartial(kind);
  }
}

export interface KeptAnswersDependencies {
  readonly cache: TextCache;
  /** Names the chain that a network is now; null while it is not known. */
  readonly chainOf: (network: Network) => string | null;
}

/** Answers that are kept for a while, with those under way, which all who ask the same wait for. */
export class KeptAnswers {
  readonly #dependencies: KeptAnswersDependencies;
  readonly #running = new Map<string, Promise<EnhancedAnswer>>();

  constructor(dependencies: KeptAnswersDependencies) {
    this.#dependencies = dependencies;
  }

  /** `question` holds all that decides the answer, the caller's tier among it. */
  async of(network: Network, question: string, work: () => Promise<EnhancedAnswer>): Promise<EnhancedAnswer> {
    const { cache, chainOf } = this.#dependencies;
    const chain = chainOf(network);
    if (chain === null) return await work();
    const key = `${network} ${chain} ${question}`;
    const kept = cache.get(key);
    if (kept !== null) {
      const { text, headers } = JSON.parse(kept);
      return { text, headers, kept: true };
    }
    const running = this.#running.get(key) ?? this.#run(key, work);
    return await running;
  }

  #run(key: string, work: () => Promise<EnhancedAnswer>): Promise<EnhancedAnswer> {
    const running = work()
      .then((answer) => {
        const { text, headers = {} } = answer;
        this.#dependencies.cache.keep(key, JSON.stringify({ text, headers }));
        return answer;
      })
      .finally(() => this.#running.delete(key));
    this.#running.set(key, running);
    return running;
  }
}
