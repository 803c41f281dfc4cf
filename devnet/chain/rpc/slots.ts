import type { JsonObject } from "@sluice/encode";
import { readTower } from "../consensus/index.ts";
import { invalidParams } from "./errors.ts";
import { bankOf, type MethodTable, type RpcNode } from "./method.ts";
import { configAt, u64Value } from "./params.ts";

const slotLeadersMax = 5_000n;
/** Blocks for which the node still knows how much stake has voted. */
const commitmentCacheSlots = 32;

/**
 * How much stake has confirmed a block how often, by the towers of the newest bank; what is rooted comes last. Null for
 * a slot that is not between the finalized one and the newest.
 */
function blockCommitment(slot: bigint, { chain }: RpcNode): JsonObject {
  const newest = chain.at("processed").slot;
  const stakes = chain.cluster.stakes.at(chain.epochs.epochOf(newest));
  const totalStake = stakes?.total ?? 0n;
  if (slot > newest || slot <= chain.at("finalized").slot) return { commitment: null, totalStake };
  const commitment = new Array<bigint>(commitmentCacheSlots).fill(0n);
  for (const { vote, stake } of stakes?.voters ?? []) {
    const account = chain.accounts.get(vote, newest);
    const tower = account === null ? null : readTower(account);
    if (tower === null) continue;
    const rooted = tower.rootSlot !== null && slot <= tower.rootSlot;
    const confirmations = tower.votes.find((voted) => voted.slot >= slot)?.confirmations ?? 0;
    const place = rooted ? commitmentCacheSlots - 1 : confirmations - 1;
    if (place >= 0) commitment[place] = (commitment[place] ?? 0n) + stake;
  }
  return { commitment, totalStake };
}

/** Slots, heights, leaders, epochs and counters of a bank. */
export const slotMethods: MethodTable = {
  getSlot: { required: 0, optional: 1, run: (params, node) => bankOf(node, configAt(params, 0)).slot },
  getBlockHeight: { required: 0, optional: 1, run: (params, node) => bankOf(node, configAt(params, 0)).blockHeight },
  getTransactionCount: {
    required: 0,
    optional: 1,
    run: (params, node) => bankOf(node, configAt(params, 0)).transactionCount,
  },
  getEpochInfo: {
    required: 0,
    optional: 1,
    run(params, node) {
      const bank = bankOf(node, configAt(params, 0));
      const { epochs } = node.chain;
      return {
        epoch: epochs.epochOf(bank.slot),
        slotIndex: epochs.slotIndex(bank.slot),
        slotsInEpoch: epochs.slotsPerEpoch,
        absoluteSlot: bank.slot,
        blockHeight: bank.blockHeight,
        transactionCount: bank.transactionCount,
      };
    },
  },
  getEpochSchedule: {
    required: 0,
    optional: 0,
    run: (_params, node) => ({
      slotsPerEpoch: node.chain.epochs.slotsPerEpoch,
      leaderScheduleSlotOffset: node.chain.epochs.slotsPerEpoch,
      warmup: false,
      firstNormalEpoch: 0n,
      firstNormalSlot: 0n,
    }),
  },
  getSlotLeader: {
    required: 0,
    optional: 1,
    run(params, node) {
      return node.chain.cluster.leaderOf(bankOf(node, configAt(params, 0)).slot);
    },
  },
  getSlotLeaders: {
    required: 2,
    optional: 0,
    run(params, node) {
      const start = u64Value(params[0]);
      const limit = u64Value(params[1]);
      if (limit > slotLeadersMax) throw invalidParams(`Invalid limit; max ${slotLeadersMax}`);
      const { epochs } = node.chain;
      const scheduled = epochs.lastScheduledEpoch(node.chain.at("processed").slot);
      const lastEpoch = epochs.epochOf(start + (limit === 0n ? 0n : limit - 1n));
      if (lastEpoch > scheduled) {
        const missing = epochs.epochOf(start) > scheduled ? epochs.epochOf(start) : scheduled + 1n;
        throw invalidParams(`Invalid slot range: leader schedule for epoch ${missing} is unavailable`);
      }
      return Array.from({ length: Number(limit) }, (_, index) => node.chain.cluster.leaderOf(start + BigInt(index)));
    },
  },
  getBlockCommitment: {
    required: 1,
    optional: 0,
    run: (params, node) => blockCommitment(u64Value(params[0]), node),
  },
  getMaxRetransmitSlot: { required: 0, optional: 0, run: (_params, node) => node.chain.at("processed").slot },
  getMaxShredInsertSlot: { required: 0, optional: 0, run: (_params, node) => node.chain.at("processed").slot },
};
