import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { eventually } from "@sluice/lib/testing";
import { Keypair, NONCE_ACCOUNT_LENGTH, PublicKey, SystemProgram } from "@solana/web3.js";
import { seal } from "../src/engine/testing/seal.ts";
import type { PlainClient } from "../src/net/grpc/testing/grpc-client.ts";
import { memo, naming, pay, signatureOf, signed, textOf, tip } from "./testing/bundles.ts";
import { ChainReader } from "./testing/chain-reader.ts";
import { type EngineNetwork, startEngineNetwork } from "./testing/engine-network.ts";

import { RestSearcher } from "./testing/searcher.ts";

/** Slots ahead at which a bundle is aimed, so that there is time to do something before. */
const ahead = 12;
/** A slot may pass before anything was built for it on a machine that is busy; then another one is tried. */
const attemptsMax = 6;

setDefaultTimeout(30_000);

let world: EngineNetwork;
let chain: ChainReader;
let searcher: RestSearcher;
let client: PlainClient;

beforeAll(async () => {
  world = await startEngineNetwork();
  chain = new ChainReader(world.chain.rpc);
  searcher = new RestSearcher(world.rest, world.network.dev.key);
  client = world.client();
}, 60_000);
afterAll(async () => {
  client?.[Symbol.dispose]();
  await world?.[Symbol.asyncDispose]();
}, 30_000);

/** Submits by the plain client; the id of a bundle that is accepted. */
async function submitted(message: object, key = world.network.dev.key): Promise<string> {
  const answer = await client.call("SubmitBundle", message, { "x-api-key": key });
  expect(answer).toMatchObject({ status: "OK", message: { status: "accepted" } });
  return "message" in answer ? String(answer.message["bundle_id"]) : "";
}

/** Three transactions, each of which needs what the one before it has paid; the last one pays the tip. */
async function dependentBundle() {
  const [first] = await chain.wallets(1);
  const [second, third] = [Keypair.generate(), Keypair.generate()];
  const blockhash = await chain.blockhash();
  return [
    signed(first, blockhash, pay(first, second.publicKey, 3_000_000_000)),
    signed(second, blockhash, pay(second, third.publicKey, 2_000_000_000)),
    signed(third, blockhash, tip(third)),
  ];
}

/** Tries again for a later slot until `attempt` gives something other than null. */
async function aimed<T>(attempt: (targetSlot: number) => Promise<T | null>): Promise<T> {
  for (let count = 0; count < attemptsMax; count++) {
    const outcome = await attempt((await chain.slot()) + ahead);
    if (outcome !== null) return outcome;
  }
  throw new Error(`no bundle landed in the slot it was meant for, ${attemptsMax} times`);
}

/** Waits for the end of a bundle that one slot was named for: the slot that it landed in, null where it expired. */
async function slotOf(id: string, targetSlot: number): Promise<number | null> {
  const { status, slot, reason } = await eventually(`the end of ${id}`, async () => {
    const shown = await searcher.status(id);
    return shown.status !== "accepted" && shown;
  });
  if (status === "included") expect(slot).toBe(targetSlot);
  // One that is sealed is opened at its tick, which a busy machine begins after the slot.
  else expect(["expired", "dropped target_slot_past"]).toContain(status === "dropped" ? `${status} ${reason}` : status);
  return slot;
}

describe("a bundle", () => {
  test.each([
    ["raw bytes", (bytes: Uint8Array) => Buffer.from(bytes)],
    ["base64 text", (bytes: Uint8Array) => Buffer.from(Buffer.from(bytes).toString("base64"))],
  ])("of %s lands whole, in its order and side by side in one block, and its status says so", async (_, encode) => {
    const bundle = await dependentBundle();
    const transactions = bundle.map((each) => encode(each.serialize()));
    const id = await submitted({ transactions, tip: "10000", mev_type: "arbitrage" });
    const shown = await searcher.until(id, "included");
    const signatures = bundle.map(signatureOf);
    const { slot } = shown;
    expect(shown).toEqual({ bundleId: id, status: "included", slot, signatures, reason: null });
    const block = await chain.block(slot);
    const start = block.indexOf(signatures[0] ?? "");
    expect(start).toBeGreaterThanOrEqual(0);
    expect(block.slice(start, start + 3)).toEqual(signatures);
  });

  test("is shown without slot and signatures until it is in the chain, and is the same bundle when it comes again", async () => {
    const bundle = await dependentBundle();
    await aimed(async (targetSlot) => {
      const id = await searcher.accepted(bundle, { targetSlot });
      const waiting = { bundleId: id, status: "accepted", slot: null, signatures: [], reason: null };
      expect(await searcher.status(id)).toEqual(waiting);
      expect(await searcher.accepted(bundle, { targetSlot })).toBe(id);
      return await slotOf(id, targetSlot);
    });
  });

  test("that no longer runs when its slot comes leaves nothing of itself behind", async () => {
    const [payer, drained] = await chain.wallets(2);
    const kept = Keypair.generate().publicKey;
    const blockhash = await chain.blockhash();
    const good = signed(payer, blockhash, pay(payer, kept, 1_000_000_000), tip(payer));
    const bad = signed(drained, blockhash, pay(drained, payer.publicKey, 9_000_000_000));
    const id = await searcher.accepted([good, bad], { targetSlot: (await chain.slot()) + ahead });
    const draining = signed(drained, blockhash, pay(drained, payer.publicKey, 8_000_000_000));
    await chain.call("sendTransaction", textOf(draining), { encoding: "base64", skipPreflight: true });
    expect(await searcher.until(id, "expired")).toMatchObject({ slot: null, signatures: [] });
    expect(await chain.landed(signatureOf(draining))).toMatchObject({ err: null });
    expect(await chain.landed(signatureOf(good))).toBeNull();
    expect(await chain.landed(signatureOf(bad))).toBeNull();
    expect(await chain.balance(kept.toBase58())).toBe(0);
  });

  test("whose transaction names a jitodontfront account lands as the first of its bundle and is refused behind another", async () => {
    const [one, other] = await chain.wallets(2);
    const mark = new PublicKey("jitodontfront111111111111111111111111111111");
    const blockhash = await chain.blockhash();
    const marked = signed(one, blockhash, naming(tip(one), mark));
    const plain = signed(other, blockhash, memo("another"));
    const { status, body } = await searcher.submit([plain, marked]);
    expect([status, body.code]).toEqual([400, "front_run_protected"]);
    await searcher.until(await searcher.accepted([marked, plain]), "included");
  });

  test("under a durable nonce lands, and spends it", async () => {
    const [payer] = await chain.wallets(1);
    const nonce = Keypair.generate();
    const make = SystemProgram.createNonceAccount({
      fromPubkey: payer.publicKey,
      noncePubkey: nonce.publicKey,
      authorizedPubkey: payer.publicKey,
      lamports: await chain.call("getMinimumBalanceForRentExemption", NONCE_ACCOUNT_LENGTH),
    });
    const created = signed(payer, await chain.blockhash(), ...make.instructions);
    created.sign([nonce]);
    await chain.call("sendTransaction", textOf(created), { encoding: "base64", skipPreflight: true });
    const value = async (): Promise<string | undefined> => {
      const config = { encoding: "jsonParsed", commitment: "confirmed" };
      return (await chain.call("getAccountInfo", nonce.publicKey.toBase58(), config)).value?.data.parsed.info.blockhash;
    };
    const durable = await eventually("the nonce account", value);
    const advance = SystemProgram.nonceAdvance({ noncePubkey: nonce.publicKey, authorizedPubkey: payer.publicKey });
    const bundle = [signed(payer, durable, advance, tip(payer))];
    await searcher.until(await searcher.accepted(bundle), "included");
    expect(await value()).not.toBe(durable);
    const [again] = [signed(payer, durable, advance, tip(payer, 20_000))];
    expect((await searcher.submit([again])).status).toBe(400);
    const next = await eventually("the next nonce", value);
    // Two of one nonce in flight: what is for a later slot is still there when the other has spent it.
    const targetSlot = (await chain.slot()) + 150;
    const late = await searcher.submit([signed(payer, next, advance, tip(payer, 30_000))], { targetSlot });
    expect(late.status).toBe(202);
    await searcher.until(await searcher.accepted([signed(payer, next, advance, tip(payer, 20_000))]), "included");
    const ended = await searcher.until(late.body.bundleId, "dropped");
    expect(ended).toMatchObject({ status: "dropped", reason: "nonce_spent" });
  });

  test("that is encrypted lands in its slot, and what it holds is not shown before", async () => {
    const [payer] = await chain.wallets(1);
    const { body } = await searcher.ask("/encryption-keys");
    const [key] = body.keys;
    await aimed(async (targetSlot) => {
      const transaction = signed(payer, await chain.blockhash(), tip(payer), memo(`sealed ${targetSlot}`));
      const message = client.encoded("SubmitBundle", { transactions: [transaction.serialize()] });
      const claims = { tip: 10_000n, mevType: "jit", targetSlot: BigInt(targetSlot) } as const;
      const publicKey = new Uint8Array(Buffer.from(key.publicKey, "base64"));
      const envelope = await seal({ network: body.network, keyId: key.id, publicKey, message, ...claims });
      expect(Buffer.from(envelope).includes(transaction.serialize())).toBe(false);
      const id = await submitted({
        transactions: [],
        tip: "10000",
        mev_type: "jit",
        target_slot: String(targetSlot),
        encrypted_payload: envelope,
      });
      expect(id).toBe(new Bun.CryptoHasher("sha256").update(envelope).digest("hex"));
      expect(await searcher.status(id)).toMatchObject({ status: "accepted", signatures: [] });
      expect(await chain.landed(signatureOf(transaction))).toBeNull();
      const slot = await slotOf(id, targetSlot);
      if (slot === null) return null;
      expect((await searcher.status(id)).signatures).toEqual([signatureOf(transaction)]);
      expect(await chain.block(slot)).toContain(signatureOf(transaction));
      return slot;
    });
  });
});

describe("bundles that meet each other", () => {
  test("are in the block in the order of what they pay, and the one that loses lands behind or expires", async () => {
    const [one, other] = await chain.wallets(2);
    const shared = Keypair.generate().publicKey;
    await aimed(async (targetSlot) => {
      const blockhash = await chain.blockhash();
      const named = memo(`for ${targetSlot}`);
      const cheap = signed(one, blockhash, pay(one, shared, 1_000_000), tip(one, 20_000), named);
      const dear = signed(other, blockhash, pay(other, shared, 1_000_000), tip(other, 80_000), named);
      const cheapId = await searcher.accepted([cheap], { tip: 20_000, targetSlot });
      const dearId = await searcher.accepted([dear], { tip: 80_000, targetSlot });
      const [dearSlot, cheapSlot] = [await slotOf(dearId, targetSlot), await slotOf(cheapId, targetSlot)];
      if (dearSlot === null) {
        expect(cheapSlot).toBeNull();
        return null;
      }
      const block = await chain.block(dearSlot);
      const [dearPlace, cheapPlace] = [block.indexOf(signatureOf(dear)), block.indexOf(signatureOf(cheap))];
      expect(dearPlace).toBeGreaterThanOrEqual(0);
      if (cheapSlot === null) expect(cheapPlace).toBe(-1);
      else expect(cheapPlace).toBeGreaterThan(dearPlace);
      return dearSlot;
    });
  });

  test("and of which only one can land, leave it to the one that pays more, whichever came first", async () => {
    await aimed(async (targetSlot) => {
      const [payer] = await chain.wallets(1);
      const blockhash = await chain.blockhash();
      const spend = (lamports: number) =>
        signed(payer, blockhash, pay(payer, Keypair.generate().publicKey, 6_000_000_000), tip(payer, lamports));
      const [cheap, dear] = [spend(20_000), spend(80_000)];
      const cheapId = await searcher.accepted([cheap], { tip: 20_000, targetSlot });
      const dearId = await searcher.accepted([dear], { tip: 80_000, targetSlot });
      const slot = await slotOf(dearId, targetSlot);
      expect(await slotOf(cheapId, targetSlot)).toBeNull();
      expect(await chain.landed(signatureOf(cheap))).toBeNull();
      return slot;
    });
  });
});

test("a searcher's reputation and the tip floor are read by its key, and what landed is counted", async () => {
  const key = await world.account("counted", "read", "bundles:write");
  const read = async (method: string) => {
    const answer = await client.call(method, {}, { "x-api-key": key });
    // biome-ignore lint/suspicious/noExplicitAny: answers are asserted on, member by member.
    return ("message" in answer ? answer.message : {}) as any;
  };
  const none = { tier: "bronze", bundles_submitted: "0", bundles_landed: "0" };
  expect(await read("GetReputation")).toMatchObject(none);
  const [payer] = await chain.wallets(1);
  const transaction = signed(payer, await chain.blockhash(), tip(payer));
  const id = await submitted({ transactions: [transaction.serialize()], tip: "10000" }, key);
  await searcher.until(id, "included");
  const after = await eventually("it is counted", async () => {
    const figures = await read("GetReputation");
    return figures.bundles_landed === "1" && figures;
  });
  expect(after).toMatchObject({ tier: "bronze", bundles_submitted: "1" });
  expect(after.score).toBeGreaterThan(0);
  expect(after.landing_rate).toBeGreaterThan(0);
  const floor = await read("GetTipFloor");
  expect(floor.tip_floor).toBe("1000");
  expect(Number(floor.tip_floor_24h_avg)).toBeGreaterThanOrEqual(1_000);
  expect(floor.utilization).toBeWithin(0, 1);
});
