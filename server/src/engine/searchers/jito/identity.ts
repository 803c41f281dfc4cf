import type { Permission } from "@sluice/contract";
import type { Searcher } from "../../bundle.ts";
import { type CallContext, CallFault } from "../../calls/index.ts";
import type { EngineKeys, EngineLimits } from "../../interfaces.ts";
import type { Bearers } from "../../sign-in/index.ts";
import { rateLimited } from "../block-engine.ts";
import { admitKey } from "../key-admission.ts";
import type { LinkedKeys } from "./interfaces.ts";

export interface IdentityDependencies {
  readonly keys: EngineKeys;
  readonly limits: EngineLimits;
  readonly bearers: Bearers;
  readonly linked: LinkedKeys;
}

export interface JitoCaller {
  readonly searcher: Searcher;
  /** Null while the caller may keep a stream. */
  recheck(): Promise<CallFault | null>;
}

/**
 * Keys cost nothing to make, so those of no account share a bucket by their client's address beside their own: bundles a
 * second, and at once. It is that of the second tier, since several searchers may sit behind one address.
 */
const unlinkedPerAddress = { perSecond: 20, burst: 40 } as const;

/**
 * Who calls Jito's service: the holder of an API key in `x-api-key`, else of an access token of Jito's own sign-in, whose
 * key counts as its account where it is linked to one. Throws UNAUTHENTICATED where the call names nobody.
 */
export async function identify(
  { keys, bearers, linked }: IdentityDependencies,
  context: CallContext,
  permission: Permission,
): Promise<JitoCaller> {
  if ((context.headers.get("x-api-key") ?? "") !== "") return await admitKey(keys, context, permission);
  const { pubkey } = await bearers.signedIn(context, "SEARCHER", "UNAUTHENTICATED");
  const accountId = await linked.accountOfPubkey(pubkey);
  const searcher = { id: accountId ?? `pubkey:${pubkey}`, accountId, pubkey };
  const recheck = async (): Promise<CallFault | null> => {
    if ((await linked.accountOfPubkey(pubkey)) === accountId) return null;
    return new CallFault("PERMISSION_DENIED", "The account of this key has changed: subscribe again.");
  };
  return { searcher, recheck };
}

/** Takes a token of the address's bucket for a searcher of no account. Throws RESOURCE_EXHAUSTED where it is empty. */
export async function checkAddress(limits: EngineLimits, searcher: Searcher, context: CallContext): Promise<void> {
  if (searcher.accountId !== null) return;
  const { perSecond, burst } = unlinkedPerAddress;
  const bucket = `engine-unlinked:${context.clientAddress}`;
  const { allowed, retryAfterSeconds } = await limits.take(bucket, perSecond, burst);
  if (!allowed) throw rateLimited(retryAfterSeconds);
}
