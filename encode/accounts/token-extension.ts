import type { TokenExtension } from "@sluice/wire/accounts/token-extensions";
import { ByteReader, MalformedBytes } from "@sluice/wire/bytes";
import { doubleText } from "../amount.ts";
import type { JsonObject } from "../json.ts";

const accountStates = ["uninitialized", "initialized", "frozen"];

type State = (cursor: ByteReader) => JsonObject;

/** How an extension is shown: its name, where it may stand, and its state if it has one. */
interface Presentation {
  readonly name: string;
  readonly on: "mint" | "account";
  readonly state?: State;
}

function base64(cursor: ByteReader, length: number): string {
  return Buffer.from(cursor.bytes(length)).toString("base64");
}

/** A key that is not an address; zeros mean none. */
function optionalKey(cursor: ByteReader): string | null {
  const bytes = cursor.bytes(32);
  return bytes.every((byte) => byte === 0) ? null : Buffer.from(bytes).toString("base64");
}

/** A byte in which anything but 0 means yes. */
function yes(cursor: ByteReader): boolean {
  return cursor.u8() !== 0;
}

function transferFee(cursor: ByteReader): JsonObject {
  return { epoch: cursor.u64(), maximumFee: cursor.u64(), transferFeeBasisPoints: cursor.u16() };
}

function pointer(target: string): State {
  return (cursor) => ({ authority: cursor.addressOrZeros(), [target]: cursor.addressOrZeros() });
}

function tokenMetadata(cursor: ByteReader): JsonObject {
  const text = () => cursor.text(cursor.u32());
  return {
    updateAuthority: cursor.addressOrZeros(),
    mint: cursor.address(),
    name: text(),
    symbol: text(),
    uri: text(),
    additionalMetadata: cursor.list(cursor.u32(), 8, () => [text(), text()]),
  };
}

function confidentialTransferAccount(cursor: ByteReader): JsonObject {
  return {
    approved: yes(cursor),
    elgamalPubkey: base64(cursor, 32),
    pendingBalanceLo: base64(cursor, 64),
    pendingBalanceHi: base64(cursor, 64),
    availableBalance: base64(cursor, 64),
    decryptableAvailableBalance: base64(cursor, 36),
    allowConfidentialCredits: yes(cursor),
    allowNonConfidentialCredits: yes(cursor),
    pendingBalanceCreditCounter: cursor.u64(),
    maximumPendingBalanceCreditCounter: cursor.u64(),
    expectedPendingBalanceCreditCounter: cursor.u64(),
    actualPendingBalanceCreditCounter: cursor.u64(),
  };
}

function interestBearingConfig(cursor: ByteReader): JsonObject {
  return {
    rateAuthority: cursor.addressOrZeros(),
    initializationTimestamp: cursor.i64(),
    preUpdateAverageRate: cursor.i16(),
    lastUpdateTimestamp: cursor.i64(),
    currentRate: cursor.i16(),
  };
}

function scaledUiAmountConfig(cursor: ByteReader): JsonObject {
  return {
    authority: cursor.addressOrZeros(),
    multiplier: doubleText(cursor.f64()),
    newMultiplierEffectiveTimestamp: cursor.i64(),
    newMultiplier: doubleText(cursor.f64()),
  };
}

/** By extension number (source: account layouts, Token-2022 extensions). */
const presentations: ReadonlyMap<number, Presentation> = new Map<number, Presentation>([
  [
    1,
    {
      name: "transferFeeConfig",
      on: "mint",
      state: (cursor) => ({
        transferFeeConfigAuthority: cursor.addressOrZeros(),
        withdrawWithheldAuthority: cursor.addressOrZeros(),
        withheldAmount: cursor.u64(),
        olderTransferFee: transferFee(cursor),
        newerTransferFee: transferFee(cursor),
      }),
    },
  ],
  [2, { name: "transferFeeAmount", on: "account", state: (cursor) => ({ withheldAmount: cursor.u64() }) }],
  [
    3,
    {
      name: "mintCloseAuthority",
      on: "mint",
      state: (cursor) => ({ closeAuthority: cursor.addressOrZeros() }),
    },
  ],
  [
    4,
    {
      name: "confidentialTransferMint",
      on: "mint",
      state: (cursor) => ({
        authority: cursor.addressOrZeros(),
        autoApproveNewAccounts: yes(cursor),
        auditorElgamalPubkey: optionalKey(cursor),
      }),
    },
  ],
  [5, { name: "confidentialTransferAccount", on: "account", state: confidentialTransferAccount }],
  [
    6,
    {
      name: "defaultAccountState",
      on: "mint",
      state: (cursor) => ({ accountState: accountStates[cursor.u8()] ?? "uninitialized" }),
    },
  ],
  [7, { name: "immutableOwner", on: "account" }],
  [
    8,
    {
      name: "memoTransfer",
      on: "account",
      state: (cursor) => ({ requireIncomingTransferMemos: yes(cursor) }),
    },
  ],
  [9, { name: "nonTransferable", on: "mint" }],
  [10, { name: "interestBearingConfig", on: "mint", state: interestBearingConfig }],
  [11, { name: "cpiGuard", on: "account", state: (cursor) => ({ lockCpi: yes(cursor) }) }],
  [12, { name: "permanentDelegate", on: "mint", state: (cursor) => ({ delegate: cursor.addressOrZeros() }) }],
  [13, { name: "nonTransferableAccount", on: "account" }],
  [14, { name: "transferHook", on: "mint", state: pointer("programId") }],
  [15, { name: "transferHookAccount", on: "account", state: (cursor) => ({ transferring: yes(cursor) }) }],
  [
    16,
    {
      name: "confidentialTransferFeeConfig",
      on: "mint",
      state: (cursor) => ({
        authority: cursor.addressOrZeros(),
        withdrawWithheldAuthorityElgamalPubkey: optionalKey(cursor),
        harvestToMintEnabled: yes(cursor),
        withheldAmount: base64(cursor, 64),
      }),
    },
  ],
  [
    17,
    {
      name: "confidentialTransferFeeAmount",
      on: "account",
      state: (cursor) => ({ withheldAmount: base64(cursor, 64) }),
    },
  ],
  [18, { name: "metadataPointer", on: "mint", state: pointer("metadataAddress") }],
  [19, { name: "tokenMetadata", on: "mint", state: tokenMetadata }],
  [20, { name: "groupPointer", on: "mint", state: pointer("groupAddress") }],
  [
    21,
    {
      name: "tokenGroup",
      on: "mint",
      state: (cursor) => ({
        updateAuthority: cursor.addressOrZeros(),
        mint: cursor.address(),
        size: cursor.u64(),
        maxSize: cursor.u64(),
      }),
    },
  ],
  [22, { name: "groupMemberPointer", on: "mint", state: pointer("memberAddress") }],
  [
    23,
    {
      name: "tokenGroupMember",
      on: "mint",
      state: (cursor) => ({ mint: cursor.address(), group: cursor.address(), memberNumber: cursor.u64() }),
    },
  ],
  [
    24,
    {
      name: "confidentialMintBurn",
      on: "mint",
      state: (cursor) => ({
        confidentialSupply: base64(cursor, 64),
        decryptableSupply: base64(cursor, 36),
        supplyElgamalPubkey: base64(cursor, 32),
        pendingBurn: base64(cursor, 64),
      }),
    },
  ],
  [25, { name: "scaledUiAmountConfig", on: "mint", state: scaledUiAmountConfig }],
  [
    26,
    {
      name: "pausableConfig",
      on: "mint",
      state: (cursor) => ({ authority: cursor.addressOrZeros(), paused: yes(cursor) }),
    },
  ],
  [27, { name: "pausableAccount", on: "account" }],
  [
    28,
    {
      name: "permissionedBurnConfig",
      on: "mint",
      state: (cursor) => ({ authority: cursor.addressOrZeros() }),
    },
  ],
]);

/** Presents one extension of a mint or token account; one that does not fit is named `unparseableExtension`. */
export function presentExtension(extension: TokenExtension, on: "mint" | "account"): JsonObject {
  const presentation = presentations.get(extension.type);
  const unparsable = { extension: "unparseableExtension" };
  if (presentation === undefined) return unparsable;
  if (presentation.state === undefined) return { extension: presentation.name };
  if (presentation.on !== on) return unparsable;
  try {
    return { extension: presentation.name, state: presentation.state(new ByteReader(extension.value)) };
  } catch (error) {
    if (error instanceof MalformedBytes) return unparsable;
    throw error;
  }
}
