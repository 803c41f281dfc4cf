import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  airdropFactory,
  appendTransactionMessageInstructions,
  assertIsTransactionWithBlockhashLifetime,
  createSolanaRpc,
  createSolanaRpcSubscriptions,
  createTransactionMessage,
  generateKeyPairSigner,
  getSignatureFromTransaction,
  type Instruction,
  isSolanaError,
  type KeyPairSigner,
  lamports,
  pipe,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
  sendAndConfirmTransactionFactory,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from "@solana/kit";
import { getCreateAccountInstruction, getTransferSolInstruction } from "@solana-program/system";
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenInstructionAsync,
  getInitializeMintInstruction,
  getMintSize,
  getMintToInstruction,
  getTransferInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from "@solana-program/token";
import { type Network, startNetwork } from "./testing/network.ts";

let network: Network;
beforeAll(async () => {
  network = await startNetwork({ args: ["--oracle", "off"] });
}, 60_000);
afterAll(async () => {
  await network?.[Symbol.asyncDispose]();
}, 30_000);

function clients() {
  const rpc = createSolanaRpc(network.rpcUrl);
  const rpcSubscriptions = createSolanaRpcSubscriptions(network.webSocketUrl);
  return {
    rpc,
    rpcSubscriptions,
    airdrop: airdropFactory({ rpc: rpc as never, rpcSubscriptions: rpcSubscriptions as never }),
    sendAndConfirm: sendAndConfirmTransactionFactory({
      rpc: rpc as never,
      rpcSubscriptions: rpcSubscriptions as never,
    }),
  };
}

async function funded(sol = 5n): Promise<KeyPairSigner> {
  const signer = await generateKeyPairSigner();
  await clients().airdrop({
    commitment: "confirmed",
    lamports: lamports(sol * 1_000_000_000n),
    recipientAddress: signer.address,
  });
  return signer;
}

async function sign(payer: KeyPairSigner, instructions: Instruction[]) {
  const { value: blockhash } = await clients().rpc.getLatestBlockhash().send();
  const signed = await pipe(
    createTransactionMessage({ version: 0 }),
    (message) => setTransactionMessageFeePayerSigner(payer, message),
    (message) => setTransactionMessageLifetimeUsingBlockhash(blockhash, message),
    (message) => appendTransactionMessageInstructions(instructions, message),
    (message) => signTransactionMessageWithSigners(message),
  );
  assertIsTransactionWithBlockhashLifetime(signed);
  return signed;
}

describe("an unmodified @solana/kit 8 through the gateway", () => {
  test("an airdrop and a transfer are confirmed over the WebSocket and read back", async () => {
    const { rpc, sendAndConfirm } = clients();
    const alice = await funded(5n);
    const bob = await generateKeyPairSigner();
    const signed = await sign(alice, [
      getTransferSolInstruction({ source: alice, destination: bob.address, amount: lamports(1_000_000_000n) }),
    ]);
    await sendAndConfirm(signed, { commitment: "confirmed" });
    const balance = await rpc.getBalance(bob.address, { commitment: "confirmed" }).send();
    expect(balance.value).toBe(lamports(1_000_000_000n));
    const payer = await rpc.getBalance(alice.address, { commitment: "confirmed" }).send();
    expect(payer.value).toBe(lamports(4_000_000_000n - 5_000n));
    const seen = await rpc
      .getTransaction(getSignatureFromTransaction(signed), {
        commitment: "confirmed",
        maxSupportedTransactionVersion: 0,
        encoding: "json",
      })
      .send();
    expect(seen?.meta?.err).toBeNull();
    expect(seen?.meta?.fee).toBe(lamports(5_000n));
  }, 60_000);

  test("a mint is created, tokens are minted, transferred and read back", async () => {
    const { rpc, sendAndConfirm } = clients();
    const [payer, mint, friend] = [await funded(), await generateKeyPairSigner(), await generateKeyPairSigner()];
    const rent = await rpc.getMinimumBalanceForRentExemption(BigInt(getMintSize())).send();
    const [mine] = await findAssociatedTokenPda({
      mint: mint.address,
      owner: payer.address,
      tokenProgram: TOKEN_PROGRAM_ADDRESS,
    });
    const [theirs] = await findAssociatedTokenPda({
      mint: mint.address,
      owner: friend.address,
      tokenProgram: TOKEN_PROGRAM_ADDRESS,
    });
    const signed = await sign(payer, [
      getCreateAccountInstruction({
        payer,
        newAccount: mint,
        lamports: rent,
        space: getMintSize(),
        programAddress: TOKEN_PROGRAM_ADDRESS,
      }),
      getInitializeMintInstruction({ mint: mint.address, decimals: 6, mintAuthority: payer.address }),
      await getCreateAssociatedTokenInstructionAsync({ payer, mint: mint.address, owner: payer.address }),
      await getCreateAssociatedTokenInstructionAsync({ payer, mint: mint.address, owner: friend.address }),
      getMintToInstruction({ mint: mint.address, token: mine, mintAuthority: payer, amount: 7_000_000n }),
      getTransferInstruction({ source: mine, destination: theirs, authority: payer, amount: 2_500_000n }),
    ]);
    await sendAndConfirm(signed, { commitment: "confirmed" });
    const balance = await rpc.getTokenAccountBalance(theirs, { commitment: "confirmed" }).send();
    expect(balance.value.amount as string).toBe("2500000");
    expect(balance.value.uiAmountString as string).toBe("2.5");
    const supply = await rpc.getTokenSupply(mint.address, { commitment: "confirmed" }).send();
    expect(supply.value.amount as string).toBe("7000000");
    const held = await rpc
      .getTokenAccountsByOwner(
        friend.address,
        { mint: mint.address },
        { commitment: "confirmed", encoding: "jsonParsed" },
      )
      .send();
    expect(held.value[0]?.account.data.parsed.info.tokenAmount.amount as string).toBe("2500000");
  }, 60_000);

  test("a transaction that would fail is refused at preflight, with the simulation as its cause", async () => {
    const { rpc } = clients();
    const [poor, bob] = [await funded(1n), await generateKeyPairSigner()];
    const signed = await sign(poor, [
      getTransferSolInstruction({ source: poor, destination: bob.address, amount: lamports(50_000_000_000n) }),
    ]);
    const { getBase64EncodedWireTransaction } = await import("@solana/kit");
    const wire = getBase64EncodedWireTransaction(signed);
    const fault = await rpc
      .sendTransaction(wire, { encoding: "base64", preflightCommitment: "confirmed" })
      .send()
      .catch((error: unknown) => error);
    if (!isSolanaError(fault, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE)) {
      throw new Error(`unexpected: ${String(fault)}`);
    }
    expect(fault.context.logs?.some((line) => line.includes("insufficient lamports"))).toBe(true);
    expect(fault.cause).toBeDefined();
  }, 60_000);

  test("account, slot and logs notifications arrive", async () => {
    const { rpcSubscriptions, sendAndConfirm } = clients();
    const [alice, bob] = [await funded(), await generateKeyPairSigner()];
    const stop = new AbortController();
    const options = { abortSignal: stop.signal };
    const accounts = await rpcSubscriptions
      .accountNotifications(bob.address, { commitment: "confirmed" })
      .subscribe(options);
    const slots = await rpcSubscriptions.slotNotifications().subscribe(options);
    const logs = await rpcSubscriptions
      .logsNotifications({ mentions: [bob.address] }, { commitment: "confirmed" })
      .subscribe(options);
    const first = async <T>(source: AsyncIterable<T>): Promise<T> => {
      for await (const each of source) return each;
      throw new Error("the subscription ended");
    };
    const seen = Promise.all([first(accounts), first(logs), first(slots)]);
    const signed = await sign(alice, [
      getTransferSolInstruction({ source: alice, destination: bob.address, amount: lamports(123_456_789n) }),
    ]);
    await sendAndConfirm(signed, { commitment: "confirmed" });
    const [account, log, slot] = await seen;
    expect(account.value.lamports).toBe(lamports(123_456_789n));
    expect(log.value.signature).toBe(getSignatureFromTransaction(signed));
    expect(slot.slot).toBeGreaterThan(0n);
    stop.abort();
  }, 60_000);
});
