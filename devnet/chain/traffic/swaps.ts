import { maxU64 } from "@sluice/wire/identifiers";
import { isTokenAccount, tokenAmount } from "../model/index.ts";
import { closeTokenAccount, openTokenAccount, syncNative, transfer } from "./instructions.ts";
import type { Party, TrafficInstruction } from "./message.ts";
import type { Wallet } from "./parties.ts";
import { swapInstruction, type TrafficPool, type TrafficPoolSide } from "./pools.ts";
import { type Plan, plan, type TrafficWorld } from "./traffic-world.ts";

const swapUnits = 200_000;
/** How far a price may wander from where genesis set it before all trades bring it back, in thousandths. */
const wander = 80n;
/** No swap is larger than this part of what the pool holds. */
const largestPart = 150n;

interface Trade {
  readonly pool: TrafficPool;
  readonly from: 0 | 1;
  readonly owner: Wallet;
  readonly source: Party;
  readonly target: Party;
  readonly amountIn: bigint;
  readonly quote: bigint;
}

function reserves(world: TrafficWorld, pool: TrafficPool): readonly [bigint, bigint] | null {
  const amount = ({ vault }: TrafficPoolSide) => {
    const account = world.chain.read(vault.address);
    return account === null || !isTokenAccount(account) ? 0n : tokenAmount(account);
  };
  const held = [amount(pool.sides[0]), amount(pool.sides[1])] as const;
  return held[0] > 0n && held[1] > 0n ? held : null;
}

/** The side that goes in: by chance when the price is where it began, surely the scarce one at the end of its range. */
function direction(world: TrafficWorld, pool: TrafficPool, held: readonly [bigint, bigint]): 0 | 1 {
  const before = pool.sides[0].reference * held[1];
  const now = pool.sides[1].reference * held[0];
  // Thousandths by which side 0 is dearer than it was; dearer things are sold.
  const dearer = ((before - now) * 1_000n) / now;
  const chance = 0.5 + Number(dearer) / Number(wander * 2n);
  return world.draw.next() < chance ? 0 : 1;
}

/** A wallet with some of the input token and an account for the output token. */
function trader(
  world: TrafficWorld,
  pool: TrafficPool,
  from: 0 | 1,
): (Omit<Trade, "amountIn" | "quote"> & { readonly most: bigint }) | null {
  const [into, out] = from === 0 ? pool.sides : [pool.sides[1], pool.sides[0]];
  const place = (side: TrafficPoolSide, least: bigint) =>
    side.mint === null
      ? pool.wrapped
          .filter((wrapped) => world.canPay(wrapped.owner) && !world.holds.has(wrapped.address))
          .map((wrapped) => ({
            party: wrapped as Party,
            owner: wrapped.owner,
            most: world.lamports(wrapped.owner.address) / 3n,
          }))
      : world
          .open(side.mint)
          .filter(({ amount }) => amount >= least)
          .map(({ holding, amount }) => ({ party: holding as Party, owner: holding.owner, most: amount }));
  const targets = new Map(place(out, 0n).map(({ owner, party }) => [owner, party]));
  const chosen = world.draw.pick(place(into, 1n).filter(({ owner }) => targets.has(owner)));
  const target = chosen === null ? undefined : targets.get(chosen.owner);
  if (chosen === null || target === undefined) return null;
  return { pool, from, owner: chosen.owner, source: chosen.party, target, most: chosen.most };
}

function trade(world: TrafficWorld): Trade | null {
  const pool = world.draw.pick(world.accounts.pools);
  const held = pool === null ? null : reserves(world, pool);
  if (pool === null || held === null) return null;
  const from = direction(world, pool, held);
  const found = trader(world, pool, from);
  if (found === null) return null;
  const [into, out] = from === 0 ? held : [held[1], held[0]];
  const wanted = world.draw.part(found.most, 10, 600);
  const amountIn = wanted < into / largestPart ? wanted : into / largestPart + 1n;
  const net = (amountIn * 997n) / 1_000n;
  return { ...found, amountIn, quote: (out * net) / (into + net) };
}

function draft(world: TrafficWorld, { pool, from, owner, source, target, amountIn }: Trade, leastOut: bigint): Plan {
  const [into, out] = from === 0 ? pool.sides : [pool.sides[1], pool.sides[0]];
  const instructions: TrafficInstruction[] = [];
  if (into.mint === null) {
    instructions.push(openTokenAccount(owner, owner, into.party, source));
    instructions.push(transfer(owner, source, amountIn), syncNative(into.party, source));
  }
  if (out.mint === null) instructions.push(openTokenAccount(owner, owner, out.party, target));
  instructions.push(swapInstruction(pool, from, { owner, source, target }, { amountIn, leastOut }));
  if (into.mint === null) instructions.push(closeTokenAccount(into.party, source, owner));
  if (out.mint === null) instructions.push(closeTokenAccount(out.party, target, owner));
  world.hold(source.address, target.address);
  return plan([owner.keypair], swapUnits, instructions);
}

/** A swap of one holder. What others do in the same slot moves the price, so half of the quote is enough for it. */
export function swap(world: TrafficWorld): Plan | null {
  const found = trade(world);
  return found === null || found.quote < 2n ? null : draft(world, found, found.quote / 2n);
}

/** A swap that asks for more than the pool has, and fails for its slippage. */
export function swapBeyondItsBound(world: TrafficWorld): Plan | null {
  const found = trade(world);
  return found === null || found.quote < 2n ? null : draft(world, found, maxU64);
}
