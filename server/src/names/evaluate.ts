import { decodeHandleAccount, decodeNameRegistry } from "@sluice/wire/accounts/name-registry";
import type { Address } from "@sluice/wire/identifiers";
import { programs } from "@sluice/wire/programs";
import type { DomainPath } from "./addresses.ts";
import type { AccountView } from "./chain-reader.ts";

/** The state of a name by its accounts: its owner, that it has none, or that one of them cannot be read. */
export type NameVerdict =
  | { readonly kind: "owner"; readonly owner: Address }
  | { readonly kind: "absent" }
  | { readonly kind: "malformed" };

const absent: NameVerdict = { kind: "absent" };
const malformed: NameVerdict = { kind: "malformed" };

/** An address that no program has made an account at: nothing there, mere lamports, or an account without data. */
function isVacant(account: AccountView | null | undefined): account is null | undefined {
  return account === null || account === undefined || account.program === programs.system || account.data.length === 0;
}

/**
 * Evaluates a domain by the registries on its path, from the top: each must be the program's, long enough, under the
 * parent that the name claims, and owned. The first that is not decides. The root itself is not read: only its owner
 * can make names under it, and its address is part of what its children's addresses are derived from.
 */
export function evaluateDomain(
  path: DomainPath,
  program: Address,
  accountAt: (address: Address) => AccountView | null | undefined,
): NameVerdict {
  let parent = path.root;
  let owner: Address | null = null;
  for (const level of path.levels) {
    const account = accountAt(level);
    if (isVacant(account)) return absent;
    if (account.program !== program) return malformed;
    const registry = decodeNameRegistry(account.data);
    if (registry === null) return malformed;
    if (registry.parent !== parent || registry.owner === null) return absent;
    owner = registry.owner;
    parent = level;
  }
  return owner === null ? absent : { kind: "owner", owner };
}

/** Evaluates a handle by its account, which must be the program's and carry the handle's own name. */
export function evaluateHandle(handle: string, program: Address, account: AccountView | null | undefined): NameVerdict {
  if (isVacant(account)) return absent;
  if (account.program !== program) return malformed;
  const held = decodeHandleAccount(account.data);
  if (held === null) return malformed;
  if (held.owner === null) return absent;
  return held.name === handle ? { kind: "owner", owner: held.owner } : malformed;
}
