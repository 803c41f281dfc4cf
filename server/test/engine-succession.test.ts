/** Two block engines on one PostgreSQL: one keeps the book, the other stands by and takes over. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { formatApiKey } from "@sluice/contract/api-key";
import { protoFiles } from "@sluice/contract/proto";
import { eventually } from "@sluice/lib/testing";
import { Keypair, type VersionedTransaction } from "@solana/web3.js";
import { Client } from "pg";
import { PlainClient } from "../src/net/grpc/testing/grpc-client.ts";
import { newSchema, type Schema } from "../src/state/testing/schema.ts";
import { memo, pay, signatureOf, signed, tip } from "./testing/bundles.ts";
import { type FaultyChain, startFaultyChain } from "./testing/chain.ts";
import { ChainReader } from "./testing/chain-reader.ts";
import { descendants, freePortOffset, type Network, startNetwork } from "./testing/network.ts";
import { RestSearcher } from "./testing/searcher.ts";
import { healthService } from "./testing/standard-services.ts";

setDefaultTimeout(90_000);

const databaseUrl = Bun.env["DATABASE_URL"] ?? "";
if (databaseUrl === "") console.warn("NOT RUN: block engines that stand by, on PostgreSQL (DATABASE_URL is not set)");

/** Many times what it takes where the machine is free: the time of the lease, and the opening. */
const takeoverMs = 20_000;

interface Place {
  readonly network: Network;
  readonly rest: string;
  readonly grpcPort: number;
}

let schema: Schema;
let chain: FaultyChain;
let reader: ChainReader;
const started: Network[] = [];

async function start(): Promise<Place> {
  const portOffset = await freePortOffset();
  const network = await startNetwork({
    portOffset,
    env: { UPSTREAMS_DEVNET: `devnet=${chain.rpc};ws=${chain.ws}`, DATABASE_URL: schema.url },
    args: ["--oracle", "off"],
  });
  started.push(network);
  return { network, rest: `${network.dev.doors["engineRest"]}`, grpcPort: 7440 + portOffset };
}

// biome-ignore lint/suspicious/noExplicitAny: answers are asserted on, member by member.
const statusOf = async ({ rest }: Place): Promise<any> => await (await fetch(`${rest}/api/v1/status`)).json();

async function isActive(place: Place): Promise<boolean> {
  const { role, status } = await statusOf(place);
  return role === undefined && status === "ok";
}

async function metric({ network }: Place, name: string): Promise<number> {
  const text = await (await fetch(`${network.dev.doors["metrics"]}`)).text();
  const line = text.split("\n").find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
}

/** The processes that simulate bundles, for this place alone. */
const simulators = ({ network }: Place): number[] =>
  descendants(network.process.pid).filter((pid) => {
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
    return command.includes("svm/bundles/");
  });

const leaseMetric = (name: string): string => `sluice_lease_${name}{network="devnet",job="engine-book"}`;

/** Has the validators take bundles from this one, as a balancer in front of both would. */
async function lead({ grpcPort }: Place): Promise<void> {
  await chain.admin("devnet_blockEngine", { url: `http://127.0.0.1:${grpcPort}` });
}

type Pair = readonly [VersionedTransaction, VersionedTransaction];

async function pair(text: string, first: Keypair): Promise<Pair> {
  const second = Keypair.generate();
  const blockhash = await reader.blockhash();
  return [
    signed(first, blockhash, pay(first, second.publicKey, 50_000_000), memo(text)),
    signed(second, blockhash, tip(second)),
  ];
}

/** The end that is reported of a bundle is the one that the chain knows. */
async function expectTrueEnd(searcher: RestSearcher, id: string, bundle: Pair): Promise<string> {
  const shown = await eventually(
    `the end of ${id}`,
    async () => {
      const body = await searcher.status(id);
      return body.status !== "accepted" && body;
    },
    45_000,
  );
  const found = await Promise.all(bundle.map((each) => reader.landed(signatureOf(each))));
  const slots = found.map((each) => (each?.err === null ? each.slot : null));
  expect(slots[1] ?? null).toBe(slots[0] ?? null);
  expect(shown.slot).toBe(slots[0] ?? null);
  expect(shown.status === "included").toBe(slots[0] !== null);
  return shown.status;
}

/**
 * Bundles that all write the payer's account, so that they are sold one after the other and something comes between.
 */
async function accepted(searcher: RestSearcher, text: string) {
  const [payer] = await reader.wallets(1);
  const bundles = await Promise.all(Array.from({ length: 8 }, (_, at) => pair(`${text} ${at}`, payer)));
  return await Promise.all(bundles.map(async (bundle) => ({ bundle, id: await searcher.accepted(bundle) })));
}

async function expectTrueEnds(searcher: RestSearcher, bundles: Awaited<ReturnType<typeof accepted>>): Promise<void> {
  const ends: string[] = [];
  for (const { id, bundle } of bundles) ends.push(await expectTrueEnd(searcher, id, bundle));
  expect(ends.filter((end) => end === "included").length).toBeGreaterThan(0);
}

const slotCall = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getSlot" });

/** A table that nobody else can read or write until this is disposed of. */
async function locked(table: string): Promise<AsyncDisposable & { readonly client: Client }> {
  const client = new Client({ connectionString: schema.url });
  await client.connect();
  await client.query(`begin; lock table ${table} in access exclusive mode`);
  return { client, [Symbol.asyncDispose]: () => client.end() };
}

async function leaseOf(client: Client): Promise<{ readonly epoch: bigint; readonly beats: bigint }> {
  const { rows } = await client.query("select epoch, beats from leases where holder <> ''");
  return { epoch: BigInt(rows[0].epoch), beats: BigInt(rows[0].beats) };
}

if (databaseUrl !== "") {
  let one: Place;
  let other: Place;
  let key: string;

  beforeAll(async () => {
    schema = await newSchema(databaseUrl);
    chain = await startFaultyChain("--slot-ms", "150", "--finalized-after", "12", "--block-engine-retry-ms", "100");
    reader = new ChainReader(chain.rpc);
    one = await start();
    await lead(one);
    other = await start();
    key = one.network.dev.key;
    await eventually("the first one runs", () => isActive(one));
  }, 90_000);
  afterAll(async () => {
    await chain?.admin("devnet_blockEngine", { url: null });
    await Promise.all(started.map((network) => network[Symbol.asyncDispose]()));
    await chain?.[Symbol.asyncDispose]();
    await schema?.[Symbol.asyncDispose]();
  }, 60_000);

  test("the second one stands by, with the processes that simulate, and every endpoint of it says so", async () => {
    expect(simulators(other).length).toBe(2);
    expect(await statusOf(other)).toMatchObject({ role: "standby", status: "maintenance" });
    const refused = await new RestSearcher(other.rest, key).post({ transactions: [], tip: 1 });
    expect([refused.status, refused.body.code]).toEqual([503, "maintenance"]);
    expect(refused.body.detail).toContain("stands by");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    using client = new PlainClient(other.grpcPort, {
      file: protoFiles.blockEngine,
      service: "blockengine.v1.BlockEngine",
    });
    const headers = { "x-api-key": key };
    expect(await client.call("SubmitBundle", {}, headers)).toMatchObject({ status: "UNAVAILABLE" });
    expect(await client.duplex("SubmitBundleStream", headers).ended).toMatchObject({ status: "UNAVAILABLE" });
    using validator = new PlainClient(other.grpcPort, {
      file: protoFiles.validator,
      service: "block_engine.BlockEngineValidator",
    });
    expect(await validator.subscribe("SubscribeBundles").ended).toMatchObject({ status: "UNAVAILABLE" });
    using watching = new PlainClient(other.grpcPort, healthService);
    const check = { service: "blockengine.v1.BlockEngine" };
    expect(await watching.call("Check", check)).toMatchObject({ message: { status: "NOT_SERVING" } });
    // What it reads of the chain it catches up with first.
    const health = await eventually("its health", async () => {
      const body = await (await fetch(new URL("/health", other.network.rpcUrl))).json();
      return body.status === "ok" && body;
    });
    expect(health).toMatchObject({ parts: { engine: "standby" } });
    const readyOf = async (rest: string): Promise<number> => (await fetch(`${rest}/ready`)).status;
    expect([await readyOf(one.rest), await readyOf(other.rest)]).toEqual([200, 503]);
    expect((await fetch(new URL("/ready?role=engine", other.network.rpcUrl))).status).toBe(503);
    expect((await fetch(new URL("/ready", other.network.rpcUrl))).status).toBe(200);
    expect([await metric(one, "sluice_engine_active"), await metric(other, "sluice_engine_active")]).toEqual([1, 0]);
    const socket = new WebSocket(`${other.rest.replace("http", "ws")}/api/v1/bundles/tip_stream?api-key=${key}`);
    expect(await new Promise((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)))).toBe(4503);
  });

  test("a locked table of keys and a flood of invented keys leave the lease where it is", async () => {
    await using blocker = await locked("api_keys");
    const began = await leaseOf(blocker.client);
    let flooded = 0;
    // Longer than a lease: a holder whose beats waited behind the flood would have lost it.
    await eventually(
      "beats for twice the time of a lease",
      async () => {
        const rpc = new URL(`${one.network.dev.doors["rpc"]}`);
        const invented = Array.from({ length: 24 }, () => formatApiKey("dev", (length) => randomBytes(length)));
        const flood = invented.map(async (each) => {
          const answer = await fetch(rpc, {
            method: "POST",
            headers: { "x-api-key": each, "content-type": "application/json" },
            body: slotCall,
          });
          expect(answer.status).toBe(503);
          flooded += 1;
        });
        await Promise.all(flood);
        return (await leaseOf(blocker.client)).beats >= began.beats + 16n;
      },
      60_000,
    );
    expect(flooded).toBeGreaterThan(24);
    expect((await leaseOf(blocker.client)).epoch).toBe(began.epoch);
    expect([await isActive(one), await isActive(other)]).toEqual([true, false]);
  });

  test("a leader whose beats get no answer ends the streams of its validators within the time of the lease, and leads on", async () => {
    await eventually("a validator takes bundles", async () => (await metric(one, "sluice_engine_validators")) > 0);
    {
      await using blocker = await locked("leases");
      await eventually("its stream has ended", async () => (await metric(one, "sluice_engine_validators")) === 0);
      expect(await leaseOf(blocker.client)).toMatchObject({ epoch: 1n });
      expect((await statusOf(one)).status).toBe("maintenance");
    }
    await eventually("the first one leads on", () => isActive(one));
    await eventually("a validator is back", async () => (await metric(one, "sluice_engine_validators")) > 0);
  });

  test("when the first is killed the second takes over, and reports for each accepted bundle the end that the chain knows", async () => {
    const bundles = await accepted(new RestSearcher(one.rest, key), "killed");
    const ready = simulators(other);
    await one.network.end("SIGKILL");
    await lead(other);
    await eventually("the second one runs", () => isActive(other), takeoverMs);
    // What stood by is what runs now.
    expect(simulators(other)).toEqual(ready);
    expect(await metric(other, leaseMetric("takeovers_total"))).toBe(1);
    expect(await metric(other, leaseMetric("epoch"))).toBe(2);
    expect(await metric(other, leaseMetric("held"))).toBe(1);
    const searcher = new RestSearcher(other.rest, key);
    await expectTrueEnds(searcher, bundles);
    const [payer] = await reader.wallets(1);
    await eventually("it takes bundles", async () => await searcher.accepted(await pair("after", payer)));
  });

  test("one that is stopped and wakes up writes nothing beside its successor, and stands by", async () => {
    const third = await start();
    expect(await statusOf(third)).toMatchObject({ role: "standby" });
    const bundles = await accepted(new RestSearcher(other.rest, key), "stopped");
    other.network.process.kill("SIGSTOP");
    try {
      await eventually("the third one runs", async () => (await statusOf(third)).role === undefined, takeoverMs);
      await lead(third);
    } finally {
      other.network.process.kill("SIGCONT");
    }
    const woken = new RestSearcher(other.rest, key);
    const [payer] = await reader.wallets(1);
    const late = await pair("late", payer);
    const answers = await Promise.all(Array.from({ length: 5 }, () => woken.submit(late)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    await eventually("it stands by", async () => (await statusOf(other)).role === "standby");
    // What it lost is told once, and nobody is paged for it.
    expect(other.network.said()).not.toContain("taken over what this one was writing");
    expect(other.network.said()).not.toMatch(/internal error/);
    const searcher = new RestSearcher(third.rest, key);
    await expectTrueEnds(searcher, bundles);
    const landed = await eventually("it takes bundles", () => searcher.accepted(late));
    await searcher.until(landed, "included");
    // The one that leaves in order lets the other begin at once.
    await third.network.end("SIGTERM");
    await eventually("the woken one runs again", async () => (await statusOf(other)).role === undefined, takeoverMs);
    expect(await new RestSearcher(other.rest, key).status(landed)).toMatchObject({ status: "included" });
  });
}
