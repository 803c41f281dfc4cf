import type { Log } from "@sluice/lib";
import type { Hot } from "../hot/index.ts";
import type { Keys } from "./keys.ts";

/** Invalidates a key or an account in every process at once: in this one directly, in the others by a notice. */
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
 * Receives the notices of other replicas. When some may have been missed, everything cached is invalidated: reading
 * state again is cheap, and serving a revoked key is not.
 */
export async function subscribeToRevocations(dependencies: {
  readonly hot: Pick<Hot, "publish" | "subscribe">;
  readonly keys: Pick<Keys, "invalidate" | "invalidateAccount" | "invalidateAll">;
  readonly log: Pick<Log, "warn">;
  readonly resources: AsyncDisposableStack;
}): Promise<RevocationFeed> {
  const { hot, keys, log, resources } = dependencies;
  const listeners = new Set<() => void>();
  const notify = (): void => {
    for (const listener of listeners) listener();
  };
  const subscription = await hot.subscribe(
    channel,
    (message) => {
      const [kind, id = ""] = message.split(" ", 2);
      if (kind === "key") keys.invalidate(id);
      else if (kind === "account") keys.invalidateAccount(id);
      notify();
    },
    {
      onGap: () => {
        keys.invalidateAll();
        notify();
      },
    },
  );
  resources.use(subscription);
  const publish = (message: string): void => {
    hot.publish(channel, message).catch((error: unknown) => {
      const text = "other replicas did not receive the revocation of a key; they use it for at most 5 minutes";
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
