import { afterAll, beforeAll, expect, test } from "bun:test";
import { bootFaultyNode, type FaultyNode, RawSubscriber } from "../faults/testing/faulty-node.ts";
import { call } from "../testing/boot.ts";

let faulty: FaultyNode;

beforeAll(async () => {
  faulty = await bootFaultyNode({ votes: true, validators: 3 });
  await faulty.closeSlots(3);
});

afterAll(() => faulty[Symbol.asyncDispose]());

test("logs of votes are reported with allWithVotes and to a subscriber that names a vote account, and not with all", async () => {
  const [first] = faulty.node.chain.genesis.validators;
  using client = await RawSubscriber.open(faulty.node.wsUrl);
  const config = { commitment: "processed" };
  const [all, withVotes, mentions] = [
    await client.ask("logsSubscribe", "all", config),
    await client.ask("logsSubscribe", "allWithVotes", config),
    await client.ask("logsSubscribe", { mentions: [first.vote] }, config),
  ];
  await call(faulty.node.rpcUrl, "requestAirdrop", [first.identity, 1_000_000]);
  await faulty.closeSlots(2);
  expect(await client.notifications(all)).toHaveLength(1);
  expect(await client.notifications(withVotes)).toHaveLength(2 * 3 + 1);
  expect(await client.notifications(mentions)).toHaveLength(2);
});

test("voteSubscribe reports each vote's account, slots, hash, time and signature", async () => {
  const { chain } = faulty.node;
  using client = await RawSubscriber.open(faulty.node.wsUrl);
  const votes = await client.ask("voteSubscribe");
  const voted = chain.at("processed");
  // The votes for the newest slot are in the open one.
  await faulty.closeSlots(1);
  const notifications = await client.notifications(votes);
  const block = chain.history.block(voted.slot + 1n);
  expect(notifications).toEqual(
    chain.genesis.validators.map(({ vote }, index) => ({
      votePubkey: vote,
      slots: Array.from({ length: Number(voted.slot) + 1 }, (_, slot) => slot),
      hash: voted.blockhash,
      timestamp: Number(voted.time),
      signature: block?.transactions[index]?.signature,
    })),
  );
});

test("votes are transactions of their block: signed by the identity, 5,000 lamports, parsed as a tower", async () => {
  const { chain, rpcUrl } = faulty.node;
  const [first] = chain.genesis.validators;
  const slot = Number(chain.at("confirmed").slot);
  const config = { encoding: "jsonParsed", commitment: "confirmed", maxSupportedTransactionVersion: 0 };
  const { result } = await call(rpcUrl, "getBlock", [slot, config]);
  const { transactions } = result as { transactions: unknown[] };
  expect(transactions).toHaveLength(3);
  expect(transactions[0]).toMatchObject({
    version: "legacy",
    meta: { err: null, fee: 5_000 },
    transaction: {
      message: {
        accountKeys: [{ pubkey: first.identity, signer: true }, { pubkey: first.vote, writable: true }, {}],
        instructions: [
          {
            program: "vote",
            parsed: { type: "towersync", info: { voteAccount: first.vote, voteAuthority: first.identity } },
          },
        ],
      },
    },
  });
});
