import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { eventually } from "@sluice/lib/testing";
import { encodeBase58 } from "@sluice/wire/base58";
import { PublicKey } from "@solana/web3.js";
import { JitoJsonRpcClient } from "jito-js-rpc";
import { tipAccounts } from "../src/engine/model/tip-accounts.ts";
import { memo, pay, signatureOf, signed, textOf, tip } from "./testing/bundles.ts";
import { ChainReader } from "./testing/chain-reader.ts";
import { connected, type EngineNetwork, startEngineNetwork } from "./testing/engine-network.ts";
import { post, root } from "./testing/network.ts";
import { RestSearcher } from "./testing/searcher.ts";

setDefaultTimeout(30_000);

let world: EngineNetwork;
let chain: ChainReader;
let searcher: RestSearcher;

beforeAll(async () => {
  world = await startEngineNetwork();
  chain = new ChainReader(world.chain.rpc);
  searcher = new RestSearcher(world.rest, world.network.dev.key);
}, 60_000);
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
}, 30_000);

async function one(text: string, lamports = 10_000) {
  const [payer] = await chain.wallets(1);
  return signed(payer, await chain.blockhash(), tip(payer, lamports), memo(text));
}

describe("a stream of bundles", () => {
  test("reports each change of the status of each bundle once, from its acceptance to its place", async () => {
    using client = world.client();
    const key = { "x-api-key": world.network.dev.keys.free };
    const stream = client.duplex("SubmitBundleStream", key);
    const sent = await Promise.all([one("first"), one("second"), one("third")]);
    for (const each of sent) stream.say({ transactions: [each.serialize()], tip: "10000", mev_type: "jit" });
    await stream.first(6);
    const ids = [...new Set(stream.messages.map(({ bundle_id }) => String(bundle_id)))];
    expect(ids).toHaveLength(3);
    for (const [index, id] of ids.entries()) {
      const reported = stream.messages.filter(({ bundle_id }) => bundle_id === id);
      const { slot, signatures } = await searcher.until(id, "included");
      expect(signatures).toEqual(sent.slice(index, index + 1).map(signatureOf));
      expect(reported).toMatchObject([
        { status: "accepted", signatures: [] },
        { status: "included", slot: String(slot), signatures },
      ]);
      expect(reported[0]).not.toHaveProperty("slot");
    }
    stream.halfClose();
    expect((await stream.ended).status).toBe("OK");
    expect(stream.messages).toHaveLength(6);
  });

  test("that is opened again begins with what is in flight, and reports its end", async () => {
    using client = world.client();
    const key = { "x-api-key": world.network.dev.keys.developer };
    const sent = await one("resumed");
    const message = { transactions: [sent.serialize()], tip: "10000" };
    const before = client.duplex("SubmitBundleStream", key);
    before.say({ ...message, target_slot: String((await chain.slot()) + 20) });
    const [accepted] = await before.first(1);
    expect(accepted).toMatchObject({ status: "accepted" });
    before.cancel();
    const after = client.duplex("SubmitBundleStream", key);
    const [begun, end] = await after.first(2);
    expect(begun).toMatchObject({ bundle_id: accepted?.["bundle_id"], status: "accepted" });
    expect(end).toMatchObject({ bundle_id: accepted?.["bundle_id"] });
    const isIn = (await chain.landed(signatureOf(sent))) !== null;
    expect(end?.["status"]).toBe(isIn ? "included" : "expired");
    after.cancel();
  });

  test("beyond a searcher's rate drops bundles as rate_limited and goes on", async () => {
    using client = world.client();
    const stream = client.duplex("SubmitBundleStream", { "x-api-key": world.network.dev.keys.professional });
    for (let count = 0; count < 25; count++) stream.say({ transactions: [] });
    const answers = await stream.first(25);
    const reasons = answers.map(({ status, reason }) => `${status} ${reason}`);
    expect(new Set(reasons)).toEqual(new Set(["dropped empty_bundle", "dropped rate_limited"]));
    expect(reasons.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => "dropped empty_bundle"));
    await eventually("a token again", async () => {
      const reported = stream.messages.length;
      stream.say({ transactions: [] });
      const next = (await stream.first(reported + 1)).at(-1);
      return next?.["reason"] === "empty_bundle";
    });
    stream.cancel();
  });
});

describe("an unmodified jito-js-rpc", () => {
  test("reads tip accounts, sends a bundle, follows it in flight and finds it landed", async () => {
    const client = new JitoJsonRpcClient(`${world.rest}/api/v1`, world.network.dev.key);
    expect((await client.getTipAccounts()).result).toEqual([...tipAccounts()]);
    const sent = await one("jito-js-rpc");
    const { result: id = "" } = await client.sendBundle([[textOf(sent)], { encoding: "base64" }]);
    const flight = (await client.getInFlightBundleStatuses([[id, "00"]])).result;
    expect(["Pending", "Landed"]).toContain(flight?.value[0]?.status ?? "");
    expect(flight?.value[1]).toEqual({ bundle_id: "00", status: "Invalid", landed_slot: null });
    const confirmed = await client.confirmInflightBundle(id, 20_000);
    const { slot } = await searcher.until(id, "included");
    expect(confirmed).toMatchObject({ bundle_id: id, slot, transactions: [signatureOf(sent)], err: { Ok: null } });
    expect((await client.getBundleStatuses([[id]])).result?.value).toMatchObject([{ bundle_id: id, slot }]);
    expect((await chain.landed(signatureOf(sent)))?.slot).toBe(slot);
  });

  test("has a bundle simulated by a node that knows how", async () => {
    const encodedTransactions = [textOf(await one("simulated"))];
    const call = { jsonrpc: "2.0", id: 1, method: "simulateBundle", params: [{ encodedTransactions }] };
    const answer = await post(`${world.rest}/api/v1/bundles?uuid=${world.network.dev.key}`, call);
    expect(answer.body).toMatchObject({
      result: { value: { summary: "succeeded", transactionResults: [{ err: null }] } },
    });
  });

  test("sends a transaction as a bundle alone, in base58 too", async () => {
    const client = new JitoJsonRpcClient(`${world.rest}/api/v1`, world.network.dev.key);
    const sent = await one("bundle only");
    const { result } = await client.sendTxn([encodeBase58(sent.serialize())], true);
    expect(result).toBe(signatureOf(sent));
    await eventually("it has landed", () => chain.landed(signatureOf(sent)));
    const [payer] = await chain.wallets(1);
    const untipped = signed(payer, await chain.blockhash(), memo("no tip"));
    const refused = client.sendTxn([textOf(untipped), { encoding: "base64" }], true);
    expect(await refused.catch(({ response }) => response.status)).toBe(400);
  });
});

describe("an unmodified jito-ts over TLS", () => {
  test("signs in, reads tip accounts and leaders, sends a bundle and follows it until it is final", async () => {
    const { port } = new URL(`${world.network.dev.doors["engineGrpcTls"]}`);
    const path = join(root, "clients/testing/jito-searcher.ts");
    await using searching = await jitoSearcher(path, `localhost:${port}`, join(world.network.directory, "dev-ca.pem"));
    const { ask, results, pubkey } = searching;
    await chain.call("requestAirdrop", pubkey, 1_000_000_000);
    const confirmed = async () => (await chain.call("getBalance", pubkey, { commitment: "confirmed" })).value > 0;
    await eventually("the wallet is funded", confirmed);
    expect(await ask("signed tipAccounts")).toEqual({ ok: true, value: [...tipAccounts()] });
    const identities = await connected(world.chain);
    const leaders = (await ask("signed leaders")) as { value: Record<string, { slots: number[] }> };
    expect(Object.keys(leaders.value).toSorted()).toEqual([...identities].toSorted());
    const next = (await ask("signed nextLeader")) as { value: { nextLeaderSlot: number; nextLeaderIdentity: string } };
    const [scheduled] = await chain.call("getSlotLeaders", next.value.nextLeaderSlot, 1);
    expect(next.value.nextLeaderIdentity).toBe(scheduled);
    expect(await ask("signed listen")).toBe("listening");
    const tipTo = new PublicKey(tipAccounts()[3] ?? "").toBase58();
    const sent = (await ask(`signed send ${tipTo} ${await chain.blockhash()}`)) as { ok: boolean; value: string };
    expect(sent.ok).toBe(true);
    await eventually("it is final", () => results.some((each) => each["finalized"] !== undefined));
    const { slot, signatures } = await searcher.until(sent.value, "included");
    expect(new Set(results.map(({ bundleId }) => bundleId))).toEqual(new Set([sent.value]));
    const [processed, ...more] = results.filter((each) => each["processed"] !== undefined);
    expect(more).toEqual([]);
    const [leader] = await chain.call("getSlotLeaders", slot, 1);
    expect(processed).toMatchObject({ processed: { slot, validatorIdentity: leader, bundleIndex: 0 } });
    expect(results.indexOf(processed ?? {})).toBe(results.length - 2);
    expect((await chain.block(slot)).filter((each) => signatures.includes(each))).toEqual(signatures);

    // Forty that write its account and pay more, of which a tick takes one: it loses slots before it lands.
    const known = results.length;
    const rivals = await Promise.all(Array.from({ length: 40 }, (_, at) => rival(new PublicKey(pubkey), at)));
    const ids = await Promise.all(rivals.map((each) => searcher.accepted([each])));
    const outbid = (await ask(`signed send ${tipTo} ${await chain.blockhash()} 1234`)) as { value: string };
    await eventually("it lands", () => results.slice(known).some((each) => each["processed"] !== undefined));
    const reported = results.slice(known);
    expect(new Set(reported.map(({ bundleId }) => bundleId))).toEqual(new Set([outbid.value]));
    const lost = reported.flatMap((each) => each["rejected"] ?? []);
    expect(lost).toMatchObject([{ stateAuctionBidRejected: { simulatedBidLamports: 1_234 } }]);
    const { auctionId } = (lost[0] as { stateAuctionBidRejected: { auctionId: string } }).stateAuctionBidRejected;
    // It names no bundle, so that nobody finds by it whom he lost to.
    expect(auctionId).toMatch(/^[0-9a-f]{64}$/);
    expect([...ids, outbid.value]).not.toContain(auctionId);
  });
});

/** A bundle that conflicts with those of an account, and outbids them. */
async function rival(account: PublicKey, at: number) {
  const [payer] = await chain.wallets(1);
  return signed(payer, await chain.blockhash(), pay(payer, account, 1_000_000 + at), tip(payer, 5_000_000 + at));
}

interface JitoSearcher extends AsyncDisposable {
  readonly pubkey: string;
  /** What became of its bundles, as it receives it. */
  readonly results: readonly Record<string, unknown>[];
  ask(line: string): Promise<unknown>;
}

/** The client in a process of its own, since it reads its roots of trust from the environment as it is loaded. */
async function jitoSearcher(path: string, address: string, authority: string): Promise<JitoSearcher> {
  const env = { ...process.env, GRPC_DEFAULT_SSL_ROOTS_FILE_PATH: authority };
  const stdio = { stdin: "pipe", stdout: "pipe", stderr: "inherit" } as const;
  const child = Bun.spawn([process.execPath, path, address], { ...stdio, env });
  const results: Record<string, unknown>[] = [];
  const waiting: ((answer: unknown) => void)[] = [];
  const ready = new Promise((resolve) => waiting.push(resolve));
  const lines = createInterface({ input: Readable.from(child.stdout) });
  lines.on("line", (line) => {
    const { answer, result } = JSON.parse(line);
    if (result === undefined) waiting.shift()?.(answer);
    else results.push(result);
  });
  const ask = async (line: string): Promise<unknown> => {
    const answered = new Promise((resolve) => waiting.push(resolve));
    child.stdin.write(`${line}\n`);
    await child.stdin.flush();
    return await answered;
  };
  expect(await ready).toBe("ready");
  return {
    pubkey: String(await ask("signed pubkey")),
    results,
    ask,
    async [Symbol.asyncDispose]() {
      await child.stdin.end();
      await child.exited;
    },
  };
}
