import {
  burnTokens,
  closeTokenAccount,
  deactivateStake,
  memo,
  mintTokens,
  openTokenAccount,
  transfer,
  transferTokens,
} from "./instructions.ts";
import { nftLife, nftMint } from "./nfts.ts";

import type { Wallet } from "./parties.ts";
import { stake } from "./stakes.ts";
import { swap, swapBeyondItsBound } from "./swaps.ts";
import { mintSigners, type OpenHolding, type Plan, plan, type TrafficWorld } from "./traffic-world.ts";

const unitsMintedMax = 1_000_000n;
const paymentsMax = 8;

function payment(world: TrafficWorld): Plan | null {
  const from = world.payer();
  if (from === null) return null;
  const lamports = world.draw.part(world.lamports(from.address), 0.01, 20);
  return plan([from.keypair], 1_000, [transfer(from, world.other(from), lamports)]);
}

/** One sender and several receivers, all of whom a lookup table names. */
function payments(world: TrafficWorld): Plan | null {
  const from = world.payer();
  const { table } = world;
  if (from === null || table === null) return null;
  const members = world.accounts.tableMembers.filter((member) => member !== from);
  const count = 3 + world.draw.below(paymentsMax - 2);
  const start = world.draw.below(members.length);
  const lamports = world.lamports(from.address);
  const instructions = Array.from({ length: count }, (_, number) => {
    const to = members[(start + number) % members.length] ?? world.accounts.treasury;
    return transfer(from, to, world.draw.part(lamports, 0.01, 2));
  });
  return { ...plan([from.keypair], 4_000, instructions), table };
}

const memos = [
  "thank you",
  "invoice",
  "rent",
  "order",
  "payout",
  "coffee",
  "round",
  "gm",
  "refund",
  "deposit",
] as const;

function note(world: TrafficWorld): Plan | null {
  const author = world.payer();
  if (author === null) return null;
  const text = `${world.draw.pick(memos)} ${world.draw.magnitude(1, 7)}`;
  const written = memo(author, text);
  if (world.draw.next() < 0.5) return plan([author.keypair], 60_000, [written]);
  const lamports = world.draw.part(world.lamports(author.address), 0.01, 5);
  return plan([author.keypair], 60_000, [transfer(author, world.other(author), lamports), written]);
}

interface TokenWay {
  readonly from: OpenHolding;
  readonly to: OpenHolding;
}

/** Two open accounts of one mint, the first of which holds something. */
function tokenWay(world: TrafficWorld): TokenWay | null {
  const mint = world.draw.pick(world.accounts.mints);
  if (mint === null) return null;
  const open = world.open(mint);
  const from = world.draw.pick(open.filter(({ amount }) => amount > 0n));
  const to = world.draw.pick(open.filter((holding) => holding !== from));
  return from === null || to === null ? null : { from, to };
}

function tokenPayment(world: TrafficWorld): Plan | null {
  const way = tokenWay(world);
  if (way === null) return null;
  const { holding, amount } = way.from;
  const { owner, mint } = holding;
  world.hold(holding.address, way.to.holding.address);
  const parties = { from: holding, to: way.to.holding, authority: owner };
  return plan([owner.keypair], 40_000, [transferTokens(mint, parties, world.draw.part(amount, 1, 500))]);
}

/** Units come into being and are burned again, so that a supply moves and stays within its bound. */
function tokenSupply(world: TrafficWorld): Plan | null {
  const mint = world.draw.pick(world.accounts.mints);
  const supply = mint === null ? null : world.supply(mint);
  if (mint === null || supply === null) return null;
  const target = world.draw.pick(world.open(mint));
  if (target === null) return null;
  const { holding, amount } = target;
  const unit = 10n ** BigInt(mint.decimals);
  world.hold(holding.address);
  if (amount === 0n || supply < world.draw.part(unitsMintedMax * unit, 0, 1_000)) {
    const minted = BigInt(world.draw.magnitude(0, 4)) * unit;
    return plan(mintSigners(world, mint), 40_000, [mintTokens(mint, holding, mint.authority, minted)]);
  }
  const { owner } = holding;
  return plan([owner.keypair], 40_000, [burnTokens(mint, holding, owner, world.draw.part(amount, 10, 300))]);
}

function tokenOpening(world: TrafficWorld): Plan | null {
  const mint = world.draw.pick(world.accounts.mints);
  const holding = mint === null || world.supply(mint) === null ? null : world.draw.pick(world.closed(mint));
  if (mint === null || holding === null) return null;
  world.hold(holding.address);
  const { owner } = holding;
  return plan([owner.keypair], 120_000, [openTokenAccount(owner, owner, mint, holding)]);
}

/** Hands on what is left and closes the account. */
function tokenClosing(world: TrafficWorld): Plan | null {
  const way = tokenWay(world);
  if (way === null) return null;
  const { holding, amount } = way.from;
  const { owner, mint } = holding;
  const to = way.to.holding;
  world.hold(holding.address, to.address);
  return plan([owner.keypair], 60_000, [
    transferTokens(mint, { from: holding, to, authority: owner }, amount),
    closeTokenAccount(mint, holding, owner),
  ]);
}

function overdraft(world: TrafficWorld, from: Wallet): Plan {
  // Far more than others can send it before this runs.
  const lamports = world.lamports(from.address) + world.allowance * 10n + BigInt(world.draw.magnitude(6, 12));
  return plan([from.keypair], 1_000, [transfer(from, world.other(from), lamports)]);
}

/** A transaction that lands and fails, in one of the ways in which real ones do. */
function failure(world: TrafficWorld): Plan | null {
  const payer = world.payer();
  if (payer === null) return null;
  const which = world.draw.below(5);
  if (which === 0) return overdraft(world, payer);
  if (which === 4) return swapBeyondItsBound(world) ?? overdraft(world, payer);
  if (which === 1) {
    const created = world.draw.pick(world.accounts.stakes.filter(({ party }) => world.lamports(party.address) > 0n));
    if (created === null || created.owner === payer) return overdraft(world, payer);
    return plan([payer.keypair], 30_000, [deactivateStake(created.party, payer)]);
  }
  const way = tokenWay(world);
  if (way === null) return overdraft(world, payer);
  const { holding, amount } = way.from;
  const parties = (authority: Wallet) => ({ from: holding, to: way.to.holding, authority });
  if (which === 2 || payer === holding.owner) {
    world.hold(holding.address);
    const tooMuch = amount + BigInt(world.draw.magnitude(3, 9));
    return plan([holding.owner.keypair], 40_000, [transferTokens(holding.mint, parties(holding.owner), tooMuch)]);
  }
  world.hold(holding.address);
  return plan([payer.keypair], 40_000, [transferTokens(holding.mint, parties(payer), world.draw.part(amount, 1, 500))]);
}

/** What is drawn, with its weight, and what makes it; a kind that is not possible now becomes a payment. */
const kinds = {
  payment: { weight: 27, make: payment },
  tokenPayment: { weight: 22, make: tokenPayment },
  swap: { weight: 12, make: swap },
  nftMint: { weight: 2, make: nftMint },
  nftLife: { weight: 4, make: nftLife },
  note: { weight: 6, make: note },
  payments: { weight: 5, make: payments },
  tokenOpening: { weight: 4, make: tokenOpening },
  tokenClosing: { weight: 3, make: tokenClosing },
  tokenSupply: { weight: 3, make: tokenSupply },
  stake: { weight: 5, make: stake },
  failure: { weight: 7, make: failure },
} as const satisfies { readonly [kind: string]: { weight: number; make: (world: TrafficWorld) => Plan | null } };

export type TrafficKind = keyof typeof kinds;

export const trafficKinds = Object.keys(kinds) as readonly TrafficKind[];

const allWeights = trafficKinds.reduce((sum, kind) => sum + kinds[kind].weight, 0);

/** Draws the next transaction; null while no wallet can pay. */
export function drawPlan(world: TrafficWorld): { readonly kind: TrafficKind; readonly plan: Plan } | null {
  let left = world.draw.below(allWeights);
  const kind = trafficKinds.find((candidate) => {
    left -= kinds[candidate].weight;
    return left < 0;
  });
  const made = kind === undefined ? null : kinds[kind].make(world);
  if (kind !== undefined && made !== null) return { kind, plan: made };
  const instead = payment(world);
  return instead === null ? null : { kind: "payment", plan: instead };
}
