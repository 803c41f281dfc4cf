import type { Hot } from "../hot/index.ts";
import type { Keys } from "../keys/index.ts";
import type { Log } from "../observe/index.ts";

/** Making every process forget a key or an account at once: this one directly, the others by a notice. */
export interface Forgetting {
  forgetKey(hash: string): void;
  forgetAccount(accountId: string): void;
  /** Tells whenever something has been forgotten here, whoever asked for it: long-lived connections ask again then. */
  follow(listener: () => void): void;
}

const channel = "keys";

/**
 * Follows the notices of other replicas. When some may have been missed, all that is cached is forgotten: asking state
 * again is cheap, and serving a revoked key is not.
 */
export async function followForgetting(dependencies: {
  hot: Pick<Hot, "publish" | "subscribe">;
  keys: Pick<Keys, "invalidate" | "invalidateAccount" | "invalidateAll">;
  log: Pick<Log, "warn">;
  resources: AsyncDisposableStack;
}): Promise<Forgetting> {
  const { hot, keys, log, resources } = dependencies;
  const listeners = new Set<() => void>();
  const tellListeners = (): void => {
    for (const listener of listeners) listener();
  };
  const subscription = await hot.subscribe(
    channel,
    (message) => {
      const [kind, id = ""] = message.split(" ", 2);
      if (kind === "key") keys.invalidate(id);
      else if (kind === "account") keys.invalidateAccount(id);
      tellListeners();
    },
    {
      onGap: () => {
        keys.invalidateAll();
        tellListeners();
      },
    },
  );
  resources.use(subscription);
  const tell = (message: string): void => {
    hot.publish(channel, message).catch((fault: unknown) => {
      log.warn({ fault: String(fault) }, "other replicas could not be told to forget a key; they do within 5 minutes");
    });
  };
  return {
    forgetKey: (hash) => {
      keys.invalidate(hash);
      tellListeners();
      tell(`key ${hash}`);
    },
    forgetAccount: (accountId) => {
      keys.invalidateAccount(accountId);
      tellListeners();
      tell(`account ${accountId}`);
    },
    follow: (listener) => void listeners.add(listener),
  };
}
