import { expect, test } from "bun:test";
import { Connection, Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from "@solana/web3.js";
import { call } from "../testing/boot.ts";
import { bootFaultyNode, RawSubscriber } from "./testing/faulty-node.ts";

const sol = 1_000_000_000;

test("a lagging node answers from the state of so many slots ago, says how far it is behind, and catches up when cleared", async () => {
  await using faulty = await bootFaultyNode({ finalizedAfter: 4 });
  const { rpcUrl, wsUrl } = faulty.node;
  const connection = new Connection(rpcUrl, "processed");
  await faulty.closeSlots(10);
  await faulty.admin("devnet_lag", 5);
  const to = Keypair.generate().publicKey;
  const signature = await connection.requestAirdrop(to, sol);
  await faulty.closeSlots(5);
  const shown = async () => [
    await connection.getSlot("processed"),
    await connection.getSlot("finalized"),
    await connection.getBalance(to),
    (await connection.getSignatureStatus(signature)).value?.slot ?? null,
  ];
  expect(await shown()).toEqual([10, 6, 0, null]);
  expect((await call(rpcUrl, "getHealth")).error).toEqual({
    code: -32005,
    message: "Node is behind by 5 slots",
    data: { numSlotsBehind: 5 },
  });
  expect(await (await fetch(`${rpcUrl}/health`)).text()).toBe("behind");
  expect((await call(rpcUrl, "getBlock", [10, { commitment: "confirmed" }])).error?.code).toBe(-32004);
  await faulty.closeSlots(1);
  expect(await shown()).toEqual([11, 7, sol, 11]);
  using subscriber = await RawSubscriber.open(wsUrl);
  const account = await subscriber.ask("accountSubscribe", to.toBase58(), { commitment: "finalized" });
  await faulty.closeSlots(3);
  expect(await subscriber.notifications(account)).toEqual([]);
  expect(await faulty.admin("devnet_info")).toMatchObject({
    slot: 19,
    shownSlot: 14,
    faults: { lag: { slots: 5, now: 5 } },
  });
  expect(await faulty.admin("devnet_clear")).toEqual({});
  expect(await subscriber.notifications(account)).toMatchObject([{ context: { slot: 11 }, value: { lamports: sol } }]);
  expect(await shown()).toEqual([19, 15, sol, 11]);
  expect((await call(rpcUrl, "getHealth")).result).toBe("ok");
  await faulty.closeSlots(1);
  expect(await connection.getSlot("processed")).toBe(20);
});

test("every slot notification of a lagging node comes late by the lag, in order, with none lost when it is cleared", async () => {
  await using faulty = await bootFaultyNode();
  using subscriber = await RawSubscriber.open(faulty.node.wsUrl);
  const subscription = await subscriber.ask("slotSubscribe");
  const slots = async () =>
    (await subscriber.notifications(subscription)).map((notification) => (notification as { slot: number }).slot);
  await faulty.closeSlots(2);
  await faulty.admin("devnet_lag", 3);
  await faulty.closeSlots(3);
  expect(await slots()).toEqual([2, 3]);
  await faulty.closeSlots(2);
  expect(await slots()).toEqual([2, 3, 4, 5]);
  await faulty.admin("devnet_lag", 1);
  expect(await slots()).toEqual([2, 3, 4, 5, 6, 7]);
  await faulty.admin("devnet_clear");
  expect(await slots()).toEqual([2, 3, 4, 5, 6, 7, 8]);
});

test("a simulation on a lagging node runs over the state that the node shows", async () => {
  await using faulty = await bootFaultyNode();
  const connection = new Connection(faulty.node.rpcUrl, "processed");
  const payer = Keypair.generate();
  await faulty.closeSlots(3);
  await faulty.admin("devnet_lag", 4);
  await connection.requestAirdrop(payer.publicKey, sol);
  await faulty.closeSlots(4);
  const { blockhash: recentBlockhash } = await connection.getLatestBlockhash();
  const pay = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: payer.publicKey, lamports: 1 });
  const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions: [pay] });
  const transaction = new VersionedTransaction(message.compileToV0Message());
  const behind = await connection.simulateTransaction(transaction);
  expect(behind).toMatchObject({ context: { slot: 3 }, value: { err: "AccountNotFound" } });
  await faulty.admin("devnet_clear");
  const caughtUp = await connection.simulateTransaction(transaction);
  expect(caughtUp).toMatchObject({ context: { slot: 7 }, value: { err: null } });
});

test("a zombie lags as much and says that it is well", async () => {
  await using faulty = await bootFaultyNode();
  const { rpcUrl } = faulty.node;
  await faulty.closeSlots(3);
  await faulty.admin("devnet_zombie", 20);
  await faulty.admin("devnet_advance", { slots: 30 });
  expect((await call(rpcUrl, "getSlot", [{ commitment: "processed" }])).result).toBe(13);
  expect((await call(rpcUrl, "getHealth")).result).toBe("ok");
  expect(await (await fetch(`${rpcUrl}/health`)).text()).toBe("ok");
  await expect(faulty.admin("devnet_fork", { depth: 1 })).rejects.toThrow("a node that lags cannot fork");
  await faulty.admin("devnet_clear");
  expect((await call(rpcUrl, "getSlot", [{ commitment: "processed" }])).result).toBe(33);
});

test("that share of notifications is lost, the same ones for the same seed, and no answer", async () => {
  const received = async (seed: string): Promise<number[]> => {
    await using faulty = await bootFaultyNode();
    using subscriber = await RawSubscriber.open(faulty.node.wsUrl);
    const subscription = await subscriber.ask("slotSubscribe");
    await faulty.admin("devnet_dropPubsub", { share: 0.5, seed });
    await faulty.closeSlots(60);
    const slots = (await subscriber.notifications(subscription)).map(
      (notification) => (notification as { slot: number }).slot,
    );
    const { faults } = (await faulty.admin("devnet_info")) as { faults: { dropPubsub: { dropped: number } } };
    expect(faults.dropPubsub.dropped).toBe(60 - slots.length);
    await faulty.admin("devnet_clear");
    await faulty.closeSlots(10);
    expect(await subscriber.notifications(subscription)).toHaveLength(slots.length + 10);
    return slots;
  };
  const first = await received("one");
  expect(first.length).toBeWithin(15, 46);
  expect(await received("one")).toEqual(first);
  expect(await received("two")).not.toEqual(first);
});

test("closed PubSub connections end with 1001, and a new one works", async () => {
  await using faulty = await bootFaultyNode();
  const left = await RawSubscriber.open(faulty.node.wsUrl);
  const right = await RawSubscriber.open(faulty.node.wsUrl);
  expect(await faulty.admin("devnet_closePubsub")).toEqual({ closed: 2 });
  expect(await Promise.all([left.closed, right.closed])).toEqual([1001, 1001]);
  using again = await RawSubscriber.open(faulty.node.wsUrl);
  const subscription = await again.ask("slotSubscribe");
  await faulty.closeSlots(1);
  expect(await again.notifications(subscription)).toHaveLength(1);
});
