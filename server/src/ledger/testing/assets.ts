import { expect, test } from "bun:test";
import { type AssetDescription, type AssetPlace, type AssetRow, readingPlace } from "../assets/asset-rows.ts";
import { type AssetFilter, type AssetPage, anyAsset } from "../assets/select.ts";
import type { Ledger } from "../ledger.ts";

const network = "testnet";
const nobody = { owner: "", delegate: "", frozen: false, burnt: false, tokenAccount: "", supply: 1n };
const key = (letter: string, number = 1): string => `${letter}${"1".repeat(40)}${number}`.slice(0, 43).padEnd(43, "2");

function description(changes: Partial<AssetDescription> = {}): AssetDescription {
  const texts = {
    interface: "V1_NFT",
    name: "An NFT",
    jsonUri: "https://example.org/1",
    authority: key("A"),
    body: "{}",
  };
  const made = { collection: key("C"), collectionVerified: true, creators: [key("M")], creatorsVerified: [key("M")] };
  return { ...texts, ...made, royalty: 500, ...changes };
}

type Changes = Partial<Omit<AssetRow, "asset" | "place">> & { readonly owner?: string };

function reading(asset: string, slot: bigint, { owner = key("W"), ...changes }: Changes = {}): AssetRow {
  const told = {
    changedSlot: slot,
    signature: "",
    operation: "read",
    leaf: null,
    description: description(),
    edition: null,
  };
  return { asset, place: readingPlace(slot, false), ...told, holding: { ...nobody, owner }, ...changes };
}

function leafChange(asset: string, at: Omit<AssetPlace, "position">, changes: Changes = {}): AssetRow {
  const hashes = { dataHash: key("D"), creatorHash: key("H"), leafHash: key("L") };
  const leaf = { tree: key("T"), leafIndex: 0n, sequence: at.slot, ...hashes };
  const told = {
    changedSlot: at.slot,
    signature: `signature ${at.slot} ${at.transactionIndex}`,
    operation: "transfer",
  };
  const { owner = key("W"), ...others } = changes;
  const holding = { ...nobody, owner };
  return { asset, place: { ...at, position: 1 }, ...told, holding, leaf, description: null, edition: null, ...others };
}

const allSignatures = { limit: 10, skip: 0, before: null, after: null };
const page: AssetPage = { sort: "id", order: "asc", after: null, before: null, skip: 0, limit: 100 };
const of = (changes: Partial<AssetFilter>): AssetFilter => ({ ...anyAsset, ...changes });

/** What the index of assets keeps, on any driver. */
export function assetIndex(ledger: () => Ledger): void {
  const ids = async (filter: Partial<AssetFilter>, changes: Partial<AssetPage> = {}): Promise<string[]> => {
    const list = await ledger().assets.reads.list(network, of(filter), { ...page, ...changes });
    return list.map(({ asset }) => asset);
  };

  test("an asset is its owner's by its newest row, whatever the order of writing, and by each once", async () => {
    const [asset, one, other] = [key("B"), key("X", 1), key("X", 2)];
    const { store } = ledger().assets;
    await store.write(network, [reading(asset, 20n, { owner: other })]);
    await store.write(network, [reading(asset, 10n, { owner: one })]);
    await store.write(network, [reading(asset, 10n, { owner: one })]);
    expect(await ids({ owner: one })).toEqual([]);
    expect(await ids({ owner: other })).toEqual([asset]);
    expect(await ledger().assets.reads.count(network, of({ owner: other }))).toBe(1);
  });

  test("a finalized reading of a slot stands over another of that slot, and leaves nothing unsettled", async () => {
    const [asset, owner] = [key("E"), key("Y", 1)];
    const { store, reads } = ledger().assets;
    const settled = { ...reading(asset, 30n, { owner }), place: readingPlace(30n, true) };
    await store.write(network, [settled]);
    await store.write(network, [reading(asset, 30n, { owner: key("Y", 2) })]);
    expect(await ids({ owner })).toEqual([asset]);
    expect((await reads.unsettled(network, 100)).map((each) => each.asset)).not.toContain(asset);
    await store.write(network, [reading(asset, 31n, { owner })]);
    expect(await reads.unsettled(network, 100)).toContainEqual({ asset, slot: 31n, changedSlot: 31n });
  });

  test("changes of leaves leave metadata as they are, and those of blocks that left the chain do not count", async () => {
    const [asset, minter, thief, buyer] = [key("F"), key("Z", 1), key("Z", 2), key("Z", 3)];
    const { store, reads } = ledger().assets;
    const mint = { owner: minter, operation: "mintV1", description: description({ name: "A leaf" }) };
    await store.write(network, [
      leafChange(asset, { slot: 40n, transactionIndex: 3, blockhash: "first" }, mint),
      leafChange(asset, { slot: 41n, transactionIndex: 0, blockhash: "dead" }, { owner: thief }),
    ]);
    expect(await ids({ owner: thief, compressed: true })).toEqual([asset]);
    await ledger().chain.markDropped(network, [{ slot: 41n, blockhash: "dead", dropped: true, version: 1n }]);
    expect(await ids({ owner: thief })).toEqual([]);
    expect(await ids({ owner: minter })).toEqual([asset]);
    await store.write(network, [
      leafChange(asset, { slot: 42n, transactionIndex: 1, blockhash: "x" }, { owner: buyer }),
    ]);
    const [found] = await reads.list(network, of({ owner: buyer }), page);
    expect(found).toMatchObject({ created: 40n, updated: 42n, description: { name: "A leaf", royalty: 500 } });
    expect((await reads.signatures(network, asset, allSignatures)).map(({ operation }) => operation)).toEqual([
      "transfer",
      "mintV1",
    ]);
  });

  test("signatures of a leaf are paged from both sides, and a transaction that did not change it has no place", async () => {
    const asset = key("F", 5);
    const { store, reads } = ledger().assets;
    const slots = [80n, 81n, 82n, 83n, 84n];
    await store.write(
      network,
      slots.map((slot) => leafChange(asset, { slot, transactionIndex: 2, blockhash: "x" })),
    );
    const named = (slot: bigint): string => `signature ${slot} 2`;
    const places = await reads.signaturePlaces(network, asset, [named(81n), named(83n), "nothing"]);
    expect(places).toEqual(
      new Map([
        [named(81n), { slot: 81n, index: 2 }],
        [named(83n), { slot: 83n, index: 2 }],
      ]),
    );
    const [low = null, high = null] = [places.get(named(81n)), places.get(named(83n))];
    const paged = async (of: Partial<typeof allSignatures | { before: typeof low; after: typeof low }>) =>
      (await reads.signatures(network, asset, { ...allSignatures, ...of })).map(({ slot }) => slot);
    expect(await paged({})).toEqual([84n, 83n, 82n, 81n, 80n]);
    expect(await paged({ before: high, limit: 2 })).toEqual([82n, 81n]);
    expect(await paged({ after: low, limit: 2 })).toEqual([83n, 82n]);
    expect(await paged({ before: high, after: low })).toEqual([82n]);
    expect(await reads.signaturePlaces(network, key("F"), [named(81n)])).toEqual(new Map());
  });

  test("prints are found by their master's account, and the master's mint as well", async () => {
    const [account, other] = [key("E", 4), key("E", 6)];
    const { store, reads } = ledger().assets;
    await store.write(network, [
      reading(key("M", 3), 90n, { edition: { kind: "master", account } }),
      reading(key("M", 4), 91n, { edition: { kind: "print", account } }),
      reading(key("M", 5), 92n, { edition: { kind: "print", account } }),
      reading(key("M", 6), 93n, { edition: { kind: "print", account: other } }),
    ]);
    expect(await reads.masters(network, [account, other])).toEqual(new Map([[account, key("M", 3)]]));
    expect(await ids({ printOf: account }, { sort: "created" })).toEqual([key("M", 4), key("M", 5)]);
    expect(await reads.count(network, of({ printOf: account }))).toBe(2);
  });

  test("what was on a fork alone counts as no asset until it is seen again", async () => {
    const [asset, owner] = [key("J"), key("W", 7)];
    const { store, reads } = ledger().assets;
    await store.write(network, [reading(asset, 70n, { owner })]);
    expect(await ids({ owner })).toEqual([asset]);
    const gone = {
      ...reading(asset, 71n, { owner, operation: "absent", description: null }),
      place: readingPlace(71n, true),
    };
    await store.write(network, [gone]);
    expect(await ids({ owner })).toEqual([]);
    expect(await ids({ collection: key("C") })).not.toContain(asset);
    expect((await reads.byIds(network, [asset])).size).toBe(0);
    await store.write(network, [{ ...reading(asset, 72n, { owner }), place: readingPlace(72n, true) }]);
    expect((await reads.byIds(network, [asset])).get(asset)).toMatchObject({ isSettled: true });
  });

  test("lists are selected by what newest rows say, sorted, and paged from both sides", async () => {
    const owner = key("V", 9);
    const assets = Array.from({ length: 7 }, (_, at) => key("G", at + 1));
    const rows = assets.map((asset, at) => reading(asset, BigInt(100 - at), { owner }));
    await ledger().assets.store.write(network, rows);
    expect(await ids({ owner })).toEqual(assets);
    expect(await ids({ owner }, { order: "desc", limit: 2, skip: 1 })).toEqual([assets[5] ?? "", assets[4] ?? ""]);
    expect(await ids({ owner }, { sort: "created", limit: 2 })).toEqual([assets[6] ?? "", assets[5] ?? ""]);
    const after = { slot: 95n, asset: assets[5] ?? "" };
    expect(await ids({ owner }, { sort: "updated", after, limit: 2 })).toEqual([assets[4] ?? "", assets[3] ?? ""]);
    expect(await ids({ owner }, { sort: "updated", before: after, limit: 5 })).toEqual([assets[6] ?? ""]);
    const before = { slot: 0n, asset: assets[5] ?? "" };
    expect(await ids({ owner }, { before, limit: 2 })).toEqual([assets[3] ?? "", assets[4] ?? ""]);
  });

  test("every filter selects by the newest rows", async () => {
    const asset = key("K");
    const creator = { creators: [key("N", 1), key("N", 2)], creatorsVerified: [key("N", 1)] };
    const told = description({ ...creator, authority: key("P"), collection: key("Q"), interface: "ProgrammableNFT" });
    const holding = { ...nobody, owner: key("R"), delegate: key("S"), frozen: true, tokenAccount: key("T", 5) };
    await ledger().assets.store.write(network, [{ ...reading(asset, 60n), holding, description: told }]);
    const passed: Partial<AssetFilter>[] = [
      { delegate: key("S") },
      { authority: key("P") },
      { collection: key("Q") },
      { creator: key("N", 1), creatorVerified: true },
      { creator: key("N", 2), creatorVerified: false },
      { owner: key("R"), frozen: true, burnt: false, compressed: false, royalty: 500, supply: 1n },
      { owner: key("R"), interfaces: ["ProgrammableNFT"], uri: "https://example.org/1" },
      { owner: key("R"), held: [asset] },
      { owner: key("U"), held: [asset] },
    ];
    for (const filter of passed) expect(await ids(filter)).toEqual([asset]);
    const refused: Partial<AssetFilter>[] = [
      { owner: key("R"), held: [] },
      { owner: key("R"), interfaces: ["V1_NFT"] },
      { owner: key("R"), withoutInterfaces: ["ProgrammableNFT"] },
      { creator: key("N", 2), creatorVerified: true },
      { owner: key("R"), frozen: false },
      { owner: key("R"), burnt: true },
      { owner: key("R"), tree: key("T") },
    ];
    for (const filter of refused) expect(await ids(filter)).toEqual([]);
  });

  test("nodes of trees are those of the newest change, and progress is of one chain", async () => {
    const { store, reads } = ledger().assets;
    const node = (sequence: bigint, hash: string) => ({
      ...{ tree: key("T", 7), node: 2, sequence, hash },
      place: { slot: sequence, transactionIndex: 0, position: 0, blockhash: "x" },
    });
    await store.write(network, [], [node(9n, "later"), node(8n, "earlier")]);
    expect(await reads.treeNodes(network, key("T", 7), [1, 2])).toEqual(new Map([[2, "later"]]));
    const chain = { genesisHash: "genesis", firstBlockhash: "first" };
    await store.saveProgress(network, chain, { name: "blocks", state: "5", version: 1n });
    await store.saveProgress(network, chain, { name: "blocks", state: "9", version: 2n });
    expect(await store.progress(network, "blocks", chain)).toEqual({ state: "9", version: 2n });
    expect(await store.progress(network, "blocks", { ...chain, firstBlockhash: "other" })).toBeNull();
    // Before its first block is known a chain is the same one.
    const unnamed = { ...chain, firstBlockhash: "" };
    expect(await store.progress(network, "blocks", unnamed)).toEqual({ state: "9", version: 2n });
    await store.saveProgress(network, unnamed, { name: "blocks", state: "10", version: 3n });
    expect(await store.progress(network, "blocks", chain)).toEqual({ state: "10", version: 3n });
  });

  test("blocks tell the calls of transactions that called a program, and addresses that may be assets", async () => {
    const at = { network, slot: 200n, blockhash: "block", at: Date.UTC(2026, 10, 20) };
    const call = (index: number, position: number, changes: object) => ({
      ...{ ...at, transaction_index: index, position, outer_index: 0, inner_index: null, stack_height: 1 },
      ...{ signature: `s${index}`, success: true, program_id: "other", accounts: [], data: "" },
      ...changes,
    });
    const approve = { program_id: "tokens", accounts: ["account", "delegate", "owner"], data: "\u0004" };
    await ledger().insert("blocks", [{ ...at, parent_slot: 199n, parent_blockhash: "p", leader: "", body: "" }]);
    await ledger().insert("instructions", [
      call(0, 0, { program_id: "leaves", accounts: ["a", "b"], data: "abc" }),
      call(0, 1, { stack_height: 2, outer_index: 0, inner_index: 0 }),
      call(1, 0, { accounts: ["c"] }),
      call(2, 0, { program_id: "leaves", success: false }),
      call(3, 0, { program_id: "metadata", accounts: ["mint", "metadata"] }),
      call(4, 0, approve),
      call(5, 0, { ...approve, accounts: ["sent"], data: "\u0003" }),
    ]);
    const movement = {
      ...at,
      transaction_index: 6,
      position: 0,
      kind: "transfer",
      mint: "nft",
      decimals: 0,
      amount: 1n,
    };
    await ledger().insert("token_movements", [
      { ...movement, to_account: "holder" },
      { ...movement, position: 1, mint: "coin", decimals: 6, to_account: "purse" },
    ]);
    const { blocks } = ledger().assets;
    const slots = { from: 200n, to: 200n };
    const calls = await blocks.calls(network, slots, "leaves");
    expect(calls.map(({ transactionIndex, position, data }) => [transactionIndex, position, String(data)])).toEqual([
      [0, 0, "abc"],
      [0, 1, ""],
    ]);
    const touched = await blocks.touched(network, slots, { programs: ["metadata"], tokenPrograms: ["tokens"] });
    expect(touched.map(({ address }) => address).sort()).toEqual([
      ...["account", "delegate", "holder", "metadata", "mint", "nft"],
    ]);
    expect(await blocks.blocks(network, slots)).toEqual([{ slot: 200n, blockhash: "block" }]);
    expect(await blocks.blocks(network, { from: 201n, to: 300n })).toEqual([]);
  });
}
