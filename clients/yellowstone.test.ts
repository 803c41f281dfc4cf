import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { encodeBlock, unpackBlock } from "@sluice/encode";
import { encodeBase58 } from "@sluice/wire/base58";
import { stringifyJsonExact } from "@sluice/wire/json";
import { programs, sysvars } from "@sluice/wire/programs";
import Client, {
  CommitmentLevel,
  type SubscribeRequestFilterAccounts,
  type SubscribeRequestFilterTransactions,
  SubscribeUpdateBlock,
} from "@triton-one/yellowstone-grpc";
import { bootFaultyNode, type FaultyNode } from "../devnet/chain/faults/testing/faulty-node.ts";
import { call, post } from "../devnet/chain/testing/boot.ts";
import { CollectedStream } from "./testing/yellowstone-stream.ts";

let faulty: FaultyNode;
beforeAll(async () => {
  faulty = await bootFaultyNode({ grpcPort: 0, votes: true, validators: 2, traffic: 100 });
});
afterAll(() => faulty[Symbol.asyncDispose]());

const url = () => faulty.node.grpcUrl ?? "";
const open = (request: Parameters<typeof CollectedStream.open>[1]) => CollectedStream.open(url(), request);
const slotNow = () => faulty.node.chain.at("processed").slot;

const transactions = (filter: Partial<SubscribeRequestFilterTransactions> = {}) => ({
  accountInclude: [],
  accountExclude: [],
  accountRequired: [],
  ...filter,
});
const accounts = (filter: Partial<SubscribeRequestFilterAccounts> = {}) => ({
  account: [],
  owner: [],
  filters: [],
  ...filter,
});

/** A new wallet that an airdrop of the open slot has given lamports. */
async function airdropped(lamports: number): Promise<{ address: string; signature: string }> {
  const address = encodeBase58(crypto.getRandomValues(new Uint8Array(32)));
  const { result } = await call(faulty.node.rpcUrl, "requestAirdrop", [address, lamports]);
  return { address, signature: String(result) };
}

/** The node's own text for a block. */
async function answered(slot: bigint): Promise<string> {
  const config = { encoding: "base64", rewards: true, maxSupportedTransactionVersion: 0, commitment: "confirmed" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getBlock", params: [Number(slot), config] });
  const text = await (await post(faulty.node.rpcUrl, body)).text();
  return /^\{"jsonrpc":"2.0","result":(.*),"id":1\}\n?$/s.exec(text)?.[1] ?? text;
}

describe("an unmodified Yellowstone client at the development chain", () => {
  test("asks for slot, height, blockhash and version, and is answered as JSON-RPC answers", async () => {
    await faulty.closeSlots(2);
    const client = new Client(url(), undefined, undefined);
    await client.connect();
    const { blockhash, slot, blockHeight } = faulty.node.chain.at("confirmed");
    const level = CommitmentLevel.CONFIRMED;
    expect(await client.getSlot(level)).toEqual({ slot: `${slot}` });
    expect(await client.getBlockHeight(level)).toEqual({ blockHeight: `${blockHeight}` });
    expect(await client.getLatestBlockhash(level)).toMatchObject({ slot: `${slot}`, blockhash });
    expect(await client.isBlockhashValid(blockhash, level)).toEqual({ slot: `${slot}`, valid: true });
    expect(await client.isBlockhashValid(encodeBase58(new Uint8Array(32)), level)).toMatchObject({ valid: false });
    expect(await client.ping(7)).toEqual({ count: 7 });
    expect(await client.subscribeReplayInfo()).toEqual({ firstAvailable: "1" });
    expect(JSON.parse((await client.getVersion()).version)).toHaveProperty(
      "version.package",
      "yellowstone-grpc-geyser",
    );
  });

  test("receives a slot's updates in the order of a node, once it has reached the stream's commitment", async () => {
    const commitment = CommitmentLevel.CONFIRMED;
    const all = { slots: { s: {} }, blocksMeta: { m: {} }, entry: { e: {} }, commitment };
    using stream = await open({
      ...all,
      transactions: { t: transactions({ vote: true }) },
      blocks: { b: { accountInclude: [] } },
    });
    const slot = slotNow();
    await faulty.closeSlots(2);
    await stream.settled();
    const kinds = stream.kinds.filter((kind, index, list) => kind !== list[index - 1]);
    const held = ["transaction", "entry", "block", "blockMeta"];
    const [before, first, second] = [slot, slot + 1n, slot + 2n];
    expect(kinds).toEqual([
      ...[`processed ${first}`, ...held, `confirmed ${before}`],
      ...[`processed ${second}`, ...held, `confirmed ${first}`],
    ]);
  });

  test("receives blocks that are, byte for byte, what getBlock of the node answers", async () => {
    using stream = await open({ blocks: { b: { accountInclude: [] } }, commitment: CommitmentLevel.CONFIRMED });
    let transfers = 0;
    for (let round = 0; transfers < 30 && round < 200; round += 1) {
      await Bun.sleep(10);
      await faulty.closeSlots(1);
      await stream.settled();
      const sent = stream.updates.flatMap(({ block }) => block?.transactions ?? []);
      transfers = sent.filter(({ isVote }) => !isVote).length;
    }
    expect(transfers).toBeGreaterThanOrEqual(30);
    for (const { block } of stream.updates) {
      if (block === undefined) continue;
      const unpacked = unpackBlock(SubscribeUpdateBlock.encode(block).finish());
      const options = { transactionDetails: "full", rewards: true, maxSupportedTransactionVersion: 0 } as const;
      const encoded = encodeBlock(unpacked, { encoding: "base64", ...options });
      if (!encoded.ok) throw new Error("not encoded");
      expect(stringifyJsonExact(encoded.value)).toBe(await answered(BigInt(block.slot)));
      expect(block.executedTransactionCount).toBe(`${block.transactions.length}`);
    }
  }, 60_000);

  test("receives accounts by address, owner, lamports, length, bytes and state, with slices and their signature", async () => {
    const lamports = 2_345_678;
    const { address, signature } = await airdropped(lamports);
    const mine = { account: [address] };
    using stream = await open({
      accounts: {
        address: accounts(mine),
        owner: accounts({ ...mine, owner: [programs.system] }),
        otherOwner: accounts({ ...mine, owner: [programs.token] }),
        equal: accounts({ ...mine, filters: [{ lamports: { eq: `${lamports}` } }, { datasize: "0" }] }),
        less: accounts({ ...mine, filters: [{ lamports: { lt: `${lamports}` } }] }),
        token: accounts({ ...mine, filters: [{ tokenAccountState: true }] }),
        bytes: accounts({ ...mine, filters: [{ memcmp: { offset: "0", bytes: Uint8Array.of(1) } }] }),
        signed: accounts({ ...mine, nonemptyTxnSignature: true }),
        unsigned: accounts({ ...mine, nonemptyTxnSignature: false }),
        clock: accounts({ account: [sysvars.clock] }),
      },
      accountsDataSlice: [
        { offset: "0", length: "8" },
        { offset: "16", length: "8" },
        { offset: "32", length: "80" },
      ],
    });
    await faulty.closeSlots(1);
    await stream.settled();
    const updates = stream.updates.flatMap(({ account, filters }) =>
      account === undefined ? [] : [{ account, filters }],
    );
    const own = updates.find(({ filters }) => filters.includes("address"));
    expect(own?.filters.toSorted()).toEqual(["address", "equal", "owner", "signed"]);
    const info = own?.account.account;
    expect(info && encodeBase58(info.pubkey)).toBe(address);
    expect(info?.lamports).toBe(`${lamports}`);
    expect(info?.rentEpoch).toBe("18446744073709551615");
    expect(encodeBase58(info?.txnSignature ?? new Uint8Array())).toBe(signature);
    const clock = updates.find(({ filters }) => filters.includes("clock"))?.account.account;
    // The third slice reaches beyond the 40 bytes of the sysvar and is left out.
    expect(clock?.data.length).toBe(16);
    expect(clock?.data.slice(0, 8)).toEqual(new Uint8Array(new BigUint64Array([slotNow()]).buffer));
    const versions = updates.map(({ account }) => BigInt(account.account?.writeVersion ?? 0));
    expect(versions).toEqual(versions.toSorted((a, b) => (a < b ? -1 : 1)));
  });

  test("receives transactions and their statuses by vote, failure, signature and accounts", async () => {
    const { address, signature } = await airdropped(3_000_000);
    const other = encodeBase58(crypto.getRandomValues(new Uint8Array(32)));
    const one = { accountInclude: [address] };
    using stream = await open({
      transactions: {
        included: transactions(one),
        excluded: transactions({ ...one, accountExclude: [programs.system] }),
        required: transactions({ accountRequired: [address, programs.system] }),
        missing: transactions({ accountRequired: [address, other] }),
        signed: transactions({ signature }),
        failed: transactions({ ...one, failed: true }),
        votes: transactions({ ...one, vote: true }),
        expanded: transactions({ ...one, tokenAccounts: 1 }),
      },
      transactionsStatus: { status: transactions(one) },
    });
    await faulty.closeSlots(1);
    await stream.settled();
    const found = stream.updates.filter(({ transaction }) => transaction !== undefined);
    expect(found.map(({ filters }) => filters.toSorted())).toEqual([["expanded", "included", "required", "signed"]]);
    const info = found[0]?.transaction?.transaction;
    expect(info && encodeBase58(info.signature)).toBe(signature);
    expect(info?.isVote).toBe(false);
    const [status] = stream.updates.flatMap(({ transactionStatus }) => transactionStatus ?? []);
    expect(status).toMatchObject({ slot: `${slotNow()}`, isVote: false, index: info?.index ?? "" });
    expect(status?.err).toBeUndefined();
  });

  test("may leave transactions out of blocks, and take accounts and entries into them", async () => {
    const { address } = await airdropped(4_000_000);
    using stream = await open({
      blocks: {
        bare: { accountInclude: [], includeTransactions: false },
        mine: { accountInclude: [address], includeAccounts: true },
        entries: { accountInclude: [address], includeTransactions: false, includeEntries: true },
      },
    });
    await faulty.closeSlots(1);
    await stream.settled();
    const blocks = Object.fromEntries(
      stream.updates.flatMap(({ block, filters }) => (block ? [[filters.join(), block]] : [])),
    );
    const { bare, mine, entries } = blocks;
    expect(bare?.transactions).toEqual([]);
    expect(BigInt(bare?.executedTransactionCount ?? 0)).toBeGreaterThanOrEqual(3n);
    expect(mine?.transactions).toHaveLength(1);
    expect(mine?.accounts).toHaveLength(1);
    expect(BigInt(mine?.updatedAccountCount ?? 0)).toBeGreaterThan(1n);
    expect(entries?.entries).toHaveLength(Number(entries?.entriesCount));
    expect(encodeBase58(entries?.entries.at(-1)?.hash ?? new Uint8Array())).toBe(entries?.blockhash ?? "");
  });

  test("replaces all filters with each request, and is told in which way a request is wrong", async () => {
    using stream = await open({ slots: { s: {} } });
    await stream.request({ blocksMeta: { m: {} } });
    await faulty.closeSlots(1);
    await stream.settled();
    expect(stream.kinds).toEqual(["blockMeta"]);
    await stream.request({ accounts: { a: accounts({ account: ["no address"] }) } });
    expect(stream.ended).toContain("failed to create filter");
    using name = await open({ slots: { ["n".repeat(129)]: {} } });
    expect(name.ended).toContain("oversized filter name (max allowed size 128), found 129");
    using sizes = await open({ accounts: { a: accounts({ filters: [{ datasize: "1" }, { datasize: "2" }] }) } });
    expect(sizes.ended).toContain("datasize used more than once");
    const slices = [
      { offset: "8", length: "8" },
      { offset: "12", length: "8" },
    ];
    using overlapped = await open({ accounts: {}, accountsDataSlice: slices });
    expect(overlapped.ended).toContain("data slices overlapped");
  });

  test("resumes from a slot that is kept, and is told where a slot is too old", async () => {
    await faulty.closeSlots(3);
    const fromSlot = `${slotNow() - 2n}`;
    using stream = await open({ slots: { s: { filterByCommitment: true } }, fromSlot });
    expect(stream.kinds).toEqual([2n, 1n, 0n].map((back) => `processed ${slotNow() - back}`));
    await faulty.closeSlots(1);
    await stream.settled();
    expect(stream.kinds).toHaveLength(4);
    using old = await open({ slots: { s: {} }, fromSlot: "0" });
    expect(old.ended).toContain("broadcast from 0 is not available, last available: 1");
  });

  test("sees skipped slots, forks and disturbed updates", async () => {
    using stream = await open({ slots: { s: { interslotUpdates: true } } });
    const slot = slotNow();
    await faulty.admin("devnet_skipSlots", 2);
    await faulty.closeSlots(4);
    await stream.settled();
    const processed = stream.updates.flatMap(({ slot: update }) => (update?.status === 0 ? [update] : []));
    expect(processed.map(({ slot: each, parent }) => [each, parent])).toEqual([
      [`${slot + 1n}`, `${slot}`],
      [`${slot + 4n}`, `${slot + 1n}`],
    ]);
    await faulty.admin("devnet_fork", { depth: 1 });
    await stream.settled();
    expect(stream.kinds).toContain(`dead ${slot + 4n}`);
    await faulty.closeSlots(1);
    await stream.settled();
    const last = stream.updates.findLast(({ slot: update }) => update?.status === 0)?.slot;
    expect(last?.parent).toBe(`${slot + 1n}`);
    await faulty.admin("devnet_disturbGrpc", { kind: "drop", share: 1 });
    const before = stream.kinds.length;
    await faulty.closeSlots(1);
    await stream.settled();
    expect(stream.kinds).toHaveLength(before);
    await faulty.admin("devnet_disturbGrpc", { kind: "duplicate", share: 1 });
    await faulty.closeSlots(1);
    await stream.settled();
    const twice = stream.kinds.slice(before);
    expect(twice.filter((kind) => twice.indexOf(kind) === twice.lastIndexOf(kind))).toEqual([]);
    await faulty.admin("devnet_clear");
    await faulty.admin("devnet_closeGrpc");
    await stream.settled();
    expect(stream.ended).toContain("server is shutting down");
  });
});

test("a token that is asked for is needed for streams and calls alike", async () => {
  await using guarded = await bootFaultyNode({ grpcPort: 0, grpcToken: "secret" });
  const address = guarded.node.grpcUrl ?? "";
  const wrong = await CollectedStream.open(address, { slots: { s: {} } }, "other").catch((error: Error) => error);
  expect(String(wrong instanceof Error ? wrong.cause : wrong)).toContain("No valid auth token");
  using right = await CollectedStream.open(address, { slots: { s: {} } }, "secret");
  await guarded.closeSlots(1);
  await right.settled();
  expect(right.kinds).toEqual(["processed 1"]);
  const client = new Client(address, undefined, undefined);
  await client.connect();
  const refused = await client.getSlot().catch((error: Error) => error);
  expect(Bun.inspect(refused)).toContain("No valid auth token");
});
