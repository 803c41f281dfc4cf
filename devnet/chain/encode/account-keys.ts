import type { JsonObject } from "./json.ts";
import type { TransactionView } from "./transaction-view.ts";

/** A transaction's key with the rights that it gives, as `jsonParsed` and `accounts` list it. */
export interface AccountKey {
  readonly pubkey: string;
  readonly writable: boolean;
  readonly signer: boolean;
  readonly source: "transaction" | "lookupTable";
}

const UPGRADEABLE_LOADER = "BPFLoaderUpgradeab1e11111111111111111111111";

/** Keys that the runtime never locks for writing, whatever a message asks. */
const RESERVED_KEYS: ReadonlySet<string> = new Set([
  "11111111111111111111111111111111",
  "AddressLookupTab1e1111111111111111111111111",
  "BPFLoader1111111111111111111111111111111111",
  "BPFLoader2111111111111111111111111111111111",
  UPGRADEABLE_LOADER,
  "ComputeBudget111111111111111111111111111111",
  "Config1111111111111111111111111111111111111",
  "Ed25519SigVerify111111111111111111111111111",
  "Feature111111111111111111111111111111111111",
  "KeccakSecp256k11111111111111111111111111111",
  "LoaderV411111111111111111111111111111111111",
  "NativeLoader1111111111111111111111111111111",
  "Secp256r1SigVerify1111111111111111111111111",
  "Stake11111111111111111111111111111111111111",
  "StakeConfig11111111111111111111111111111111",
  "Sysvar1111111111111111111111111111111111111",
  "Sysvar1nstructions1111111111111111111111111",
  "SysvarC1ock11111111111111111111111111111111",
  "SysvarEpochRewards1111111111111111111111111",
  "SysvarEpochSchedu1e111111111111111111111111",
  "SysvarFees111111111111111111111111111111111",
  "SysvarLastRestartS1ot1111111111111111111111",
  "SysvarRecentB1ockHashes11111111111111111111",
  "SysvarRent111111111111111111111111111111111",
  "SysvarRewards111111111111111111111111111111",
  "SysvarS1otHashes111111111111111111111111111",
  "SysvarS1otHistory11111111111111111111111111",
  "SysvarStakeHistory1111111111111111111111111",
  "Vote111111111111111111111111111111111111111",
  "ZkE1Gama1Proof11111111111111111111111111111",
  "ZkTokenProof1111111111111111111111111111111",
]);

type Loaded = { readonly writable: readonly string[]; readonly readonly: readonly string[] };

/**
 * Lists all keys: static, then loaded writable, then loaded readonly. A key counts as writable when the message asks for
 * it, unless it is reserved, or is called as a program while the upgradeable loader is not among the keys.
 */
export function accountKeys(view: TransactionView, loaded: Loaded): AccountKey[] {
  const { header, staticKeys } = view;
  const all = [...staticKeys, ...loaded.writable, ...loaded.readonly];
  const called = all.includes(UPGRADEABLE_LOADER)
    ? new Set<number>()
    : new Set(view.instructions.map((instruction) => instruction.programIdIndex));
  const writableSigners = header.numRequiredSignatures - header.numReadonlySignedAccounts;
  const writableStatic = staticKeys.length - header.numReadonlyUnsignedAccounts;
  return all.map((pubkey, index) => {
    const signer = index < header.numRequiredSignatures;
    const fromTable = index >= staticKeys.length;
    const asked = fromTable
      ? index < staticKeys.length + loaded.writable.length
      : signer
        ? index < writableSigners
        : index < writableStatic;
    const writable = asked && !RESERVED_KEYS.has(pubkey) && !called.has(index);
    return { pubkey, writable, signer, source: fromTable ? "lookupTable" : "transaction" };
  });
}

export function accountKeyJson(key: AccountKey): JsonObject {
  return { pubkey: key.pubkey, writable: key.writable, signer: key.signer, source: key.source };
}
