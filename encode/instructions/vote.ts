import { ByteReader, MalformedBytes } from "@sluice/wire/bytes";
import type { JsonObject, JsonValue } from "../json.ts";
import { type NamedInstruction, nameAccounts, type ParsedInstruction, variantName } from "./named-instruction.ts";

const authorityTypes = ["Voter", "Withdrawer"];
const commissionKinds = ["InflationRewards", "BlockRevenue"];
const u64Max = 0xffff_ffff_ffff_ffffn;
/** The bytes of a BLS public key and of the proof that its holder has the secret; neither is shown. */
const blsKeyAndProofBytes = 48 + 96;

/** Presents an instruction of the Vote program. Several type names are all lower case. */
export function parseVoteInstruction(instruction: NamedInstruction): ParsedInstruction {
  const data = new ByteReader(instruction.data);
  const named = (...names: string[]) => nameAccounts(instruction, ...names);
  const variant = data.u32();
  switch (variant) {
    case 0:
      return { type: "initialize", info: initialize(instruction, data) };
    case 3: {
      const info = { ...named("voteAccount", "destination", "withdrawAuthority"), lamports: data.u64() };
      return { type: "withdraw", info };
    }
    case 4:
      return {
        type: "updateValidatorIdentity",
        info: named("voteAccount", "newValidatorIdentity", "withdrawAuthority"),
      };
    case 5:
      return {
        type: "updateCommission",
        info: { ...named("voteAccount", "withdrawAuthority"), commission: data.u8() },
      };
    case 16:
      return { type: "initializeV2", info: initializeV2(instruction, data) };
    case 17: {
      const commissionKind = variantName(commissionKinds, data.u32());
      const info = { ...named("voteAccount", "newCollector", "withdrawAuthority"), commissionKind };
      return { type: "updateCommissionCollector", info };
    }
    case 18: {
      const change = { commissionBps: data.u16(), commissionKind: variantName(commissionKinds, data.u32()) };
      return { type: "updateCommissionBps", info: { ...named("voteAccount", "withdrawAuthority"), ...change } };
    }
    case 19:
      return { type: "depositDelegatorRewards", info: { ...named("voteAccount", "source"), deposit: data.u64() } };
    default:
      return parseAuthorize(variant, instruction, data) ?? parseVoting(variant, instruction, data);
  }
}

function initialize(instruction: NamedInstruction, data: ByteReader): JsonObject {
  data.address();
  return {
    ...nameAccounts(instruction, "voteAccount", "rentSysvar", "clockSysvar", "node"),
    authorizedVoter: data.address(),
    authorizedWithdrawer: data.address(),
    commission: data.u8(),
  };
}

function initializeV2(instruction: NamedInstruction, data: ByteReader): JsonObject {
  data.address();
  const authorizedVoter = data.address();
  data.bytes(blsKeyAndProofBytes);
  return {
    ...nameAccounts(instruction, "voteAccount", "node"),
    authorizedVoter,
    authorizedWithdrawer: data.address(),
    inflationRewardsCommissionBps: data.u16(),
    inflationRewardsCollector: data.address(),
    blockRevenueCommissionBps: data.u16(),
    blockRevenueCollector: data.address(),
  };
}

function parseAuthorize(variant: number, instruction: NamedInstruction, data: ByteReader): ParsedInstruction | null {
  const named = (...names: string[]) => nameAccounts(instruction, ...names);
  const authorityType = () => variantName(authorityTypes, data.u32());
  switch (variant) {
    case 1: {
      const accounts = named("voteAccount", "clockSysvar", "authority");
      return {
        type: "authorize",
        info: { ...accounts, newAuthority: data.address(), authorityType: authorityType() },
      };
    }
    case 7: {
      const accounts = named("voteAccount", "clockSysvar", "authority", "newAuthority");
      return { type: "authorizeChecked", info: { ...accounts, authorityType: authorityType() } };
    }
    case 10:
    case 11: {
      const seeded = { authorityType: authorityType(), authorityOwner: data.address() };
      const seed = { ...seeded, authoritySeed: data.text(data.u64()) };
      const names = ["voteAccount", "clockSysvar", "authorityBaseKey"];
      return variant === 10
        ? { type: "authorizeWithSeed", info: { ...named(...names), ...seed, newAuthority: data.address() } }
        : { type: "authorizeCheckedWithSeed", info: { ...named(...names, "newAuthority"), ...seed } };
    }
    default:
      return null;
  }
}

function parseVoting(variant: number, instruction: NamedInstruction, data: ByteReader): ParsedInstruction {
  const byVoter = () => nameAccounts(instruction, "voteAccount", "voteAuthority");
  const proof = (present: boolean) => (present ? { hash: data.address() } : {});
  switch (variant) {
    case 2:
    case 6: {
      const vote = {
        slots: data.list(data.u64(), 8, () => data.u64()),
        hash: data.address(),
        timestamp: data.optional(() => data.i64()),
      };
      const accounts = nameAccounts(instruction, "voteAccount", "slotHashesSysvar", "clockSysvar", "voteAuthority");
      return { type: variant === 2 ? "vote" : "voteSwitch", info: { ...accounts, vote, ...proof(variant === 6) } };
    }
    case 8:
    case 9: {
      const info = { ...byVoter(), voteStateUpdate: voteStateUpdate(data), ...proof(variant === 9) };
      return { type: variant === 8 ? "updatevotestate" : "updatevotestateswitch", info };
    }
    case 12:
    case 13: {
      const info = { ...byVoter(), voteStateUpdate: compactUpdate(data), ...proof(variant === 13) };
      return { type: variant === 12 ? "compactupdatevotestate" : "compactupdatevotestateswitch", info };
    }
    case 14:
    case 15: {
      const towerSync = { ...compactUpdate(data), blockId: data.address() };
      const info = { ...byVoter(), towerSync, ...proof(variant === 15) };
      return { type: variant === 14 ? "towersync" : "towersyncswitch", info };
    }
    default:
      throw new MalformedBytes("The vote instruction is unknown.");
  }
}

function voteStateUpdate(data: ByteReader): JsonObject {
  return {
    lockouts: data.list(data.u64(), 12, () => ({ slot: data.u64(), confirmation_count: data.u32() })),
    root: data.optional(() => data.u64()),
    hash: data.address(),
    timestamp: data.optional(() => data.i64()),
  };
}

/** A number of seven bits to the byte, least first; u64 takes at most ten bytes. */
function varint(data: ByteReader, bytesMax: number): bigint {
  let value = 0n;
  for (let place = 0; place < bytesMax; place += 1) {
    const byte = data.u8();
    value |= BigInt(byte & 0x7f) << BigInt(7 * place);
    if (byte < 0x80) {
      if (value > u64Max) break;
      return value;
    }
  }
  throw new MalformedBytes("A number of variable length is too long.");
}

/** Lockouts are written as steps from the root, which is u64 max when there is none and counts as 0 then. */
function compactUpdate(data: ByteReader): JsonObject {
  const root = data.u64();
  let slot = root === u64Max ? 0n : root;
  const lockouts: JsonValue[] = data.list(varint(data, 3), 2, () => {
    slot += varint(data, 10);
    if (slot > u64Max) throw new MalformedBytes("A slot exceeds u64.");
    return { slot, confirmation_count: data.u8() };
  });
  return {
    lockouts,
    root: root === u64Max ? null : root,
    hash: data.address(),
    timestamp: data.optional(() => data.i64()),
  };
}
