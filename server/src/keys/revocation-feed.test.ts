import { beforeEach, expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import type { GrantChange, KeyChangeStore } from "../state/index.ts";
import { type RevocationFeed, subscribeToRevocations } from "./revocation-feed.ts";

let clock: ManualClock;
let recorded: GrantChange[];
let isDown: boolean;
let isLong: boolean;
let forgotten: string[];
let lines: string[];
let gap: () => void;
let published: string[];
let resources: AsyncDisposableStack;
let feed: RevocationFeed;

const changes: KeyChangeStore = {
  revision: async () => BigInt(recorded.length),
  since: async (seen) => {
    if (isDown) throw new Error("away");
    return { revision: BigInt(recorded.length), changes: isLong ? null : recorded.slice(Number(seen)) };
  },
};

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

beforeEach(async () => {
  [recorded, isDown, isLong, forgotten, lines, published] = [[{ kind: "key", hash: "old" }], false, false, [], [], []];
  clock = new ManualClock();
  resources = new AsyncDisposableStack();
  feed = await subscribeToRevocations({
    clock,
    changes,
    resources,
    hot: {
      publish: async (_channel, message) => void published.push(message),
      subscribe: async (_channel, _handler, options) => {
        gap = options?.onGap ?? gap;
        return { [Symbol.asyncDispose]: async () => undefined };
      },
    },
    keys: {
      invalidate: (hash) => void forgotten.push(`key ${hash}`),
      invalidateAccount: (id) => void forgotten.push(`account ${id}`),
      invalidateAll: () => void forgotten.push("all"),
    },
    log: {
      info: (_fields, message) => void lines.push(message),
      warn: (_fields, message) => void lines.push(message),
    },
  });
});

test("without any notice what has changed is forgotten at the next second, and nothing else", async () => {
  let notified = 0;
  feed.subscribe(() => {
    notified += 1;
  });
  recorded.push({ kind: "key", hash: "a" }, { kind: "account", accountId: "acct_1" });
  clock.advance(1_000);
  await settled();
  expect([forgotten, notified]).toEqual([["key a", "account acct_1"], 1]);
  clock.advance(5_000);
  await settled();
  expect([forgotten.length, notified]).toEqual([2, 1]);
});

test("a gap in the notices has state asked at once, and keys that did not change stay", async () => {
  gap();
  await settled();
  expect(forgotten).toEqual([]);
  recorded.push({ kind: "key", hash: "b" });
  gap();
  await settled();
  expect(forgotten).toEqual(["key b"]);
});

test("while state does not answer nothing is forgotten, which is told once; what changed meanwhile is forgotten after", async () => {
  isDown = true;
  recorded.push({ kind: "key", hash: "c" });
  gap();
  for (let second = 0; second < 5; second += 1) {
    clock.advance(1_000);
    await settled();
  }
  expect([forgotten, lines.length]).toEqual([[], 1]);
  isDown = false;
  clock.advance(1_000);
  await settled();
  expect([forgotten, lines.length]).toEqual([["key c"], 2]);
});

test("changes that are too many, or not known any more, have all keys forgotten", async () => {
  isLong = true;
  recorded.push({ kind: "key", hash: "d" });
  clock.advance(1_000);
  await settled();
  expect(forgotten).toEqual(["all"]);
});

test("a change here is forgotten here before anything is awaited, and published", () => {
  feed.invalidateKey("e");
  feed.invalidateAccount("acct_2");
  expect([forgotten, published]).toEqual([
    ["key e", "account acct_2"],
    ["key e", "account acct_2"],
  ]);
});
