import type { AccountFilter } from "../accounts/index.ts";
import type { JsonObject } from "../encode/index.ts";
import { type BankSlot, type ChainAccount, isTokenProgram } from "../model/index.ts";
import { type AccountForm, accountForm, presentAccount } from "./accounts.ts";
import { ANSWER_BYTES_MAX, AnswerSize } from "./answer-size.ts";
import { invalidParams } from "./errors.ts";
import { accountFilters } from "./filters.ts";
import { bankOf, type MethodTable, type RpcNode, withContext } from "./method.ts";
import { addressValue, booleanMember, configAt } from "./params.ts";

/** Presents accounts up to so many bytes of text; more is a failure of the call, and is not built. */
export function presentAll(
  node: RpcNode,
  bank: BankSlot,
  found: Iterable<readonly [string, ChainAccount]>,
  form: AccountForm,
  bytesMax = ANSWER_BYTES_MAX,
): JsonObject[] {
  const rows: JsonObject[] = [];
  const size = new AnswerSize(bytesMax);
  for (const [pubkey, account] of found) {
    rows.push({ pubkey, account: size.take(presentAccount(node, bank, pubkey, account, form)) });
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
