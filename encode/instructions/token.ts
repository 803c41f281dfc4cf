import { ByteReader, MalformedBytes } from "@sluice/wire/bytes";
import { uiTokenAmount } from "../amount.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import {
  type NamedInstruction,
  nameAccounts,
  nameAuthority,
  type ParsedInstruction,
  variantName,
} from "./named-instruction.ts";

import { parseTokenExtensionInstruction } from "./token-extension.ts";
import { parseTokenInterfaceInstruction } from "./token-interfaces.ts";

/** What may change hands in `setAuthority`; all but an account's owner and closer belong to a mint. */
const authorityTypes = [
  "mintTokens",
  "freezeAccount",
  "accountOwner",
  "closeAccount",
  "transferFeeConfig",
  "withheldWithdraw",
  "closeMint",
  "interestRate",
  "permanentDelegate",
  "confidentialTransferMint",
  "transferHookProgramId",
  "confidentialTransferFeeConfig",
  "metadataPointer",
  "groupPointer",
  "groupMemberPointer",
  "scaledUiAmount",
  "pause",
  "permissionedBurn",
];
const batch = 255;

/** Presents an instruction of either token program; the interfaces of metadata and groups have tags of eight bytes. */
export function parseTokenInstruction(instruction: NamedInstruction): ParsedInstruction {
  const data = new ByteReader(instruction.data);
  const tag = data.u8();
  return (
    parseInitialize(tag, instruction, data) ??
    parseMovement(tag, instruction, data) ??
    parseCheckedMovement(tag, instruction, data) ??
    parseControl(tag, instruction, data) ??
    (tag === batch ? parseBatch(instruction, data) : null) ??
    parseTokenExtensionInstruction(tag, instruction, data) ??
    parseTokenInterfaceInstruction(instruction)
  );
}

/** Names `accounts`, then the authority that follows them. */
function authorised(
  instruction: NamedInstruction,
  accounts: readonly string[],
  authority: string,
  info: JsonObject = {},
): JsonObject {
  const named = nameAccounts(instruction, ...accounts);
  return { ...named, ...info, ...nameAuthority(instruction.accounts, accounts.length, authority) };
}

function mintSettings(data: ByteReader): JsonObject {
  const settings = { decimals: data.u8(), mintAuthority: data.address() };
  const freezeAuthority = data.optional(() => data.address());
  return freezeAuthority === null ? settings : { ...settings, freezeAuthority };
}

function parseInitialize(tag: number, instruction: NamedInstruction, data: ByteReader): ParsedInstruction | null {
  const named = (...names: string[]) => nameAccounts(instruction, ...names);
  switch (tag) {
    case 0:
      return { type: "initializeMint", info: { ...named("mint", "rentSysvar"), ...mintSettings(data) } };
    case 1:
      return { type: "initializeAccount", info: named("account", "mint", "owner", "rentSysvar") };
    case 2: {
      const signers = instruction.accounts.slice(2);
      named("multisig", "rentSysvar", "signer");
      return { type: "initializeMultisig", info: { ...named("multisig", "rentSysvar"), signers, m: data.u8() } };
    }
    case 16: {
      const accounts = named("account", "mint", "rentSysvar");
      return { type: "initializeAccount2", info: { ...accounts, owner: data.address() } };
    }
    case 18:
      return { type: "initializeAccount3", info: { ...named("account", "mint"), owner: data.address() } };
    case 19: {
      const signers = instruction.accounts.slice(1);
      named("multisig", "signer");
      return { type: "initializeMultisig2", info: { ...named("multisig"), signers, m: data.u8() } };
    }
    case 20:
      return { type: "initializeMint2", info: { ...named("mint"), ...mintSettings(data) } };
    case 22:
      return { type: "initializeImmutableOwner", info: named("account") };
    default:
      return null;
  }
}

function parseMovement(tag: number, instruction: NamedInstruction, data: ByteReader): ParsedInstruction | null {
  const amount = () => ({ amount: data.u64().toString() });
  const info = (accounts: readonly string[], authority: string, more: JsonObject = {}) => {
    if (instruction.accounts.length <= accounts.length)
      throw new MalformedBytes("The instruction lacks its authority.");
    return authorised(instruction, accounts, authority, more);
  };
  switch (tag) {
    case 3:
      return { type: "transfer", info: info(["source", "destination"], "authority", amount()) };
    case 4:
      return { type: "approve", info: info(["source", "delegate"], "owner", amount()) };
    case 5:
      return { type: "revoke", info: info(["source"], "owner") };
    case 7:
      return { type: "mintTo", info: info(["mint", "account"], "mintAuthority", amount()) };
    case 8:
      return { type: "burn", info: info(["account", "mint"], "authority", amount()) };
    case 9:
      return { type: "closeAccount", info: info(["account", "destination"], "owner") };
    case 10:
      return { type: "freezeAccount", info: info(["account", "mint"], "freezeAuthority") };
    case 11:
      return { type: "thawAccount", info: info(["account", "mint"], "freezeAuthority") };
    case 38:
      return { type: "withdrawExcessLamports", info: info(["source", "destination"], "authority") };
    case 45: {
      const part = data.optional(amount) ?? {};
      return { type: "unwrapLamports", info: info(["source", "destination"], "authority", part) };
    }
    default:
      return null;
  }
}

function parseCheckedMovement(tag: number, instruction: NamedInstruction, data: ByteReader): ParsedInstruction | null {
  const checked = (accounts: readonly string[], authority: string) => {
    const amount = data.u64();
    if (instruction.accounts.length <= accounts.length)
      throw new MalformedBytes("The instruction lacks its authority.");
    return authorised(instruction, accounts, authority, { tokenAmount: uiTokenAmount(amount, data.u8()) });
  };
  switch (tag) {
    case 12:
      return { type: "transferChecked", info: checked(["source", "mint", "destination"], "authority") };
    case 13:
      return { type: "approveChecked", info: checked(["source", "mint", "delegate"], "owner") };
    case 14:
      return { type: "mintToChecked", info: checked(["mint", "account"], "mintAuthority") };
    case 15:
      return { type: "burnChecked", info: checked(["account", "mint"], "authority") };
    default:
      return null;
  }
}

function parseControl(tag: number, instruction: NamedInstruction, data: ByteReader): ParsedInstruction | null {
  const named = (...names: string[]) => nameAccounts(instruction, ...names);
  switch (tag) {
    case 6: {
      const authorityType = variantName(authorityTypes, data.u8());
      const owned = authorityType === "accountOwner" || authorityType === "closeAccount" ? "account" : "mint";
      const change = { authorityType, newAuthority: data.optional(() => data.address()) };
      named(owned, "authority");
      return { type: "setAuthority", info: authorised(instruction, [owned], "authority", change) };
    }
    case 17:
      return { type: "syncNative", info: named("account") };
    case 23:
      return { type: "amountToUiAmount", info: { ...named("mint"), amount: data.u64().toString() } };
    case 24:
      return { type: "uiAmountToAmount", info: { ...named("mint"), uiAmount: data.text(data.remaining) } };
    default:
      return null;
  }
}

/** The packed instructions share the account list in order; a batch holds no batch, and fails as a whole. */
function parseBatch(instruction: NamedInstruction, data: ByteReader): ParsedInstruction {
  const instructions: JsonValue[] = [];
  let next = 0;
  while (data.remaining > 0) {
    const accountCount = data.u8();
    const packed = data.bytes(data.u8());
    const accounts = instruction.accounts.slice(next, next + accountCount);
    next += accountCount;
    if (accounts.length < accountCount || accountCount === 0 || packed[0] === batch) {
      throw new MalformedBytes("A packed instruction does not fit.");
    }
    instructions.push(parseTokenInstruction({ programId: instruction.programId, accounts, data: packed }));
  }
  return { type: "batch", info: { instructions } };
}
