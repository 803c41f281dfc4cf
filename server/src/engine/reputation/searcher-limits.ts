import { type SearcherTier, searcherTierLimits } from "@sluice/contract/engine";
import type { Clock } from "@sluice/lib";
import type { LimitDecision, RateLimiter } from "../../limits/index.ts";
import type { SearcherLimit } from "../../state/index.ts";
import type { Searcher } from "../model/bundle.ts";

export interface SearcherLimitsDependencies {
  readonly clock: Clock;
  readonly store: { limitOf(searcherId: string): Promise<Known["limit"]> };
  readonly limits: RateLimiter;
  readonly tierOf: (searcherId: string) => SearcherTier;
  readonly retryableError: (what: string, error: unknown) => void;
}

interface Known {
  readonly limit: Pick<SearcherLimit, "bundlesPerSecond" | "burst"> | null;
  readonly untilMs: number;
}

/** How long what an operator has set may be out of date. */
const knownMs = 2_000;
const knownMax = 10_000;
/** When a searcher that an operator has stopped may ask again, in seconds. */
const stoppedRetrySeconds = 60;

/** Bundles a second of each searcher: what an operator has set, or what its tier has earned it. A set 0 stops it. */
export class SearcherLimits {
  readonly #dependencies: SearcherLimitsDependencies;
  readonly #known = new Map<string, Known>();
  readonly #asking = new Map<string, Promise<Known["limit"]>>();

  constructor(dependencies: SearcherLimitsDependencies) {
    this.#dependencies = dependencies;
  }

  /** A public key of no account has the limits of the first tier, whatever it has earned: another one costs nothing. */
  take({ id, accountId }: Searcher): LimitDecision | Promise<LimitDecision> {
    const limit = this.#limitOf(id);
    if (limit instanceof Promise) return limit.then((set) => this.#take({ id, accountId }, set));
    return this.#take({ id, accountId }, limit);
  }

  /** Whether an operator has stopped this searcher; asked on endpoints that have rates of their own, too. */
  async isStopped({ id }: Pick<Searcher, "id">): Promise<boolean> {
    return (await this.#limitOf(id))?.bundlesPerSecond === 0;
  }

  #limitOf(id: string): Known["limit"] | Promise<Known["limit"]> {
    const known = this.#known.get(id);
    const isFresh = known !== undefined && this.#dependencies.clock.monotonic() < known.untilMs;
    return isFresh ? known.limit : this.#asked(id);
  }

  /** One look for all who ask at the same moment. While the store does not answer, its last answer stands. */
  #asked(id: string): Promise<Known["limit"]> {
    const present = this.#asking.get(id);
    if (present !== undefined) return present;
    const asking = this.#dependencies.store
      .limitOf(id)
      .catch((error: unknown) => {
        this.#dependencies.retryableError("limits of searchers", error);
        return this.#known.get(id)?.limit ?? null;
      })
      .then((limit) => this.#keep(id, limit))
      .finally(() => this.#asking.delete(id));
    this.#asking.set(id, asking);
    return asking;
  }

  #take(
    { id, accountId }: Pick<Searcher, "id" | "accountId">,
    set: Known["limit"],
  ): LimitDecision | Promise<LimitDecision> {
    const tier = accountId === null ? "bronze" : this.#dependencies.tierOf(id);
    const { bundlesPerSecond, burst } = set ?? searcherTierLimits[tier];
    if (bundlesPerSecond === 0) return this.#stopped();
    return this.#dependencies.limits.take(`bundles:${id}`, bundlesPerSecond, burst);
  }

  #stopped(): LimitDecision {
    const resetAt = Math.ceil(this.#dependencies.clock.now() / 1_000) + stoppedRetrySeconds;
    return { allowed: false, limit: 0, burst: 0, remaining: 0, resetAt, retryAfterSeconds: stoppedRetrySeconds };
  }

  #keep(id: string, limit: Known["limit"]): Known["limit"] {
    this.#known.delete(id);
    this.#known.set(id, { limit, untilMs: this.#dependencies.clock.monotonic() + knownMs });
    const [oldest] = this.#known.keys();
    if (this.#known.size > knownMax && oldest !== undefined) this.#known.delete(oldest);
    return limit;
  }
}
