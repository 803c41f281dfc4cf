import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "@sluice/lib/testing";
import { createMint, getAccount, getOrCreateAssociatedTokenAccount, mintTo, transfer } from "@solana/spl-token";
import {
  AddressLookupTableProgram,
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  SendTransactionError,
  SystemProgram,
  sendAndConfirmTransaction,
  Transaction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { type Network, startNetwork } from "./testing/network.ts";

let network: Network;
let connection: Connection;
const opened: Connection[] = [];

/** A connection whose socket is closed at the end, or it would go on calling a server that is gone. */
function connect(...args: ConstructorParameters<typeof Connection>): Connection {
  const created = new Connection(...args);
  opened.push(created);
  return created;
}

beforeAll(async () => {
  network = await startNetwork({ args: ["--oracle", "off"] });
  connection = connect(network.rpcUrl, { commitment: "confirmed", wsEndpoint: network.webSocketUrl });
}, 60_000);
afterAll(async () => {
  for (const each of opened) Reflect.get(each, "_rpcWebSocket").close();
  await network?.[Symbol.asyncDispose]();
}, 30_000);

async function funded(sol = 5): Promise<Keypair> {
  const keypair = Keypair.generate();
  const signature = await connection.requestAirdrop(keypair.publicKey, sol * LAMPORTS_PER_SOL);
  await connection.confirmTransaction({ signature, ...(await connection.getLatestBlockhash()) }, "confirmed");
  return keypair;
}

describe("an unmodified @solana/web3.js 1.x through the gateway", () => {
  test("an airdrop and a transfer are confirmed and read back", async () => {
    const [alice, bob] = [await funded(), Keypair.generate()];
    const transfer = SystemProgram.transfer({
      fromPubkey: alice.publicKey,
      toPubkey: bob.publicKey,
      lamports: 42_000_000,
    });
    const signature = await sendAndConfirmTransaction(connection, new Transaction().add(transfer), [alice]);
    expect(await connection.getBalance(bob.publicKey)).toBe(42_000_000);
    const seen = await connection.getParsedTransaction(signature, { maxSupportedTransactionVersion: 0 });
    expect(seen?.transaction.message.instructions[0]).toMatchObject({
      program: "system",
      parsed: { type: "transfer" },
    });
    const listed = await connection.getSignaturesForAddress(bob.publicKey);
    expect(listed.map((each) => each.signature)).toEqual([signature]);
  }, 60_000);

  test("the key may travel in a header and the WebSocket be found at the next port", async () => {
    const plain = connect(`${network.dev.doors["rpc"]}`, {
      commitment: "confirmed",
      wsEndpoint: network.webSocketUrl,
      httpHeaders: { "X-API-Key": network.dev.key },
    });
    expect(await plain.getSlot()).toBeGreaterThan(0);
    const derived = connect(network.rpcUrl, "confirmed");
    const slot = await new Promise<number>((resolve) => {
      const id = derived.onSlotChange((info) => {
        void derived.removeSlotChangeListener(id);
        resolve(info.slot);
      });
    });
    expect(slot).toBeGreaterThan(0);
  }, 30_000);

  test("the life of a token", async () => {
    const [payer, friend] = [await funded(), Keypair.generate()];
    const mint = await createMint(connection, payer, payer.publicKey, null, 9);
    const mine = await getOrCreateAssociatedTokenAccount(connection, payer, mint, payer.publicKey);
    const theirs = await getOrCreateAssociatedTokenAccount(connection, payer, mint, friend.publicKey);
    await mintTo(connection, payer, mint, mine.address, payer, 10n ** 18n);
    await transfer(connection, payer, mine.address, theirs.address, payer, 123_456_789_012_345_678n);
    expect((await getAccount(connection, theirs.address)).amount).toBe(123_456_789_012_345_678n);
    const parsed = await connection.getParsedTokenAccountsByOwner(friend.publicKey, { mint });
    expect(parsed.value[0]?.account.data.parsed.info.tokenAmount.amount).toBe("123456789012345678");
  }, 90_000);

  test("a versioned transaction through a lookup table", async () => {
    const payer = await funded();
    const targets = Array.from({ length: 8 }, () => Keypair.generate().publicKey);
    const [create, address] = AddressLookupTableProgram.createLookupTable({
      authority: payer.publicKey,
      payer: payer.publicKey,
      recentSlot: await connection.getSlot("finalized"),
    });
    const extend = AddressLookupTableProgram.extendLookupTable({
      payer: payer.publicKey,
      authority: payer.publicKey,
      lookupTable: address,
      addresses: targets,
    });
    await sendAndConfirmTransaction(connection, new Transaction().add(create, extend), [payer]);
    const extendedAt = await connection.getSlot("confirmed");
    await eventually("a later slot", async () => (await connection.getSlot("confirmed")) > extendedAt + 1);
    const { value: table } = await connection.getAddressLookupTable(address);
    if (table === null) throw new Error("the table is absent");
    expect(table.state.addresses.map(String)).toEqual(targets.map(String));
    const latest = await connection.getLatestBlockhash();
    const rent = await connection.getMinimumBalanceForRentExemption(0);
    const message = new TransactionMessage({
      payerKey: payer.publicKey,
      recentBlockhash: latest.blockhash,
      instructions: targets.map((target) =>
        SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: target, lamports: rent }),
      ),
    }).compileToV0Message([table]);
    const transaction = new VersionedTransaction(message);
    transaction.sign([payer]);
    const signature = await connection.sendTransaction(transaction);
    await connection.confirmTransaction({ signature, ...latest }, "confirmed");
    const seen = await connection.getTransaction(signature, {
      maxSupportedTransactionVersion: 0,
      commitment: "confirmed",
    });
    expect(seen?.version).toBe(0);
    expect(seen?.meta?.loadedAddresses?.writable.map(String).toSorted()).toEqual(targets.map(String).toSorted());
    for (const target of targets) expect(await connection.getBalance(target)).toBe(rent);
  }, 90_000);

  test("a failing transaction reports its logs", async () => {
    const [poor, bob] = [await funded(1), Keypair.generate()];
    const transfer = SystemProgram.transfer({
      fromPubkey: poor.publicKey,
      toPubkey: bob.publicKey,
      lamports: 50 * LAMPORTS_PER_SOL,
    });
    const fault = await sendAndConfirmTransaction(connection, new Transaction().add(transfer), [poor]).catch(
      (error: unknown) => error,
    );
    if (!(fault instanceof SendTransactionError)) throw new Error(`unexpected: ${String(fault)}`);
    expect(fault.logs?.join("\n")).toContain("insufficient lamports");
  }, 60_000);

  test("a batch is answered in its order", async () => {
    const [alice, bob] = [await funded(), Keypair.generate()];
    const signatures: string[] = [];
    for (const amount of [1_000_000, 2_000_000, 3_000_000]) {
      const transfer = SystemProgram.transfer({
        fromPubkey: alice.publicKey,
        toPubkey: bob.publicKey,
        lamports: amount,
      });
      signatures.push(await sendAndConfirmTransaction(connection, new Transaction().add(transfer), [alice]));
    }
    const seen = await connection.getParsedTransactions(signatures, {
      maxSupportedTransactionVersion: 0,
      commitment: "confirmed",
    });
    expect(seen.map((each) => each?.transaction.signatures[0])).toEqual(signatures);
  }, 60_000);

  test("account and log listeners receive a transfer", async () => {
    const [alice, bob] = [await funded(), Keypair.generate()];
    const received = new Promise<number>((resolve) => {
      const id = connection.onAccountChange(
        bob.publicKey,
        (account) => {
          resolve(account.lamports);
          void connection.removeAccountChangeListener(id);
        },
        { commitment: "confirmed" },
      );
    });
    const logged = new Promise<string>((resolve) => {
      const id = connection.onLogs(
        bob.publicKey,
        (entry) => {
          resolve(entry.signature);
          void connection.removeOnLogsListener(id);
        },
        "confirmed",
      );
    });
    await eventually("the listeners to be set", async () => {
      const transfer = SystemProgram.transfer({
        fromPubkey: alice.publicKey,
        toPubkey: bob.publicKey,
        lamports: 1_000_000,
      });
      await sendAndConfirmTransaction(connection, new Transaction().add(transfer), [alice]);
      return await Promise.race([received.then(() => true), Bun.sleep(1_000).then(() => false)]);
    });
    expect(await received).toBeGreaterThanOrEqual(1_000_000);
    expect((await logged).length).toBeGreaterThan(60);
  }, 60_000);
});
