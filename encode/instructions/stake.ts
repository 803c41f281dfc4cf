import { ByteReader, MalformedBytes } from "@sluice/wire/bytes";
import { programs, sysvars } from "@sluice/wire/programs";
import type { JsonObject } from "../json.ts";
import {
  type NamedInstruction,
  nameAccounts,
  type ParsedInstruction,
  requireAccounts,
  variantName,
} from "./named-instruction.ts";

const authorityTypes = ["Staker", "Withdrawer"];

/** Required names, then names of accounts that are shown only when they are there. */
function named(instruction: NamedInstruction, required: readonly string[], optional: readonly string[]): JsonObject {
  const extra = Math.max(0, Math.min(optional.length, instruction.accounts.length - required.length));
  return nameAccounts(instruction, ...required, ...optional.slice(0, extra));
}

/**
 * Names accounts in either of two layouts: the older one with sysvars among the accounts, which has `marker` at
 * `position`, or the one without sysvars. `after` are the names that follow `position` in both.
 */
function eitherLayout(
  instruction: NamedInstruction,
  before: readonly string[],
  between: readonly string[],
  after: { readonly required: readonly string[]; readonly optional?: readonly string[] },
  marker: string = sysvars.clock,
): JsonObject {
  const older = instruction.accounts[before.length] === marker;
  const required = older ? [...before, ...between, ...after.required] : [...before, ...after.required];
  return named(instruction, required, after.optional ?? []);
}

/** Presents an instruction of the Stake program, in the layouts with and without sysvar accounts. */
export function parseStakeInstruction(instruction: NamedInstruction): ParsedInstruction {
  const data = new ByteReader(instruction.data);
  const variant = data.u32();
  switch (variant) {
    case 0:
      return { type: "initialize", info: initialize(instruction, data) };
    case 2:
      return { type: "delegate", info: delegate(instruction) };
    case 3: {
      const lamports = data.u64();
      const accounts = named(instruction, ["stakeAccount", "newSplitAccount"], ["stakeAuthority"]);
      return { type: "split", info: { ...accounts, lamports } };
    }
    case 4: {
      const lamports = data.u64();
      const after = { required: ["withdrawAuthority"], optional: ["custodian"] };
      const between = ["clockSysvar", "stakeHistorySysvar"];
      const info = { ...eitherLayout(instruction, ["stakeAccount", "destination"], between, after), lamports };
      return { type: "withdraw", info };
    }
    case 5: {
      requireAccounts(instruction, 2);
      const optional = ["stakeAuthority"];
      const info = eitherLayout(instruction, ["stakeAccount"], ["clockSysvar"], { required: [], optional });
      return { type: "deactivate", info };
    }
    case 7: {
      requireAccounts(instruction, 3);
      const after = { required: [], optional: ["stakeAuthority"] };
      const info = eitherLayout(instruction, ["destination", "source"], ["clockSysvar", "stakeHistorySysvar"], after);
      return { type: "merge", info };
    }
    case 9: {
      const after = { required: ["staker", "withdrawer"] };
      const info = eitherLayout(instruction, ["stakeAccount"], ["rentSysvar"], after, sysvars.rent);
      return { type: "initializeChecked", info };
    }
    case 13:
      return { type: "getMinimumDelegation" };
    case 14:
      return {
        type: "deactivateDelinquent",
        info: nameAccounts(instruction, "stakeAccount", "voteAccount", "referenceVoteAccount"),
      };
    case 15: {
      const names = ["stakeAccount", "newStakeAccount", "voteAccount", "stakeConfigAccount", "stakeAuthority"];
      return { type: "redelegate", info: nameAccounts(instruction, ...names) };
    }
    case 16:
    case 17: {
      const lamports = data.u64();
      const info = { ...nameAccounts(instruction, "source", "destination", "stakeAuthority"), lamports };
      return { type: variant === 16 ? "moveStake" : "moveLamports", info };
    }
    default:
      return parseAuthorityInstruction(variant, instruction, data);
  }
}

function initialize(instruction: NamedInstruction, data: ByteReader): JsonObject {
  const authorized = { staker: data.address(), withdrawer: data.address() };
  const lockup = { unixTimestamp: data.i64(), epoch: data.u64(), custodian: data.address() };
  const rent = instruction.accounts[1] === sysvars.rent ? ["rentSysvar"] : [];
  return { ...nameAccounts(instruction, "stakeAccount", ...rent), authorized, lockup };
}

/** The account that was the stake config is not read, so that callers may put the authority in its place. */
function delegate(instruction: NamedInstruction): JsonObject {
  const stake = ["stakeAccount", "voteAccount"];
  if (instruction.accounts[2] !== sysvars.clock) return nameAccounts(instruction, ...stake, "stakeAuthority");
  const required = [...stake, "clockSysvar", "stakeHistorySysvar"];
  return instruction.accounts[4] === programs.stakeConfig
    ? named(instruction, [...required, "stakeConfigAccount"], ["stakeAuthority"])
    : nameAccounts(instruction, ...required, "stakeAuthority");
}

function parseAuthorityInstruction(
  variant: number,
  instruction: NamedInstruction,
  data: ByteReader,
): ParsedInstruction {
  const authorityType = () => variantName(authorityTypes, data.u32());
  const custodian = ["custodian"];
  switch (variant) {
    case 1: {
      const change = { newAuthority: data.address(), authorityType: authorityType() };
      const after = { required: ["authority"], optional: custodian };
      const info = { ...eitherLayout(instruction, ["stakeAccount"], ["clockSysvar"], after), ...change };
      return { type: "authorize", info };
    }
    case 6:
    case 12:
      return setLockup(variant, instruction, data);
    case 8: {
      const change = { newAuthorized: data.address(), authorityType: authorityType() };
      const seed = { authoritySeed: data.text(data.u64()), authorityOwner: data.address() };
      const after = { required: [], optional: custodian };
      const accounts = eitherLayout(instruction, ["stakeAccount", "authorityBase"], ["clockSysvar"], after);
      return { type: "authorizeWithSeed", info: { ...accounts, ...change, ...seed } };
    }
    case 10: {
      const change = { authorityType: authorityType() };
      const after = { required: ["authority", "newAuthority"], optional: custodian };
      const info = { ...eitherLayout(instruction, ["stakeAccount"], ["clockSysvar"], after), ...change };
      return { type: "authorizeChecked", info };
    }
    case 11: {
      const change = { authorityType: authorityType() };
      const seed = { authoritySeed: data.text(data.u64()), authorityOwner: data.address() };
      const after = { required: ["newAuthorized"], optional: custodian };
      const accounts = eitherLayout(instruction, ["stakeAccount", "authorityBase"], ["clockSysvar"], after);
      return { type: "authorizeCheckedWithSeed", info: { ...accounts, ...change, ...seed } };
    }
    default:
      throw new MalformedBytes("The stake instruction is unknown.");
  }
}

/** Only the parts of a lockup that change are shown; the checked form takes the new custodian from the accounts. */
function setLockup(variant: 6 | 12, instruction: NamedInstruction, data: ByteReader): ParsedInstruction {
  const unixTimestamp = data.optional(() => data.i64());
  const epoch = data.optional(() => data.u64());
  const next = variant === 6 ? data.optional(() => data.address()) : (instruction.accounts[2] ?? null);
  const lockup = {
    ...(unixTimestamp !== null && { unixTimestamp }),
    ...(epoch !== null && { epoch }),
    ...(next !== null && { custodian: next }),
  };
  const info = { ...nameAccounts(instruction, "stakeAccount", "custodian"), lockup };
  return { type: variant === 6 ? "setLockup" : "setLockupChecked", info };
}
