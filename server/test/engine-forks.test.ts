import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { protoFiles } from "@sluice/contract/proto";
import { eventually } from "@sluice/lib/testing";
import { Keypair, type VersionedTransaction } from "@solana/web3.js";
import { JitoJsonRpcClient } from "jito-js-rpc";
import { type Listening, PlainClient } from "../src/net/grpc/testing/grpc-client.ts";
import { memo, pay, signatureOf, signed, tip } from "./testing/bundles.ts";
import { ChainReader } from "./testing/chain-reader.ts";
import { type EngineNetwork, startEngineNetwork } from "./testing/engine-network.ts";
import { ledgerOutcomes } from "./testing/ledger-outcomes.ts";

import { RestSearcher } from "./testing/searcher.ts";

setDefaultTimeout(60_000);

/** A fork has the time between the two to take back what was reported to be confirmed. */
const [confirmedAfter, finalizedAfter] = [2, 60];
/** So many blocks make every blockhash too old, and that final. */
const endSlots = 150 + finalizedAfter + 10;

let world: EngineNetwork;
let chain: ChainReader;
let searcher: RestSearcher;
/** Bundles whose end the ledger is asked for when all is over. */
const ends: { readonly id: string; readonly state: string; readonly reason: string; readonly slot: number | null }[] =
  [];

beforeAll(async () => {
  const flags = ["--confirmed-after", String(confirmedAfter), "--finalized-after", String(finalizedAfter)];
  world = await startEngineNetwork({ chain: flags });
  chain = new ChainReader(world.chain.rpc);
  searcher = new RestSearcher(world.rest, world.network.dev.key);
}, 60_000);
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
}, 30_000);

/** A bundle under a blockhash that is old enough to be known to either branch. */
async function pair(): Promise<readonly [VersionedTransaction, VersionedTransaction]> {
  const [payer] = await chain.wallets(1);
  const second = Keypair.generate();
  const blockhash = await chain.blockhash();
  const slot = await chain.slot();
  // The chain goes on beyond the block of that hash, so that a fork need not take it.
  await eventually("a few slots", async () => (await chain.slot()) > slot + 4);
  return [
    signed(payer, blockhash, pay(payer, second.publicKey, 50_000_000), memo("forked")),
    signed(second, blockhash, tip(second)),
  ];
}

/** Abandons the confirmed block of a slot, the one before it, and what came after it; the slot that opens then. */
async function abandon(slot: number, landAgain: boolean): Promise<number> {
  const processed = await chain.slot();
  const fork = await world.chain.admin("devnet_fork", { depth: processed - slot + 1, landAgain, confirmed: true });
  expect(fork["abandoned"]).toContain(slot);
  return Number(fork["openSlot"]);
}

/** What is reported about one bundle, in words. */
const storyIn = ({ messages }: Listening, id: string): readonly string[] =>
  messages
    .filter(({ bundle_id }) => bundle_id === id)
    .map(({ status, slot, reason }) => `${status} ${slot ?? reason ?? ""}`.trim());

/** The same of Jito's results: the name of each, and its slot or reason. */
const resultsIn = ({ messages }: Listening, id: string): readonly string[] =>
  messages
    .filter(({ bundle_id }) => bundle_id === id)
    .map((message) => {
      const [kind = "", body] =
        Object.entries(message).find(([name]) => name !== "bundle_id" && name !== "result") ?? [];
      const { slot, reason } = { ...(body as { slot?: string; reason?: string }) };
      return `${kind} ${kind === "accepted" ? "" : (slot ?? reason ?? "")}`.trim();
    });

async function followed() {
  const client = world.client();
  const jito = new PlainClient(world.grpcPort, { file: protoFiles.searcher, service: "searcher.SearcherService" });
  const key = { "x-api-key": world.network.dev.key };
  const stream = client.duplex("SubmitBundleStream", key);
  const results = jito.subscribe("SubscribeBundleResults", {}, key);
  return {
    stream,
    results,
    rpc: new JitoJsonRpcClient(`${world.rest}/api/v1`, world.network.dev.key),
    [Symbol.dispose]() {
      for (const each of [stream, results]) each.cancel();
      for (const each of [client, jito]) each[Symbol.dispose]();
    },
  };
}

test("a bundle whose confirmed block is abandoned is dropped with the reason fork: over REST, the stream, Jito's statuses and results", async () => {
  using reported = await followed();
  const bundle = await pair();
  const id = await searcher.accepted(bundle);
  const { slot } = await searcher.until(id, "included");
  const inBlock = (await reported.rpc.getBundleStatuses([[id]])).result?.value;
  expect(inBlock).toMatchObject([{ bundle_id: id, slot, confirmation_status: "confirmed" }]);
  const open = await abandon(slot, false);
  await eventually("the new branch is confirmed", async () => {
    return (await chain.call("getSlot", { commitment: "confirmed" })) >= open;
  });
  expect(await chain.landed(signatureOf(bundle[0]))).toBeNull();
  await world.chain.admin("devnet_advance", { slots: endSlots });
  const shown = await searcher.until(id, "dropped");
  expect(shown).toEqual({ bundleId: id, status: "dropped", slot: null, signatures: [], reason: "fork" });
  const nowhere: readonly unknown[] = (await reported.rpc.getBundleStatuses([[id]])).result?.value ?? [];
  expect(nowhere).toEqual([null]);
  const inFlight = (await reported.rpc.getInFlightBundleStatuses([[id]])).result?.value;
  expect(inFlight).toMatchObject([{ bundle_id: id, status: "Failed", landed_slot: null }]);
  await eventually("the stream has reported it", () => storyIn(reported.stream, id).length === 3);
  const [, , reason = ""] = storyIn(reported.stream, id);
  expect(storyIn(reported.stream, id).slice(0, 2)).toEqual(["accepted", `included ${slot}`]);
  expect(reason).toStartWith("dropped fork");
  await eventually("the results have reported it", () => resultsIn(reported.results, id).length === 3);
  expect(resultsIn(reported.results, id)).toEqual(["accepted", `processed ${slot}`, "dropped NotFinalized"]);
  expect(await chain.landed(signatureOf(bundle[0]))).toBeNull();
  ends.push({ id, state: "dropped", reason: "fork", slot: null });
});

test("a bundle whose transactions land again on the branch that won is reported with its new block, once, and never as lost", async () => {
  using reported = await followed();
  const bundle = await pair();
  const id = await searcher.accepted(bundle);
  const { slot: before } = await searcher.until(id, "included");
  const open = await abandon(before, true);
  const moved = await eventually("it is reported in the other block", async () => {
    const shown = await searcher.status(id);
    expect(shown.status).toBe("included");
    return shown.slot !== before && shown;
  });
  expect(moved.slot).toBeGreaterThanOrEqual(open);
  expect(await chain.landed(signatureOf(bundle[1]))).toMatchObject({ slot: moved.slot, err: null });
  const landed = async () => (await reported.rpc.getBundleStatuses([[id]])).result?.value;
  expect(await landed()).toMatchObject([{ bundle_id: id, slot: moved.slot, confirmation_status: "confirmed" }]);
  await world.chain.admin("devnet_advance", { slots: finalizedAfter + 5 });
  await eventually("it is finalized", async () => {
    const [status] = (await landed()) ?? [];
    return status?.slot === moved.slot && status?.confirmation_status === "finalized";
  });
  expect(await searcher.status(id)).toEqual(moved);
  await eventually("the results have reported it", () => resultsIn(reported.results, id).at(-1) === "finalized");
  expect(storyIn(reported.stream, id)).toEqual(["accepted", `included ${before}`, `included ${moved.slot}`]);
  const processed = [before, moved.slot].map((slot) => `processed ${slot}`);
  expect(resultsIn(reported.results, id)).toEqual(["accepted", ...processed, "finalized"]);
  ends.push({ id, state: "finalized", reason: "", slot: moved.slot });
});

test("the ledger has each of them once, with the same end", async () => {
  expect(ends).toHaveLength(2);
  const outcomes = await eventually("the ledger is reported", async () => {
    await world.network.end("SIGTERM");
    const reported = (await ledgerOutcomes(world.network.directory)).filter((each) =>
      ends.some(({ id }) => id === each.id),
    );
    if (reported.length >= ends.length) return reported;
    // What was not reported before the end is reported by the next server.
    await world.restart("SIGTERM");
    return null;
  });
  expect(outcomes.map(({ endpoint, ...end }) => end).toSorted(byId)).toEqual(ends.toSorted(byId));
});

const byId = (one: { readonly id: string }, other: { readonly id: string }): number => (one.id < other.id ? -1 : 1);
