import { describe, expect, test } from "bun:test";
import { webhookFilters } from "@sluice/contract/schemas";
import { type Random, seededRandom } from "@sluice/lib";
import { programParsers } from "@sluice/parser";
import { wellKnownAddresses } from "@sluice/wire/programs";
import { key } from "../../../../parser/testing/built.ts";
import { realTransactions } from "../../../../parser/testing/fixtures.ts";
import { type BlockEvents, BlockReader } from "../../events/index.ts";
import { decimal } from "../../oracle/index.ts";
import { chance, drawBlock, oneOf } from "../testing/drawn-blocks.ts";
import { type AskedWebhook, naivelyTold } from "../testing/naive-matching.ts";
import { compileWebhook } from "./compiled-webhook.ts";
import { TokenPrices } from "./token-prices.ts";
import { WebhookIndex } from "./webhook-index.ts";

const usdc = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkwZyTDt1v";
const prices = new Map([
  [wellKnownAddresses.wrappedNativeMint as string, 140],
  [usdc, 1],
]);
const real = realTransactions();

/** Real transactions of several years, and some that were drawn. */
function blockOf(random: Random): BlockEvents {
  const drawn = drawBlock(random, 9n, 10);
  return new BlockReader().events({
    ...drawn,
    transactions: [...real.map(({ executed }) => executed), ...drawn.transactions],
  });
}

const tokenPrices = (): TokenPrices =>
  new TokenPrices(new Map([...prices].map(([mint, price]) => [mint, decimal(String(price))])));

function drawTrades(random: Random): AskedWebhook {
  const maybe = <T>(share: number, draw: () => T): T | undefined => (chance(random, share) ? draw() : undefined);
  const names = (): string[] => {
    const drawn = [1, 2, 3].map(() => oneOf(random, programParsers).source);
    return chance(random, 0.2)
      ? [...drawn, "Unknown"]
      : drawn.map((name) => (chance(random, 0.2) ? name.toUpperCase() : name));
  };
  const isOfNfts = chance(random, 0.4);
  const nft = {
    marketplaces: maybe(0.4, names),
    collection: maybe(0.3, () => key(9)),
    event_types: maybe(0.5, () => [oneOf(random, ["sale", "listing", "bid"] as const)]),
  };
  const defi = {
    protocols: maybe(0.5, names),
    event_types: maybe(0.5, () => [oneOf(random, ["swap", "add_liquidity", "remove_liquidity"] as const)]),
    min_usd_value: maybe(0.5, () => oneOf(random, [0, 0.5, 10, 500, 1e30])),
  };
  const present = (filter: object): object =>
    Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
  const filters = {
    ...(isOfNfts && { nft: present(nft) }),
    ...((!isOfNfts || chance(random, 0.1)) && { defi: present(defi) }),
    ...(chance(random, 0.2) && { program_id: oneOf(random, programParsers).id }),
  };
  const events = ["transaction.confirmed", ...(chance(random, 0.3) ? ["transaction.failed"] : [])];
  return { events, filters: webhookFilters.parse(filters) };
}

const compiled = (id: string, { events, filters }: AskedWebhook) =>
  compileWebhook({ id, events, filters: JSON.stringify(filters), createdAt: 0, statusAt: 0 });

function toldBy(webhooks: ReadonlyMap<string, AskedWebhook>, block: BlockEvents, at: TokenPrices | null) {
  const index = new WebhookIndex(seededRandom(1));
  for (const [id, webhook] of webhooks) index.add(compiled(id, webhook));
  const told = new Map<string, string[]>();
  const options = { stage: "confirmed", genesisHash: key(77), tells: () => true, prices: at } as const;
  for (const { webhookId, event, txIndex } of index.match(block, options)) {
    told.set(webhookId, [...(told.get(webhookId) ?? []), `${event} ${txIndex}`]);
  }
  return { index, told };
}

describe("webhooks that ask for trades are told", () => {
  test("what the rules say of each real transaction, whoever else is there, with prices and without", () => {
    const found = new Set<string>();
    for (let seed = 1; seed <= 4; seed += 1) {
      const random = seededRandom(seed);
      const block = blockOf(random);
      const asked = new Map(Array.from({ length: 30 }, (_, at) => [`wh_${at}`, drawTrades(random)]));
      for (const isKnown of [true, false]) {
        const { told } = toldBy(asked, block, isKnown ? tokenPrices() : null);
        for (const [id, webhook] of asked) {
          const expected = naivelyTold(webhook, block, { stage: "confirmed", prices: isKnown ? prices : null });
          const got = (told.get(id) ?? []).toSorted();
          expect({ seed, webhook, isKnown, told: got }).toEqual({ seed, webhook, isKnown, told: expected });
          if (got.length > 0) for (const name of Object.keys(webhook.filters)) found.add(name);
        }
      }
    }
    if (real.length > 0) expect([...found].toSorted()).toEqual(["defi", "nft", "program_id"]);
  });

  test("with what is left to decide where prices cannot be read, and with nothing where they decide", () => {
    const filters = webhookFilters.parse({ defi: { event_types: ["swap"], min_usd_value: 0 } });
    const index = new WebhookIndex(seededRandom(1));
    index.add(compiled("wh", { events: ["transaction.confirmed"], filters }));
    const block = blockOf(seededRandom(1));
    const at = { stage: "confirmed", genesisHash: key(77), tells: () => true } as const;
    const leftBy = (prices: TokenPrices | null) =>
      new Set(index.match(block, { ...at, prices }).map(({ undecided }) => undecided));
    if (real.length === 0) return;
    expect([...leftBy(tokenPrices())]).toEqual([null]);
    expect([...leftBy(null)]).toEqual([JSON.stringify({ defi: filters.defi })]);
  });

  test("nothing that failed, though the type of what failed is that of the trade", () => {
    const failed = new BlockReader().events({
      ...drawBlock(seededRandom(1), 9n, 0),
      transactions: real.map(({ executed }) => executed).filter(({ meta }) => meta !== null && meta.error !== null),
    });
    const asked = new Map([["wh", { events: ["transaction.confirmed"], filters: webhookFilters.parse({ defi: {} }) }]]);
    expect(toldBy(asked, failed, null).told.size).toBe(0);
  });

  test("no trade whose tokens have no price, and how many those were is known", () => {
    const filters = webhookFilters.parse({ defi: { event_types: ["swap"], min_usd_value: 0 } });
    const without = new TokenPrices(new Map());
    const block = blockOf(seededRandom(1));
    const { told } = toldBy(new Map([["wh", { events: ["transaction.confirmed"], filters }]]), block, without);
    const swaps = block.transactions.filter(({ parsed, view }) => view.succeeded && parsed.swap !== null);
    expect([told.size, without.unpriced]).toEqual([0, swaps.length]);
    if (real.length > 0) expect(swaps.length).toBeGreaterThan(0);
  });
});

test("prices are read only where a webhook asks for a value", () => {
  const index = new WebhookIndex(seededRandom(1));
  const add = (id: string, filters: object) =>
    index.add(compiled(id, { events: ["transaction.confirmed"], filters: webhookFilters.parse(filters) }));
  add("without", { defi: { event_types: ["swap"] } });
  expect(index.asksForPrices).toBe(false);
  add("with", { defi: { min_usd_value: 5 } });
  add("with", { defi: { min_usd_value: 6 } });
  expect(index.asksForPrices).toBe(true);
  index.remove("with");
  expect(index.asksForPrices).toBe(false);
});

test("names of programs are in lower case, as filters are compared", () => {
  for (const { source } of programParsers) expect(source).toBe(source.toLowerCase());
});
