import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { programs } from "@sluice/wire/programs";
import { CommitmentLevel } from "@triton-one/yellowstone-grpc";
import { openStand, type YellowstoneStand } from "../server/src/streams/yellowstone/testing/stand.ts";
import { both, lists, type Request, told } from "./testing/yellowstone-both.ts";

let stand: YellowstoneStand;
beforeAll(async () => {
  stand = await openStand({ node: { votes: true, validators: 2, traffic: 100 } });
  // From here on each slot makes another final.
  await stand.closeSlots(40);
}, 60_000);
afterAll(() => stand[Symbol.asyncDispose]());

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
        using streams = await both(stand, { ...request, commitment: CommitmentLevel[level] });
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
