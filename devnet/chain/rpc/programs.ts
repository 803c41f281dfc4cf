import { decodeAddress, encodeBase58 } from "@sluice/wire";
import type { BankSlot } from "../bank/bank-slot.ts";
import { isTokenProgram } from "../bank/token-state.ts";
import type { JsonObject } from "../encode/index.ts";
import type { ChainAccount } from "../model.ts";
import { type AccountForm, accountForm, presentAccount } from "./accounts.ts";
import { invalidParams } from "./errors.ts";
import { type AccountFilter, accountFilters, passesFilters } from "./filters.ts";
import { bankOf, type MethodTable, type RpcNode, withContext } from "./method.ts";
import { addressValue, booleanMember, configAt } from "./params.ts";

type Found = readonly [string, ChainAccount];

/** Orders by the bytes of the addresses, as the node's own index does. */
export function byAddressBytes(found: Iterable<Found>): Found[] {
  const keyed = [...found].map((entry) => ({ entry, key: decodeAddress(entry[0]) ?? new Uint8Array(32) }));
  keyed.sort((left, right) => Buffer.compare(left.key, right.key));
  return keyed.map(({ entry }) => entry);
}

export function presentAll(node: RpcNode, bank: BankSlot, found: readonly Found[], form: AccountForm): JsonObject[] {
  return found.map(([pubkey, account]) => ({ pubkey, account: presentAccount(node, bank, pubkey, account, form) }));
}

function memcmpAt(filters: readonly AccountFilter[], offset: bigint): Uint8Array | undefined {
  for (const filter of filters) if (filter.kind === "memcmp" && filter.offset === offset) return filter.bytes;
  return undefined;
}

/** Token accounts by owner or mint come from an index where the filters name one; everything else from the program's. */
function candidates(
  node: RpcNode,
  bank: BankSlot,
  program: string,
  filters: readonly AccountFilter[],
): Iterable<Found> {
  const { accounts } = node.chain;
  const asksTokenAccounts = filters.some(
    (filter) => filter.kind === "tokenAccountState" || (filter.kind === "dataSize" && filter.size === 165n),
  );
  if (!isTokenProgram(program) || !asksTokenAccounts) return accounts.ofProgram(program, bank.slot);
  for (const [offset, by, name] of [
    [32n, "tokenOwner", "owner"],
    [0n, "mint", "mint"],
  ] as const) {
    const bytes = memcmpAt(filters, offset);
    if (bytes === undefined) continue;
    if (bytes.length !== 32) {
      throw invalidParams(`Incorrect byte length ${bytes.length} for SPL token ${name} filter, expected 32`);
    }
    return accounts.tokenAccounts(by, encodeBase58(bytes), bank.slot);
  }
  return accounts.ofProgram(program, bank.slot);
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
      const form = accountForm(config, "binary");
      const contextWanted = booleanMember(config, "withContext", false);
      const sorted = booleanMember(config, "sortResults", true);
      const bank = bankOf(node, config);
      const found: Found[] = [];
      for (const entry of candidates(node, bank, program, filters)) {
        if (entry[1].owner === program && passesFilters(filters, entry[1].data)) found.push(entry);
      }
      const rows = presentAll(node, bank, sorted ? byAddressBytes(found) : found, form);
      return contextWanted ? withContext(bank, rows) : rows;
    },
  },
};
