import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { webhookFilters } from "@sluice/contract/schemas";
import { chainEventNames } from "@sluice/contract/webhooks";
import type { ConfirmedTransaction, TransactionMeta } from "@sluice/encode";
import { type Random, seededRandom } from "@sluice/lib";
import { programs } from "@sluice/wire/programs";
import { built, key, tokens as tokenBalance } from "../../../../parser/testing/built.ts";
import { BlockReader } from "../../events/index.ts";
import type { NewDelivery, WebhookStage } from "../../state/index.ts";
import { chance, drawBlock, drawnAccounts, drawnMints, drawnPrograms, oneOf } from "../testing/drawn-blocks.ts";
import { type AskedWebhook, naivelyTold } from "../testing/naive-matching.ts";
import { compileWebhook } from "./compiled-webhook.ts";
import { deliveryIdOf, eventIdOf } from "./event-ids.ts";
import { WebhookIndex } from "./webhook-index.ts";

// Thousands of matchings take some seconds on a busy machine.
setDefaultTimeout(60_000);

const genesisHash = key(77);
const compiled = (id: string, { events, filters }: AskedWebhook, sinceMs = 0) =>
  compileWebhook({ id, events, filters: JSON.stringify(filters), createdAt: sinceMs, statusAt: 0 });

const some = <T>(random: Random, items: readonly T[]): T[] => {
  const taken = items.filter(() => chance(random, 0.25));
  return taken.length > 0 ? taken : [oneOf(random, items)];
};

function drawWebhook(random: Random): AskedWebhook {
  const maybe = <T>(share: number, draw: () => T): T | undefined => (chance(random, share) ? draw() : undefined);
  const account = (): string => oneOf(random, drawnAccounts);
  const filters = {
    account_include: maybe(0.5, () => some(random, drawnAccounts)),
    account_exclude: maybe(0.2, () => some(random, drawnAccounts)),
    program_id: maybe(0.3, () => oneOf(random, drawnPrograms)),
    commitment: maybe(0.2, () => oneOf(random, ["confirmed", "finalized"] as const)),
    success: maybe(0.3, () => chance(random, 0.5)),
    vote_transactions: maybe(0.4, () => chance(random, 0.5)),
    min_amount: maybe(0.3, () => oneOf(random, [0, 1_000, "2000", 3_000])),
    max_amount: maybe(0.2, () => oneOf(random, [0, 2_000, "4000"])),
    token_transfers: maybe(0.3, () =>
      oneOf(random, [
        true,
        false,
        { mint: oneOf(random, drawnMints) },
        { min_amount: 2 },
        { from: key(61), min_amount: "1" },
        { to: key(61) },
      ]),
    ),
    error_types: maybe(0.3, () => some(random, ["AccountInUse", "InstructionError"])),
    accounts: maybe(0.5, () => some(random, drawnAccounts)),
    owner: maybe(0.3, () => oneOf(random, drawnPrograms)),
    min_balance_change: maybe(0.3, () => oneOf(random, [0, 1_000, 5_001])),
    creator: maybe(0.3, account),
    min_balance: maybe(0.3, () => 2_000),
    reclaimed_by: maybe(0.3, account),
    min_transaction_count: maybe(0.3, () => oneOf(random, [1, 20, 1_000])),
  };
  const given = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
  return { events: some(random, chainEventNames), filters: webhookFilters.parse(given) };
}

const shown = ({ event, txIndex, account }: NewDelivery): string =>
  [event, ...(txIndex === null ? [] : [txIndex]), ...(account === null ? [] : [account])].join(" ");

function toldBy(index: WebhookIndex, random: Random, stage: WebhookStage, except = new Set<string>()) {
  const block = new BlockReader().events(drawBlock(random, 9n, 40));
  const deliveries = index.match(block, { stage, genesisHash, tells: ({ id }) => !except.has(id), prices: null });
  const byWebhook = new Map<string, string[]>();
  for (const delivery of deliveries) {
    const { webhookId, eventId, deliveryId, ordinal } = delivery;
    const { event, txIndex, account } = delivery;
    const place = { event: chainEventNames.find((name) => name === event) ?? "block.confirmed", txIndex, account };
    expect(eventId).toBe(eventIdOf(genesisHash, { ...place, slot: 9n, blockhash: block.block.blockhash }));
    expect(deliveryId).toBe(deliveryIdOf(webhookId, eventId));
    expect(Number.isInteger(ordinal)).toBe(true);
    byWebhook.set(webhookId, [...(byWebhook.get(webhookId) ?? []), shown(delivery)]);
  }
  return { block, deliveries, byWebhook };
}

describe("webhooks are told of a block", () => {
  test("what their events and filters say, whoever else is there, also after some have changed or left", () => {
    for (let seed = 1; seed <= 25; seed += 1) {
      const random = seededRandom(seed);
      const asked = new Map(Array.from({ length: 30 }, (_, at) => [`wh_${at}`, drawWebhook(random)]));
      const index = new WebhookIndex(random);
      for (const [id, webhook] of asked) index.add(compiled(id, webhook));
      for (const id of [...asked.keys()].filter(() => chance(random, 0.3))) {
        if (chance(random, 0.5)) {
          asked.delete(id);
          index.remove(id);
        } else {
          const webhook = drawWebhook(random);
          asked.set(id, webhook);
          index.add(compiled(id, webhook));
        }
      }
      const except = new Set([...asked.keys()].filter(() => chance(random, 0.1)));
      for (const stage of ["confirmed", "finalized"] as const) {
        const { block, byWebhook } = toldBy(index, random, stage, except);
        for (const [id, webhook] of asked) {
          const expected = except.has(id) ? [] : naivelyTold(webhook, block, { stage, prices: null });
          expect({ seed, id, webhook, told: (byWebhook.get(id) ?? []).toSorted() }).toEqual({
            seed,
            id,
            webhook,
            told: expected,
          });
        }
      }
    }
  });

  test("each event once and in the order of the chain, with the same id for all", () => {
    const random = seededRandom(7);
    const index = new WebhookIndex(random);
    for (const id of ["one", "two"]) index.add(compiled(id, { events: chainEventNames, filters: {} }));
    const { deliveries } = toldBy(index, random, "confirmed");
    const of = (id: string): NewDelivery[] => deliveries.filter(({ webhookId }) => webhookId === id);
    const [one, two] = [of("one"), of("two")];
    expect(one.map(({ eventId }) => eventId)).toEqual(two.map(({ eventId }) => eventId));
    expect(new Set(one.map(({ eventId }) => eventId)).size).toBe(one.length);
    expect(one.map(({ ordinal }) => ordinal)).toEqual(one.map((_, place) => place));
    const places = one.flatMap(({ txIndex }) => (txIndex === null ? [] : [txIndex]));
    expect(places).toEqual(places.toSorted((left, right) => left - right));
    expect(one.at(-1)?.event).toBe("block.confirmed");
  });

  test("not of blocks from before they were made or resumed", () => {
    const random = seededRandom(7);
    const index = new WebhookIndex(random);
    const blockMs = 1_790_000_000_000;
    const webhook = { events: ["block.confirmed"], filters: {} };
    index.add(compiled("before", webhook, blockMs));
    // Clocks may differ by a minute.
    index.add(compiled("about then", webhook, blockMs + 60_000));
    index.add(compiled("after", webhook, blockMs + 60_001));
    expect([...toldBy(index, random, "confirmed").byWebhook.keys()]).toEqual(["before", "about then"]);
  });

  test("of an account once where its balance and its data may have changed", () => {
    const random = seededRandom(7);
    const index = new WebhookIndex(random);
    index.add(compiled("watcher", { events: ["account.updated"], filters: { accounts: [key(2), key(3)] } }));
    const moves = (to: bigint) =>
      built({
        keys: [key(1), key(2), key(3)],
        calls: [],
        meta: { preBalances: [9_000n, 1n, 5n], postBalances: [4_000n - to, 1n + to, 5n] },
      });
    const drawn = drawBlock(random, 9n, 0);
    const block = new BlockReader().events({ ...drawn, transactions: [moves(0n), moves(7n)] });
    const told = index.match(block, { stage: "confirmed", genesisHash, tells: () => true, prices: null });
    expect(told.map(shown)).toEqual([`account.updated ${key(2)}`, `account.updated ${key(3)}`]);
  });
});

describe("of accounts whose data alone may have changed a webhook is told", () => {
  const told = (filters: object, transactions: readonly ConfirmedTransaction[]) => {
    const random = seededRandom(7);
    const index = new WebhookIndex(random);
    index.add(compiled("watcher", { events: ["account.updated"], filters: webhookFilters.parse(filters) }));
    const block = new BlockReader().events({ ...drawBlock(random, 9n, 0), transactions });
    return index.match(block, { stage: "confirmed", genesisHash, tells: () => true, prices: null });
  };
  const [payer, nonce, other, owner] = [key(1), key(2), key(3), key(101)];
  /** Key 2 is the account of its nonce where it is durable, and key 3 is handed to another program. */
  const durable = (error: TransactionMeta["error"], first = [4, 0, 0, 0]) =>
    built({
      keys: [payer, nonce, other, programs.system, owner],
      calls: [
        { program: 3, accounts: [1, 0], data: first },
        { program: 4, accounts: [2], data: [7] },
      ],
      meta: { error, preBalances: [9_000n, 1n, 5n, 1n, 1n], postBalances: [4_000n, 1n, 5n, 1n, 1n] },
    });
  const failure = { InstructionError: [1, "Custom"] } as const;

  test("the account of a durable nonce, which advances though its transaction fails, and who paid the fee", () => {
    const watched = { accounts: [payer, nonce, other] };
    const accounts = (error: TransactionMeta["error"], first?: number[]) =>
      told(watched, [durable(error, first)]).map(({ account }) => account);
    expect(accounts(null)).toEqual([payer, nonce, other]);
    expect(accounts(failure)).toEqual([payer, nonce]);
    expect(accounts(failure, [2, 0, 0, 0])).toEqual([payer]);
    expect(told({ accounts: [other] }, [durable(null)]).map(({ account }) => account)).toEqual([other]);
    expect(accounts(failure, [4, 0, 0])).toEqual([payer]);
    expect(told({ owner: programs.system }, [durable(failure)]).map(({ account }) => account)).toEqual([payer, nonce]);
  });

  test("those that calls of their program may have written, to be decided where the block does not tell the owner", () => {
    const deliveries = told({ owner }, [durable(null), durable(null)]);
    expect(deliveries.map(({ account, undecided }) => [account, undecided])).toEqual([
      [other, JSON.stringify({ owner })],
    ]);
    expect(told({ owner }, [durable(failure)])).toEqual([]);
    expect(told({ owner, min_balance_change: 1 }, [durable(null)])).toEqual([]);
    const tokens = { preTokenBalances: [], postTokenBalances: [tokenBalance(2, 1n, { programId: owner })] };
    const known = durable(null);
    const stated = { ...known, meta: known.meta === null ? null : { ...known.meta, ...tokens } };
    expect(told({ owner }, [stated]).map(({ account, undecided }) => [account, undecided])).toEqual([[other, null]]);
    expect(told({ owner: key(102) }, [stated])).toEqual([]);
  });

  test("those whose balance a call of their program changed, where the block does not tell their owner", () => {
    const moved = built({
      keys: [payer, other, owner],
      calls: [{ program: 2, accounts: [1], data: [7] }],
      meta: { preBalances: [9_000n, 5n, 1n], postBalances: [3_000n, 1_005n, 1n] },
    });
    const undecided = JSON.stringify({ owner });
    expect(told({ owner }, [moved])).toMatchObject([{ account: other, undecided }]);
    expect(told({ owner, min_balance_change: 1_001 }, [moved])).toEqual([]);
    expect(told({ owner, accounts: [other] }, [moved])).toMatchObject([{ account: other, undecided }]);
    expect(told({ owner: programs.system, accounts: [payer] }, [moved])).toMatchObject([{ undecided: null }]);
  });
});

describe("filters", () => {
  test("of a form that this version does not know are refused, not taken for none", () => {
    const filters = JSON.stringify({ account_includes: [key(1)] } satisfies Record<string, unknown>);
    const webhook = { id: "wh", events: ["transaction.confirmed"], filters, createdAt: 0, statusAt: 0 };
    expect(() => compileWebhook(webhook)).toThrow(TypeError);
  });
});
