import { systemClock, wallMs } from "@sluice/lib";
import { LiteSvmMachine } from "@sluice/svm/testing/litesvm-machine";
import { processLog } from "../../log.ts";
import { TextRandom } from "../../random.ts";
import type { Chain } from "../bank/chain.ts";
import { type ChainNode, startNode } from "../node.ts";
import { defaultOptions } from "../options.ts";
import { call } from "../testing/boot.ts";

const options = {
  ...defaultOptions,
  rpcPort: 0,
  pubsubPort: 0,
  slotMs: 0,
  admin: true,
  confirmedAfter: 6,
  finalizedAfter: 20,
  slotsPerEpoch: 40n,
  slotsMax: 400,
  traffic: 20,
  // Votes come and go with their forks; two validators are enough for that.
  validators: 2,
  votes: true,
};

/** What must hold of a chain whatever has happened to it; a sentence for what does not. */
function faultOf(chain: Chain, shownBefore: { confirmed: bigint; finalized: bigint }): string | null {
  const bank = chain.at("processed");
  let lamports = 0n;
  for (const [, account] of chain.accounts.all(bank.slot)) lamports += account.lamports;
  if (lamports !== bank.capitalization)
    return `slot ${bank.slot} holds ${lamports} lamports, not ${bank.capitalization}`;
  const { confirmed, finalized } = { confirmed: chain.at("confirmed").slot, finalized: chain.at("finalized").slot };
  if (confirmed < shownBefore.confirmed || finalized < shownBefore.finalized) return "a commitment moved back";
  // A confirmed branch that was abandoned stands above the blocks that are to win.
  const isLeft = chain.abandonedFork !== null;
  if (finalized > confirmed || finalized > bank.slot || (confirmed > bank.slot && !isLeft)) {
    return "the commitments are out of order";
  }
  const blocks = chain.history.slots(0n, bank.slot, 10_000).flatMap((slot) => chain.history.block(slot) ?? []);
  if (blocks.at(-1)?.blockhash !== bank.blockhash) return "the newest block is not the processed one";
  for (const [index, block] of blocks.entries()) {
    const before = blocks[index - 1];
    if (before === undefined) continue;
    const isNext = block.parentSlot === before.slot && block.previousBlockhash === before.blockhash;
    if (!isNext || block.blockHeight !== before.blockHeight + 1n) return `block ${block.slot} is not on ${before.slot}`;
    for (const executed of block.transactions) {
      const found = chain.history.transaction(executed.signature)?.executed;
      if (!Bun.deepEquals(found, executed)) return `${executed.signature} is lost`;
    }
  }
  return null;
}

/** One thing that goes wrong, or a few slots in which nothing does. */
async function step(node: ChainNode, random: TextRandom): Promise<string> {
  const steps: readonly (() => readonly [string, ...unknown[]])[] = [
    () => ["devnet_skipSlots", 1 + random.below(5)],
    () => ["devnet_fork", { depth: 1 + random.below(6), landAgain: random.falls(0.5) }],
    () => ["devnet_fork", { depth: 1 + random.below(3), landAgain: random.falls(0.5) }],
    () => ["devnet_fork", { depth: 6 + random.below(14), landAgain: random.falls(0.5), confirmed: true }],
    () => ["devnet_lag", 1 + random.below(12)],
    () => ["devnet_zombie", 1 + random.below(12)],
    () => ["devnet_clear"],
    () => ["devnet_clear"],
    () => ["devnet_advance", { slots: 1 + random.below(10) }],
    () => ["devnet_advance", { epochs: 1 }],
    () => ["devnet_prune", Number(node.chain.at("finalized").slot) - random.below(30)],
    () => ["devnet_dropPubsub", { share: random.next() }],
  ];
  const [method, ...params] = steps[random.below(steps.length)]?.() ?? ["devnet_info"];
  const { error } = await call(node.adminUrl ?? "", method, params);
  // A fork too deep, or while the node lags, is refused; anything else is a defect.
  if (error !== undefined && error.code !== -32602) throw new Error(`${method}: ${error.message}`);
  for (let slots = random.below(6); slots >= 0; slots -= 1) {
    await node.chain.settled();
    await node.closeSlot();
  }
  return `${method} ${JSON.stringify(params)}`;
}

/**
 * Random faults over a chain with traffic, `n` of them: no lamport is lost, blocks stay linked, commitments go forward.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const random = new TextRandom(`campaign ${seed}`);
  await using node = await startNode(
    { ...options, seed: String(seed) },
    {
      clock: { ...systemClock, now: () => wallMs(1_800_000_000_000) },
      log: processLog("campaign"),
      svm: new LiteSvmMachine(),
    },
  );
  let shown = { confirmed: 0n, finalized: 0n };
  for (let index = 0; index < n; index += 1) {
    const done = await step(node, random);
    const fault = faultOf(node.chain, shown);
    if (fault !== null) return { passed: false, summary: `seed ${seed}, step ${index}, after ${done}: ${fault}` };
    shown = { confirmed: node.chain.at("confirmed").slot, finalized: node.chain.at("finalized").slot };
  }
  await call(node.adminUrl ?? "", "devnet_clear");
  const { slot, transactionCount } = node.chain.at("processed");
  const { result } = await call(node.rpcUrl, "getSlot", [{ commitment: "processed" }]);
  const passed = BigInt(String(result)) === slot;
  return { passed, summary: `${n} faults, seed ${seed}: ${slot} slots, ${transactionCount} transactions` };
}
