import { seededRandom, systemClock } from "@sluice/lib";
import { Keypair, PublicKey, SystemProgram } from "@solana/web3.js";
import { signed } from "../../../../devnet/chain/testing/chain.ts";
import { TextRandom } from "../../../../devnet/random.ts";
import type { BlockSession, BundleOutcome, SimulatedBundle, Simulator } from "./simulation.ts";
import { createSimulator } from "./simulator.ts";
import { type SimulatedChain, startSimulatedChain, tipAccounts } from "./testing/chain-harness.ts";
import { describeOutcome } from "./testing/outcomes.ts";

const sol = 1_000_000_000n;
const payersMax = 24;
/** Bundles that are simulated at once, of which a part goes into a block. */
const waveSize = 160;
const bundleMax = 5;
/** Waves that are added until at least one machine was killed in the middle of its work. */
const wavesMore = 20;
/** Share of kills, in percent, that may leave a bundle unavailable, since it was alone at two killed machines. */
const unavailablePercent = 20;

/** Payments to tip accounts; about one bundle in six fails, at any of its transactions. */
function drawBundle(
  world: SimulatedChain,
  payers: readonly Keypair[],
  draw: TextRandom,
  number: number,
): SimulatedBundle {
  const { blockhash } = world.manual.chain.at("processed");
  const length = 1 + draw.below(bundleMax);
  const failsAt = draw.below(6) === 0 ? draw.below(length) : -1;
  const transactions = Array.from({ length }, (_, index) => {
    const payer = payers[draw.below(payers.length)] ?? Keypair.generate();
    const tip = new PublicKey(draw.pick(tipAccounts) ?? "");
    // Distinct, and so large that in a block later ones fail for want of what earlier ones took.
    const lamports =
      index === failsAt ? 10n ** 18n : sol * BigInt(draw.below(200)) + BigInt(number * 8 + index + 1_000);
    const pay = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: tip, lamports });
    return signed(payer, blockhash, pay).bytes;
  });
  return { id: String(number), transactions };
}

/** Simulates half of the bundles alone, and the others as one block in several calls. */
async function ask(simulator: Simulator, bundles: readonly SimulatedBundle[], calls: number): Promise<BundleOutcome[]> {
  const half = bundles.length >> 1;
  const alone = bundles.slice(0, half).map((bundle) => simulator.simulate(bundle));
  await using block: BlockSession = simulator.openBlock(1n);
  const size = Math.ceil((bundles.length - half) / calls);
  const parts: Promise<readonly BundleOutcome[]>[] = [];
  for (let at = half; at < bundles.length; at += size) parts.push(block.apply(bundles.slice(at, at + size)));
  return [...(await Promise.all(alone)), ...(await Promise.all(parts)).flat()];
}

interface Tally {
  bundles: number;
  kills: number;
  unavailable: number;
  readonly errors: string[];
}

/** Kills a machine some turns of the event loop after it has bundles; one that is between two lives is left alone. */
async function killDuring(simulator: Simulator, draw: TextRandom, tally: Tally, isOver: () => boolean): Promise<void> {
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  while (simulator.facts.underWay === 0 && !isOver()) await turn();
  for (let turns = draw.below(60); turns > 0 && !isOver(); turns -= 1) await turn();
  const pid = draw.pick(simulator.facts.pids);
  if (pid === null || isOver()) return;
  process.kill(pid, "SIGKILL");
  tally.kills += 1;
}

async function runWave(
  harmed: Simulator,
  unharmed: Simulator,
  bundles: readonly SimulatedBundle[],
  draw: TextRandom,
  tally: Tally,
): Promise<void> {
  const calls = 1 + draw.below(4);
  let isOver = false;
  const killing = killDuring(harmed, draw, tally, () => isOver);
  const outcomes = await ask(harmed, bundles, calls);
  isOver = true;
  await killing;
  const expected = await ask(unharmed, bundles, calls);
  if (outcomes.length !== bundles.length) tally.errors.push(`${outcomes.length} answers to ${bundles.length} bundles`);
  tally.bundles += bundles.length;
  outcomes.forEach((outcome, index) => {
    if (!outcome.ok && outcome.reason === "unavailable") tally.unavailable += 1;
    else if (describeOutcome(outcome) !== describeOutcome(expected[index])) {
      tally.errors.push(`${describeOutcome(outcome)} but unharmed ${describeOutcome(expected[index])}`);
    }
  });
}

/**
 * Simulates `n` bundles, alone and in blocks, while machines are killed in the middle of their work. Each has one
 * outcome, equal to that of a simulator whose machines are not killed; only a bundle that was alone at two killed
 * machines may be unavailable.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const draw = new TextRandom(`simulator-kills/${seed}`);
  await using world = await startSimulatedChain({ processes: 2 });
  const { manual, source, simulator: unharmed } = world;
  await using harmed = await createSimulator(
    // No process is too late, however slowly a machine comes up beside whatever else this computer does.
    { tipAccounts, processes: 2, waitMsMax: 600_000 },
    {
      source,
      ...{ clock: systemClock, random: seededRandom(seed), log: { info: () => undefined, warn: () => undefined } },
      isRecentBlockhash: () => true,
      machineEnded: () => undefined,
    },
  );
  const payers = Array.from({ length: payersMax }, () => Keypair.generate());
  for (const payer of payers) manual.fund(payer, 1_000n * sol);
  await world.closeSlots(2);
  const tally: Tally = { bundles: 0, kills: 0, unavailable: 0, errors: [] };
  const isEnough = () => tally.bundles >= n && (tally.kills > 0 || tally.bundles >= n + wavesMore * waveSize);
  while (!isEnough() && tally.errors.length < 10) {
    harmed.onSlot(manual.chain.at("processed").slot);
    const wave = Array.from({ length: Math.min(waveSize, n) }, (_, index) =>
      drawBundle(world, payers, draw, tally.bundles + index),
    );
    await runWave(harmed, unharmed, wave, draw, tally);
    if (draw.below(4) === 0) await world.closeSlots(1);
  }
  const { bundles, kills, unavailable, errors } = tally;
  if (unavailable * 100 > kills * unavailablePercent) errors.push(`${unavailable} bundles without an answer`);
  const summary = `${bundles} bundles, ${kills} kills, ${unavailable} unavailable`;
  return { passed: errors.length === 0 && kills > 0, summary: [summary, ...errors].join("\n") };
}
