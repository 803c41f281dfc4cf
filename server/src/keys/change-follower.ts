import { BackgroundTask, type Clock, type Log, Serial } from "@sluice/lib";
import type { KeyChangeStore } from "../state/index.ts";
import type { KeysEvents } from "./events.ts";
import type { Keys } from "./keys.ts";

/** How often the revision is read. */
const lookMs = 1_000;

export interface ChangeFollowerDependencies {
  readonly clock: Clock;
  readonly changes: KeyChangeStore;
  readonly keys: Pick<Keys, "invalidate" | "invalidateAccount" | "invalidateAll">;
  readonly log: Pick<Log, "info" | "warn">;
  readonly events?: Pick<KeysEvents, "keyRevisionRead">;
  /** Something was invalidated. */
  readonly changed: () => void;
}

/**
 * Follows the changes of keys and accounts that other processes make, by the revision that state counts: whoever
 * reaches state has a change within two seconds, with or without notices. Only what has changed is forgotten.
 */
export class ChangeFollower implements AsyncDisposable {
  readonly #dependencies: ChangeFollowerDependencies;
  /** One look at a time, so that a later one begins with the revision of the earlier. */
  readonly #looks = new Serial();
  readonly #task: BackgroundTask;
  #revision: bigint;
  #isFailing = false;

  private constructor(revision: bigint, dependencies: ChangeFollowerDependencies) {
    this.#revision = revision;
    this.#dependencies = dependencies;
    this.#task = new BackgroundTask(
      { everyMs: lookMs },
      { clock: dependencies.clock, work: () => this.look(), onError: () => undefined },
    );
  }

  /** Begins before any key is kept in memory, so that what is kept is of this revision or a later one. */
  static async open(dependencies: ChangeFollowerDependencies): Promise<ChangeFollower> {
    return new ChangeFollower(await dependencies.changes.revision(), dependencies);
  }

  /**
   * Looks at once. Never rejects: while state does not answer nothing is forgotten, since keys serve for a bounded time
   * without it; a failure is logged once for as long as it lasts.
   */
  async look(): Promise<void> {
    const { log } = this.#dependencies;
    try {
      await this.#looks.run(() => this.#follow());
      if (this.#isFailing) log.info({}, "changes of keys are followed again");
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) log.warn({ error: String(error) }, "changes of keys by other processes cannot be followed");
      this.#isFailing = true;
    }
  }

  async #follow(): Promise<void> {
    const { changes: store, keys, events, changed } = this.#dependencies;
    const { revision, changes } = await store.since(this.#revision);
    events?.keyRevisionRead(revision);
    this.#revision = revision;
    if (changes?.length === 0) return;
    if (changes === null) keys.invalidateAll();
    else {
      for (const change of changes) {
        if (change.kind === "key") keys.invalidate(change.hash);
        else keys.invalidateAccount(change.accountId);
      }
    }
    changed();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#task[Symbol.asyncDispose]();
  }
}
