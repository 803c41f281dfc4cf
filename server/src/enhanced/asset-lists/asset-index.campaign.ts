import { ManualClock, type Random, seededRandom } from "@sluice/lib";
import { AssetIndex } from "../asset-index/indexer.ts";
import { AssetWorld } from "../testing/asset-world.ts";
import { IndexModel } from "../testing/index-model.ts";
import { leafProof } from "./proofs.ts";

const network = "devnet";
const chain = { genesisHash: "genesis", firstBlockhash: "first" };
const blocksOfRound = 40;

const noEvents = {
  ...{ changesIndexed: () => undefined, readingsIndexed: () => undefined, indexStands: () => undefined },
  ...{ indexFailed: () => undefined, fillEnded: () => undefined, holdersRefused: () => undefined },
};

/**
 * Chains with NFTs, assets of MPL Core and compressed ones are indexed while they fork, nodes are away or show a fork,
 * and the process is killed: at the end the index has every asset that the final state has, with its owner, no other
 * one that is not burnt, and every proof leads to the root. `n` is the number of chains.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  let [assets, kills] = [0, 0];
  for (let round = 0; round < n; round += 1) {
    const random = seededRandom(seed + round);
    const outcome = await playChain(random);
    if (outcome.fault !== null) return { passed: false, summary: `seed ${seed + round}: ${outcome.fault}` };
    assets += outcome.assets;
    kills += outcome.kills;
  }
  return { passed: true, summary: `${n} chains, ${assets} assets, ${kills} kills` };
}

async function playChain(random: Random) {
  const model = new IndexModel();
  const world = new AssetWorld(random, model);
  const clock = new ManualClock();
  const parts = { ...model, blocks: model.blockReads, nodes: world.nodes, clock, events: noEvents };
  const started = (): AssetIndex => new AssetIndex({ network, chain }, parts);
  let [index, kills] = [started(), 0];
  for (let block = 0; block < blocksOfRound; block += 1) {
    world.step();
    if (random.next() < 0.7) kills += await roundOrKill(index, model, random);
    if (model.fault !== null) {
      model.fault = null;
      index = started();
    }
    clock.advance(400);
  }
  world.settle();
  for (let round = 0; round < 60; round += 1) {
    await index.round().catch(() => false);
    clock.advance(2_000);
  }
  return { fault: await faultOf(world, model), assets: world.expected().size, kills };
}

/** One round, in which the process may be killed: from some call on the ledger takes nothing of it. */
async function roundOrKill(index: AssetIndex, model: IndexModel, random: Random): Promise<number> {
  const isKilled = random.next() < 0.1;
  const running = index.round().catch(() => false);
  if (isKilled) {
    for (let turns = Math.floor(random.next() * 40); turns > 0; turns -= 1) await Promise.resolve();
    model.fault = new Error("killed");
  }
  await running;
  return isKilled ? 1 : 0;
}

/** What differs between the index and the final state. */
async function faultOf(world: AssetWorld, model: IndexModel): Promise<string | null> {
  const expected = world.expected();
  const newest = model.newest();
  for (const [asset, owner] of expected) {
    const found = newest.get(asset);
    if (found === undefined) return `${asset} is not in the index`;
    if (found.holding.burnt || found.holding.owner !== owner) {
      return `${asset} is ${found.holding.burnt ? "burnt" : `of ${found.holding.owner}`} in place of ${owner}`;
    }
    if (found.description === null) return `nothing says what ${asset} is`;
  }
  for (const [asset, { holding, description }] of newest) {
    const isCollection = description?.interface === "MplCoreCollection";
    if (!holding.burnt && !isCollection && !expected.has(asset)) return `${asset} is there and should not be`;
  }
  for (const indexed of newest.values()) {
    if (indexed.leaf === null || indexed.holding.burnt) continue;
    const proof = await leafProof(model.reads, network, indexed);
    if (proof?.root !== world.tree.root) return `the proof of ${indexed.asset} does not lead to the root`;
  }
  return null;
}
