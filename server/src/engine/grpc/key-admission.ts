import { errorTable } from "@sluice/contract/errors";
import type { Permission } from "@sluice/contract/tiers";
import type { Access, AdmissionCode, Refusal } from "../../access/index.ts";
import { presentedKey } from "../../http/index.ts";
import type { Grant } from "../../keys/index.ts";
import { type CallContext, GrpcStatusError } from "../../net/index.ts";
import type { Searcher } from "../model/bundle.ts";

/** A caller by an API key, and whether the key still opens the endpoint: null, or the fault that it no longer does. */
export interface KeyCaller {
  readonly grant: Grant;
  readonly searcher: Searcher;
  recheck(): Promise<GrpcStatusError | null>;
}

const denied = ({ code }: Refusal): GrpcStatusError => new GrpcStatusError("PERMISSION_DENIED", errorTable[code].text);

/** What each refusal of access is over gRPC (decisions: Block engine). */
const faults: Readonly<Record<AdmissionCode, (refusal: Refusal) => GrpcStatusError>> = {
  INVALID_API_KEY: denied,
  KEY_INACTIVE: denied,
  OVERLOADED: () => new GrpcStatusError("UNAVAILABLE", errorTable.OVERLOADED.text, { retryAfterSeconds: 1 }),
  STORE_UNAVAILABLE: () =>
    new GrpcStatusError("UNAVAILABLE", errorTable.STORE_UNAVAILABLE.text, { retryAfterSeconds: 1 }),
  NETWORK_NOT_ALLOWED: denied,
  DOMAIN_NOT_ALLOWED: denied,
  IP_NOT_ALLOWED: denied,
  PERMISSION_DENIED: denied,
};

/**
 * Admits the holder of an API key: metadata `x-api-key`, or `authorization: Bearer`. Throws UNAUTHENTICATED where there
 * is no key, PERMISSION_DENIED where it is invalid, restricted elsewhere or lacks the permission (decisions: Block
 * engine), UNAVAILABLE where keys cannot be looked up.
 */
export async function admitKey(
  access: Pick<Access, "admit">,
  context: CallContext,
  permission: Permission,
): Promise<KeyCaller> {
  const { headers, clientAddress } = context;
  const presented = presentedKey(headers, "");
  if (presented === null) throw new GrpcStatusError("UNAUTHENTICATED", "The API key is missing");
  const caller = { clientAddress, origin: headers.get("origin"), referer: headers.get("referer") };
  const grant = await access.admit(presented, caller, [permission]);
  if (!grant.ok) throw faults[grant.code](grant);
  return {
    grant,
    searcher: { id: grant.accountId, accountId: grant.accountId, pubkey: null },
    recheck: async () => {
      const again = await access.admit(presented, caller, [permission]);
      // While keys cannot be looked up, the answer before stands.
      return again.ok || again.code === "OVERLOADED" ? null : faults[again.code](again);
    },
  };
}
