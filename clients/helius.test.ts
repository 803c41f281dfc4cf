import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "@sluice/lib/testing";
import {
  type Address,
  type Commitment,
  createSolanaRpc,
  generateKeyPairSigner,
  isSolanaError,
  lamports,
  type Signature,
  SOLANA_ERROR__JSON_RPC__INVALID_PARAMS,
} from "@solana/kit";
import { Connection, PublicKey } from "@solana/web3.js";
import { createHelius } from "helius-sdk";
import { type Network, startNetwork } from "../server/test/testing/network.ts";

let network: Network;
beforeAll(async () => {
  // Slots so long that a test's calls fall into one or two of them, as a wallet's bursts do.
  network = await startNetwork({ args: ["--oracle", "off", "--slot-ms", "8000"] });
}, 60_000);
afterAll(async () => {
  await network?.[Symbol.asyncDispose]();
}, 30_000);

const helius = () => createHelius({ apiKey: network.dev.key, baseUrl: String(network.dev.doors["rpc"]) });

describe("an unmodified helius-sdk 3 through the gateway", () => {
  test("reads the chain, by its own names and by those of Solana", async () => {
    const client = helius();
    const slot = await client.raw.getSlot({ commitment: "processed" as Commitment });
    expect(slot).toBeGreaterThanOrEqual(0n);
    const { value } = await client.raw.getLatestBlockhash();
    expect((await client.raw.isBlockhashValid(value.blockhash, { commitment: "processed" })).value).toBe(true);
    expect(await client.raw.getGenesisHash()).toMatch(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/);
    expect((await client.raw.getVersion())["solana-core"]).toMatch(/^\d/);
  });

  test("receives an airdrop and the balance after it, with one id for every call", async () => {
    const client = helius();
    const { address } = await generateKeyPairSigner();
    const signature = await client.raw.requestAirdrop(address, lamports(1_234_567n));
    await eventually("the airdrop has landed", async () => {
      const { value } = await client.raw.getSignatureStatuses([signature as Signature]);
      return value[0] !== null && value[0] !== undefined;
    });
    const balance = await client.raw.getBalance(address, { commitment: "processed" });
    expect(balance.value).toBe(lamports(1_234_567n));
  });

  test("sees the node's own error codes", async () => {
    const wrong = helius().raw.getBalance("not an address" as Address);
    const fault = await wrong.catch((thrown: unknown) => thrown);
    expect(isSolanaError(fault, SOLANA_ERROR__JSON_RPC__INVALID_PARAMS)).toBe(true);
  });
});

/** Counters of the cache by outcome, from the metrics endpoint. */
/** Calls that were answered without a node (a joined call waits for the one that asks), and calls that asked one. */
async function outcomes(): Promise<{ hit: number; miss: number }> {
  const text = await (await fetch(String(network.dev.doors["metrics"]))).text();
  const sum = (outcome: string) =>
    [...text.matchAll(new RegExp(`^sluice_cache_outcomes_total\\{[^}]*outcome="${outcome}"\\} (\\d+)$`, "gm"))].reduce(
      (total, [, count]) => total + Number(count),
      0,
    );
  return { hit: sum("hit") + sum("coalesced"), miss: sum("miss") };
}

test("of the cacheable calls of many clients of three kinds, each with its own ids, 99 in 100 ask no node", async () => {
  const programs = [
    "11111111111111111111111111111111",
    "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
    "Vote111111111111111111111111111111111111111",
    "Stake11111111111111111111111111111111111111",
    "ComputeBudget111111111111111111111111111111",
  ];
  const kitCalls = (rpc: ReturnType<typeof createSolanaRpc>) => [
    ...programs.map((program) => () => rpc.getBalance(program as Address).send()),
    ...programs.map((program) => () => rpc.getAccountInfo(program as Address, { encoding: "base64" }).send()),
    () => rpc.getSlot().send(),
    () => rpc.getBlockHeight().send(),
    () => rpc.getEpochInfo().send(),
    () => rpc.getMinimumBalanceForRentExemption(165n).send(),
    () => rpc.getGenesisHash().send(),
  ];
  const heliusCalls = ({ raw }: ReturnType<typeof helius>) => [
    ...programs.map((program) => () => raw.getBalance(program as Address)),
    ...programs.map((program) => () => raw.getAccountInfo(program as Address)),
    () => raw.getSlot(),
    () => raw.getBlockHeight(),
    () => raw.getEpochInfo(),
    () => raw.getMinimumBalanceForRentExemption(165n),
    () => raw.getGenesisHash(),
  ];
  const web3Calls = (connection: Connection) => [
    ...programs.map((program) => () => connection.getBalance(new PublicKey(program))),
    ...programs.map((program) => () => connection.getAccountInfo(new PublicKey(program))),
    () => connection.getSlot(),
    () => connection.getBlockHeight(),
    () => connection.getEpochInfo(),
    () => connection.getMinimumBalanceForRentExemption(165),
    () => connection.getGenesisHash(),
  ];
  const users: (readonly (() => Promise<unknown>)[])[] = Array.from({ length: 18 }, (_, user) => {
    if (user % 3 === 0) return kitCalls(createSolanaRpc(network.rpcUrl));
    if (user % 3 === 1) return heliusCalls(helius());
    return web3Calls(new Connection(network.rpcUrl, { commitment: "confirmed", wsEndpoint: network.webSocketUrl }));
  });
  const before = await outcomes();
  for (let round = 0; round < 25; round += 1) {
    await Promise.all(
      users.map(async (calls) => {
        for (const call of calls) await call();
      }),
    );
    // The highest tier's rate, which is a thousand calls a second.
    await Bun.sleep(18 * 15);
  }
  const after = await outcomes();
  const hits = after.hit - before.hit;
  const misses = after.miss - before.miss;
  expect(hits + misses).toBe(18 * 25 * 15);
  expect(hits / (hits + misses)).toBeGreaterThanOrEqual(0.99);
}, 60_000);
