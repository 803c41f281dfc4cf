import { systemClock } from "@sluice/lib";
import type { BankMachine } from "@sluice/svm/bank";
import { decodeAddress } from "@sluice/wire/base58";
import type { Address } from "@sluice/wire/identifiers";
import type { Transaction } from "@sluice/wire/transaction";
import { processLog } from "../../log.ts";
import { TextRandom } from "../../random.ts";
import { tipAccounts } from "../consensus/tips/tip-programs.ts";
import { startMachine } from "../machine/index.ts";
import { killMachine } from "../machine/testing/kill-machine.ts";
import { GenesisKeypair } from "../model/keypair.ts";
import { airdropTransaction } from "../rpc/airdrop.ts";
import { type ManualChain, startManualChain } from "../testing/chain.ts";
import { BlockEngineLinks } from "./block-engine-links.ts";
import { FakeBlockEngine, packetOf } from "./testing/fake-block-engine.ts";

const sol = 1_000_000_000n;
const payerCount = 12;
const validators = 3;
const bundlesASlotMax = 8;
const ordinaryASlotMax = 20;
/** Half of each fee is burned, and the rest is the validator's. */
const burnedLamports = 2_500n;
/** More than any payer holds. */
const tooMuch = 10_000_000n * sol;
/** Turns of the event loop that a delivery is given before its slot ends, whether it has come by then or not. */
const turnsMax = 400;

interface Sent {
  readonly ids: readonly string[];
  /** Whether one of its transactions cannot succeed. */
  readonly fails: boolean;
}

interface Stage {
  readonly manual: ManualChain;
  readonly svm: BankMachine;
  readonly engine: FakeBlockEngine;
  readonly links: BlockEngineLinks;
  readonly draw: TextRandom;
  readonly payers: readonly GenesisKeypair[];
  readonly sent: Sent[];
  /** Numbers the payments, so that no two are the same. */
  payments: number;
  kills: number;
  forks: number;
  outages: number;
}

const tipKeys = tipAccounts.map((address) => decodeAddress(address) ?? new Uint8Array(32));

/** A payment between payers, or a tip. */
function payment(stage: Stage, lamports: bigint): Transaction {
  const { draw, payers, manual } = stage;
  const [from, to, tip] = [draw.pick(payers), draw.pick(payers), draw.pick(tipKeys)];
  if (from === null || to === null || tip === null) throw new Error("there are payers and tip accounts");
  stage.payments = (stage.payments + 1) % 1_000_000;
  const { blockhash } = manual.chain.at("processed");
  return airdropTransaction(from, draw.below(4) === 0 ? tip : to.publicKey, lamports, blockhash, stage.payments);
}

/** A bundle of payments, in every third of which one asks for more than there is. */
function drawBundle(stage: Stage): Transaction[] {
  const { draw, sent } = stage;
  const bundle = Array.from({ length: 1 + draw.below(5) }, () => payment(stage, BigInt(1 + draw.below(1_000_000))));
  const fails = draw.below(3) === 0;
  if (fails) bundle[draw.below(bundle.length)] = payment(stage, tooMuch);
  sent.push({ ids: bundle.map(({ id }) => id), fails });
  return bundle;
}

/**
 * Bundles for this leader and for those after it, some of them twice, with ordinary payments of the same payers
 * between.
 */
function deliver(stage: Stage): void {
  const { draw, engine, manual, payers } = stage;
  const { chain } = manual;
  const builder = draw.pick(payers)?.address as Address | undefined;
  if (builder !== undefined) engine.feeInfo = { pubkey: builder, commission: String(draw.below(101)) };
  for (let left = 1 + draw.below(bundlesASlotMax); left > 0; left -= 1) {
    const leader = chain.cluster.leaderOf(chain.openSlot + BigInt(draw.below(2) * draw.below(12)));
    const packets = drawBundle(stage).map(packetOf);
    engine.sendBundles(leader, draw.below(5) === 0 ? [packets, null, packets] : [packets]);
    for (let ordinary = draw.below(ordinaryASlotMax / 4); ordinary > 0; ordinary -= 1) {
      chain.submit(payment(stage, BigInt(1 + draw.below(1_000_000))));
    }
  }
}

/** One slot, and what goes wrong in it. */
async function runSlot(stage: Stage): Promise<void> {
  const { draw, engine, manual, svm, links } = stage;
  const { chain } = manual;
  deliver(stage);
  const killAt = draw.below(3) === 0 ? draw.below(turnsMax) : -1;
  const received = () => links.facts.reduce((sum, link) => sum + link.bundles, 0);
  const before = received();
  for (let turn = 0; turn < turnsMax; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (turn === killAt && !svm.isEnded) {
      killMachine(svm);
      stage.kills += 1;
    }
    if (received() > before && turn > killAt) break;
  }
  if (draw.below(12) === 0) {
    engine.kill();
    await engine.listen();
    stage.outages += 1;
  }
  if (draw.below(2) === 0) await chain.settled();
  await chain.closeSlot();
  if (draw.below(10) === 0 && chain.forkDepthMax() > 3) {
    await chain.fork(1 + draw.below(3), false);
    stage.forks += 1;
  }
}

/** The differences at the end, in a few words; empty when there are none. */
function faultsOf({ manual: { chain }, sent }: Stage, lamportsBefore: bigint, firstSlot: bigint): string[] {
  const faults: string[] = [];
  let [minted, burned] = [0n, lamportsBefore - chain.accounts.lamports];
  const places = new Map<string, { readonly slot: bigint; readonly index: number; readonly failed: boolean }>();
  for (const slot of chain.history.slots(firstSlot, chain.at("processed").slot, 10_000_000)) {
    const block = chain.history.block(slot);
    for (const { rewardType, lamports } of block?.rewards ?? []) if (rewardType !== "Fee") minted += lamports;
    for (const { signature, index, error } of block?.transactions ?? []) {
      if (places.has(signature)) faults.push(`${signature} landed twice`);
      places.set(signature, { slot, index, failed: error !== null });
    }
  }
  for (const { ids, fails } of sent) {
    const found = ids.map((id) => places.get(id));
    const [first] = found;
    if (found.every((place) => place === undefined)) continue;
    const isWhole = found.every(
      (place, at) => place?.failed === false && place.slot === first?.slot && place.index === first.index + at,
    );
    if (!isWhole) faults.push(`the bundle of ${ids[0]} landed in part`);
    if (fails) faults.push(`the bundle of ${ids[0]} landed and could not`);
  }
  burned += minted;
  if (burned !== BigInt(places.size) * burnedLamports) faults.push(`${burned} lamports were burned by ${places.size}`);
  return faults;
}

/**
 * Sends about `n` bundles through a block engine to the leaders of a chain, with ordinary payments between them, while
 * the machine is killed, the engine goes and comes, and slots are abandoned. None may land in part, twice or out of
 * order, and no lamport be lost.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const svm = await startMachine();
  const draw = new TextRandom(`leader-bundles/${seed}`);
  await using engine = await FakeBlockEngine.start();
  const bounds = { pendingMax: 1_000_000, transactionsMax: 20 * n + 10_000, slotsMax: 10_000_000 };
  const options = { ...bounds, validators: validators, confirmedAfter: 8 };
  await using manual = await startManualChain(options, svm);
  const { chain } = manual;
  const payers = Array.from({ length: payerCount }, (_, index) => new GenesisKeypair("payers", String(index)));
  const { blockhash } = chain.at("processed");
  for (const { publicKey } of payers) {
    chain.submit(airdropTransaction(chain.genesis.faucet, publicKey, 100_000n * sol, blockhash, 0));
  }
  await manual.closeSlots(12);
  await using links = new BlockEngineLinks(
    { nearest: false, retryMs: 5, tickMs: 50 },
    { chain, clock: systemClock, log: processLog("campaign") },
  );
  await links.connect(engine.url);
  await Promise.all(chain.genesis.validators.map(({ identity }) => engine.subscribed(identity)));
  const [lamportsBefore, firstSlot] = [chain.accounts.lamports, chain.openSlot];
  const stage: Stage = {
    ...{ manual, svm, engine, links, draw, payers, sent: [] },
    ...{ payments: 0, kills: 0, forks: 0, outages: 0 },
  };
  while (stage.sent.length < n) await runSlot(stage);
  await manual.closeSlots(1);
  const faults = faultsOf(stage, lamportsBefore, firstSlot);
  const { landed, dropped } = chain.bundles.facts;
  const { kills, forks, outages, sent } = stage;
  const reasons = Object.entries(dropped).map(([reason, count]) => `${count} ${reason}`);
  const summary = `${sent.length} bundles, ${landed} landed, ${reasons.join(", ")}; ${kills} kills, ${forks} forks, ${outages} outages`;
  const happened = landed > 0 && (dropped.failed ?? 0) > 0 && kills > 0;
  return { passed: faults.length === 0 && happened, summary: [summary, ...faults.slice(0, 5)].join("; ") };
}
