import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "@sluice/lib/testing";
import { programs, sysvars } from "@sluice/wire/programs";
import { CommitmentLevel } from "@triton-one/yellowstone-grpc";
import { openStand, type YellowstoneStand } from "../server/src/streams/yellowstone/testing/stand.ts";
import { both, lists, type Request, told } from "./testing/yellowstone-both.ts";
import { CollectedStream } from "./testing/yellowstone-stream.ts";

let stand: YellowstoneStand;
beforeAll(async () => {
  stand = await openStand({ node: { votes: true, traffic: 10 }, hasSource: true });
  await stand.closeSlots(40);
}, 60_000);
afterAll(() => stand[Symbol.asyncDispose]());

const accounts = { account: [], owner: [], filters: [] };
const requests: Readonly<Record<string, Request>> = {
  "accounts by address, owner and length, sliced": {
    accounts: {
      clock: { ...accounts, account: [sysvars.clock] },
      tokens: { ...accounts, owner: [programs.token], filters: [{ tokenAccountState: true }] },
    },
    accountsDataSlice: [{ offset: "0", length: "8" }],
  },
  "all accounts": { accounts: { all: accounts } },
  entries: { entry: { e: {} } },
  "blocks with accounts and entries": {
    blocks: { b: { accountInclude: [programs.token, sysvars.clock], includeAccounts: true, includeEntries: true } },
  },
  "all kinds together": {
    accounts: { all: accounts },
    transactions: { t: { ...lists, vote: false } },
    transactionsStatus: { s: { ...lists } },
    entry: { e: {} },
    blocks: { b: { accountInclude: [] } },
    blocksMeta: { m: {} },
    slots: { own: { filterByCommitment: true } },
  },
};

/** What is told of slots from one on. */
const from = (slot: bigint, updates: readonly object[]): readonly object[] =>
  updates.filter((update) => {
    const found = /"slot":"(\d+)"/.exec(JSON.stringify(update, (key, value) => (key === "data" ? 0 : value)))?.[1];
    return found !== undefined && BigInt(found) >= slot;
  });

describe("with a node that tells what blocks do not hold, an unmodified client", () => {
  for (const [name, request] of Object.entries(requests)) {
    const early = ["PROCESSED", "CONFIRMED"] as const;
    for (const level of name === "entries" ? ([...early, "FINALIZED"] as const) : early) {
      test(`receives ${name} at ${level} as the node itself sends it`, async () => {
        using streams = await both(stand, { ...request, commitment: CommitmentLevel[level] });
        const { ours, theirs } = streams;
        // Sluice asks the node once it is asked itself, in the same order: this one is asked for later.
        using probe = await CollectedStream.open(stand.url, { accounts: { all: accounts } }, "pro");
        for (let slots = 0; told(probe).length === 0; slots += 1) {
          expect([slots < 50, probe.ended]).toEqual([true, null]);
          await stand.closeSlots(1);
        }
        const first = stand.faulty.node.chain.at("processed").slot + 1n;
        for (let count = level === "FINALIZED" ? 36 : 3; count > 0; count -= 1) {
          await stand.closeSlots(1);
          // A client has the time of a slot to read what one holds.
          await theirs.settled();
          await ours.settled();
        }
        const expected = from(first, told(theirs));
        const isThere = (): boolean => ours.ended !== null || from(first, told(ours)).length >= expected.length;
        await eventually("as much has come", isThere, 10_000);
        expect([ours.ended, theirs.ended]).toEqual([null, null]);
        expect(expected.length).toBeGreaterThan(1);
        expect(from(first, told(ours))).toEqual([...expected]);
      }, 60_000);
    }
  }

  test("is told where data was missed: as the node's stream breaks off, the stream ends", async () => {
    using stream = await CollectedStream.open(
      stand.url,
      { accounts: { all: accounts }, commitment: CommitmentLevel.CONFIRMED },
      "pro",
    );
    await stand.closeSlots(2);
    await stand.faulty.admin("devnet_closeGrpc");
    await eventually("the stream ends", () => stream.ended !== null);
    expect(stream.ended).toContain("lagged to receive geyser messages");
  });

  test("cannot come back for accounts from a slot that is over", async () => {
    using stream = await CollectedStream.open(
      stand.url,
      { accounts: { all: accounts }, commitment: CommitmentLevel.CONFIRMED, fromSlot: "2" },
      "pro",
    );
    expect(stream.ended).toContain("broadcast from 2 is not available");
  });
});
