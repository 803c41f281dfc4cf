import { encodeBlock, type JsonValue } from "@sluice/encode";
import { type BankSlot, type Block, confirmedBlock } from "../model/index.ts";
import { blockCleanedUp, blockNotAvailable, invalidParams, slotSkipped, unsupportedVersion } from "./errors.ts";
import { abandonedForkAt, bankOf, type MethodTable, type RpcNode, reached, withContext } from "./method.ts";
import {
  addressValue,
  booleanMember,
  configAt,
  ledgerCommitment,
  objectValue,
  u64Member,
  u64Value,
  variantMember,
} from "./params.ts";
import { encodingConfigAt, maxVersion, transactionEncodings } from "./transactions.ts";

const blocksMax = 500_000n;

/** A block that a commitment can see, or the node's reason why there is none. */
function blockAt(node: RpcNode, slot: bigint, newest: bigint): Block {
  const { history } = node.chain;
  if (slot > newest) throw blockNotAvailable(slot);
  if (slot < history.firstSlot) throw blockCleanedUp(slot, history.firstSlot);
  const block = history.block(slot) ?? abandonedForkAt(node, newest)?.block(slot) ?? null;
  if (block === null) throw slotSkipped(slot);
  return block;
}

/** Slots from `first` on that have a block in the branch of a bank, up to its slot or to `last`. */
function slotsOf(node: RpcNode, bank: BankSlot, { first, last, limit }: SlotRange): bigint[] {
  const end = last < bank.slot ? last : bank.slot;
  const slots = node.chain.history.slots(first, end, limit);
  return [...slots, ...(abandonedForkAt(node, bank.slot)?.slots(first, end) ?? [])].slice(0, limit);
}

interface SlotRange {
  readonly first: bigint;
  readonly last: bigint;
  readonly limit: number;
}

function isConfig(value: JsonValue | undefined): boolean {
  return typeof value === "object" && value !== null;
}

function blocks(params: readonly JsonValue[], node: RpcNode): JsonValue {
  const start = u64Value(params[0]);
  const config = configAt(params, isConfig(params[1]) && !isConfig(params[2]) ? 1 : 2, "struct RpcContextConfig");
  const requested = params[1] === undefined || params[1] === null || isConfig(params[1]) ? null : u64Value(params[1]);
  const bank = reached(node.chain.at(ledgerCommitment(config)), config);
  const asked = requested ?? start + blocksMax;
  const end = asked < bank.slot ? asked : bank.slot;
  if (end < start) return [];
  if (end - start > blocksMax) throw invalidParams(`Slot range too large; max ${blocksMax}`);
  return slotsOf(node, bank, { first: start, last: end, limit: Number(blocksMax) + 1 });
}

/** Leader slots and blocks of each identity, or of the wanted one, in a range of slots. */
function production(
  range: { readonly firstSlot: bigint; readonly lastSlot: bigint; readonly filter: string | null },
  { chain }: RpcNode,
): Record<string, [bigint, bigint]> {
  const { firstSlot, lastSlot, filter } = range;
  const byIdentity = new Map<string, [bigint, bigint]>();
  for (const [leader, slots] of chain.cluster.leaders.slotCounts(firstSlot, lastSlot)) {
    if (filter === null || leader === filter) byIdentity.set(leader, [slots, 0n]);
  }
  for (const slot of chain.history.slots(firstSlot, lastSlot, Number(lastSlot - firstSlot) + 1)) {
    const counts = byIdentity.get(chain.cluster.leaderOf(slot));
    if (counts !== undefined) counts[1] += 1n;
  }
  return Object.fromEntries(byIdentity);
}

function blockProduction(params: readonly JsonValue[], node: RpcNode): JsonValue {
  const config = configAt(params, 0, "struct RpcBlockProductionConfig");
  const bank = bankOf(node, config);
  const { epochs, cluster } = node.chain;
  const requested = config?.["range"] ?? null;
  const range = requested === null ? null : objectValue(requested, "struct RpcBlockProductionConfigRange");
  const firstSlot = range === null ? epochs.firstSlot(epochs.epochOf(bank.slot)) : u64Value(range["firstSlot"]);
  const lastSlot = u64Member(range, "lastSlot") ?? bank.slot;
  if (firstSlot > bank.slot) throw invalidParams(`firstSlot, ${firstSlot}, is too large; last slot: ${bank.slot}`);
  if (lastSlot > bank.slot) throw invalidParams(`lastSlot, ${lastSlot}, is too large; max ${bank.slot}`);
  if (lastSlot < firstSlot) throw invalidParams(`lastSlot, ${lastSlot}, cannot be less than firstSlot, ${firstSlot}`);
  const identity = config?.["identity"] ?? null;
  const filter = identity === null ? null : addressValue(identity);
  const oldest = cluster.leaders.oldestSlot;
  if (firstSlot < oldest) throw invalidParams(`firstSlot, ${firstSlot}, is too small; min ${oldest}`);
  const byIdentity = production({ firstSlot, lastSlot, filter }, node);
  return withContext(bank, { byIdentity, range: { firstSlot, lastSlot } });
}

/** Blocks of the ledger. */
export const blockMethods: MethodTable = {
  getBlock: {
    required: 1,
    optional: 1,
    run(params, node) {
      const slot = u64Value(params[0]);
      const config = encodingConfigAt(params, 1);
      const options = {
        encoding: variantMember(config, "encoding", transactionEncodings, "json"),
        transactionDetails: variantMember(
          config,
          "transactionDetails",
          ["full", "signatures", "none", "accounts"] as const,
          "full" as const,
        ),
        rewards: booleanMember(config, "rewards", true),
        maxSupportedTransactionVersion: maxVersion(config),
      };
      const block = blockAt(node, slot, node.chain.at(ledgerCommitment(config)).slot);
      const encoded = encodeBlock(confirmedBlock(block), options);
      if (!encoded.ok) throw unsupportedVersion(encoded.version);
      return encoded.value;
    },
  },
  getBlocks: { required: 1, optional: 2, run: blocks },
  getBlocksWithLimit: {
    required: 2,
    optional: 1,
    run(params, node) {
      const start = u64Value(params[0]);
      const limit = u64Value(params[1], "usize");
      const config = configAt(params, 2, "struct RpcContextConfig");
      const bank = reached(node.chain.at(ledgerCommitment(config)), config);
      if (limit > blocksMax) throw invalidParams(`Limit too large; max ${blocksMax}`);
      return slotsOf(node, bank, { first: start, last: bank.slot, limit: Number(limit) });
    },
  },
  getBlockTime: {
    required: 1,
    optional: 0,
    run: (params, node) => blockAt(node, u64Value(params[0]), node.chain.at("confirmed").slot).blockTime,
  },
  getBlockProduction: { required: 0, optional: 1, run: blockProduction },
  getFirstAvailableBlock: { required: 0, optional: 0, run: (_params, node) => node.chain.history.firstSlot },
  minimumLedgerSlot: { required: 0, optional: 0, run: (_params, node) => node.chain.history.firstSlot },
};
