import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { programs } from "@sluice/wire/programs";
import { CommitmentLevel, type SubscribeUpdate } from "@triton-one/yellowstone-grpc";
import { openStand, type YellowstoneStand } from "../server/src/streams/yellowstone/testing/stand.ts";
import { CollectedStream } from "./testing/yellowstone-stream.ts";

let stand: YellowstoneStand;
beforeAll(async () => {
  stand = await openStand({ node: { votes: true, validators: 2, traffic: 100 } });
  // From here on each slot makes another final.
  await stand.closeSlots(40);
}, 60_000);
afterAll(() => stand[Symbol.asyncDispose]());

type Request = Parameters<typeof CollectedStream.open>[1];
const lists = { accountInclude: [], accountExclude: [], accountRequired: [] };

/**
 * What a stream is told, without what is each server's own: the time, and the transport's signs of life. The client
 * writes maps in an order that it draws, in which a block's filters are told one after another.
 */
function told({ updates }: CollectedStream): object[] {
  const all = updates.flatMap(({ createdAt: _, ping, pong, ...update }: SubscribeUpdate) =>
    ping === undefined && pong === undefined ? [{ ...update, filters: update.filters.toSorted() }] : [],
  );
  const placeOf = ({ block }: (typeof all)[number], place: number, list: typeof all): number =>
    block === undefined ? place : list.findIndex(({ block: other }) => other?.slot === block.slot);
  const placed = all.map((update, place) => ({ update, place: placeOf(update, place, all) }));
  placed.sort(
    (one, other) => one.place - other.place || (one.update.filters.join() < other.update.filters.join() ? -1 : 1),
  );
  return placed.map(({ update }) => update);
}

/** The same request at Sluice and at the node itself. */
async function both(request: Request): Promise<{ ours: CollectedStream; theirs: CollectedStream } & Disposable> {
  const ours = await CollectedStream.open(stand.url, request, "pro");
  const theirs = await CollectedStream.open(stand.faulty.node.grpcUrl ?? "", request);
  return {
    ours,
    theirs,
    [Symbol.dispose]() {
      ours[Symbol.dispose]();
      theirs[Symbol.dispose]();
    },
  };
}

const requests: Readonly<Record<string, Request>> = {
  "all transactions": { transactions: { all: { ...lists } } },
  "transactions by vote, failure and accounts": {
    transactions: {
      votes: { ...lists, vote: true },
      others: { ...lists, vote: false, failed: false },
      token: { ...lists, accountInclude: [programs.token, programs.stake] },
      without: { ...lists, accountRequired: [programs.system], accountExclude: [programs.vote] },
      expanded: { ...lists, accountInclude: [programs.token], tokenAccounts: 1 },
    },
    transactionsStatus: { status: { ...lists, vote: false } },
  },
  "blocks, whole and in part": {
    blocks: {
      all: { accountInclude: [] },
      bare: { accountInclude: [], includeTransactions: false },
      some: { accountInclude: [programs.token] },
    },
    blocksMeta: { meta: {} },
  },
  "slots of the stream's own commitment": { slots: { own: { filterByCommitment: true } } },
  "all together": {
    slots: { own: { filterByCommitment: true } },
    transactions: { t: { ...lists, vote: false } },
    transactionsStatus: { s: { ...lists } },
    blocks: { b: { accountInclude: [] } },
    blocksMeta: { m: {} },
  },
};

describe("an unmodified Yellowstone client", () => {
  for (const [name, request] of Object.entries(requests)) {
    for (const level of ["CONFIRMED", "FINALIZED"] as const) {
      test(`receives ${name} at ${level} as the node itself sends it`, async () => {
        await stand.closeSlots(2);
        using streams = await both({ ...request, commitment: CommitmentLevel[level] });
        const { ours, theirs } = streams;
        await stand.closeSlots(4);
        await theirs.settled();
        await ours.settled();
        expect(told(theirs).length).toBeGreaterThan(3);
        expect(told(ours)).toEqual(told(theirs));
      }, 30_000);
    }
  }
});
