import type { ChainAccount } from "@sluice/svm";
import { ByteReader, MalformedBytes } from "@sluice/wire/bytes";
import { sysvars } from "@sluice/wire/programs";
import { finite, type JsonObject, type JsonValue } from "../json.ts";

/** Slots that the slot history remembers. */
const slotHistorySlots = 1_048_576;

function feeCalculator(cursor: ByteReader): JsonObject {
  return { lamportsPerSignature: cursor.u64().toString() };
}

function clock(cursor: ByteReader): JsonObject {
  const slot = cursor.u64();
  const epochStartTimestamp = cursor.i64();
  const epoch = cursor.u64();
  const leaderScheduleEpoch = cursor.u64();
  return { slot, epoch, epochStartTimestamp, leaderScheduleEpoch, unixTimestamp: cursor.i64() };
}

function epochSchedule(cursor: ByteReader): JsonObject {
  return {
    slotsPerEpoch: cursor.u64(),
    leaderScheduleSlotOffset: cursor.u64(),
    warmup: cursor.flag(),
    firstNormalEpoch: cursor.u64(),
    firstNormalSlot: cursor.u64(),
  };
}

/**
 * Rent has two shapes. Where the threshold has been folded into the price, only the price of a byte is shown; otherwise
 * the price of a byte and year, the years that exempt, and the part that is burnt.
 */
function rent(cursor: ByteReader): JsonObject {
  const lamports = cursor.u64().toString();
  const exemptionThreshold = cursor.f64();
  const burnPercent = cursor.u8();
  if (exemptionThreshold === 1) return { lamportsPerByte: lamports };
  return { lamportsPerByteYear: lamports, exemptionThreshold: finite(exemptionThreshold), burnPercent };
}

function epochRewards(cursor: ByteReader): JsonObject {
  const distributionStartingBlockHeight = cursor.u64();
  const numPartitions = cursor.u64();
  const parentBlockhash = cursor.address();
  const totalPoints = (cursor.u64() + (cursor.u64() << 64n)).toString();
  const totalRewards = cursor.u64().toString();
  const distributedRewards = cursor.u64().toString();
  const parts = { distributionStartingBlockHeight, numPartitions, parentBlockhash };
  return { ...parts, totalPoints, totalRewards, distributedRewards, active: cursor.flag() };
}

function slotHistory(cursor: ByteReader): JsonObject {
  const words = cursor.optional(() => cursor.list(cursor.u64(), 8, () => cursor.u64())) ?? [];
  const length = cursor.u64();
  const nextSlot = cursor.u64();
  if (length !== BigInt(slotHistorySlots) || words.length !== slotHistorySlots / 64) {
    throw new MalformedBytes("The slot history is not of the usual size.");
  }
  const reversed = words.map((word) => [...word.toString(2).padStart(64, "0")].reverse().join(""));
  return { nextSlot, bits: reversed.join("") };
}

function stakeHistory(cursor: ByteReader): JsonValue {
  return cursor.list(cursor.u64(), 32, () => ({
    epoch: cursor.u64(),
    stakeHistory: { effective: cursor.u64(), activating: cursor.u64(), deactivating: cursor.u64() },
  }));
}

type Presentation = { readonly type: string; readonly info: (cursor: ByteReader) => JsonValue };

/** By the sysvar's address. */
const presentations: ReadonlyMap<string, Presentation> = new Map<string, Presentation>([
  [sysvars.clock, { type: "clock", info: clock }],
  [sysvars.epochSchedule, { type: "epochSchedule", info: epochSchedule }],
  [
    "SysvarFees111111111111111111111111111111111",
    { type: "fees", info: (cursor) => ({ feeCalculator: feeCalculator(cursor) }) },
  ],
  [
    sysvars.recentBlockhashes,
    {
      type: "recentBlockhashes",
      info: (cursor) =>
        cursor.list(cursor.u64(), 40, () => ({ blockhash: cursor.address(), feeCalculator: feeCalculator(cursor) })),
    },
  ],
  [sysvars.rent, { type: "rent", info: rent }],
  [
    "SysvarRewards111111111111111111111111111111",
    { type: "rewards", info: (cursor) => ({ validatorPointValue: finite(cursor.f64()) }) },
  ],
  [
    sysvars.slotHashes,
    {
      type: "slotHashes",
      info: (cursor) => cursor.list(cursor.u64(), 40, () => ({ slot: cursor.u64(), hash: cursor.address() })),
    },
  ],
  [sysvars.slotHistory, { type: "slotHistory", info: slotHistory }],
  [sysvars.stakeHistory, { type: "stakeHistory", info: stakeHistory }],
  [sysvars.lastRestartSlot, { type: "lastRestartSlot", info: (cursor) => ({ lastRestartSlot: cursor.u64() }) }],
  [sysvars.epochRewards, { type: "epochRewards", info: epochRewards }],
]);

/** Presents a sysvar by its address. */
export function parseSysvarAccount(address: string, account: ChainAccount): JsonObject {
  const sysvar = presentations.get(address);
  if (sysvar === undefined) throw new MalformedBytes("The sysvar is unknown.");
  return { type: sysvar.type, info: sysvar.info(new ByteReader(account.data)) };
}
