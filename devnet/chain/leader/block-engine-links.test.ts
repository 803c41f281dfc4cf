import { afterEach, describe, expect, test } from "bun:test";
import { systemClock } from "@sluice/lib";
import { until } from "@sluice/lib/testing";
import type { Address } from "@sluice/wire/identifiers";
import { Keypair, SystemProgram } from "@solana/web3.js";
import { processLog } from "../../log.ts";
import { type ManualChain, signed, startManualChain } from "../testing/chain.ts";
import type { LinkOptions } from "./block-engine-link.ts";
import { BlockEngineLinks } from "./block-engine-links.ts";
import { FakeBlockEngine, packetOf } from "./testing/fake-block-engine.ts";

const sol = 1_000_000_000n;
const engineKey = "4fYNw3dojWmQ4dXtSGE9epjRGy9pFSx62YypT7avPYvA" as Address;
const quick: LinkOptions = { nearest: true, retryMs: 10, tickMs: 10 };

let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

interface TrafficAccounts {
  readonly manual: ManualChain;
  readonly engine: FakeBlockEngine;
  readonly links: BlockEngineLinks;
  readonly payer: Keypair;
}

/** A chain of one validator whose link is open, unless the engine is set to something else before. */
async function cast(
  set: (engine: FakeBlockEngine) => void = () => undefined,
  options: Partial<LinkOptions> = {},
  validators = 1,
): Promise<TrafficAccounts> {
  const engine = stack.use(await FakeBlockEngine.start());
  set(engine);
  const manual = stack.use(await startManualChain({ validators }));
  const links = stack.use(
    new BlockEngineLinks(
      { ...quick, ...options },
      { chain: manual.chain, clock: systemClock, log: processLog("test chain") },
    ),
  );
  const payer = Keypair.generate();
  manual.fund(payer, 100n * sol);
  await manual.closeSlots(1);
  await links.connect(engine.url);
  return { manual, engine, links, payer };
}

const identityOf = ({ chain }: ManualChain) => chain.genesis.validators[0].identity;

function payment({ manual, payer }: TrafficAccounts, lamports: bigint) {
  const pay = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: Keypair.generate().publicKey, lamports });
  return signed(payer, manual.chain.at("processed").blockhash, pay);
}

/** Resolves when a link's facts are so; they change with what the engine sends, which takes its way through sockets. */
const landed = ({ chain }: ManualChain) =>
  chain.history.block(chain.at("processed").slot)?.transactions.map(({ signature }) => signature) ?? [];

test("a validator signs in, reads bundles and packets, and what they hold lands", async () => {
  const all = await cast();
  const { manual, engine, links } = all;
  const identity = identityOf(manual);
  await engine.subscribed(identity);
  const bundle = [payment(all, sol), payment(all, 2n * sol)];
  const packet = payment(all, 3n * sol);
  engine.sendBundles(identity, [null, bundle.map(packetOf)]);
  engine.sendPackets(identity, null);
  engine.sendPackets(identity, [packetOf(packet)]);
  await until(() => links.facts[0]?.bundles === 1 && links.facts[0].packets === 1);
  await manual.closeSlots(1);
  expect(landed(manual).toSorted()).toEqual([...bundle, packet].map(({ id }) => id).toSorted());
  expect(engine.calls.get("GetBlockEngineEndpoints")).toBe(1);
});

test("each validator has its own connection, and its bundles run in its own slots", async () => {
  const all = await cast(undefined, {}, 5);
  const { manual, engine, links } = all;
  const { chain } = manual;
  await Promise.all(chain.genesis.validators.map(({ identity }) => engine.subscribed(identity)));
  expect(engine.calls.get("GenerateAuthChallenge")).toBe(5);
  const now = chain.cluster.leaderOf(chain.openSlot);
  const others = chain.genesis.validators.map(({ identity }) => identity).filter((identity) => identity !== now);
  const bundles = new Map([now, ...others].map((identity, at) => [identity, payment(all, sol + BigInt(at))]));
  for (const [identity, transaction] of bundles) engine.sendBundle(identity, [packetOf(transaction)]);
  await until(() => links.facts.every((link) => link.bundles === 1));
  for (let closed = 0; closed < 24; closed += 1) {
    await manual.closeSlots(1);
    const { slot } = chain.at("processed");
    for (const signature of landed(manual)) expect(signature).toBe(bundles.get(chain.cluster.leaderOf(slot))?.id ?? "");
  }
  const { landed: whole, waiting, dropped } = chain.bundles.facts;
  expect(whole + (dropped["leader far away"] ?? 0)).toBe(5);
  expect([whole > 1, waiting]).toEqual([true, 0]);
});

test("a validator that is refused stays out and is not logged, while others work", async () => {
  const { manual, engine, links } = await cast(undefined, {}, 3);
  await links.connect(null);
  const [first, ...others] = manual.chain.genesis.validators;
  engine.denied.add(first.identity);
  await links.connect(engine.url);
  await until(() => links.facts.filter(({ connected }) => connected).length === others.length);
  await until(() => links.facts[0]?.fault?.includes("is not authorized to generate a challenge.") === true);
  expect(links.facts.map(({ connections }) => connections)).toEqual([0, 1, 1]);
});

for (const [name, feeInfo, fault] of [
  ["takes more than all", { pubkey: engineKey, commission: "101" }, "block builder commission must be <= 100"],
  ["is not a key", { pubkey: "1".repeat(32), commission: "5" }, "invalid block builder pubkey"],
  ["is no key", { pubkey: "none", commission: "5" }, "invalid block builder pubkey"],
] as const) {
  test(`a connection whose block builder ${name} is dropped, and made again when that is mended`, async () => {
    const { manual, engine, links } = await cast((set) => {
      set.feeInfo = feeInfo;
    });
    await until(() => links.facts[0]?.fault === fault);
    expect(links.facts[0]).toMatchObject({ connected: false, connections: 0 });
    expect(manual.chain.blockBuilder(identityOf(manual))).toBeNull();
    engine.feeInfo = { pubkey: engineKey, commission: "100" };
    await until(() => links.facts[0]?.connected === true);
    expect(manual.chain.blockBuilder(identityOf(manual))).toEqual({ address: engineKey, commissionPercent: 100n });
  });
}

test("tokens that do not say when they end are not taken", async () => {
  const { links } = await cast((engine) => {
    engine.datesTokens = false;
  });
  await until(() => links.facts[0]?.fault === "auth tokens lack access_token");
  expect(links.facts[0]?.connected).toBe(false);
});

test("an access token is renewed before it ends, and the connection goes on", async () => {
  const { manual, engine, links } = await cast((set) => {
    set.accessTokenMs = 900;
  });
  await engine.until(() => (engine.calls.get("RefreshAccessToken") ?? 0) >= 3);
  expect(engine.calls.get("GenerateAuthTokens")).toBe(1);
  expect(links.facts[0]).toMatchObject({ connected: true, connections: 1 });
  await engine.subscribed(identityOf(manual));
});

test("when what renews it ends too, the validator signs in again, and the connection goes on", async () => {
  const { engine, links } = await cast((set) => {
    set.accessTokenMs = 900;
    set.refreshTokenMs = 900;
  });
  await engine.until(() => (engine.calls.get("GenerateAuthTokens") ?? 0) >= 3);
  expect(engine.calls.get("RefreshAccessToken")).toBeUndefined();
  expect(links.facts[0]).toMatchObject({ connected: true, connections: 1 });
});

test("an engine that is there only later, is killed, and comes back is found each time", async () => {
  const all = await cast((engine) => engine.kill());
  const { manual, engine, links } = all;
  const identity = identityOf(manual);
  await until(() => links.facts[0]?.fault !== null);
  for (let life = 1; life <= 3; life += 1) {
    await engine.listen();
    await until(() => links.facts[0]?.connections === life && links.facts[0].connected);
    const bundle = [payment(all, sol + BigInt(life))];
    engine.sendBundle(identity, bundle.map(packetOf));
    await until(() => links.facts[0]?.bundles === life);
    await manual.closeSlots(1);
    expect(landed(manual)).toEqual(bundle.map(({ id }) => id));
    engine.kill();
    await until(() => links.facts[0]?.connected === false);
  }
});

test("a stream that ends in order is a connection lost, too", async () => {
  const { manual, engine, links } = await cast();
  await engine.subscribed(identityOf(manual));
  await until(() => links.facts[0]?.connected === true);
  engine.endStreams(identityOf(manual));
  await until(() => links.facts[0]?.connections === 2);
  await engine.subscribed(identityOf(manual));
});

describe("an engine says where validators connect", () => {
  const endpoint = (url: string) => ({ block_engine_url: url, shredstream_receiver_address: "127.0.0.1:1" });
  const gone = "http://127.0.0.1:1";

  test("to a region that answers, when the nearest is looked for", async () => {
    const region = stack.use(await FakeBlockEngine.start());
    const { manual, engine } = await cast((set) => {
      set.endpoints = { global_endpoint: endpoint(set.url), regioned_endpoints: [gone, region.url].map(endpoint) };
    });
    await region.subscribed(identityOf(manual));
    expect(region.calls.get("GetBlockEngineEndpoints")).toBe(3);
    expect(engine.calls.get("GenerateAuthChallenge")).toBeUndefined();
  });

  test("to the global one, when no region answers", async () => {
    const { manual, engine } = await cast((set) => {
      set.endpoints = { global_endpoint: endpoint(set.url), regioned_endpoints: [endpoint(gone)] };
    });
    await engine.subscribed(identityOf(manual));
  });

  test("to the global one and not to the URL that was given, when the nearest is not looked for", async () => {
    const [global, region] = [stack.use(await FakeBlockEngine.start()), stack.use(await FakeBlockEngine.start())];
    const { manual, engine } = await cast(
      (set) => {
        set.endpoints = { global_endpoint: endpoint(global.url), regioned_endpoints: [endpoint(region.url)] };
      },
      { nearest: false },
    );
    await global.subscribed(identityOf(manual));
    expect([engine, region].map(({ calls }) => calls.get("GenerateAuthChallenge"))).toEqual([undefined, undefined]);
  });

  test("to none, and then no validator connects", async () => {
    const { links } = await cast((set) => {
      set.endpoints = { global_endpoint: null, regioned_endpoints: [] };
    });
    await until(() => links.facts[0]?.fault === "no reachable endpoints found");
  });
});

test("a fork that abandons a bundle's slot takes all of it back, and it may be delivered again", async () => {
  const all = await cast();
  const { manual, engine, links } = all;
  const { chain } = manual;
  await engine.subscribed(identityOf(manual));
  await manual.closeSlots(2);
  const before = chain.accounts.lamports;
  const bundle = [payment(all, sol), payment(all, 2n * sol)];
  const deliver = async (times: number) => {
    engine.sendBundle(identityOf(manual), bundle.map(packetOf));
    await until(() => links.facts[0]?.bundles === times);
    await manual.closeSlots(1);
  };
  await deliver(1);
  expect(landed(manual)).toEqual(bundle.map(({ id }) => id));
  await chain.fork(1, false);
  expect(bundle.map(({ id }) => chain.history.transaction(id))).toEqual([null, null]);
  expect(chain.accounts.lamports).toBe(before);
  await deliver(2);
  expect(landed(manual)).toEqual(bundle.map(({ id }) => id));
});

test("validators take another engine, or none, on request", async () => {
  const other = stack.use(await FakeBlockEngine.start());
  const { manual, engine, links } = await cast();
  const identity = identityOf(manual);
  await engine.subscribed(identity);
  await links.connect(other.url);
  await other.subscribed(identity);
  expect(links.url).toBe(other.url);
  await links.connect(null);
  expect([links.url, links.facts]).toEqual([null, []]);
});
