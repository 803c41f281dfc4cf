import { expect, test } from "bun:test";
import { seededRandom, systemClock } from "@sluice/lib";
import { subscribeToSent } from "./sent-elsewhere.ts";
import { inOrder, type SentPlace, type SentTransaction } from "./sent-transactions.ts";

const transaction = (signature: string, sentAtMs: number, changes: Partial<SentTransaction> = {}): SentTransaction => ({
  signature,
  sentAtMs,
  network: "devnet",
  keyId: "key",
  state: "sent",
  slot: null,
  resends: 0,
  ...changes,
});

/** Processes that receive each other's messages, unless `isAway`. */
function world() {
  const handlers = new Map<string, Set<(message: string) => void>>();
  const resources = new AsyncDisposableStack();
  const state = { isAway: false, warnings: 0, answers: 0 };
  let seed = 0;
  const join = (
    all: readonly SentTransaction[],
    driver: "redis" | "memory" = "redis",
    genesis: string | null = null,
  ) => {
    seed += 1;
    return subscribeToSent(
      { waitMs: 5 },
      {
        resources,
        genesisOf: () => genesis,
        clock: systemClock,
        random: seededRandom(seed),
        log: {
          warn: () => {
            state.warnings += 1;
          },
        },
        sent: {
          of: (keyId: string, most: number, after: SentPlace | null = null) =>
            all
              .filter((one) => one.keyId === keyId && (after === null || inOrder(after, one) < 0))
              .toSorted(inOrder)
              .slice(0, most),
        },
        hot: {
          driver,
          publish: async (channel, message) => {
            if (state.isAway) throw new Error("away");
            if (channel.startsWith("sent-told")) state.answers += 1;
            // A message takes a while.
            for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
            for (const handle of handlers.get(channel) ?? []) handle(message);
          },
          subscribe: async (channel, handler) => {
            const present = handlers.get(channel) ?? new Set();
            handlers.set(channel, present.add(handler));
            return { [Symbol.asyncDispose]: async () => void present.delete(handler) };
          },
        },
      },
    );
  };
  return { state, join, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

test("what went through other processes is reported in one order, page by page, and each transaction once", async () => {
  await using processes = world();
  const one = await processes.join([
    transaction("a", 10),
    transaction("c", 30, { state: "confirmed", slot: 18446744073709551615n }),
    transaction("of another", 30, { keyId: "other" }),
  ]);
  await processes.join([transaction("b", 20), transaction("c", 30, { state: "finalized", slot: 7n, resends: 2 })]);
  await processes.join([
    transaction("a", 5, { network: "testnet" }),
    transaction("of a third", 40, { keyId: "third" }),
  ]);
  await processes.join([transaction("e", 30, { slot: 18446744073709551615n }), transaction("d", 30)]);
  const all: SentTransaction[] = [];
  for (let after: SentPlace | null = null; ; ) {
    const page = await one("key", 2, after);
    all.push(...page);
    after = page.at(-1) ?? null;
    if (page.length < 2) break;
  }
  expect(all.map(({ signature }) => signature)).toEqual(["c", "d", "e", "b", "a", "a"]);
  expect(all[0]).toMatchObject({ state: "finalized", slot: 7n, resends: 2 });
  expect(all.slice(4).map(({ network }) => network)).toEqual(["devnet", "testnet"]);
  expect(all[2]?.slot).toBe(18446744073709551615n);
});

test("while the shared store is away the answer is of this process alone, and without one no process is asked", async () => {
  await using processes = world();
  const one = await processes.join([transaction("a", 10)]);
  await processes.join([transaction("b", 20)]);
  processes.state.isAway = true;
  expect((await one("key", 10, null)).map(({ signature }) => signature)).toEqual(["a"]);
  expect(processes.state.warnings).toBe(1);
  const alone = await processes.join([transaction("d", 10)], "memory");
  expect((await alone("key", 10, null)).map(({ signature }) => signature)).toEqual(["d"]);
  expect(processes.state.warnings).toBe(1);
});

test("of a transaction that went through two processes the state is reported that is further, wherever it is known", async () => {
  const states = ["sent", "confirmed", "expired", "failed", "finalized"] as const;
  for (const [index, state] of states.entries()) {
    for (const further of states.slice(index + 1)) {
      for (const [own, other] of [
        [state, further],
        [further, state],
      ] as const) {
        await using processes = world();
        const one = await processes.join([transaction("a", 10, { state: own })]);
        await processes.join([transaction("a", 10, { state: other })]);
        expect(await one("key", 10, null)).toMatchObject([{ signature: "a", state: further }]);
      }
    }
  }
});

test("two questions at one time get an answer each, and a process that has nothing to report sends none", async () => {
  await using processes = world();
  const one = await processes.join([]);
  await processes.join([transaction("a", 10), transaction("b", 10, { keyId: "other" })]);
  await processes.join([transaction("c", 10, { keyId: "third" })]);
  const found = await Promise.all(["key", "other", "nobody"].map((keyId) => one(keyId, 10, null)));
  expect(found.map((items) => items.map(({ signature }) => signature))).toEqual([["a"], ["b"], []]);
  expect(processes.state.answers).toBe(2);
});

test("what was sent on another chain of the network is left out, and what a process of unknown chain tells is not", async () => {
  await using processes = world();
  const one = await processes.join([transaction("own", 10)], "redis", "chain-1");
  await processes.join([transaction("same", 20)], "redis", "chain-1");
  await processes.join([transaction("unknown", 30)], "redis", null);
  await processes.join([transaction("before", 40)], "redis", "chain-0");
  const found = await one("key", 10, null);
  expect(found.map(({ signature }) => signature)).toEqual(["unknown", "same", "own"]);
  expect(Object.keys(found[0] ?? {})).not.toContain("chain");
});
