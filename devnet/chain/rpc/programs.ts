import type { AccountFilter } from "../bank/accounts.ts";
import type { BankSlot } from "../bank/bank-slot.ts";
import { isTokenProgram } from "../bank/token-state.ts";
import type { AccountJson, JsonObject } from "../encode/index.ts";
import type { ChainAccount } from "../model.ts";
import { type AccountForm, accountForm, presentAccount } from "./accounts.ts";
import { answerTooLarge, invalidParams } from "./errors.ts";
import { accountFilters } from "./filters.ts";
import { bankOf, type MethodTable, type RpcNode, withContext } from "./method.ts";
import { addressValue, booleanMember, configAt } from "./params.ts";

/** Text of one answer that lists accounts: a million token accounts in base64 are 420 MB. */
const LISTING_BYTES_MAX = 512 * 1_024 * 1_024;
/** What a row takes beside its data, at most: names, address, owner, lamports and rent epoch. */
const ROW_BYTES = 270;
/** Parsed data are not written to be measured: each byte of the account counts as so many of text, and a row as so many. */
const PARSED_BYTES_PER_BYTE = 4;
const PARSED_ROW_BYTES = 600;

function textBytes({ data, space }: AccountJson): number {
  if (typeof data === "string") return ROW_BYTES + data.length;
  if (Array.isArray(data)) return ROW_BYTES + String(data[0]).length;
  return ROW_BYTES + PARSED_ROW_BYTES + Number(space) * PARSED_BYTES_PER_BYTE;
}

/** Presents accounts up to so many bytes of text; more is a failure of the call, and is not built. */
export function presentAll(
  node: RpcNode,
  bank: BankSlot,
  found: Iterable<readonly [string, ChainAccount]>,
  form: AccountForm,
  bytesMax = LISTING_BYTES_MAX,
): JsonObject[] {
  const rows: JsonObject[] = [];
  let bytes = 0;
  for (const [pubkey, account] of found) {
    const shown = presentAccount(node, bank, pubkey, account, form);
    bytes += textBytes(shown);
    if (bytes > bytesMax) throw answerTooLarge(bytesMax);
    rows.push({ pubkey, account: shown });
  }
  return rows;
}

/** A node that finds token accounts by owner and mint refuses filters on a part of these keys. */
function refusePartialKeys(program: string, filters: readonly AccountFilter[]): void {
  const asksTokenAccounts = filters.some(
    (filter) => filter.kind === "tokenAccountState" || (filter.kind === "dataSize" && filter.size === 165n),
  );
  if (!isTokenProgram(program) || !asksTokenAccounts) return;
  for (const [offset, name] of [
    [32n, "owner"],
    [0n, "mint"],
  ] as const) {
    for (const filter of filters) {
      if (filter.kind !== "memcmp" || filter.offset !== offset) continue;
      if (filter.bytes.length === 32) return;
      throw invalidParams(`Incorrect byte length ${filter.bytes.length} for SPL token ${name} filter, expected 32`);
    }
  }
}

/** Accounts of a program. */
export const programMethods: MethodTable = {
  getProgramAccounts: {
    required: 1,
    optional: 1,
    run(params, node) {
      const program = addressValue(params[0]);
      const config = configAt(params, 1, "struct RpcProgramAccountsConfig");
      const filters = accountFilters(config);
      refusePartialKeys(program, filters);
      const form = accountForm(config, "binary");
      const contextWanted = booleanMember(config, "withContext", false);
      const sorted = booleanMember(config, "sortResults", true);
      const bank = bankOf(node, config);
      const rows = presentAll(node, bank, node.chain.accounts.find(program, filters, bank.slot, sorted), form);
      return contextWanted ? withContext(bank, rows) : rows;
    },
  },
};
