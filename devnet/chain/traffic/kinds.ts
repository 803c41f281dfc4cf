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
import { mintSigners, type OpenHolding, type Plan, plan, type Scene } from "./traffic-world.ts";

const unitsMintedMax = 1_000_000n;
const paymentsMax = 8;

function payment(scene: Scene): Plan | null {
  const from = scene.payer();
  if (from === null) return null;
  const lamports = scene.draw.part(scene.lamports(from.address), 0.01, 20);
  return plan([from.keypair], 1_000, [transfer(from, scene.other(from), lamports)]);
}

/** One sender and several receivers, all of whom a lookup table names. */
function payments(scene: Scene): Plan | null {
  const from = scene.payer();
  const { table } = scene;
  if (from === null || table === null) return null;
  const members = scene.cast.tableMembers.filter((member) => member !== from);
  const count = 3 + scene.draw.below(paymentsMax - 2);
  const start = scene.draw.below(members.length);
  const lamports = scene.lamports(from.address);
  const instructions = Array.from({ length: count }, (_, number) => {
    const to = members[(start + number) % members.length] ?? scene.cast.treasury;
    return transfer(from, to, scene.draw.part(lamports, 0.01, 2));
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

function note(scene: Scene): Plan | null {
  const author = scene.payer();
  if (author === null) return null;
  const text = `${scene.draw.pick(memos)} ${scene.draw.magnitude(1, 7)}`;
  const written = memo(author, text);
  if (scene.draw.fraction() < 0.5) return plan([author.keypair], 60_000, [written]);
  const lamports = scene.draw.part(scene.lamports(author.address), 0.01, 5);
  return plan([author.keypair], 60_000, [transfer(author, scene.other(author), lamports), written]);
}

interface TokenWay {
  readonly from: OpenHolding;
  readonly to: OpenHolding;
}

/** Two open accounts of one mint, the first of which holds something. */
function tokenWay(scene: Scene): TokenWay | null {
  const mint = scene.draw.pick(scene.cast.mints);
  if (mint === null) return null;
  const open = scene.open(mint);
  const from = scene.draw.pick(open.filter(({ amount }) => amount > 0n));
  const to = scene.draw.pick(open.filter((holding) => holding !== from));
  return from === null || to === null ? null : { from, to };
}

function tokenPayment(scene: Scene): Plan | null {
  const way = tokenWay(scene);
  if (way === null) return null;
  const { holding, amount } = way.from;
  const { owner, mint } = holding;
  scene.hold(holding.address, way.to.holding.address);
  const parties = { from: holding, to: way.to.holding, authority: owner };
  return plan([owner.keypair], 40_000, [transferTokens(mint, parties, scene.draw.part(amount, 1, 500))]);
}

/** Units come into being and are burned again, so that a supply moves and stays within its bound. */
function tokenSupply(scene: Scene): Plan | null {
  const mint = scene.draw.pick(scene.cast.mints);
  const supply = mint === null ? null : scene.supply(mint);
  if (mint === null || supply === null) return null;
  const target = scene.draw.pick(scene.open(mint));
  if (target === null) return null;
  const { holding, amount } = target;
  const unit = 10n ** BigInt(mint.decimals);
  scene.hold(holding.address);
  if (amount === 0n || supply < scene.draw.part(unitsMintedMax * unit, 0, 1_000)) {
    const minted = BigInt(scene.draw.magnitude(0, 4)) * unit;
    return plan(mintSigners(scene, mint), 40_000, [mintTokens(mint, holding, mint.authority, minted)]);
  }
  const { owner } = holding;
  return plan([owner.keypair], 40_000, [burnTokens(mint, holding, owner, scene.draw.part(amount, 10, 300))]);
}

function tokenOpening(scene: Scene): Plan | null {
  const mint = scene.draw.pick(scene.cast.mints);
  const holding = mint === null || scene.supply(mint) === null ? null : scene.draw.pick(scene.closed(mint));
  if (mint === null || holding === null) return null;
  scene.hold(holding.address);
  const { owner } = holding;
  return plan([owner.keypair], 120_000, [openTokenAccount(owner, owner, mint, holding)]);
}

/** Hands on what is left and closes the account. */
function tokenClosing(scene: Scene): Plan | null {
  const way = tokenWay(scene);
  if (way === null) return null;
  const { holding, amount } = way.from;
  const { owner, mint } = holding;
  const to = way.to.holding;
  scene.hold(holding.address, to.address);
  return plan([owner.keypair], 60_000, [
    transferTokens(mint, { from: holding, to, authority: owner }, amount),
    closeTokenAccount(mint, holding, owner),
  ]);
}

function overdraft(scene: Scene, from: Wallet): Plan {
  // Far more than others can send it before this runs.
  const lamports = scene.lamports(from.address) + scene.allowance * 10n + BigInt(scene.draw.magnitude(6, 12));
  return plan([from.keypair], 1_000, [transfer(from, scene.other(from), lamports)]);
}

/** A transaction that lands and fails, in one of the ways in which real ones do. */
function failure(scene: Scene): Plan | null {
  const payer = scene.payer();
  if (payer === null) return null;
  const which = scene.draw.below(5);
  if (which === 0) return overdraft(scene, payer);
  if (which === 4) return swapBeyondItsBound(scene) ?? overdraft(scene, payer);
  if (which === 1) {
    const created = scene.draw.pick(scene.cast.stakes.filter(({ party }) => scene.lamports(party.address) > 0n));
    if (created === null || created.owner === payer) return overdraft(scene, payer);
    return plan([payer.keypair], 30_000, [deactivateStake(created.party, payer)]);
  }
  const way = tokenWay(scene);
  if (way === null) return overdraft(scene, payer);
  const { holding, amount } = way.from;
  const parties = (authority: Wallet) => ({ from: holding, to: way.to.holding, authority });
  if (which === 2 || payer === holding.owner) {
    scene.hold(holding.address);
    const tooMuch = amount + BigInt(scene.draw.magnitude(3, 9));
    return plan([holding.owner.keypair], 40_000, [transferTokens(holding.mint, parties(holding.owner), tooMuch)]);
  }
  scene.hold(holding.address);
  return plan([payer.keypair], 40_000, [transferTokens(holding.mint, parties(payer), scene.draw.part(amount, 1, 500))]);
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
} as const satisfies { readonly [kind: string]: { weight: number; make: (scene: Scene) => Plan | null } };

export type TrafficKind = keyof typeof kinds;

export const trafficKinds = Object.keys(kinds) as readonly TrafficKind[];

const allWeights = trafficKinds.reduce((sum, kind) => sum + kinds[kind].weight, 0);

/** Draws the next transaction; null while no wallet can pay. */
export function drawPlan(scene: Scene): { readonly kind: TrafficKind; readonly plan: Plan } | null {
  let left = scene.draw.below(allWeights);
  const kind = trafficKinds.find((candidate) => {
    left -= kinds[candidate].weight;
    return left < 0;
  });
  const made = kind === undefined ? null : kinds[kind].make(scene);
  if (kind !== undefined && made !== null) return { kind, plan: made };
  const instead = payment(scene);
  return instead === null ? null : { kind: "payment", plan: instead };
}
