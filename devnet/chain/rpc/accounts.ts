import { type AccountEncodingName, type AccountJson, encodeAccount, type JsonObject } from "@sluice/encode";
import type { BankSlot, ChainAccount } from "../model/index.ts";
import { AnswerSize, invalidParams, invalidRequest } from "./errors.ts";

import { bankOf, clockOf, type MethodTable, type RpcNode, withContext } from "./method.ts";
import { addressValue, configAt, listValue, objectValue, u64Value, variantMember } from "./params.ts";

export const accountEncodings = ["binary", "base58", "base64", "jsonParsed", "base64+zstd"] as const;
const accountsMax = 100;

/** How a caller wants accounts presented. */
export interface AccountForm {
  readonly encoding: AccountEncodingName;
  readonly dataSlice: { readonly offset: number; readonly length: number } | undefined;
}

/** Lengths beyond what any account holds mean "to the end". */
function sliceNumber(value: bigint): number {
  return value > 0x7fff_ffffn ? 0x7fff_ffff : Number(value);
}

export function accountForm(config: JsonObject | null, absent: AccountEncodingName): AccountForm {
  const encoding = variantMember(config, "encoding", accountEncodings, absent);
  const requested = config?.["dataSlice"];
  if (requested === undefined || requested === null) return { encoding, dataSlice: undefined };
  const slice = objectValue(requested, "struct UiDataSliceConfig");
  for (const member of ["offset", "length"]) {
    if (slice[member] === undefined) throw invalidParams(`Invalid params: missing field \`${member}\`.`);
  }
  const offset = sliceNumber(u64Value(slice["offset"], "usize"));
  return { encoding, dataSlice: { offset, length: sliceNumber(u64Value(slice["length"], "usize")) } };
}

/** Presents an account as of a bank; base58 of too much data is refused. */
export function presentAccount(
  node: RpcNode,
  bank: BankSlot,
  address: string,
  account: ChainAccount,
  form: AccountForm,
): AccountJson {
  const encoded = encodeAccount(address, account, {
    ...form,
    lookup: (other) => node.chain.accounts.get(other, bank.slot),
    clock: clockOf(node, bank),
  });
  if ("fault" in encoded) {
    throw invalidRequest("Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.");
  }
  return encoded;
}

function presentOrNull(node: RpcNode, bank: BankSlot, address: string, form: AccountForm): AccountJson | null {
  const account = node.chain.accounts.get(address, bank.slot);
  return account === null ? null : presentAccount(node, bank, address, account, form);
}

export const accountMethods: MethodTable = {
  getAccountInfo: {
    required: 1,
    optional: 1,
    run(params, node) {
      const address = addressValue(params[0]);
      const config = configAt(params, 1, "struct RpcAccountInfoConfig");
      const form = accountForm(config, "binary");
      const bank = bankOf(node, config);
      return withContext(bank, presentOrNull(node, bank, address, form));
    },
  },
  getMultipleAccounts: {
    required: 1,
    optional: 1,
    run(params, node) {
      const list = listValue(params[0]);
      if (list.length > accountsMax) throw invalidParams(`Too many inputs provided; max ${accountsMax}`);
      const addresses = list.map((entry) => addressValue(entry));
      const config = configAt(params, 1, "struct RpcAccountInfoConfig");
      const form = accountForm(config, "base64");
      const bank = bankOf(node, config);
      // One that is named more than once is encoded once, and counts as often as it is shown.
      const shown = new Map(
        new Set(addresses).values().map((address) => [address, presentOrNull(node, bank, address, form)]),
      );
      const size = new AnswerSize();
      const rows = addresses.map((address) => {
        const account = shown.get(address) ?? null;
        return account === null ? null : size.take(account);
      });
      return withContext(bank, rows);
    },
  },
  getBalance: {
    required: 1,
    optional: 1,
    run(params, node) {
      const address = addressValue(params[0]);
      const bank = bankOf(node, configAt(params, 1, "struct RpcContextConfig"));
      return withContext(bank, node.chain.accounts.get(address, bank.slot)?.lamports ?? 0n);
    },
  },
};
