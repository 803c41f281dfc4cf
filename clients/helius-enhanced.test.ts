import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "@sluice/lib/testing";
import { generateKeyPairSigner, lamports } from "@solana/kit";
import { createHelius } from "helius-sdk";
import { type Network, startNetwork } from "../server/test/testing/network.ts";

let network: Network;
beforeAll(async () => {
  network = await startNetwork({ args: ["--oracle", "off"] });
}, 60_000);
afterAll(async () => {
  await network?.[Symbol.asyncDispose]();
}, 30_000);

/** Leads what goes to the hosts that the SDK names to the gateway, and keeps the paths. */
function ledFetch(paths: string[]): typeof fetch {
  const plain = globalThis.fetch;
  const gateway = new URL(String(network.dev.doors["rpc"])).origin;
  const led = (input: URL | RequestInfo, init?: RequestInit): Promise<Response> => {
    const url = new URL(input instanceof Request ? input.url : String(input));
    if (!/(?:^|\.)helius(?:-rpc\.com|\.xyz)$/.test(url.hostname)) return plain(input, init);
    paths.push(url.pathname);
    return plain(`${gateway}${url.pathname}${url.search}`, init);
  };
  return Object.assign(led, { preconnect: plain.preconnect });
}

test("an unmodified helius-sdk 3 parses transactions by signature and by address, its hosts led to ours", async () => {
  const plain = globalThis.fetch;
  const paths: string[] = [];
  globalThis.fetch = ledFetch(paths);
  try {
    const client = createHelius({ apiKey: network.dev.key, baseUrl: String(network.dev.doors["rpc"]) });
    const { address } = await generateKeyPairSigner();
    const signature = String(await client.raw.requestAirdrop(address, lamports(7_654_321n)));
    const parsed = await eventually("the airdrop is confirmed", async () => {
      const [record] = await client.enhanced.getTransactions({ transactions: [signature] });
      return record?.type === undefined ? null : record;
    });
    expect(parsed).toMatchObject({ signature, type: "TRANSFER", source: "system", transactionError: null });
    expect(parsed.nativeTransfers).toMatchObject([{ toUserAccount: String(address), amount: 7_654_321 }]);
    const listed = await client.enhanced.getTransactionsByAddress({ address: String(address), type: "TRANSFER" });
    expect(listed.map((each) => each.signature)).toEqual([signature]);
    expect([...new Set(paths)]).toEqual(["/v0/transactions", `/v0/addresses/${address}/transactions`]);
    const refused = client.enhanced.getTransactions({ transactions: [] });
    expect(await refused.catch((error: unknown) => String(error))).toContain("Helius HTTP 400");
  } finally {
    globalThis.fetch = plain;
  }
}, 60_000);

test("its calls about wallets are answered in the shapes that it types", async () => {
  const plain = globalThis.fetch;
  const paths: string[] = [];
  globalThis.fetch = ledFetch(paths);
  try {
    const client = createHelius({ apiKey: network.dev.key, baseUrl: String(network.dev.doors["rpc"]) });
    const { address } = await generateKeyPairSigner();
    const wallet = String(address);
    const signature = String(await client.raw.requestAirdrop(address, lamports(7_654_321n)));
    const history = await eventually("the ledger has the airdrop", async () => {
      const page = await client.wallet.getHistory({ wallet, tokenAccounts: "none" });
      return page.data.length === 0 ? null : page;
    });
    expect(history.data).toMatchObject([
      { signature, error: null, balanceChanges: [{ mint: "SOL", amount: 0.007654321, decimals: 9 }] },
    ]);
    expect(history.pagination).toEqual({ hasMore: false, nextCursor: null });
    const transfers = await client.wallet.getTransfers({ wallet, limit: 10 });
    expect(transfers.data).toMatchObject([{ signature, direction: "in", amountRaw: "7654321", decimals: 9 }]);
    const balances = await client.wallet.getBalances({ wallet, showNfts: true });
    expect(balances.balances).toMatchObject([{ balance: 0.007654321, tokenProgram: "spl-token" }]);
    expect([balances.nfts, balances.pagination.hasMore]).toEqual([[], false]);
    const [{ slot } = { slot: 0 }] = history.data;
    const mint = "So11111111111111111111111111111111111111111";
    const past = await client.wallet.getBalanceAt({ wallet, mint, slot });
    expect(past).toMatchObject({ isNative: true, balance: "0.007654321", balanceRaw: "7654321", asOf: { signature } });
    expect(await client.wallet.getFundedBy({ wallet })).toMatchObject({ amountRaw: "7654321", signature, slot });
    const program = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
    expect(await client.wallet.getIdentity({ wallet: program })).toMatchObject({ address: program, type: "program" });
    const many = await client.wallet.getBatchIdentity({ addresses: [wallet, program] });
    expect(many.map((each) => each.address)).toEqual([program]);
    const unknown = client.wallet.getIdentity({ wallet });
    expect(await unknown.catch((error: unknown) => String(error))).toContain("status: 404");
    const oldest = await client.enhanced.getTransactionsByAddress({ address: wallet, sortOrder: "asc" });
    expect(oldest.map((each) => each.signature)).toEqual([signature]);
    expect(new Set(paths).size).toBe(9);
  } finally {
    globalThis.fetch = plain;
  }
}, 60_000);
