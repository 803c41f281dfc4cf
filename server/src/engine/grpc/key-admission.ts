import { errorTable } from "@sluice/contract/errors";
import type { Permission } from "@sluice/contract/tiers";
import type { Access, AdmissionCode, Refusal } from "../../access/index.ts";
import { presentedKey } from "../../http/index.ts";
import type { Grant } from "../../keys/index.ts";
import { type CallContext, GrpcStatusError } from "../../net/index.ts";
import type { Searcher } from "../model/bundle.ts";
import type { CallRecords } from "./call-records.ts";

/** A caller by an API key, and whether the key still opens the endpoint: null, or the fault that it no longer does. */
export interface KeyCaller {
  readonly grant: Grant;
  readonly searcher: Searcher;
  recheck(): Promise<GrpcStatusError | null>;
}

const denied = ({ code }: Refusal): GrpcStatusError =>
  new GrpcStatusError("PERMISSION_DENIED", errorTable[code].text, { publicCode: code });
const later = ({ code }: Refusal): GrpcStatusError =>
  new GrpcStatusError("UNAVAILABLE", errorTable[code].text, { retryAfterSeconds: 1, publicCode: code });

/** What each refusal of access is over gRPC (decisions: Block engine). */
const faults: Readonly<Record<AdmissionCode, (refusal: Refusal) => GrpcStatusError>> = {
  INVALID_API_KEY: denied,
  KEY_INACTIVE: denied,
  OVERLOADED: later,
  STORE_UNAVAILABLE: later,
  NETWORK_NOT_ALLOWED: denied,
  DOMAIN_NOT_ALLOWED: denied,
  IP_NOT_ALLOWED: denied,
  PERMISSION_DENIED: denied,
};

export interface KeyAdmissionDependencies {
  /** Access to the engine's network. */
  readonly access: Pick<Access, "admit">;
  readonly records: CallRecords;
}

/**
 * Admits the holder of an API key: metadata `x-api-key`, or `authorization: Bearer`. Throws UNAUTHENTICATED where there
 * is no key, PERMISSION_DENIED where it is invalid, restricted elsewhere or lacks the permission (decisions: Block
 * engine), UNAVAILABLE where keys cannot be looked up.
 */
export async function admitKey(
  { access, records }: KeyAdmissionDependencies,
  context: CallContext,
  permission: Permission,
): Promise<KeyCaller> {
  const { headers, clientAddress } = context;
  const presented = presentedKey(headers, "");
  if (presented === null) throw new GrpcStatusError("UNAUTHENTICATED", "The API key is missing");
  records.begin(context);
  const caller = { clientAddress, origin: headers.get("origin"), referer: headers.get("referer") };
  const grant = await access.admit(presented, caller, [permission]);
  const known = grant.ok ? grant : grant.grant;
  if (known !== undefined) records.identified(context, known);
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
