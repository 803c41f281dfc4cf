import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  address,
  airdropFactory,
  appendTransactionMessageInstruction,
  assertIsTransactionWithBlockhashLifetime,
  type Commitment,
  createSolanaRpc,
  createSolanaRpcSubscriptions,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  lamports,
  pipe,
  sendAndConfirmTransactionFactory,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
  type TransactionSigner,
} from "@solana/kit";
import {
  createAssociatedTokenAccount,
  createMint,
  getAccount,
  getMint,
  mintTo,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
  transfer,
} from "@solana/spl-token";
import {
  AddressLookupTableProgram,
  ComputeBudgetProgram,
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  NonceAccount,
  type PublicKey,
  SendTransactionError,
  SystemProgram,
  sendAndConfirmTransaction,
  Transaction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import type { ChainNode } from "./node.ts";
import { bootNode } from "./testing/boot.ts";

let node: ChainNode;
let connection: Connection;
let payer: Keypair;

beforeAll(async () => {
  node = await bootNode();
  connection = new Connection(node.rpcUrl, { commitment: "confirmed", wsEndpoint: node.wsUrl });
  payer = Keypair.generate();
  const signature = await connection.requestAirdrop(payer.publicKey, 100 * LAMPORTS_PER_SOL);
  await connection.confirmTransaction({ signature, ...(await connection.getLatestBlockhash()) });
});

afterAll(async () => {
  // Web3.js has no public way to let go of its socket, and reconnects for ever when the node is gone.
  const { _rpcWebSocket: socket } = connection as unknown as {
    _rpcWebSocket: { setAutoReconnect(reconnect: boolean): void; close(): void };
  };
  socket.setAutoReconnect(false);
  socket.close();
  await node[Symbol.asyncDispose]();
});

function transferTo(to: PublicKey, amount: number): Transaction {
  return new Transaction().add(SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: amount }));
}

/** The System program's Transfer instruction, as kit takes it. */
function solTransfer(source: TransactionSigner, destination: string, amount: bigint) {
  const data = new Uint8Array(12);
  const view = new DataView(data.buffer);
  view.setUint32(0, 2, true);
  view.setBigUint64(4, amount, true);
  return {
    programAddress: address("11111111111111111111111111111111"),
    accounts: [
      { address: source.address, role: 3 as const, signer: source },
      { address: address(destination), role: 1 as const },
    ],
    data,
  };
}

test("kit: an airdrop and a transfer are confirmed over the socket, and each commitment shows its own state", async () => {
  const rpc = createSolanaRpc(node.rpcUrl);
  const rpcSubscriptions = createSolanaRpcSubscriptions(node.wsUrl);
  const sender = await generateKeyPairSigner();
  const receiver = await generateKeyPairSigner();
  await airdropFactory({ rpc, rpcSubscriptions })({
    commitment: "confirmed",
    recipientAddress: sender.address,
    lamports: lamports(5_000_000_000n),
  });
  const { value: lifetime } = await rpc.getLatestBlockhash().send();
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (m) => setTransactionMessageFeePayerSigner(sender, m),
    (m) => setTransactionMessageLifetimeUsingBlockhash(lifetime, m),
    (m) => appendTransactionMessageInstruction(solTransfer(sender, receiver.address, 1_000_000_000n), m),
  );
  const signed = await signTransactionMessageWithSigners(message);
  assertIsTransactionWithBlockhashLifetime(signed);
  const simulated = await rpc
    .simulateTransaction(getBase64EncodedWireTransaction(signed), { encoding: "base64", innerInstructions: true })
    .send();
  expect(simulated.value.err).toBeNull();
  expect(simulated.value.unitsConsumed).toBe(150n);
  await sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions })(signed, { commitment: "confirmed" });
  const balanceAt = async (commitment: Commitment) =>
    (await rpc.getBalance(receiver.address, { commitment }).send()).value as bigint;
  expect(await balanceAt("confirmed")).toBe(1_000_000_000n);
  expect(await balanceAt("finalized")).toBe(0n);
  const signature = getSignatureFromTransaction(signed);
  const found = await rpc.getTransaction(signature, { maxSupportedTransactionVersion: 0, encoding: "json" }).send();
  expect(found?.meta?.err).toBeNull();
  expect(found?.meta?.postBalances[1]).toBe(lamports(1_000_000_000n));
  expect(await rpc.getTransaction(signature, { commitment: "finalized", encoding: "json" }).send()).toBeNull();
});

test("kit: a socket is notified of an account, its program, logs, slots and roots", async () => {
  const subscriptions = createSolanaRpcSubscriptions(node.wsUrl);
  const receiver = Keypair.generate();
  const abort = new AbortController();
  const options = { abortSignal: abort.signal };
  const at = { commitment: "confirmed" as const, encoding: "base64" as const };
  const watched = address(receiver.publicKey.toBase58());
  const account = await subscriptions.accountNotifications(watched, at).subscribe(options);
  const logs = await subscriptions
    .logsNotifications({ mentions: [watched] }, { commitment: "processed" })
    .subscribe(options);
  const slots = await subscriptions.slotNotifications().subscribe(options);
  const roots = await subscriptions.rootNotifications().subscribe(options);
  const first = async <T>(notifications: AsyncIterable<T>): Promise<T> => {
    for await (const notification of notifications) return notification;
    throw new Error("the subscription ended");
  };
  // Kit keeps notifications for an iterator only from the moment at which iteration begins.
  const firsts = Promise.all([first(account), first(logs), first(slots), first(roots)]);
  await sendAndConfirmTransaction(connection, transferTo(receiver.publicKey, 2_000_000), [payer]);
  const [changed, logged, slot, root] = await firsts;
  expect(changed.value.lamports).toBe(lamports(2_000_000n));
  expect(logged.value.logs).toContain("Program 11111111111111111111111111111111 success");
  expect(slot.slot).toBe(slot.parent + 1n);
  expect(root).toBeGreaterThanOrEqual(0n);
  abort.abort();
});

test.each([
  ["spl-token", TOKEN_PROGRAM_ID],
  ["token-2022", TOKEN_2022_PROGRAM_ID],
])("web3.js: a mint of %s is created, minted, transferred and read back", async (_name, program) => {
  const at = { commitment: "confirmed" as const };
  const mint = await createMint(connection, payer, payer.publicKey, null, 6, Keypair.generate(), at, program);
  const other = Keypair.generate();
  const mine = await createAssociatedTokenAccount(connection, payer, mint, payer.publicKey, at, program);
  const theirs = await createAssociatedTokenAccount(connection, payer, mint, other.publicKey, at, program);
  await mintTo(connection, payer, mint, mine, payer, 5_000_000n, [], at, program);
  const signature = await transfer(connection, payer, mine, theirs, payer, 1_500_000n, [], at, program);
  expect((await getAccount(connection, theirs, "confirmed", program)).amount).toBe(1_500_000n);
  expect((await getMint(connection, mint, "confirmed", program)).supply).toBe(5_000_000n);
  const balance = await connection.getTokenAccountBalance(theirs);
  expect(balance.value).toEqual({ amount: "1500000", decimals: 6, uiAmount: 1.5, uiAmountString: "1.5" });
  const owned = await connection.getParsedTokenAccountsByOwner(other.publicKey, { mint });
  expect(owned.value[0]?.account.data.parsed.info.tokenAmount.amount).toBe("1500000");
  expect((await connection.getTokenLargestAccounts(mint)).value.map(({ amount }) => amount)).toEqual([
    "3500000",
    "1500000",
  ]);
  expect((await connection.getTokenSupply(mint)).value.amount).toBe("5000000");
  const parsed = await connection.getParsedTransaction(signature, { maxSupportedTransactionVersion: 0 });
  const amounts = (list: readonly { uiTokenAmount: { amount: string } }[] | null | undefined) =>
    list?.map((entry) => entry.uiTokenAmount.amount).sort();
  expect(amounts(parsed?.meta?.preTokenBalances)).toEqual(["0", "5000000"]);
  expect(amounts(parsed?.meta?.postTokenBalances)).toEqual(["1500000", "3500000"]);
});

test("web3.js: a v0 transaction uses a lookup table, and only from the slot after the extension on", async () => {
  const recentSlot = await connection.getSlot("finalized");
  const [create, table] = AddressLookupTableProgram.createLookupTable({
    authority: payer.publicKey,
    payer: payer.publicKey,
    recentSlot,
  });
  const receivers = [Keypair.generate().publicKey, Keypair.generate().publicKey];
  const extend = AddressLookupTableProgram.extendLookupTable({
    payer: payer.publicKey,
    authority: payer.publicKey,
    lookupTable: table,
    addresses: receivers,
  });
  await sendAndConfirmTransaction(connection, new Transaction().add(create, extend), [payer]);
  // The bank that extended a table cannot use the new addresses yet; the next one, once confirmed, can.
  await node.closeSlot();
  const { value } = await connection.getAddressLookupTable(table);
  expect(value?.state.addresses.map(String)).toEqual(receivers.map(String));
  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash();
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: blockhash,
    instructions: receivers.map((toPubkey) =>
      SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey, lamports: 3_000_000 }),
    ),
  }).compileToV0Message(value === null ? [] : [value]);
  expect(message.addressTableLookups).toHaveLength(1);
  const transaction = new VersionedTransaction(message);
  transaction.sign([payer]);
  const signature = await connection.sendTransaction(transaction);
  await connection.confirmTransaction({ signature, blockhash, lastValidBlockHeight });
  const landed = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
  expect(landed?.meta?.loadedAddresses?.writable.map(String)).toEqual(receivers.map(String));
  expect(landed?.meta?.postBalances.slice(2)).toEqual([3_000_000, 3_000_000]);
  await expect(connection.getTransaction(signature)).rejects.toThrow("Transaction version (0) is not supported");
});

test("web3.js: a transfer beyond the balance fails in preflight with its logs, and lands as failed without preflight", async () => {
  const receiver = Keypair.generate().publicKey;
  const send = sendAndConfirmTransaction(connection, transferTo(receiver, 1_000 * LAMPORTS_PER_SOL), [payer]);
  const refusal = await send.then(
    () => null,
    (error: unknown) => error,
  );
  expect(refusal).toBeInstanceOf(SendTransactionError);
  if (!(refusal instanceof SendTransactionError)) return;
  expect(refusal.message).toContain("custom program error: 0x1");
  expect(refusal.logs?.at(-1)).toContain("failed: custom program error: 0x1");
  const before = await connection.getBalance(payer.publicKey, "processed");
  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash();
  const transaction = transferTo(receiver, 1_000 * LAMPORTS_PER_SOL);
  const signature = await connection.sendTransaction(transaction, [payer], { skipPreflight: true });
  // Web3.js returns the error when the socket reported it, and throws it when a status did.
  const confirmation = connection.confirmTransaction({ signature, blockhash, lastValidBlockHeight });
  const outcome: unknown = await confirmation.then(
    ({ value }) => value.err,
    (error: unknown) => error,
  );
  expect(outcome).toEqual({ InstructionError: [0, { Custom: 1 }] });
  expect(await connection.getBalance(payer.publicKey, "processed")).toBe(before - 5_000);
});

test("web3.js: the priority fee is charged and shown as the price of its block", async () => {
  const receiver = Keypair.generate().publicKey;
  const transaction = transferTo(receiver, 1_000_000).add(
    ComputeBudgetProgram.setComputeUnitLimit({ units: 100_000 }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 70_000 }),
  );
  const signature = await sendAndConfirmTransaction(connection, transaction, [payer]);
  const landed = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
  expect(landed?.meta?.fee).toBe(5_000 + 7_000);
  const [pre, post] = [landed?.meta?.preBalances[0] ?? 0, landed?.meta?.postBalances[0] ?? 0];
  expect(pre - post).toBe(1_000_000 + 12_000);
  const fees = await connection.getRecentPrioritizationFees({ lockedWritableAccounts: [receiver] });
  expect(fees.find(({ slot }) => slot === landed?.slot)?.prioritizationFee).toBe(70_000);
});

test("web3.js: a durable nonce outlives its blockhash, advances once, and cannot be replayed", async () => {
  const nonce = Keypair.generate();
  const create = SystemProgram.createNonceAccount({
    fromPubkey: payer.publicKey,
    noncePubkey: nonce.publicKey,
    authorizedPubkey: payer.publicKey,
    lamports: await connection.getMinimumBalanceForRentExemption(80),
  });
  await sendAndConfirmTransaction(connection, create, [payer, nonce]);
  const read = async () => {
    const info = await connection.getAccountInfo(nonce.publicKey);
    return NonceAccount.fromAccountData(info?.data ?? Buffer.alloc(0)).nonce;
  };
  const value = await read();
  const receiver = Keypair.generate().publicKey;
  const transaction = new Transaction({
    feePayer: payer.publicKey,
    nonceInfo: {
      nonce: value,
      nonceInstruction: SystemProgram.nonceAdvance({
        noncePubkey: nonce.publicKey,
        authorizedPubkey: payer.publicKey,
      }),
    },
  }).add(SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: receiver, lamports: 1_000_000 }));
  transaction.sign(payer);
  const signature = await connection.sendRawTransaction(transaction.serialize());
  await connection.confirmTransaction({
    signature,
    nonceAccountPubkey: nonce.publicKey,
    nonceValue: value,
    minContextSlot: 0,
  });
  expect(await connection.getBalance(receiver)).toBe(1_000_000);
  expect(await read()).not.toBe(value);
  await expect(connection.sendRawTransaction(transaction.serialize())).rejects.toThrow();
});

test("web3.js: history of an address is paged by before and until", async () => {
  const receiver = Keypair.generate().publicKey;
  const sent: string[] = [];
  for (let amount = 1_000_000; amount < 1_000_004; amount += 1) {
    sent.unshift(await sendAndConfirmTransaction(connection, transferTo(receiver, amount), [payer]));
  }
  const all = await connection.getSignaturesForAddress(receiver);
  expect(all.map(({ signature }) => signature)).toEqual(sent);
  const [newest, , , oldest] = sent;
  if (newest === undefined || oldest === undefined) throw new Error("four transactions were sent");
  const page = await connection.getSignaturesForAddress(receiver, { before: newest, until: oldest, limit: 1 });
  expect(page.map(({ signature }) => signature)).toEqual([sent[1] ?? ""]);
  const slot = all[0]?.slot ?? 0;
  const block = await connection.getBlock(slot, { maxSupportedTransactionVersion: 0, rewards: true });
  expect(block?.transactions.some((entry) => entry.transaction.signatures[0] === newest)).toBe(true);
  expect(block?.rewards?.[0]?.rewardType).toBe("Fee");
  const parent = await connection.getBlockSignatures(slot - 1);
  expect(parent.blockhash).toBe(block?.previousBlockhash ?? "");
});
