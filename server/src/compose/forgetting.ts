import type { Hot } from "../hot/index.ts";
import type { Keys } from "../keys/index.ts";
import type { Log } from "../observe/index.ts";

/** Making every process forget a key or an account at once: this one directly, the others by a notice. */
export interface Forgetting {
  forgetKey(hash: string): void;
  forgetAccount(accountId: string): void;
}

const channel = "keys";

/**
 * Follows the notices of other replicas. When some may have been missed, all that is cached is forgotten: asking state
 * again is cheap, and serving a revoked key is not.
 */
export async function followForgetting(dependencies: {
  hot: Hot;
  keys: Keys;
  log: Log;
  resources: AsyncDisposableStack;
}): Promise<Forgetting> {
  const { hot, keys, log, resources } = dependencies;
  const subscription = await hot.subscribe(
    channel,
    (message) => {
      const [kind, id = ""] = message.split(" ", 2);
      if (kind === "key") keys.invalidate(id);
      else if (kind === "account") keys.invalidateAccount(id);
    },
    { onGap: () => keys.invalidateAll() },
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
      tell(`key ${hash}`);
    },
    forgetAccount: (accountId) => {
      keys.invalidateAccount(accountId);
      tell(`account ${accountId}`);
    },
  };
}
