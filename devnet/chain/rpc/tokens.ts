import { type JsonObject, type JsonValue, mintTokenAmount, type UiTokenAmount, uiTokenAmount } from "@sluice/encode";
import { decodeAddress } from "@sluice/wire/base58";
import type { AccountFilter } from "../accounts/index.ts";
import { type BankSlot, isTokenAccount, isTokenProgram, mintState, tokenAmount, tokenKeys } from "../model/index.ts";
import { accountForm } from "./accounts.ts";
import { invalidParams } from "./errors.ts";
import { bankOf, type MethodTable, type RpcNode, withContext } from "./method.ts";
import { addressValue, bareCommitmentAt, configAt, objectValue, unknownVariant } from "./params.ts";
import { presentAll } from "./programs.ts";

const largestMax = 20;

function mintOf(
  node: RpcNode,
  bank: BankSlot,
  address: string,
  missing: string,
): { program: string; supply: bigint; shown: (amount: bigint) => UiTokenAmount } {
  const account = node.chain.accounts.get(address, bank.slot);
  if (account === null) throw invalidParams(`Invalid param: could not find ${missing}`);
  const mint = mintState(account);
  if (mint === null) throw invalidParams("Invalid param: not a Token mint");
  // Interest and scales go by the time of the slot that is read, as a node's do.
  const shown = (amount: bigint): UiTokenAmount => {
    return mintTokenAmount(amount, account, bank.time) ?? uiTokenAmount(amount, mint.decimals);
  };
  return { program: account.owner, supply: mint.supply, shown };
}

/** The program whose accounts are asked for, and the mint when one was named. */
function tokenFilter(
  node: RpcNode,
  bank: BankSlot,
  value: JsonValue | undefined,
): { program: string; mint: string | null } {
  const filter = objectValue(value, "enum RpcTokenAccountsFilter");
  if (filter["mint"] !== undefined) {
    const mint = addressValue(filter["mint"]);
    return { program: mintOf(node, bank, mint, "mint").program, mint };
  }
  if (filter["programId"] === undefined) throw unknownVariant(Object.keys(filter)[0] ?? "", ["mint", "programId"]);
  const program = addressValue(filter["programId"]);
  if (!isTokenProgram(program)) throw invalidParams("Invalid param: unrecognized Token program id");
  return { program, mint: null };
}

function tokenAccountsBy(by: "tokenOwner" | "delegate", params: readonly JsonValue[], node: RpcNode): JsonObject {
  const holder = addressValue(params[0]);
  const config = configAt(params, 2, "struct RpcAccountInfoConfig");
  const form = accountForm(config, "binary");
  const bank = bankOf(node, config);
  const { program, mint } = tokenFilter(node, bank, params[1]);
  const filters: AccountFilter[] = [{ kind: "tokenAccountState" }, heldBy(by, holder)];
  if (mint !== null) filters.push({ kind: "memcmp", offset: 0n, bytes: addressBytes(mint) });
  return withContext(bank, presentAll(node, bank, node.chain.accounts.find(program, filters, bank.slot), form));
}

function addressBytes(address: string): Uint8Array {
  const bytes = decodeAddress(address);
  if (bytes === null) throw invalidParams("Invalid param: Invalid");
  return bytes;
}

/** A delegate counts when the tag before it says that there is one. Source: SPL Token state, Account. */
function heldBy(by: "tokenOwner" | "delegate", holder: string): AccountFilter {
  const bytes = addressBytes(holder);
  if (by === "tokenOwner") return { kind: "memcmp", offset: 32n, bytes };
  return { kind: "memcmp", offset: 72n, bytes: Uint8Array.of(1, 0, 0, 0, ...bytes) };
}

/** Token balances, supplies and holders. */
export const tokenMethods: MethodTable = {
  getTokenAccountsByOwner: {
    required: 2,
    optional: 1,
    run: (params, node) => tokenAccountsBy("tokenOwner", params, node),
  },
  getTokenAccountsByDelegate: {
    required: 2,
    optional: 1,
    run: (params, node) => tokenAccountsBy("delegate", params, node),
  },
  getTokenAccountBalance: {
    required: 1,
    optional: 1,
    run(params, node) {
      const address = addressValue(params[0]);
      const bank = node.chain.at(bareCommitmentAt(params, 1));
      const account = node.chain.accounts.get(address, bank.slot);
      if (account === null) throw invalidParams("Invalid param: could not find account");
      const token = isTokenAccount(account) ? tokenKeys(account) : null;
      if (token === null) throw invalidParams("Invalid param: not a Token account");
      const { shown } = mintOf(node, bank, token.mint, "mint");
      return withContext(bank, shown(tokenAmount(account)));
    },
  },
  getTokenSupply: {
    required: 1,
    optional: 1,
    run(params, node) {
      const address = addressValue(params[0]);
      const bank = node.chain.at(bareCommitmentAt(params, 1));
      const { supply, shown } = mintOf(node, bank, address, "account");
      return withContext(bank, shown(supply));
    },
  },
  getTokenLargestAccounts: {
    required: 1,
    optional: 1,
    run(params, node) {
      const mint = addressValue(params[0]);
      const bank = node.chain.at(bareCommitmentAt(params, 1));
      const { program, shown } = mintOf(node, bank, mint, "mint");
      const holders = node.chain.accounts.largestHolders(program, mint, largestMax, bank.slot);
      const rows = holders.map(([address, account]) => ({ address, ...shown(tokenAmount(account)) }));
      return withContext(bank, rows);
    },
  },
};
