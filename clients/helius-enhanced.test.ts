import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "@sluice/lib/testing";
import { generateKeyPairSigner, lamports } from "@solana/kit";
import { createHelius } from "helius-sdk";
import { type Network, startNetwork } from "../server/test/testing/network.ts";

let network: Network;
beforeAll(async () => {
  network = await startNetwork();
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
    if (!url.hostname.endsWith("helius-rpc.com")) return plain(input, init);
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
