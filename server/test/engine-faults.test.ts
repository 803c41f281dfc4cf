import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { protoFiles } from "@sluice/contract/proto";
import { eventually } from "@sluice/lib/testing";
import { Keypair, type VersionedTransaction } from "@solana/web3.js";
import { authClient, makeIdentity, signIn } from "../src/engine/testing/signed-in.ts";
import { PlainClient } from "../src/net/grpc/testing/grpc-client.ts";
import { memo, pay, signatureOf, signed, tip } from "./testing/bundles.ts";
import { ChainReader } from "./testing/chain-reader.ts";
import { connected, type EngineNetwork, startEngineNetwork } from "./testing/engine-network.ts";

import { descendants } from "./testing/network.ts";
import { RestSearcher } from "./testing/searcher.ts";
import { healthService } from "./testing/standard-services.ts";

setDefaultTimeout(60_000);

/** Slots between a block's end and its confirmation, in which a fork may take it away. */
const confirmedAfter = 3;
const attemptsMax = 6;
const killsMax = 2;

let world: EngineNetwork;
let chain: ChainReader;
let searcher: RestSearcher;

beforeAll(async () => {
  world = await startEngineNetwork({ chain: ["--confirmed-after", String(confirmedAfter)] });
  chain = new ChainReader(world.chain.rpc);
  searcher = new RestSearcher(world.rest, world.network.dev.key);
}, 60_000);
afterEach(async () => {
  await world.chain.admin("devnet_clear");
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
}, 30_000);

/** What the chain holds of a bundle: all of it in one slot, or nothing of it. */
async function slotOf(bundle: readonly VersionedTransaction[]): Promise<number | null> {
  const found = await Promise.all(bundle.map((each) => chain.landed(signatureOf(each))));
  const slots = new Set(found.map((each) => (each?.err === null ? each.slot : null)));
  expect([...slots]).toHaveLength(1);
  const [slot = null] = slots;
  return slot;
}

type Pair = readonly [VersionedTransaction, VersionedTransaction];

/** Two transactions of which the second needs the first. */
async function pair(text: string, payer?: Keypair): Promise<Pair> {
  const first = payer ?? (await chain.wallets(1))[0];
  const second = Keypair.generate();
  const blockhash = await chain.blockhash();
  return [
    signed(first, blockhash, pay(first, second.publicKey, 50_000_000), memo(text)),
    signed(second, blockhash, tip(second)),
  ];
}

describe("when the chain goes wrong", () => {
  test("a bundle whose block is abandoned before it is confirmed lands again, and is reported with the block where it stayed", async () => {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const bundle = await pair(`forked ${attempt}`);
      const id = await searcher.accepted(bundle);
      const first = await eventually("it is in a block", async () => await chain.landed(signatureOf(bundle[0])));
      const fork = await world.chain.admin("devnet_fork", { depth: confirmedAfter - 1 }).catch(() => null);
      const shown = await searcher.until(id, "included");
      expect(await slotOf(bundle)).toBe(shown.slot);
      const abandoned = (fork?.["abandoned"] ?? []) as readonly number[];
      if (!abandoned.includes(first.slot)) continue;
      expect(shown.slot).toBeGreaterThan(Math.max(...abandoned));
      return;
    }
    throw new Error("no fork came in time");
  });

  test("a bundle meant for a slot that is skipped expires, and others land behind the gap", async () => {
    const [lost, kept] = [await pair("skipped"), await pair("kept")];
    const targetSlot = (await chain.slot()) + 8;
    const lostId = await searcher.accepted(lost, { targetSlot });
    await world.chain.admin("devnet_skipSlots", 16);
    expect(await searcher.until(lostId, "expired")).toMatchObject({ slot: null, reason: "target_slot_past" });
    expect(await slotOf(lost)).toBeNull();
    const { slot } = await searcher.until(await searcher.accepted(kept), "included");
    expect(slot).toBeGreaterThan(targetSlot);
    expect(await slotOf(kept)).toBe(slot);
  });

  test("behind a node that lags nothing false is reported, and what was taken lands when it is back", async () => {
    await world.chain.admin("devnet_lag", 20);
    const bundle = await pair("lagging");
    const { status, body } = await searcher.submit(bundle);
    expect([202, 400, 503]).toContain(status);
    await world.chain.admin("devnet_clear");
    const id = status === 202 ? body.bundleId : await eventually("taken", () => searcher.accepted(bundle));
    const shown = await searcher.until(id, "included");
    expect(await slotOf(bundle)).toBe(shown.slot);
  });

  test("without a leader that takes bundles a single transaction travels alone, and more are refused", async () => {
    await world.chain.admin("devnet_blockEngine", { url: null });
    try {
      const [payer] = await chain.wallets(1);
      const two = await pair("no leader");
      await eventually("no leader", async () => {
        const { status, headers, body } = await searcher.submit(two);
        return status === 503 && body.code === "no_leader" && Number(headers.get("retry-after")) >= 1;
      });
      expect((await searcher.ask("/status")).body.status).toBe("degraded");
      const metrics = async () => await (await fetch(`${world.network.dev.doors["metrics"]}`)).text();
      await eventually("it is measured", async () => (await metrics()).includes('_degraded{reason="no_leader"} 1'));
      const one = [signed(payer, await chain.blockhash(), tip(payer))];
      const { slot } = await searcher.until(await searcher.accepted(one), "included");
      expect(await slotOf(one)).toBe(slot);
    } finally {
      await world.chain.admin("devnet_blockEngine", { url: `http://127.0.0.1:${world.grpcPort}` });
      await eventually("the validators are back", async () => (await connected(world.chain)).length === 5);
      expect((await searcher.ask("/status")).body.status).toBe("ok");
    }
  });
});

test("an identity that leads no slot is let in neither as a validator nor, signed in otherwise, to bundles", async () => {
  using auth = authClient(world.grpcPort);
  const stranger = makeIdentity();
  expect((await signIn(auth, "VALIDATOR", stranger)).ended).toMatchObject({ status: "PERMISSION_DENIED" });
  const { headers } = await signIn(auth, "SEARCHER", stranger);
  using validator = new PlainClient(world.grpcPort, {
    file: protoFiles.validator,
    service: "block_engine.BlockEngineValidator",
  });
  for (const options of [headers, {}]) {
    const stream = validator.subscribe("SubscribeBundles", {}, options);
    expect(await stream.ended).toMatchObject({ status: "PERMISSION_DENIED" });
    expect(stream.messages).toEqual([]);
  }
});

test("in maintenance every endpoint refuses what is new and says so, what is in flight goes on, and then all is as before", async () => {
  using client = world.client();
  using watching = new PlainClient(world.grpcPort, healthService);
  const key = { "x-api-key": world.network.dev.keys.business };
  const health = async () => await watching.call("Check", { service: "blockengine.v1.BlockEngine" });
  const served = async () => (await fetch(`${world.rest}/api/v1/status`)).json();
  const [inFlight, refused] = [await pair("in flight"), await pair("refused")];
  const targetSlot = (await chain.slot()) + 30;
  const id = await searcher.accepted(inFlight, { targetSlot });
  await world.sluice("engine", "maintenance", "on");
  await eventually("health reports it", async () => Reflect.get(await health(), "message")?.status === "NOT_SERVING");
  expect(await served()).toMatchObject({ service: "sluice-block-engine", status: "maintenance" });
  const answer = await searcher.submit(refused);
  expect([answer.status, answer.body.code]).toEqual([503, "maintenance"]);
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  const message = { transactions: refused.map((each) => each.serialize()), tip: "10000" };
  const call = await client.call("SubmitBundle", message, key);
  expect(call).toMatchObject({ status: "UNAVAILABLE" });
  const details = "metadata" in call ? String(call.metadata.get("grpc-status-details-bin")[0]) : "";
  expect(details).toContain("type.googleapis.com/google.rpc.RetryInfo");
  const stream = client.duplex("SubmitBundleStream", key);
  stream.say(message);
  expect(await stream.first(1)).toMatchObject([{ status: "dropped", reason: "maintenance" }]);
  stream.halfClose();
  const end = await eventually("its end", async () => {
    const shown = await searcher.status(id);
    return shown.status !== "accepted" && shown;
  });
  // Its slot may have gone by on a machine that is busy; it may not have been forgotten.
  expect([end.status, end.slot]).toEqual(
    (await slotOf(inFlight)) === null ? ["expired", null] : ["included", targetSlot],
  );
  await world.sluice("engine", "maintenance", "off");
  await eventually("health reports it", async () => Reflect.get(await health(), "message")?.status === "SERVING");
  expect(await served()).toMatchObject({ status: "ok" });
  await searcher.until(await searcher.accepted(refused), "included");
});

test("a server that is killed reports one end of each bundle that it accepted, the one that the chain knows", async () => {
  const [payer] = await chain.wallets(1);
  const bundles: { readonly id: string; readonly bundle: readonly VersionedTransaction[] }[] = [];
  // All of them write the payer's account, so that they are sold one after the other and the end comes among them.
  for (let round = 0; round < killsMax; round++) {
    const created = await Promise.all(Array.from({ length: 8 }, (_, at) => pair(`killed ${round} ${at}`, payer)));
    const ids = await Promise.all(created.map((bundle) => searcher.accepted(bundle)));
    bundles.push(...created.map((bundle, at) => ({ id: ids[at] ?? "", bundle })));
    const statuses = await Promise.all(ids.map((id) => searcher.status(id)));
    expect(statuses.filter(({ status }) => status === "accepted").length).toBeGreaterThan(0);
    await world.restart("SIGKILL");
  }
  const ended = async ({ id, bundle }: (typeof bundles)[number]) => {
    const { status, slot, signatures } = await eventually(`the end of ${id}`, async () => {
      const shown = await searcher.status(id);
      return shown.status !== "accepted" && shown;
    });
    const held = await slotOf(bundle);
    expect({ slot, signatures }).toEqual({ slot: held, signatures: held === null ? [] : bundle.map(signatureOf) });
    expect(status === "included").toBe(held !== null);
    return status;
  };
  const endOfAll = async () => {
    const statuses: string[] = [];
    for (const each of bundles) statuses.push(await ended(each));
    return statuses;
  };
  const first = await endOfAll();
  expect(first.filter((status) => status === "included").length).toBeGreaterThan(0);
  await world.restart("SIGKILL");
  expect(await endOfAll()).toEqual(first);
});

describe("when a process of the simulation is killed", () => {
  const metrics = async () => await (await fetch(`${world.network.dev.doors["metrics"]}`)).text();
  const isSimulation = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("svm/bundles/main.ts");

  test.skipIf(process.platform !== "linux")("its end is counted, and bundles are accepted again", async () => {
    const pid = descendants(world.network.process.pid).find(isSimulation);
    if (pid === undefined) throw new Error("no process of the simulation");
    process.kill(pid, "SIGKILL");
    const counted = 'sluice_engine_simulators_ended_total{reason="SIGKILL"} 1';
    await eventually("it is counted", async () => (await metrics()).includes(counted));
    const bundle = await pair("after a kill");
    expect(await slotOf(bundle)).toBeNull();
    const { slot } = await searcher.until(await searcher.accepted(bundle), "included");
    expect(await slotOf(bundle)).toBe(slot);
  });
});
