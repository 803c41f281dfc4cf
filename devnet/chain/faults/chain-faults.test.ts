import { expect, test } from "bun:test";
import { Connection, Keypair, SystemProgram, Transaction } from "@solana/web3.js";
import { call } from "../testing/boot.ts";
import { bootFaultyNode, type FaultyNode, RawSubscriber } from "./testing/faulty-node.ts";

const sol = 1_000_000_000;

function connect(faulty: FaultyNode): Connection {
  return new Connection(faulty.node.rpcUrl, { wsEndpoint: faulty.node.wsUrl, commitment: "processed" });
}

test("devnet_* exist only under admin, there on every endpoint, and the admin endpoint answers nothing else", async () => {
  await using plain = await bootFaultyNode({ admin: false });
  expect(plain.node.adminUrl).toBeNull();
  expect((await call(plain.node.rpcUrl, "devnet_info")).error).toEqual({ code: -32601, message: "Method not found" });
  await using faulty = await bootFaultyNode();
  expect((await call(faulty.node.adminUrl ?? "", "getSlot")).error?.code).toBe(-32601);
  const { result } = await call(faulty.node.rpcUrl, "devnet_info");
  expect(result).toMatchObject({ seed: "faults", slot: 0, finalizedSlot: 0, epoch: 0, faults: {} });
  const { programs } = result as { readonly programs: Record<string, string> };
  expect(programs["TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"]).toBe("real");
  expect(Object.values(programs)).toContain("effect");
  expect(Object.values(programs)).toContain("assembled");
  expect(await call(faulty.node.rpcUrl, "devnet_clear")).toMatchObject({ result: {} });
});

test("skipped slots have no block: lists leave them out, getBlock says so, parents link over them, heights do not grow", async () => {
  await using faulty = await bootFaultyNode();
  const { rpcUrl, wsUrl } = faulty.node;
  using subscriber = await RawSubscriber.open(wsUrl);
  const slots = await subscriber.ask("slotSubscribe");
  await faulty.closeSlots(2);
  expect(await faulty.admin("devnet_skipSlots", 3)).toEqual({ openSlot: 3, skipping: 3 });
  await faulty.closeSlots(1);
  expect(await subscriber.notifications(slots)).toHaveLength(2);
  await faulty.closeSlots(2);
  expect(await subscriber.notifications(slots)).toHaveLength(2);
  await faulty.closeSlots(1);
  expect((await subscriber.notifications(slots)).at(-1)).toEqual({ slot: 7, parent: 3, root: 0 });
  await faulty.closeSlots(2);
  const connection = connect(faulty);
  expect(await connection.getBlocks(0, 8, "confirmed")).toEqual([0, 1, 2, 3, 7]);
  expect(await connection.getBlock(7, { commitment: "confirmed" })).toMatchObject({ parentSlot: 3, blockHeight: 4 });
  expect((await call(rpcUrl, "getBlock", [5, { commitment: "confirmed" }])).error).toEqual({
    code: -32007,
    message: "Slot 5 was skipped, or missing due to ledger jump to recent snapshot",
  });
  const production = (await connection.getBlockProduction({ commitment: "confirmed" })).value;
  const sum = (at: 0 | 1) => Object.values(production.byIdentity).reduce((all, entry) => all + (entry[at] ?? 0), 0);
  expect([sum(0), sum(1)]).toEqual([8, 5]);
  expect(await faulty.admin("devnet_clear")).toEqual({});
  await faulty.closeSlots(1);
  expect(await connection.getSlot("processed")).toBe(9);
});

test("clearing ends a wait for skipped slots at once: what is left of them is not waited for", async () => {
  await using faulty = await bootFaultyNode();
  await faulty.closeSlots(1);
  await faulty.admin("devnet_skipSlots", 10);
  await faulty.closeSlots(2);
  expect(await faulty.admin("devnet_clear")).toEqual({});
  await faulty.closeSlots(1);
  expect(await connect(faulty).getSlot("processed")).toBe(13);
});

async function sent(connection: Connection, payer: Keypair, to: Keypair, blockhash: string): Promise<string> {
  const pay = { fromPubkey: payer.publicKey, toPubkey: to.publicKey, lamports: sol };
  const transaction = new Transaction({ feePayer: payer.publicKey, recentBlockhash: blockhash });
  transaction.add(SystemProgram.transfer(pay)).sign(payer);
  return connection.sendRawTransaction(transaction.serialize());
}

test("a fork takes back what only processed had seen: balance, status, block, blockhash; PubSub reports the new parent", async () => {
  await using faulty = await bootFaultyNode({ confirmedAfter: 8 });
  const { wsUrl, rpcUrl } = faulty.node;
  const connection = connect(faulty);
  const [payer, to] = [Keypair.generate(), Keypair.generate()];
  await connection.requestAirdrop(payer.publicKey, 10 * sol);
  await faulty.closeSlots(9);
  const { blockhash } = await connection.getLatestBlockhash("processed");
  using subscriber = await RawSubscriber.open(wsUrl);
  const slots = await subscriber.ask("slotSubscribe");
  const updates = await subscriber.ask("slotsUpdatesSubscribe");
  const signature = await sent(connection, payer, to, blockhash);
  await faulty.closeSlots(2);
  const abandonedHash = (await connection.getLatestBlockhash("processed")).blockhash;
  expect((await connection.getSignatureStatus(signature)).value?.confirmationStatus).toBe("processed");
  expect(await connection.getBalance(to.publicKey)).toBe(sol);
  const forked = await faulty.admin("devnet_fork", { depth: 2, landAgain: false });
  expect(forked).toEqual({ parent: 9, abandoned: [10, 11, 12], openSlot: 13 });
  expect((await connection.getSignatureStatus(signature)).value).toBeNull();
  expect(await connection.getBalance(to.publicKey)).toBe(0);
  expect(await connection.getSlot("processed")).toBe(9);
  expect((await connection.isBlockhashValid(abandonedHash, { commitment: "processed" })).value).toBe(false);
  expect((await connection.isBlockhashValid(blockhash, { commitment: "processed" })).value).toBe(true);
  expect((await subscriber.notifications(slots)).at(-1)).toEqual({ slot: 13, parent: 9, root: 0 });
  const dead = (await subscriber.notifications(updates)).filter(
    (update) => (update as { type: string }).type === "dead",
  );
  expect(dead.map((update) => (update as { slot: number }).slot)).toEqual([10, 11, 12]);
  await faulty.closeSlots(10);
  expect(await connection.getBlocks(8, 14, "confirmed")).toEqual([8, 9, 13, 14]);
  expect((await call(rpcUrl, "getBlock", [10, { commitment: "confirmed" }])).error?.code).toBe(-32007);
  expect((await connection.getBlock(13, { commitment: "confirmed" }))?.parentSlot).toBe(9);
  expect(await connection.getSignaturesForAddress(to.publicKey, {}, "confirmed")).toEqual([]);
});

test("a fork notifies an account's subscriber at processed of the restored account, once, and no other", async () => {
  await using faulty = await bootFaultyNode({ confirmedAfter: 8 });
  const connection = connect(faulty);
  const [payer, to] = [Keypair.generate(), Keypair.generate()];
  await connection.requestAirdrop(payer.publicKey, 10 * sol);
  await faulty.closeSlots(9);
  using subscriber = await RawSubscriber.open(faulty.node.wsUrl);
  const of = (key: Keypair, commitment: string) => [key.publicKey.toBase58(), { commitment }];
  const [received, paid, confirmed] = [
    await subscriber.ask("accountSubscribe", ...of(to, "processed")),
    await subscriber.ask("accountSubscribe", ...of(payer, "processed")),
    await subscriber.ask("accountSubscribe", ...of(to, "confirmed")),
  ];
  await sent(connection, payer, to, (await connection.getLatestBlockhash("processed")).blockhash);
  await faulty.closeSlots(2);
  await faulty.admin("devnet_fork", { depth: 2 });
  await faulty.closeSlots(2);
  const lamports = async (subscription: unknown) =>
    (await subscriber.notifications(subscription)).map((notifications) => {
      const { context, value } = notifications as { context: { slot: number }; value: { lamports: number } };
      return [context.slot, value.lamports];
    });
  expect(await lamports(received)).toEqual([
    [10, sol],
    [13, 0],
  ]);
  expect((await lamports(paid)).map(([slot]) => slot)).toEqual([10, 13]);
  expect((await lamports(paid)).at(-1)?.[1]).toBe(10 * sol);
  await faulty.closeSlots(10);
  expect(await lamports(confirmed)).toEqual([]);
});

test("a fork that lands its transactions again shows them in their new slot, once", async () => {
  await using faulty = await bootFaultyNode({ confirmedAfter: 8 });
  const connection = connect(faulty);
  const [payer, to] = [Keypair.generate(), Keypair.generate()];
  await connection.requestAirdrop(payer.publicKey, 10 * sol);
  await faulty.closeSlots(9);
  const { blockhash } = await connection.getLatestBlockhash("processed");
  const signature = await sent(connection, payer, to, blockhash);
  await faulty.closeSlots(3);
  await faulty.admin("devnet_fork", { depth: 3, landAgain: true });
  await faulty.closeSlots(1);
  expect((await connection.getSignatureStatus(signature)).value).toMatchObject({ slot: 14, err: null });
  await faulty.closeSlots(8);
  expect(await connection.getBalance(to.publicKey, "confirmed")).toBe(sol);
  const rows = await connection.getSignaturesForAddress(to.publicKey, {}, "confirmed");
  expect(rows.map((row) => [row.signature, row.slot])).toEqual([[signature, 14]]);
});

test("a fork deeper than what is unconfirmed is refused and changes nothing", async () => {
  await using faulty = await bootFaultyNode({ confirmedAfter: 3 });
  await faulty.closeSlots(10);
  await expect(faulty.admin("devnet_fork", { depth: 4 })).rejects.toThrow("depth must be from 1 to 3");
  expect(await connect(faulty).getSlot("processed")).toBe(10);
  await expect(faulty.admin("devnet_fork", { depth: 1, again: true })).rejects.toThrow("unknown field `again`");
});

test("a fork of confirmed blocks: confirmed stands on what was left until newer slots are, then all of it is as if it had never been", async () => {
  await using faulty = await bootFaultyNode({ confirmedAfter: 3, finalizedAfter: 12 });
  const { wsUrl, rpcUrl } = faulty.node;
  const connection = connect(faulty);
  const [payer, to] = [Keypair.generate(), Keypair.generate()];
  await connection.requestAirdrop(payer.publicKey, 10 * sol);
  await faulty.closeSlots(9);
  using subscriber = await RawSubscriber.open(wsUrl);
  const account = await subscriber.ask("accountSubscribe", to.publicKey.toBase58(), { commitment: "confirmed" });
  const updates = await subscriber.ask("slotsUpdatesSubscribe");
  const signature = await sent(connection, payer, to, (await connection.getLatestBlockhash("processed")).blockhash);
  const notifications = await subscriber.ask("signatureSubscribe", signature, { commitment: "confirmed" });
  await faulty.closeSlots(5);
  const seen = await connection.getBlock(10, { commitment: "confirmed" });
  const { blockhash } = await connection.getLatestBlockhash("confirmed");
  expect(await subscriber.notifications(notifications)).toMatchObject([{ value: { err: null } }]);
  await expect(faulty.admin("devnet_fork", { depth: 5 })).rejects.toThrow("depth must be from 1 to 3");
  await expect(faulty.admin("devnet_fork", { depth: 13, confirmed: true })).rejects.toThrow("from 1 to 12");
  const forked = await faulty.admin("devnet_fork", { depth: 5, confirmed: true });
  expect(forked).toEqual({ parent: 9, abandoned: [10, 11, 12, 13, 14, 15], openSlot: 16 });
  const confirmed = async () => ({
    slot: await connection.getSlot("confirmed"),
    blocks: await connection.getBlocks(8, 30, "confirmed"),
    block: (await call(rpcUrl, "getBlock", [10, { commitment: "confirmed", maxSupportedTransactionVersion: 0 }])).error,
    balance: await connection.getBalance(to.publicKey, "confirmed"),
    isValid: (await connection.isBlockhashValid(blockhash, { commitment: "confirmed" })).value,
    transaction: (await connection.getTransaction(signature, { commitment: "confirmed" }))?.slot,
  });
  const left = { slot: 11, blocks: [8, 9, 10, 11], block: undefined, balance: sol, isValid: true, transaction: 10 };
  expect(await confirmed()).toEqual(left as never);
  expect(await connection.getBlock(10, { commitment: "confirmed" })).toEqual(seen as NonNullable<typeof seen>);
  // The newest block is another one already.
  expect(await connection.getSlot("processed")).toBe(9);
  expect((await connection.getSignatureStatus(signature)).value).toBeNull();
  expect(await connection.getBalance(to.publicKey, "processed")).toBe(0);
  await faulty.closeSlots(3);
  expect(await confirmed()).toEqual(left as never);
  await faulty.closeSlots(1);
  const never = { slot: 16, blocks: [8, 9, 16], balance: 0, isValid: false, transaction: undefined };
  expect(await confirmed()).toMatchObject({ ...never, block: { code: -32007 } } as never);
  const lamports = (await subscriber.notifications(account)).map((each) => {
    const { context, value } = each as { context: { slot: number }; value: { lamports: number } };
    return [context.slot, value.lamports];
  });
  expect(lamports).toEqual([
    [10, sol],
    [16, 0],
  ]);
  const confirmations = (await subscriber.notifications(updates)) as { type: string; slot: number }[];
  const slots = confirmations.filter(({ type }) => type === "optimisticConfirmation").map(({ slot }) => slot);
  expect(slots).toEqual([7, 8, 9, 10, 11, 16]);
  await faulty.closeSlots(9);
  expect(await connection.getBlocks(8, 30, "finalized")).toEqual([8, 9, 16]);
});

test("pruned history is gone: getBlock -32001, the first block moves up, and transactions before it are unknown", async () => {
  await using faulty = await bootFaultyNode({ finalizedAfter: 4 });
  const connection = connect(faulty);
  const signature = await connection.requestAirdrop(Keypair.generate().publicKey, sol);
  await faulty.closeSlots(20);
  expect(await connection.getTransaction(signature, { commitment: "confirmed" })).not.toBeNull();
  await expect(faulty.admin("devnet_prune", 17)).rejects.toThrow("slot must be from 0 to 16");
  expect(await faulty.admin("devnet_prune", 12)).toEqual({ firstAvailableBlock: 12 });
  expect(await connection.getFirstAvailableBlock()).toBe(12);
  expect((await call(faulty.node.rpcUrl, "getBlock", [11])).error).toEqual({
    code: -32001,
    message: "Block 11 cleaned up, does not exist on node. First available block: 12",
  });
  expect(await connection.getTransaction(signature, { commitment: "confirmed" })).toBeNull();
  expect(await connection.getBlocks(0, 14, "confirmed")).toEqual([12, 13, 14]);
});

test("advance moves slots with a block each, epochs with their rewards, and the clock by seconds, all of it finalized", async () => {
  await using faulty = await bootFaultyNode({ slotsPerEpoch: 64n, finalizedAfter: 8, confirmedAfter: 1 });
  const connection = connect(faulty);
  await faulty.closeSlots(1);
  const start = Number(await connection.getBlockTime(0));
  expect(await faulty.admin("devnet_advance", { slots: 20 })).toMatchObject({ slot: 21, epoch: 0 });
  expect(await connection.getBlockHeight("processed")).toBe(21);
  expect(await connection.getBlockTime(20)).toBe(start + 7);
  expect(await faulty.admin("devnet_advance", { epochs: 3 })).toMatchObject({ slot: 200, epoch: 3 });
  expect((await connection.getEpochInfo("finalized")).epoch).toBe(3);
  expect(await connection.getBlocks(60, 199, "confirmed")).toEqual([
    64,
    128,
    ...Array.from({ length: 8 }, (_, index) => 192 + index),
  ]);
  const [validator] = faulty.node.chain.genesis.validators;
  const rewards = await call(faulty.node.rpcUrl, "getInflationReward", [[validator.stake], { epoch: 1 }]);
  expect(rewards.result).toMatchObject([{ epoch: 1, effectiveSlot: 128 }]);
  const before = Number(await connection.getBlockTime(199));
  await faulty.admin("devnet_advance", { seconds: 3_600 });
  const slot = await connection.getSlot("finalized");
  expect(Number(await connection.getBlockTime(slot)) - before).toBeWithin(3_590, 3_601);
  await expect(faulty.admin("devnet_advance", { slots: 1, epochs: 1 })).rejects.toThrow("name one of");
});
