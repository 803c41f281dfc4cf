import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import type { SubscribeOptions } from "../hot/index.ts";
import { subscribeToRevocations } from "./revocation-feed.ts";

/** A feed whose notices a test delivers, and what it does, in its order. */
async function boot() {
  const done: string[] = [];
  const hot = { deliver: (_message: string): void => {}, miss: (): void => {}, isLost: false };
  const warnings: unknown[] = [];
  const resources = new AsyncDisposableStack();
  const feed = await subscribeToRevocations({
    clock: new ManualClock(),
    changes: {
      revision: async () => 0n,
      since: async () => {
        done.push("read changes");
        return { revision: 0n, changes: [] };
      },
    },
    hot: {
      publish: async (channel, message) => {
        done.push(`publish ${channel}: ${message}`);
        if (hot.isLost) throw new Error("out of reach");
      },
      subscribe: async (channel, handler, { onGap }: SubscribeOptions = {}) => {
        done.push(`subscribe ${channel}`);
        hot.deliver = (message) => handler(message);
        hot.miss = () => onGap?.();
        return { [Symbol.asyncDispose]: async () => void done.push("unsubscribe") };
      },
    },
    keys: {
      invalidate: (hash) => void done.push(`forget key ${hash}`),
      invalidateAccount: (id) => void done.push(`forget account ${id}`),
      invalidateAll: () => void done.push("forget all"),
    },
    log: { info: () => undefined, warn: (fields) => void warnings.push(fields) },
    resources,
  });
  feed.subscribe(() => void done.push("one told"));
  feed.subscribe(() => void done.push("other told"));
  /** What was done since the last look. */
  const since = (): string[] => done.splice(0);
  since();
  return { feed, hot, resources, since, warnings };
}

const told = ["one told", "other told"];

test("a revocation here is done before anybody is told: connections of this process, then the other replicas", async () => {
  const { feed, since } = await boot();
  feed.invalidateKey("abc");
  expect(since()).toEqual(["forget key abc", ...told, "publish keys: key abc"]);
  feed.invalidateAccount("acc_1");
  expect(since()).toEqual(["forget account acc_1", ...told, "publish keys: account acc_1"]);
});

test("a notice of another replica is done here and told to connections, and not sent on", async () => {
  const { hot, since } = await boot();
  hot.deliver("key abc");
  expect(since()).toEqual(["forget key abc", ...told]);
  hot.deliver("account acc_1");
  expect(since()).toEqual(["forget account acc_1", ...told]);
  hot.deliver("something newer");
  expect(since()).toEqual(told);
});

test("when notices may have been missed the changes are read at once, and nothing is told before", async () => {
  const { hot, since } = await boot();
  hot.miss();
  await Bun.sleep(0);
  expect(since()).toEqual(["read changes"]);
});

test("a notice that cannot be sent is told in the log, and the revocation counts here all the same", async () => {
  const { feed, hot, since, warnings } = await boot();
  hot.isLost = true;
  feed.invalidateKey("abc");
  expect(since()).toContain("forget key abc");
  await Bun.sleep(0);
  expect(warnings).toEqual([{ error: "Error: out of reach" }]);
});

test("the subscription ends with what it was opened for", async () => {
  const { resources, since } = await boot();
  await resources.disposeAsync();
  expect(since()).toEqual(["unsubscribe"]);
});
