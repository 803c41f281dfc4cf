import type { Clock, Log } from "@sluice/lib";
import type { Hot } from "../hot/index.ts";
import type { KeyChangeStore } from "../state/index.ts";
import { ChangeFollower } from "./change-follower.ts";
import type { KeysEvents } from "./events.ts";
import type { Keys } from "./keys.ts";

/** Invalidates a key or an account in every process: in this one at once, in the others by a notice. */
export interface RevocationFeed {
  invalidateKey(hash: string): void;
  invalidateAccount(accountId: string): void;
  /**
   * Calls back after every invalidation here, whichever process caused it: long-lived connections check their key then.
   */
  subscribe(listener: () => void): void;
}

const channel = "keys";

/**
 * Receives the notices of other replicas, which come at once and may be lost, and follows the revision in state, which
 * is read once a second and misses nothing.
 */
export async function subscribeToRevocations(dependencies: {
  readonly clock: Clock;
  readonly hot: Pick<Hot, "publish" | "subscribe">;
  readonly changes: KeyChangeStore;
  readonly keys: Pick<Keys, "invalidate" | "invalidateAccount" | "invalidateAll">;
  readonly log: Pick<Log, "info" | "warn">;
  readonly events?: Pick<KeysEvents, "keyRevisionRead">;
  readonly resources: AsyncDisposableStack;
}): Promise<RevocationFeed> {
  const { hot, keys, log, resources } = dependencies;
  const listeners = new Set<() => void>();
  const notify = (): void => {
    for (const listener of listeners) listener();
  };
  const follower = resources.use(await ChangeFollower.open({ ...dependencies, changed: notify }));
  const subscription = await hot.subscribe(
    channel,
    (message) => {
      const [kind, id = ""] = message.split(" ", 2);
      if (kind === "key") keys.invalidate(id);
      else if (kind === "account") keys.invalidateAccount(id);
      notify();
    },
    { onGap: () => void follower.look() },
  );
  resources.use(subscription);
  const publish = (message: string): void => {
    hot.publish(channel, message).catch((error: unknown) => {
      const text = "other replicas were not notified of a change of a key; they read it from state within two seconds";
      log.warn({ error: String(error) }, text);
    });
  };
  return {
    invalidateKey: (hash) => {
      keys.invalidate(hash);
      notify();
      publish(`key ${hash}`);
    },
    invalidateAccount: (accountId) => {
      keys.invalidateAccount(accountId);
      notify();
      publish(`account ${accountId}`);
    },
    subscribe: (listener) => void listeners.add(listener),
  };
}
