import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { bootNode } from "../../../../devnet/chain/testing/boot.ts";
import { formatDecimal } from "../model/decimal.ts";
import type { SourceEvents } from "../model/events.ts";
import { type AccountReader, type ChainPoolOptions, ChainPools, createAccountReader } from "./chain-pools.ts";

const silent: SourceEvents = {
  sourceStatusChanged: () => undefined,
  sourceTicked: () => undefined,
  sourceDropped: () => undefined,
  sourceTraded: () => undefined,
  sourceStreamOpened: () => undefined,
  sourceStreamEnded: () => undefined,
  sourceRequestEnded: () => undefined,
  sourceFault: (_source, fault) => {
    throw fault;
  },
};

/** A pool of the development chain's genesis, its token against the dollar. */
type GenesisPools = Awaited<ReturnType<typeof bootNode>>["chain"]["genesis"]["description"]["pools"];
function poolOptions(pools: GenesisPools, name: string, base: string): ChainPoolOptions {
  const pool = pools.find((each) => each.name === name);
  const quote = pool?.sides.find(({ mint }) => mint.decimals === 6);
  const other = pool?.sides.find(({ mint }) => mint.decimals === 9);
  if (quote === undefined || other === undefined) throw new Error(`no pool ${name}`);
  return {
    base,
    quote: "USDC",
    baseVault: other.vault,
    quoteVault: quote.vault,
    baseMint: other.mint.address,
    quoteMint: quote.mint.address,
    baseDecimals: other.mint.decimals,
    quoteDecimals: quote.mint.decimals,
  };
}

test("the pools of a development chain are deep enough to be priced, and say what genesis made them worth", async () => {
  await using node = await bootNode({ slotMs: 0 });
  const clock = new ManualClock();
  const prices = new Map<string, string>();
  const reader = createAccountReader({ url: node.rpcUrl, headers: {} });
  let read: ReturnType<AccountReader> = Promise.resolve({ kind: "unavailable" });
  const readAccounts: AccountReader = (addresses) => {
    read = reader(addresses);
    return read;
  };
  const { pools } = node.chain.genesis.description;
  const tracked = [poolOptions(pools, "xnt-usdc", "XNT"), poolOptions(pools, "dev-usdc", "DEV")];
  const onTick = (tick: { base: string; price: Parameters<typeof formatDecimal>[0] }) =>
    void prices.set(tick.base, formatDecimal(tick.price));
  await using source = new ChainPools({ pools: tracked }, { clock, onTick, events: silent, readAccounts });
  for (let slot = 0; slot < 20; slot += 1) {
    await node.closeSlot();
    clock.advance(400);
    source.step();
    await read;
    // What is read is taken in right after.
    await Promise.resolve();
  }
  expect(Object.fromEntries(prices)).toEqual({ XNT: "0.42", DEV: "0.1" });
});
