import { type ByteReader, MalformedBytes } from "@sluice/wire/bytes";
import { doubleText, uiTokenAmount } from "../amount.ts";
import type { JsonObject } from "../json.ts";
import {
  type NamedInstruction,
  nameAccounts,
  nameAuthority,
  type ParsedInstruction,
  requireAccounts,
  variantName,
} from "./named-instruction.ts";

/** Names of the extensions by their number, as instructions list them. */
const extensionTypeNames = [
  "uninitialized",
  "transferFeeConfig",
  "transferFeeAmount",
  "mintCloseAuthority",
  "confidentialTransferMint",
  "confidentialTransferAccount",
  "defaultAccountState",
  "immutableOwner",
  "memoTransfer",
  "nonTransferable",
  "interestBearingConfig",
  "cpiGuard",
  "permanentDelegate",
  "nonTransferableAccount",
  "transferHook",
  "transferHookAccount",
  "confidentialTransferFeeConfig",
  "confidentialTransferFeeAmount",
  "metadataPointer",
  "tokenMetadata",
  "groupPointer",
  "tokenGroup",
  "groupMemberPointer",
  "tokenGroupMember",
  "confidentialMintBurn",
  "scaledUiAmount",
  "pausable",
  "pausableAccount",
  "permissionedBurn",
];
const accountStates = ["uninitialized", "initialized", "frozen"];

/** A mint and the authority over it, with what the instruction changes. */
function onMint(instruction: NamedInstruction, authority: string, info: JsonObject): JsonObject {
  requireAccounts(instruction, 2);
  return { ...nameAccounts(instruction, "mint"), ...info, ...nameAuthority(instruction.accounts, 1, authority) };
}

function extensionTypes(data: ByteReader): string[] {
  return data.list(data.remaining >> 1, 2, () => variantName(extensionTypeNames, data.u16()));
}

/** Leaves out the members that are null. */
function present(info: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(info).filter(([, value]) => value !== null));
}

/** Presents the instructions that belong to Token-2022's extensions; null when the tag is none of theirs. */
export function parseTokenExtensionInstruction(
  tag: number,
  instruction: NamedInstruction,
  data: ByteReader,
): ParsedInstruction | null {
  const named = (...names: string[]) => nameAccounts(instruction, ...names);
  switch (tag) {
    case 21: {
      const types = extensionTypes(data);
      const info = { ...named("mint"), ...(types.length > 0 && { extensionTypes: types }) };
      return { type: "getAccountDataSize", info };
    }
    case 25: {
      const newAuthority = data.optional(() => data.address());
      return { type: "initializeMintCloseAuthority", info: { ...named("mint"), newAuthority } };
    }
    case 26:
      return parseTransferFee(instruction, data);
    case 29: {
      requireAccounts(instruction, 4);
      const accounts = { ...named("account", "payer", "systemProgram"), extensionTypes: extensionTypes(data) };
      return { type: "reallocate", info: { ...accounts, ...nameAuthority(instruction.accounts, 3, "owner") } };
    }
    case 31:
      return { type: "createNativeMint", info: named("payer", "nativeMint", "systemProgram") };
    case 32:
      return { type: "initializeNonTransferableMint", info: named("mint") };
    case 35:
      return { type: "initializePermanentDelegate", info: { ...named("mint"), delegate: data.address() } };
    default:
      return parseSwitch(tag, instruction, data) ?? parseMintConfig(tag, instruction, data);
  }
}

function parseTransferFee(instruction: NamedInstruction, data: ByteReader): ParsedInstruction {
  const { accounts } = instruction;
  const named = (...names: string[]) => nameAccounts(instruction, ...names);
  const fee = () => ({ transferFeeBasisPoints: data.u16(), maximumFee: data.u64() });
  const withdrawer = "withdrawWithheldAuthority";
  switch (data.u8()) {
    case 0: {
      const transferFeeConfigAuthority = data.optional(() => data.address());
      const withdrawWithheldAuthority = data.optional(() => data.address());
      const authorities = present({ transferFeeConfigAuthority, withdrawWithheldAuthority });
      return { type: "initializeTransferFeeConfig", info: { ...named("mint"), ...authorities, ...fee() } };
    }
    case 1: {
      requireAccounts(instruction, 4);
      const amount = data.u64();
      const decimals = data.u8();
      const amounts = { tokenAmount: uiTokenAmount(amount, decimals), feeAmount: uiTokenAmount(data.u64(), decimals) };
      const info = {
        ...named("source", "mint", "destination"),
        ...amounts,
        ...nameAuthority(accounts, 3, "authority"),
      };
      return { type: "transferCheckedWithFee", info };
    }
    case 2: {
      requireAccounts(instruction, 3);
      const info = { ...named("mint", "feeRecipient"), ...nameAuthority(accounts, 2, withdrawer) };
      return { type: "withdrawWithheldTokensFromMint", info };
    }
    case 3: {
      const sources = data.u8();
      requireAccounts(instruction, 3 + sources);
      const first = accounts.length - sources;
      const authority = nameAuthority(accounts.slice(0, first), 2, withdrawer);
      const info = { ...named("mint", "feeRecipient"), sourceAccounts: accounts.slice(first), ...authority };
      return { type: "withdrawWithheldTokensFromAccounts", info };
    }
    case 4:
      return {
        type: "harvestWithheldTokensToMint",
        info: { ...named("mint"), sourceAccounts: accounts.slice(1) },
      };
    case 5: {
      requireAccounts(instruction, 2);
      // The node spells the multisig form of this one authority with a small t.
      const multisig = "multisigtransferFeeConfigAuthority";
      const authority = nameAuthority(accounts, 1, "transferFeeConfigAuthority", multisig);
      return { type: "setTransferFee", info: { ...named("mint"), ...fee(), ...authority } };
    }
    default:
      throw new MalformedBytes("The transfer fee instruction is unknown.");
  }
}

/** Extensions that are turned on and off, or paused. */
function parseSwitch(tag: number, instruction: NamedInstruction, data: ByteReader): ParsedInstruction | null {
  switch (tag) {
    case 30:
    case 34: {
      const verb = variantName(["enable", "disable"], data.u8());
      requireAccounts(instruction, 2);
      const authority = nameAuthority(instruction.accounts, 1, "owner");
      const subject = tag === 30 ? "RequiredMemoTransfers" : "CpiGuard";
      return { type: `${verb}${subject}`, info: { ...nameAccounts(instruction, "account"), ...authority } };
    }
    case 44: {
      const type = variantName(["initializePausableConfig", "pause", "resume"], data.u8());
      if (type !== "initializePausableConfig") return { type, info: onMint(instruction, "authority", {}) };
      return { type, info: { ...nameAccounts(instruction, "mint"), authority: data.addressOrZeros() } };
    }
    default:
      return null;
  }
}

/** The pointers differ only in their names: what they are called, and what they point at. */
const pointers: ReadonlyMap<number, { readonly name: string; readonly target: string }> = new Map([
  [36, { name: "TransferHook", target: "programId" }],
  [39, { name: "MetadataPointer", target: "metadataAddress" }],
  [40, { name: "GroupPointer", target: "groupAddress" }],
  [41, { name: "GroupMemberPointer", target: "memberAddress" }],
]);

function parseMintConfig(tag: number, instruction: NamedInstruction, data: ByteReader): ParsedInstruction | null {
  const mint = () => nameAccounts(instruction, "mint");
  const pointer = pointers.get(tag);
  if (pointer !== undefined) return parsePointer(pointer, instruction, data);
  switch (tag) {
    case 28: {
      const update = variantName(["initialize", "update"], data.u8());
      const state = { accountState: variantName(accountStates, data.u8()) };
      const info = update === "update" ? onMint(instruction, "freezeAuthority", state) : { ...mint(), ...state };
      return { type: `${update}DefaultAccountState`, info };
    }
    case 33: {
      if (variantName(["initialize", "update"], data.u8()) === "update") {
        const info = onMint(instruction, "rateAuthority", { newRate: data.i16() });
        return { type: "updateInterestBearingConfigRate", info };
      }
      const settings = { rateAuthority: data.addressOrZeros(), rate: data.i16() };
      return { type: "initializeInterestBearingConfig", info: { ...mint(), ...settings } };
    }
    case 43: {
      if (variantName(["initialize", "update"], data.u8()) === "update") {
        const change = { newMultiplier: doubleText(data.f64()), newMultiplierTimestamp: data.i64() };
        return { type: "updateMultiplier", info: onMint(instruction, "authority", change) };
      }
      const settings = { authority: data.addressOrZeros(), multiplier: doubleText(data.f64()) };
      return { type: "initializeScaledUiAmountConfig", info: { ...mint(), ...settings } };
    }
    case 46:
      return parsePermissionedBurn(instruction, data);
    default:
      return null;
  }
}

function parsePointer(
  pointer: { readonly name: string; readonly target: string },
  instruction: NamedInstruction,
  data: ByteReader,
): ParsedInstruction {
  if (variantName(["initialize", "update"], data.u8()) === "update") {
    const change = present({ [pointer.target]: data.addressOrZeros() });
    return { type: `update${pointer.name}`, info: onMint(instruction, "authority", change) };
  }
  const settings = present({ authority: data.addressOrZeros(), [pointer.target]: data.addressOrZeros() });
  return { type: `initialize${pointer.name}`, info: { ...nameAccounts(instruction, "mint"), ...settings } };
}

function parsePermissionedBurn(instruction: NamedInstruction, data: ByteReader): ParsedInstruction {
  const burned = (amount: JsonObject) => {
    requireAccounts(instruction, 4);
    const accounts = nameAccounts(instruction, "account", "mint", "permissionedBurnAuthority");
    return { ...accounts, ...amount, ...nameAuthority(instruction.accounts, 3, "authority") };
  };
  switch (data.u8()) {
    case 0: {
      const info = { ...nameAccounts(instruction, "mint"), authority: data.address() };
      return { type: "initializePermissionedBurnConfig", info };
    }
    case 1:
      return { type: "permissionedBurn", info: burned({ amount: data.u64().toString() }) };
    case 2: {
      const amount = data.u64();
      return { type: "permissionedBurnChecked", info: burned({ tokenAmount: uiTokenAmount(amount, data.u8()) }) };
    }
    default:
      throw new MalformedBytes("The permissioned burn instruction is unknown.");
  }
}
