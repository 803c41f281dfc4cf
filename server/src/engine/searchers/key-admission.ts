import { errorTable } from "@sluice/contract/errors";
import type { Permission } from "@sluice/contract/tiers";
import { presentedKey } from "../../http/index.ts";
import { type CallContext, CallFault } from "../calls/index.ts";
import type { Searcher } from "../model/bundle.ts";
import type { EngineGrant, EngineKeys } from "../model/ports.ts";

/** A caller by an API key, and whether the key still opens the door: null, or the fault that it no longer does. */
export interface KeyCaller {
  readonly grant: EngineGrant;
  readonly searcher: Searcher;
  recheck(): Promise<CallFault | null>;
}

/**
 * Admits the holder of an API key: metadata `x-api-key`, or `authorization: Bearer`. Throws UNAUTHENTICATED where there is
 * no key, PERMISSION_DENIED where it is invalid, restricted elsewhere or lacks the permission (decisions: Block engine),
 * UNAVAILABLE where keys cannot be looked up.
 */
export async function admitKey(keys: EngineKeys, context: CallContext, permission: Permission): Promise<KeyCaller> {
  const presented = presentedKey(context.headers, "");
  if (presented === null) throw new CallFault("UNAUTHENTICATED", "The API key is missing");
  const judged = await judge(keys, { presented, context, permission });
  if (judged instanceof CallFault) throw judged;
  return {
    grant: judged,
    searcher: { id: judged.accountId, accountId: judged.accountId, pubkey: null },
    recheck: async () => {
      const again = await judge(keys, { presented, context, permission });
      // What cannot be judged now was judged before, and stands.
      return again instanceof CallFault && again.status === "PERMISSION_DENIED" ? again : null;
    },
  };
}

async function judge(
  keys: EngineKeys,
  {
    presented,
    context,
    permission,
  }: { readonly presented: string; readonly context: CallContext; readonly permission: Permission },
): Promise<EngineGrant | CallFault> {
  const outcome = await keys.authenticate(presented);
  if ("refused" in outcome) {
    const { refused } = outcome;
    if (refused === "OVERLOADED")
      return new CallFault("UNAVAILABLE", errorTable[refused].text, { retryAfterSeconds: 1 });
    return new CallFault("PERMISSION_DENIED", errorTable[refused].text);
  }
  const { clientAddress, headers } = context;
  const caller = { clientAddress, origin: headers.get("origin"), referer: headers.get("referer") };
  const broken = keys.checkRestrictions(outcome, caller);
  if (broken !== null) return new CallFault("PERMISSION_DENIED", errorTable[broken].text);
  if (!outcome.permissions.includes(permission)) {
    return new CallFault("PERMISSION_DENIED", errorTable.PERMISSION_DENIED.text);
  }
  return outcome;
}
