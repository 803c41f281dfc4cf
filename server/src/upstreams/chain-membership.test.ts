import { afterEach, expect, test } from "bun:test";
import { seededRandom, systemClock } from "@sluice/lib";
import { until } from "@sluice/lib/testing";
import type { ChainRecord } from "../state/index.ts";
import { answerOf, read } from "./testing/cluster.ts";
import { StubNode } from "./testing/stub-node.ts";
import { createUpstreams, type UpstreamsOptions } from "./upstreams.ts";

const otherGenesis = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG";
const stack: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of stack.splice(0).reverse()) await each[Symbol.asyncDispose]();
});

const own = <T extends Disposable>(one: T): T => {
  stack.push({ [Symbol.asyncDispose]: async () => one[Symbol.dispose]() });
  return one;
};

const optionsOf = (node: StubNode, index: number) => ({
  label: String.fromCharCode(97 + index),
  url: node.url,
  ws: node.ws,
  headers: {},
  groups: ["read"] as const,
  weight: 1,
  requestsPerSecond: null,
});

function boot(nodes: readonly StubNode[], chains: Partial<UpstreamsOptions["chains"]> = {}) {
  const state = { stored: null as ChainRecord | null, newChains: 0 };
  const genesis = { mainnet: null, testnet: null, devnet: null };
  const networks = { mainnet: [], testnet: [], devnet: nodes.map(optionsOf) };
  const upstreams = createUpstreams(
    { networks, chains: { genesis, allowUnknown: [], followsNodes: false, ...chains } },
    {
      clock: systemClock,
      random: seededRandom(4),
      onSlot: () => {},
      onNewChain: () => {
        state.newChains += 1;
      },
      chainStore: {
        find: async () => state.stored,
        put: async (_network, chain) => {
          state.stored = chain;
        },
      },
    },
  );
  stack.push(upstreams);
  const pool = upstreams.pool("devnet");
  if (pool === null) throw new Error("no pool");
  const outs = () => pool.health().map(({ out }) => out);
  return { upstreams, pool, state, outs, networks };
}

const node = (name: string) => own(new StubNode(answerOf(`"${name}"`)));

test("a node of another chain is asked nothing for clients, counts for nothing, and is shown for what it is", async () => {
  const [a, b, foreign] = [node("a"), node("b"), node("foreign")];
  foreign.genesis = otherGenesis;
  foreign.slot = 9_000_000;
  const { upstreams, pool, outs } = boot([foreign, a, b]);
  upstreams.start();
  await pool.checked();
  await until(() => outs().join() === "other-chain,,");
  expect(pool.slotOf("processed")).toBe(100n);
  for (let call = 0; call < 20; call += 1) expect((await pool.call(read())).ok).toBe(true);
  await pool.call({ ...read("sendTransaction"), kind: "send" });
  expect(foreign.calls).toEqual([]);
  // Not even when it is all that is left: its answers would be of another chain.
  for (const label of ["b", "c"]) pool.order(label, "cordoned");
  expect(await pool.call(read())).toMatchObject({ ok: false, refused: "NETWORK_UNAVAILABLE" });
  expect(await pool.call({ ...read("sendTransaction"), kind: "send" })).toMatchObject({ ok: false });
  expect([foreign.calls, pool.pubsubNode()]).toEqual([[], null]);
  expect(pool.health()[0]).toMatchObject({ mayServe: false, healthy: false, out: "other-chain" });
});

test("calls that come before the nodes were asked wait for that, and a node that is added later is asked at once", async () => {
  const [a, late, foreign] = [node("a"), node("late"), node("foreign")];
  foreign.genesis = otherGenesis;
  const { upstreams, pool, outs, networks } = boot([a]);
  upstreams.start();
  expect(await pool.call(read())).toMatchObject({ ok: true, answer: { label: "a" } });
  const nodes = [a, late, foreign].map(optionsOf);
  upstreams.reconfigure({ ...networks, devnet: nodes.slice(1) }, 50n);
  // The only node is being exchanged: no call is refused meanwhile.
  expect(await pool.call(read())).toMatchObject({ ok: true, answer: { label: "b" } });
  await until(() => outs().join() === ",other-chain");
});

test("a node that cannot be reached at the start joins as soon as it speaks", async () => {
  const a = node("a");
  const dead = new StubNode(answerOf("1"));
  const port = Number(new URL(dead.url).port);
  dead[Symbol.dispose]();
  const { upstreams, pool, outs } = boot([
    a,
    { url: `http://127.0.0.1:${port}`, ws: `ws://127.0.0.1:${port}` } as StubNode,
  ]);
  upstreams.start();
  await pool.checked();
  await until(() => outs().join() === ",silent");
  expect((await pool.call(read())).ok).toBe(true);
});

test("when the chain is another one than before belief starts anew and what was kept is given up", async () => {
  const a = node("a");
  a.blocks.set(1, "before");
  a.slot = 5_000;
  const { upstreams, pool, state, outs } = boot([a], { followsNodes: true });
  state.stored = { genesis: a.genesis ?? "", first: { slot: 1n, blockhash: "long ago" } };
  upstreams.start();
  await until(() => state.newChains === 1 && outs().join() === "");
  expect(state.stored.first).toEqual({ slot: 1n, blockhash: "before" });
  expect(pool.slotOf("processed")).toBe(5_000n);
});
