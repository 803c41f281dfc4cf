import { describe, expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import type { ChainRecord } from "../state/index.ts";
import { ChainCheck, type ChainCheckOptions, type CheckedNode } from "./chain-check.ts";

/** What a node of a test answers: its genesis (null refuses, undefined is unreachable) and the hashes of its blocks. */
interface Told {
  genesis: string | null | undefined;
  blocks: Record<string, string>;
}

const hash = (name: string): string => name.padEnd(43, "1");
const [own, other, third] = ["own", "other", "third"].map(hash) as [string, string, string];

function boot(
  nodes: Record<string, Told>,
  options: Partial<ChainCheckOptions> = {},
  stored: ChainRecord | null = null,
  isStoreDown = false,
) {
  const clock = new ManualClock();
  const state = { stored, isStoreDown, asked: [] as string[], changes: [] as string[], news: 0, errors: 0 };
  const checked: (CheckedNode & { told: Told })[] = Object.entries(nodes).map(([label, told]) => ({
    label,
    options: { url: label, headers: {} },
    chain: "unverified",
    told,
  }));
  const find = (url: string) => checked.find(({ label }) => label === url)?.told ?? { genesis: undefined, blocks: {} };
  const check = new ChainCheck(
    { network: "devnet", genesis: null, allowUnknown: [], followsNodes: false, ...options },
    {
      clock,
      nodes: () => checked,
      store: {
        find: async () => {
          if (state.isStoreDown) throw new Error("down");
          return state.stored;
        },
        put: async (_network, chain) => {
          state.stored = chain;
        },
      },
      ask: async ({ url }, { method, params }) => {
        state.asked.push(`${url} ${method}`);
        const { genesis, blocks } = find(url);
        if (genesis === undefined) return { ok: false, reason: "unreachable" };
        const slots = Object.keys(blocks).map(BigInt);
        const [param] = JSON.parse(params) as [number?];
        const blockhash = blocks[String(param)];
        switch (method) {
          case "getGenesisHash":
            return genesis === null ? { ok: false, reason: "refused" } : { ok: true, result: genesis };
          case "getFirstAvailableBlock":
            return { ok: true, result: slots[0] ?? 0n };
          case "getSlot":
            return { ok: true, result: slots.at(-1) ?? 0n };
          case "getBlocksWithLimit":
            return { ok: true, result: slots.filter((slot) => slot >= BigInt(param ?? 0)).slice(0, 1) };
          default:
            return blockhash === undefined ? { ok: false, reason: "refused" } : { ok: true, result: { blockhash } };
        }
      },
      onMembership: ({ label, chain }) => void state.changes.push(`${label} ${chain}`),
      onNewChain: () => {
        state.news += 1;
      },
      onError: () => {
        state.errors += 1;
      },
    },
  );
  const round = async (ms = 0) => {
    clock.advance(ms);
    await check.check();
  };
  const chains = () => Object.fromEntries(checked.map(({ label, chain }) => [label, chain]));
  return { check, checked, state, round, chains, nodes };
}

const at = (genesis: Told["genesis"], blocks: Record<string, string> = { "1": "first" }): Told => ({ genesis, blocks });

describe("which chain is expected", () => {
  test("what an operator has set stands above what is stored and what most nodes tell", async () => {
    const stored = { genesis: other, first: null };
    const { check, chains, state } = boot({ a: at(other), b: at(own), c: at(other) }, { genesis: own }, stored);
    check.start();
    await check.check();
    expect(chains()).toEqual({ a: "other-chain", b: "joined", c: "other-chain" });
    expect([state.stored?.genesis, state.news]).toEqual([own, 1]);
  });

  test("what is stored stands above what most nodes tell", async () => {
    const { check, chains, state } = boot(
      { a: at(other), b: at(own), c: at(other) },
      {},
      { genesis: own, first: null },
    );
    check.start();
    await check.check();
    expect(chains()).toEqual({ a: "other-chain", b: "joined", c: "other-chain" });
    expect([state.stored?.genesis, state.news]).toEqual([own, 0]);
  });

  test("else most nodes decide, the first configured on a tie, and it is stored with the first block after the genesis", async () => {
    const most = boot({ a: at(other), b: at(own, { "0": "zero", "7": "seven" }), c: at(own) });
    most.check.start();
    await most.check.check();
    expect(most.chains()).toEqual({ a: "other-chain", b: "joined", c: "joined" });
    expect(most.state.stored).toEqual({ genesis: own, first: { slot: 7n, blockhash: "seven" } });
    const tie = boot({ a: at(other), b: at(own) });
    tie.check.start();
    await tie.check.check();
    expect(tie.chains()).toEqual({ a: "joined", b: "other-chain" });
  });

  test("nodes that cannot be reached have no say, and stop nobody", async () => {
    const { check, chains, nodes, round } = boot({ a: at(undefined), b: at(undefined), c: at(own) });
    check.start();
    await check.check();
    expect(chains()).toEqual({ a: "unverified", b: "unverified", c: "joined" });
    Object.assign(nodes["a"] ?? {}, at(own));
    Object.assign(nodes["b"] ?? {}, at(third));
    await round(2_000);
    expect(chains()).toEqual({ a: "joined", b: "other-chain", c: "joined" });
  });

  test("without an answer of the store nobody joins, and it is asked again", async () => {
    const { check, chains, state, round } = boot({ a: at(own) }, {}, null, true);
    check.start();
    await check.check();
    expect([chains(), state.errors > 0]).toEqual([{ a: "unverified" }, true]);
    state.isStoreDown = false;
    await round(2_000);
    expect(chains()).toEqual({ a: "joined" });
  });
});

test("a node that does not tell its genesis joins only when it is named", async () => {
  const { check, chains, state } = boot({ a: at(own), b: at(null), c: at(null) }, { allowUnknown: ["c"] });
  check.start();
  await check.check();
  expect(chains()).toEqual({ a: "joined", b: "unverified", c: "joined" });
  expect(state.changes.toSorted()).toEqual(["a joined", "c joined"]);
  const alone = boot({ a: at(null) }, { allowUnknown: ["a"] });
  alone.check.start();
  await alone.check.check();
  expect([alone.chains(), alone.state.stored]).toEqual([{ a: "joined" }, null]);
});

test("a node whose address leads to another chain is kept out within seconds, and joins when it is back", async () => {
  const { check, chains, nodes, round, state } = boot({ a: at(own), b: at(own) });
  check.start();
  await check.check();
  Object.assign(nodes["b"] ?? {}, at(other));
  await round(2_000);
  expect(chains()).toEqual({ a: "joined", b: "joined" });
  const asked = state.asked.length;
  await round(2_000);
  // Nodes that have joined are not asked each time.
  expect(state.asked.length).toBe(asked);
  // Six seconds after it told another one at the latest: it is asked at the third tick.
  await round(2_000);
  expect(chains()).toEqual({ a: "joined", b: "other-chain" });
  Object.assign(nodes["b"] ?? {}, at(own));
  await round(2_000);
  expect(chains()).toEqual({ a: "joined", b: "joined" });
  expect(state.news).toBe(0);
});

test("a node that has joined and cannot be reached stays a member", async () => {
  const { check, chains, nodes, round } = boot({ a: at(own) });
  check.start();
  await check.check();
  Object.assign(nodes["a"] ?? {}, at(undefined));
  for (let turn = 0; turn < 40; turn += 1) await round(2_000);
  expect(chains()).toEqual({ a: "joined" });
});

describe("a chain that was started anew", () => {
  const stored = { genesis: own, first: { slot: 1n, blockhash: "before" } };

  test("in development is taken as the network's, with the same genesis and with another one", async () => {
    const same = boot({ a: at(own, { "1": "after" }) }, { followsNodes: true }, stored);
    same.check.start();
    await same.check.check();
    expect([same.chains(), same.state.news]).toEqual([{ a: "joined" }, 1]);
    expect(same.state.stored).toEqual({ genesis: own, first: { slot: 1n, blockhash: "after" } });
    Object.assign(same.nodes["a"] ?? {}, at(other));
    for (let turn = 0; turn < 16; turn += 1) await same.round(2_000);
    expect([same.chains(), same.state.news, same.state.stored?.genesis]).toEqual([{ a: "joined" }, 2, other]);
  });

  test("in production is not the network's, until an operator names its genesis", async () => {
    const held = boot({ a: at(own, { "1": "after" }), b: at(own, { "1": "before" }) }, {}, stored);
    held.check.start();
    await held.check.check();
    expect([held.chains(), held.state.news, held.state.stored]).toEqual([{ a: "other-chain", b: "joined" }, 0, stored]);
    Object.assign(held.nodes["a"] ?? {}, at(own, { "1": "before" }));
    for (let turn = 0; turn < 16; turn += 1) await held.round(2_000);
    expect(held.chains()).toEqual({ a: "joined", b: "joined" });
    const named = boot({ a: at(own, { "1": "after" }) }, { genesis: own }, stored);
    named.check.start();
    await named.check.check();
    expect([named.chains(), named.state.news]).toEqual([{ a: "joined" }, 1]);
  });

  test("is not what one node of two says", async () => {
    const { check, state } = boot(
      { a: at(own, { "1": "after" }), b: at(own, { "1": "before" }) },
      { followsNodes: true },
      stored,
    );
    check.start();
    await check.check();
    expect([state.news, state.stored]).toEqual([0, stored]);
  });

  test("is not told from one whose nodes have purged the block that was known: the chain stays the stored one", async () => {
    for (const followsNodes of [false, true]) {
      const { check, chains, state, nodes, round } = boot({ a: at(own, { "500": "later" }) }, { followsNodes }, stored);
      check.start();
      await check.check();
      // It purges on, as a node does that keeps so many slots.
      for (let slot = 600; slot < 1_000; slot += 100) {
        Object.assign(nodes["a"] ?? {}, at(own, { [slot]: `block ${slot}` }));
        await round(6_000);
      }
      expect([chains(), state.news, state.stored, check.chain]).toEqual([{ a: "joined" }, 0, stored, stored]);
    }
  });

  test("is found by a later block once the stored one is purged, in development and in production", async () => {
    const purged = { "400": "fourth", "500": "fifth", "600": "sixth" };
    const anew = { "400": "fourth", "500": "another fifth", "600": "another sixth" };
    const dev = boot({ a: at(own, purged) }, { followsNodes: true }, stored);
    dev.check.start();
    await dev.check.check();
    Object.assign(dev.nodes["a"] ?? {}, at(own, anew));
    await dev.round(6_000);
    expect([dev.state.news, dev.state.stored?.first]).toEqual([1, { slot: 500n, blockhash: "another fifth" }]);
    const serve = boot({ a: at(own, purged), b: at(own, purged), c: at(own, anew) }, {}, stored);
    serve.check.start();
    await serve.check.check();
    await serve.round(6_000);
    expect(serve.chains()).toEqual({ a: "joined", b: "joined", c: "other-chain" });
    expect([serve.state.news, serve.state.stored]).toEqual([0, stored]);
  });

  test("is found in development while it is shorter than what was known, and where it skipped that slot", async () => {
    const middle = { genesis: own, first: { slot: 500n, blockhash: "before" } };
    const shorter = { "1": "anew", "40": "fortieth" };
    for (const blocks of [shorter, { ...shorter, "501": "beyond" }]) {
      const dev = boot({ a: at(own, blocks) }, { followsNodes: true }, middle);
      dev.check.start();
      await dev.check.check();
      expect([dev.state.news, dev.state.stored?.first]).toEqual([1, { slot: 1n, blockhash: "anew" }]);
      const serve = boot({ a: at(own, blocks) }, {}, middle);
      serve.check.start();
      await serve.check.check();
      expect([serve.chains(), serve.state.news, serve.state.stored]).toEqual([{ a: "joined" }, 0, middle]);
    }
  });

  test("is not a node that lags behind the first block that was known, nor one that does not tell its slots", async () => {
    const middle = { genesis: own, first: { slot: 500n, blockhash: "before" } };
    const dev = boot({ a: at(own, {}), b: at(own, { "1": "first" }), c: at(own, {}) }, { followsNodes: true }, middle);
    dev.check.start();
    for (let turn = 0; turn < 4; turn += 1) await dev.round(6_000);
    expect([dev.state.news, dev.state.stored]).toEqual([0, middle]);
  });

  test("is not what one node says of a later block that most others contradict", async () => {
    const purged = { "400": "fourth", "500": "fifth", "600": "sixth" };
    const lie = { ...purged, "500": "a lie" };
    const serve = boot({ a: at(own, lie), b: at(own, purged), c: at(own, purged) }, {}, stored);
    serve.check.start();
    for (let turn = 0; turn < 4; turn += 1) await serve.round(6_000);
    expect(serve.chains()).toEqual({ a: "joined", b: "joined", c: "joined" });
  });
});

test("a call may wait for nodes that were never asked, and for no others", async () => {
  const { check, checked } = boot({ a: at(own), b: at(undefined) });
  expect(check.pending).toBeNull();
  check.start();
  const { pending } = check;
  expect(pending).not.toBeNull();
  await pending;
  expect(checked[0]?.chain).toBe("joined");
  expect(check.pending).toBeNull();
});
