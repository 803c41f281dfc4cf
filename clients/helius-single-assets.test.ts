import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHelius } from "helius-sdk";
import {
  type Accounts,
  addCoreAsset,
  addNft,
  addressOf,
  addSelfDescribed,
} from "../server/src/enhanced/testing/asset-accounts.ts";
import { type Network, startNetwork } from "../server/test/testing/network.ts";

const [mint, owner, self, core, collection] = [1, 2, 3, 4, 5].map(addressOf) as [
  string,
  string,
  string,
  string,
  string,
];
const directory = mkdtempSync(join(tmpdir(), "sluice-assets-"));
let network: Network;

/** Account files, of which a development chain begins with. */
function writeAccounts(accounts: Accounts): void {
  for (const [pubkey, { program, data }] of accounts) {
    const shown = { owner: program, data: [Buffer.from(data).toString("base64"), "base64"] };
    const account = { lamports: 1_000_000_000, executable: false, rentEpoch: 0, space: data.length, ...shown };
    writeFileSync(join(directory, `${pubkey}.json`), JSON.stringify({ pubkey, account }));
  }
}

beforeAll(async () => {
  const accounts: Accounts = new Map();
  addNft(accounts, { mint, owner, collection: { address: addressOf(6), isVerified: true } });
  addSelfDescribed(accounts, self, owner);
  addCoreAsset(accounts, core, owner, collection);
  writeAccounts(accounts);
  network = await startNetwork({ args: ["--oracle", "off", "--account-dir", directory] });
}, 60_000);
afterAll(async () => {
  await network?.[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
}, 30_000);

test("an unmodified helius-sdk 3 reads assets, batches of them, and token accounts page by page", async () => {
  const client = createHelius({ apiKey: network.dev.key, baseUrl: String(network.dev.doors["rpc"]) });
  const asset = await client.getAsset({ id: mint });
  expect(asset).toMatchObject({
    id: mint,
    interface: "V1_NFT",
    ownership: { owner, frozen: false, ownership_model: "single" },
    grouping: [{ group_key: "collection", group_value: addressOf(6) }],
    royalty: { basis_points: 550 },
    content: { json_uri: "https://meta.example/1.json", metadata: { name: "Ape 1" } },
  });
  expect(asset.last_indexed_slot).toBeGreaterThanOrEqual(0);
  const batch = await client.getAssetBatch({ ids: [core, self, collection] });
  expect(batch.map((each) => [each.interface, each.ownership.owner])).toEqual([
    ["MplCoreAsset", owner],
    ["V1_NFT", owner],
    ["MplCoreCollection", addressOf(95)],
  ]);
  const first = await client.getTokenAccounts({ owner, limit: 1 });
  const second = await client.getTokenAccounts({ owner, limit: 1, cursor: first.cursor ?? "" });
  const mints = [first, second].map(({ token_accounts: [account] = [] }) => account?.mint);
  expect(mints.toSorted()).toEqual([mint, self].toSorted());
  const refused = client.getAsset({ id: owner });
  expect(await refused.catch((error: unknown) => String(error))).toContain("Asset not found");
}, 60_000);

test("the same NFT is told over HTTP, offline without its document", async () => {
  const gateway = new URL(String(network.dev.doors["rpc"])).origin;
  const response = await fetch(`${gateway}/api/v1/v0/nft/${mint}`, { headers: { "x-api-key": network.dev.key } });
  const { success, data } = await response.json();
  expect([success, data.ownership.owner, data.off_chain.state]).toEqual([true, owner, "off"]);
});
