import { expect, test } from "bun:test";
import { ByteWriter } from "@sluice/wire/bytes";
import { addressOfBytes } from "@sluice/wire/identifiers";
import fc from "fast-check";
import { key } from "../testing/built.ts";
import { realTransactions } from "../testing/fixtures.ts";
import { TransactionView } from "../transaction-view.ts";
import { bubblegumProgram, type LeafCall, leafAsset, leafChangesOf, noopPrograms } from "./leaf-changes.ts";
import { dataHashOf, type LeafMetadata, type MetadataUpdate, updated, writeMetadata } from "./metadata-args.ts";
import { emptyNode, nodeOf } from "./tree.ts";

const tree = key(70);
const [owner, delegate, creator, collection] = [key(71), key(72), key(73), key(74)];

const metadata: LeafMetadata = {
  ...{ form: "V1", name: "Leaf 1", symbol: "LF", uri: "https://example.org/1.json", sellerFeeBasisPoints: 250 },
  ...{ primarySaleHappened: false, isMutable: true, editionNonce: 7, tokenStandard: "NonFungible" },
  collection: { key: collection, verified: false },
  uses: { method: 1, remaining: 2n, total: 3n },
  tokenProgramVersion: 0,
  creators: [{ address: creator, verified: false, share: 100 }],
};
const second: LeafMetadata = {
  ...{ ...metadata, form: "V2", editionNonce: null, uses: null, tokenProgramVersion: 0 },
  collection: { key: collection, verified: true },
};

function leafEvent(told: LeafMetadata, flags: number | null = null): Uint8Array {
  const writer = new ByteWriter()
    .u8(1)
    .u8(0)
    .u32(0)
    .u8(1)
    .u8(flags === null ? 0 : 1)
    .u8(flags === null ? 0 : 1);
  writer
    .address(leafAsset(tree, 5n) ?? "")
    .address(owner)
    .address(delegate)
    .u64(5n);
  writer.address(dataHashOf(told)).bytes(new Uint8Array(32).fill(2));
  if (flags !== null) writer.bytes(new Uint8Array(64).fill(3)).u8(flags);
  return writer.bytes(new Uint8Array(32).fill(4)).finish();
}

function treeEvent(sequence = 9n): Uint8Array {
  const writer = new ByteWriter().u8(0).u8(0).address(tree).u32(2);
  writer.bytes(new Uint8Array(32).fill(4)).u32(7).bytes(new Uint8Array(32).fill(5)).u32(3);
  return writer.u64(sequence).u32(3).finish();
}

const root = new Uint8Array(32).fill(1);
const proofOf = (writer: ByteWriter): ByteWriter => writer.bytes(root).bytes(root).bytes(root).u64(5n).u32(5);

function calls(
  tag: string,
  data: (writer: ByteWriter) => ByteWriter,
  events: readonly Uint8Array[],
  accounts?: string[],
) {
  const own = data(new ByteWriter().bytes(Buffer.from(tag, "hex"))).finish();
  const told = accounts ?? ["a", "b", "c", tree, "e", creator, "g", "h", collection, "i"];
  const outer: LeafCall = { outer: 0, stackHeight: 1, programId: bubblegumProgram, accounts: told, data: own };
  const noop = (event: Uint8Array): LeafCall => {
    return { outer: 0, stackHeight: 2, programId: noopPrograms[1] ?? "", accounts: [], data: event };
  };
  return [outer, ...events.map(noop)];
}

const only = (list: readonly LeafCall[]) => {
  const found = leafChangesOf(list);
  expect(found).toHaveLength(1);
  return found[0];
};

test("the metadata of real mints have the hash that their leaf has, and the way to the root is that of their tree", () => {
  const found = realTransactions().flatMap(({ executed }) => {
    const view = new TransactionView(executed);
    return leafChangesOf(view.calls.map((each) => ({ ...each, accounts: accountsOf(view, each.accounts) })));
  });
  if (found.length === 0) return;
  expect(found.map(({ operation }) => operation)).toEqual(["mintToCollectionV1", "mintToCollectionV1"]);
  for (const { asset, leaf, change, metadata: told } of found) {
    expect(told).not.toBeNull();
    expect(leafAsset(change.tree, leaf?.nonce ?? 0n)).toBe(asset);
    expect(change.nodes[0]?.hash).toBe(leaf?.leafHash ?? "");
    const depth = change.nodes.length - 1;
    expect(change.nodes.map(({ index }) => index)).toEqual(
      change.nodes.map((_node, level) => Math.floor((2 ** depth + change.leafIndex) / 2 ** level)),
    );
  }
});

const accountsOf = (view: TransactionView, accounts: ArrayLike<number>): string[] =>
  Array.from(accounts, (index) => view.keys[index] ?? "");

test("a mint tells the leaf with its metadata, and a transfer the leaf alone", () => {
  const mint = only(
    calls("9162c076b8937668", (w) => w.bytes(writeMetadata(metadata)), [leafEvent(metadata), treeEvent()]),
  );
  expect(mint).toMatchObject({ operation: "mintV1", asset: leafAsset(tree, 5n), metadata, position: 0 });
  expect(mint?.leaf).toMatchObject({ owner, delegate, nonce: 5n, second: null });
  expect(mint?.change).toMatchObject({ tree, sequence: 9n, leafIndex: 3 });
  const moved = only(calls("a334c8e78c0345ba", proofOf, [leafEvent(metadata), treeEvent()]));
  expect(moved).toMatchObject({ operation: "transfer", metadata: null });
});

test("metadata that contradict the hash of the leaf are not told", () => {
  const other = { ...metadata, name: "Another" };
  const found = only(
    calls("9162c076b8937668", (w) => w.bytes(writeMetadata(other)), [leafEvent(metadata), treeEvent()]),
  );
  expect(found).toMatchObject({ operation: "mintV1", metadata: null });
});

test("what a call verifies or changes is in the metadata after it", () => {
  const verified = { ...metadata, creators: [{ address: creator, verified: true, share: 100 }] };
  const collected = { ...metadata, collection: { key: collection, verified: true } };
  const renamed = { ...metadata, name: "Renamed", sellerFeeBasisPoints: 10 };
  const changes: MetadataUpdate = {
    ...{ name: "Renamed", symbol: null, uri: null, creators: null, sellerFeeBasisPoints: 10 },
    ...{ primarySaleHappened: null, isMutable: null },
  };
  const stated = (w: ByteWriter): ByteWriter => proofOf(w).bytes(writeMetadata(metadata));
  const update = (w: ByteWriter): ByteWriter => {
    w.bytes(root).u64(5n).u32(5).bytes(writeMetadata(metadata));
    w.option(changes.name, (name) => void w.sizedText(name))
      .u8(0)
      .u8(0)
      .u8(0);
    return w
      .option(changes.sellerFeeBasisPoints, (points) => void w.u16(points))
      .u8(0)
      .u8(0);
  };
  const cases: [string, (w: ByteWriter) => ByteWriter, LeafMetadata, string][] = [
    ["34116084470455c2", stated, verified, "verifyCreator"],
    ["387165fd4f377aa9", stated, collected, "verifyCollection"],
    ["9912b22fc59e560f", (w) => w.bytes(writeMetadata(metadata)), collected, "mintToCollectionV1"],
    ["fafb2a6a2989baa8", stated, metadata, "unverifyCollection"],
    ["aab62bef614ee1ba", update, renamed, "updateMetadata"],
  ];
  expect(updated(metadata, changes)).toEqual(renamed);
  for (const [tag, data, after, operation] of cases) {
    expect(only(calls(tag, data, [leafEvent(after), treeEvent()]))).toMatchObject({ operation, metadata: after });
  }
});

test("leaves of the second version tell their flags, their collection, and the metadata of their own form", () => {
  const mint = only(
    calls("78791792ad6ec7cd", (w) => w.bytes(writeMetadata(second)).u8(0).u8(0), [leafEvent(second, 2), treeEvent()]),
  );
  expect(mint).toMatchObject({ operation: "mintV2", metadata: second, leaf: { second: { flags: 2 } } });
  const stated = (w: ByteWriter): ByteWriter => w.bytes(root).u8(0).u8(0).u64(5n).u32(5).bytes(writeMetadata(second));
  const without = { ...second, collection: null };
  const left = only(
    calls("e5233d5b0f0e63a0", stated, [leafEvent(without, 0), treeEvent()], [...Array(8).fill("x"), bubblegumProgram]),
  );
  expect(left).toMatchObject({ operation: "setCollectionV2", metadata: without });
});

test("a burn and a redemption remove the leaf, which they name by tree and nonce", () => {
  for (const [tag, operation] of [
    ["746e1d386bdb2a5d", "burn"],
    ["b80c569546c461e1", "redeem"],
  ] as const) {
    expect(only(calls(tag, proofOf, [treeEvent()]))).toMatchObject({
      operation,
      asset: leafAsset(tree, 5n),
      leaf: null,
    });
  }
  const ofSecond = (w: ByteWriter): ByteWriter =>
    w.bytes(root).bytes(root).bytes(root).u8(1).bytes(root).u8(1).u8(0).u64(5n).u32(5);
  const accounts = ["a", "b", "c", "d", "e", tree];
  expect(only(calls("73d222f0e88fb710", ofSecond, [treeEvent()], accounts))).toMatchObject({
    ...{ operation: "burnV2", asset: leafAsset(tree, 5n), leaf: null },
  });
});

test("what others tell after a call has ended is not its own, and without the tree's event nothing is told", () => {
  const [outer, ...events] = calls("a334c8e78c0345ba", proofOf, [leafEvent(metadata), treeEvent()]);
  if (outer === undefined) throw new Error("no call");
  const inner = { ...outer, stackHeight: 2 };
  expect(leafChangesOf([inner, ...events])).toEqual([]);
  expect(leafChangesOf([outer, ...events.map((event) => ({ ...event, outer: 1 }))])).toEqual([]);
  expect(leafChangesOf(calls("a334c8e78c0345ba", proofOf, [leafEvent(metadata)]))).toEqual([]);
  expect(leafChangesOf(calls("ffffffffffffffff", proofOf, [leafEvent(metadata), treeEvent()]))).toEqual([]);
});

test("whatever bytes calls have, nothing is thrown, and metadata are told with the hash of their leaf alone", () => {
  const good = calls("9162c076b8937668", (w) => w.bytes(writeMetadata(metadata)), [leafEvent(metadata), treeEvent()]);
  const edit = fc.record({ call: fc.nat(2), at: fc.nat(400), byte: fc.nat(255), length: fc.nat(400) });
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 6 }), (edits) => {
      const changed = good.map(({ data, ...others }, at) => {
        const bytes = Uint8Array.from(data);
        for (const each of edits) if (each.call === at && each.at < bytes.length) bytes[each.at] = each.byte;
        const cut = edits.find((each) => each.call === at && each.length < 100);
        return { ...others, data: cut === undefined ? bytes : bytes.subarray(0, cut.length) };
      });
      for (const { leaf, metadata: told } of leafChangesOf(changed)) {
        if (told !== null) expect(dataHashOf(told)).toBe(leaf?.dataHash ?? "");
      }
    }),
    { numRuns: 400 },
  );
});

test("nodes of trees: those above empty leaves are those of the program's own table, and order counts", () => {
  // Source: spl-concurrent-merkle-tree, the empty node of level 1: Keccak-256 of 64 zero bytes.
  const level = Buffer.from("ad3228b676f7d3cd4284a5443f17f1962b36e491b30a40b2405849e597ba5fb5", "hex");
  expect(emptyNode(1)).toBe(addressOfBytes(level));
  expect(emptyNode(2)).toBe(nodeOf(emptyNode(1), emptyNode(1)));
  expect(nodeOf(emptyNode(0), emptyNode(1))).not.toBe(nodeOf(emptyNode(1), emptyNode(0)));
  expect(emptyNode(0)).toBe("1".repeat(32));
});
