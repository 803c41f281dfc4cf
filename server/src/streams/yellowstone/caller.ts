import { errorTable } from "@sluice/contract/errors";
import { type Network, type PlatformTier, platformTierLimits, platformTiers } from "@sluice/contract/tiers";
import { yellowstoneTierMin } from "@sluice/contract/yellowstone";
import type { Access, AdmissionCode } from "../../access/index.ts";
import { networkNamed, presentedKey } from "../../http/index.ts";
import type { Grant } from "../../keys/index.ts";
import { type CallContext, GrpcStatusError } from "../../net/index.ts";

const readPermission = ["read"] as const;
/** The text of yellowstone-grpc. */
const noToken = "No valid auth token";

/** Who calls, for which network, and how to ask again whether it still may. */
export interface GeyserCaller {
  readonly grant: Grant;
  readonly network: Network;
  /** The key's grant as it is now, or the fault that it no longer opens the endpoint. */
  recheck(): Promise<Grant | GrpcStatusError>;
}

export interface AdmissionOptions {
  readonly networkDefault: Network;
}

const unauthenticated = (code: AdmissionCode): GrpcStatusError =>
  new GrpcStatusError("UNAUTHENTICATED", noToken, { publicCode: code });
const denied = (code: AdmissionCode): GrpcStatusError =>
  new GrpcStatusError("PERMISSION_DENIED", errorTable[code].text, { publicCode: code });
const later = (code: AdmissionCode): GrpcStatusError =>
  new GrpcStatusError("UNAVAILABLE", errorTable[code].text, { retryAfterSeconds: 1, publicCode: code });

/** What each refusal of access is here. */
const faults: Readonly<Record<AdmissionCode, (code: AdmissionCode) => GrpcStatusError>> = {
  INVALID_API_KEY: unauthenticated,
  KEY_INACTIVE: unauthenticated,
  OVERLOADED: later,
  STORE_UNAVAILABLE: later,
  NETWORK_NOT_ALLOWED: denied,
  DOMAIN_NOT_ALLOWED: denied,
  IP_NOT_ALLOWED: denied,
  PERMISSION_DENIED: denied,
};

/**
 * Admits the holder of a key, which is in the metadata `x-token`, `x-api-key` or `authorization`: key, network,
 * restrictions, permission, tier, then a token of the account's requests.
 *
 * @throws {GrpcStatusError} UNAUTHENTICATED without a key or with one that is not active, INVALID_ARGUMENT for an
 *   unknown network, PERMISSION_DENIED, RESOURCE_EXHAUSTED over the rate, UNAVAILABLE while keys cannot be looked up
 */
export async function admitCaller(
  { networkDefault }: AdmissionOptions,
  access: Pick<Access, "on" | "meter">,
  context: CallContext,
): Promise<GeyserCaller> {
  const { headers, clientAddress } = context;
  const token = headers.get("x-token");
  const presented = token === null || token === "" ? presentedKey(headers, "") : token;
  if (presented === null) throw unauthenticated("INVALID_API_KEY");
  const network = networkNamed({ headers, target: "" }, "") ?? networkDefault;
  if (network === "unknown") throw new GrpcStatusError("INVALID_ARGUMENT", "There is no network of that name");
  const caller = { clientAddress, origin: headers.get("origin"), referer: headers.get("referer") };
  const ask = async (): Promise<Grant | GrpcStatusError> => {
    const grant = await access.on(network).admit(presented, caller, readPermission);
    if (!grant.ok) return faults[grant.code](grant.code);
    return isIncluded(grant.tier) ? grant : tooLow(grant.tier);
  };
  const grant = await ask();
  if (grant instanceof GrpcStatusError) throw grant;
  const decision = await access.meter(grant.buckets.requests);
  if (!decision.allowed) {
    const details = { retryAfterSeconds: decision.retryAfterSeconds, publicCode: "RATE_LIMIT_EXCEEDED" };
    throw new GrpcStatusError("RESOURCE_EXHAUSTED", errorTable.RATE_LIMIT_EXCEEDED.text, details);
  }
  return { grant, network, recheck: ask };
}

const isIncluded = (tier: PlatformTier): boolean =>
  platformTiers.indexOf(tier) >= platformTiers.indexOf(yellowstoneTierMin);

function tooLow(tier: PlatformTier): GrpcStatusError {
  const text = `Yellowstone gRPC needs the tier ${platformTierLimits[yellowstoneTierMin].name}; the account's is ${platformTierLimits[tier].name}`;
  return new GrpcStatusError("PERMISSION_DENIED", text, { publicCode: "TIER_REQUIRED" });
}
