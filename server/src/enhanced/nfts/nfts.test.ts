import { beforeEach, describe, expect, test } from "bun:test";
import { nftMetadata } from "@sluice/contract/schemas";
import { runDevnet } from "../../history/testing/devnet-blocks.ts";
import { showAccounts } from "../testing/account-node.ts";
import { type Accounts, addCoreAsset, addNft, addressOf } from "../testing/asset-accounts.ts";
import { EnhancedStand } from "../testing/stand.ts";

let stand: EnhancedStand;
let accounts: Accounts;
beforeEach(() => {
  stand = new EnhancedStand({ ask: () => Promise.reject(new Error("no chain is asked")) });
  accounts = new Map();
  showAccounts(stand.rpc, accounts);
});

const [mint, owner, other] = [addressOf(1), addressOf(2), addressOf(3)];
const ask = (address: string) => stand.ask(`/api/v1/v0/nft/${address}`);

describe("an NFT", () => {
  test("is told with its collection, creators, royalties, edition and owner", async () => {
    const tokenAccount = addNft(accounts, { mint, owner, collection: { address: other, isVerified: false } });
    const { status, body, headers } = await ask(mint);
    expect([status, body.success, body.cached, headers.get("x-cache-status")]).toEqual([200, true, false, "MISS"]);
    expect(nftMetadata.parse(body.data)).toEqual(body.data);
    expect(body.data).toMatchObject({
      mint,
      interface: "V1_NFT",
      token_standard: "NonFungible",
      collection: { address: other, verified: false },
      creators: [
        { verified: true, share: 75 },
        { verified: false, share: 25 },
      ],
      royalty: { basis_points: 550, percent: 0.055, primary_sale_happened: true },
      edition: { kind: "master", supply: "2", max_supply: "10", number: null, parent: null },
      compression: null,
      ownership: { owner, delegate: null, is_frozen: false, token_account: tokenAccount },
    });
  });

  test("that is a print tells its number and its master", async () => {
    addNft(accounts, { mint, standard: 3, edition: "print" });
    expect((await ask(mint)).body.data.edition).toEqual({
      kind: "print",
      supply: null,
      max_supply: null,
      number: "3",
      parent: addressOf(93),
    });
  });

  test("of MPL Core is told by its account", async () => {
    addCoreAsset(accounts, mint, owner, other);
    expect((await ask(mint)).body.data).toMatchObject({
      metadata_source: "mpl_core",
      collection: { address: other, verified: true },
      ownership: { owner },
      token_program: null,
    });
  });

  test("costs 10 credits and is kept for an hour, for its chain alone", async () => {
    addNft(accounts, { mint, owner });
    await ask(mint);
    addNft(accounts, { mint, owner: other });
    stand.rpc.slotsMoved();
    stand.clock.advance(3_599_999);
    const kept = await ask(mint);
    expect([kept.body.cached, kept.body.data.ownership.owner]).toEqual([true, owner]);
    stand.clock.advance(1);
    expect((await ask(mint)).body.data.ownership.owner).toBe(other);
    stand.chain = "chain 2";
    expect((await ask(mint)).body.cached).toBe(false);
    expect(stand.facts.map(({ credits }) => credits)).toEqual([10, 10, 10, 10]);
  });
});

test("what is no NFT is 404 NFT_NOT_FOUND, which says what it is, and costs what it costs to find out", async () => {
  addNft(accounts, { mint, standard: 2, decimals: 6, supply: 5n, edition: null });
  addCoreAsset(accounts, addressOf(5), owner, other);
  const answers = await Promise.all([mint, other, owner].map(ask));
  expect(answers.map(({ status, body }) => [status, body.success, body.error_code, body.message])).toEqual([
    [404, false, "NFT_NOT_FOUND", `${mint} is a token of many units and no NFT`],
    [404, false, "NFT_NOT_FOUND", `${other} is a collection of MPL Core and no NFT`],
    [404, false, "NFT_NOT_FOUND", "There is no NFT with this address"],
  ]);
  expect(stand.creditsLeft).toBe(1_000_000 - 30);
});

test("an address that is none is 400, and nodes that fail are told with their code at no cost", async () => {
  const wrong = await ask("abc");
  expect([wrong.status, wrong.body.error_code]).toEqual([400, "INVALID_REQUEST"]);
  stand.rpc.respond = () => ({ ok: false, refused: "NETWORK_UNAVAILABLE", label: "", repeatable: false });
  const failed = await ask(mint);
  expect([failed.status, failed.body.error_code, stand.creditsLeft]).toEqual([503, "NETWORK_UNAVAILABLE", 1_000_000]);
});

test("every NFT of the development chain is told with the account that its node shows as the holder", async () => {
  await using run = await runDevnet(40);
  stand = new EnhancedStand(run);
  const balances = run.blocks.flatMap(({ transactions }) =>
    transactions.flatMap(({ meta }) => meta?.postTokenBalances ?? []),
  );
  const sources = new Set<string>();
  for (const id of new Set(balances.map((each) => each.mint))) {
    const { status, body } = await ask(id);
    if (status !== 200) continue;
    const { owner: holder, token_account: account } = body.data.ownership;
    const shown = JSON.parse(
      await run.ask("getAccountInfo", [account, { encoding: "jsonParsed", commitment: "confirmed" }]),
    );
    expect(shown.result.value.data.parsed.info).toMatchObject({
      mint: id,
      owner: holder,
      tokenAmount: { amount: "1" },
    });
    const isMetaplex = body.data.metadata_source === "token_metadata";
    expect(body.data.royalty.basis_points).toBe(isMetaplex ? 500 : 0);
    sources.add(body.data.metadata_source);
  }
  expect([...sources].toSorted()).toEqual(["token_2022", "token_metadata"]);
}, 60_000);

test("the document behind an NFT's URI is told, or why it is not, and only what is settled is kept", async () => {
  let isThere = false;
  using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () =>
      isThere
        ? Response.json({ description: "An ape", image: "https://a.example/1.png" })
        : new Response("", { status: 500 }),
  });
  const places = { ipfsGateway: "https://ipfs.example", arweaveGateway: "https://ar.example" };
  const local = { allowHttp: true, allowPrivateCidrs: ["127.0.0.0/8"] };
  stand = new EnhancedStand(
    { ask: () => Promise.reject(new Error("no chain is asked")) },
    { fetches: true, ...places, ...local },
  );
  showAccounts(stand.rpc, accounts);
  addNft(accounts, { mint, owner, uri: `http://127.0.0.1:${server.port}/1.json` });
  const failed = await ask(mint);
  expect([failed.status, failed.body.data.off_chain.state]).toEqual([200, "failed"]);
  isThere = true;
  stand.clock.advance(300_000);
  const { data, cached } = (await ask(mint)).body;
  expect([cached, data.off_chain.state, data.off_chain.description]).toEqual([false, "read", "An ape"]);
  const token = (await stand.ask(`/api/v1/v0/token/${mint}`)).body.data.off_chain;
  expect(token).toEqual(data.off_chain);
  const { result } = await stand.call("getAsset", { id: mint });
  expect([result.content.metadata.description, result.content.links, result.content.files]).toEqual([
    "An ape",
    { image: "https://a.example/1.png" },
    [{ uri: "https://a.example/1.png" }],
  ]);
  expect((await ask(mint)).body.cached).toBe(true);
});
