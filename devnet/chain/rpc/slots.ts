import { invalidParams } from "./errors.ts";
import { bankOf, type MethodTable } from "./method.ts";
import { configAt, u64Value } from "./params.ts";

const SLOT_LEADERS_MAX = 5_000n;
/** Blocks for which the node still knows how much stake has voted. */
const COMMITMENT_CACHE_SLOTS = 32;

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
      bankOf(node, configAt(params, 0));
      return node.chain.genesis.validator.identity;
    },
  },
  getSlotLeaders: {
    required: 2,
    optional: 0,
    run(params, node) {
      const start = u64Value(params[0]);
      const limit = u64Value(params[1]);
      if (limit > SLOT_LEADERS_MAX) throw invalidParams(`Invalid limit; max ${SLOT_LEADERS_MAX}`);
      const { epochs } = node.chain;
      const scheduled = epochs.lastScheduledEpoch(node.chain.at("processed").slot);
      const count = Number(limit);
      const lastEpoch = epochs.epochOf(start + (limit === 0n ? 0n : limit - 1n));
      if (lastEpoch > scheduled) {
        const missing = epochs.epochOf(start) > scheduled ? epochs.epochOf(start) : scheduled + 1n;
        throw invalidParams(`Invalid slot range: leader schedule for epoch ${missing} is unavailable`);
      }
      return new Array<string>(count).fill(node.chain.genesis.validator.identity);
    },
  },
  getBlockCommitment: {
    required: 1,
    optional: 0,
    run(params, node) {
      const slot = u64Value(params[0]);
      const { chain } = node;
      const stakeLamports = chain.votes.activatedStake;
      const newest = chain.at("processed").slot;
      const known = slot <= newest && slot > chain.at("finalized").slot;
      // The validator votes for a slot in the next one, so a slot has as many confirmations as it has descendants.
      const depth = Math.min(Number(newest - slot), COMMITMENT_CACHE_SLOTS - 1);
      const commitment = Array.from({ length: COMMITMENT_CACHE_SLOTS }, (_, index) =>
        index === depth ? stakeLamports : 0n,
      );
      return { commitment: known ? commitment : null, totalStake: stakeLamports };
    },
  },
  getMaxRetransmitSlot: { required: 0, optional: 0, run: (_params, node) => node.chain.at("processed").slot },
  getMaxShredInsertSlot: { required: 0, optional: 0, run: (_params, node) => node.chain.at("processed").slot },
};
