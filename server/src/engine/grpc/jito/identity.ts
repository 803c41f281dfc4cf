import { engineLimits } from "@sluice/contract/engine";
import type { Permission } from "@sluice/contract/tiers";
import type { RateLimiter } from "../../../limits/index.ts";
import { type CallContext, GrpcStatusError } from "../../../net/index.ts";
import type { Searcher } from "../../model/bundle.ts";
import type { Bearers } from "../../sign-in/index.ts";
import { rateLimited } from "../block-engine.ts";
import { admitKey, type KeyAdmissionDependencies } from "../key-admission.ts";
import { type StreamHolder, streamsPerSearcherMax } from "../open-streams.ts";
import type { LinkedKeys } from "./interfaces.ts";

export interface IdentityDependencies extends KeyAdmissionDependencies {
  readonly limits: RateLimiter;
  readonly bearers: Bearers;
  readonly linked: LinkedKeys;
}

export interface JitoCaller {
  readonly searcher: Searcher;
  /** Null while the caller may keep a stream. */
  recheck(): Promise<GrpcStatusError | null>;
}

/**
 * Keys cost nothing to make, so those of no account share a bucket by their client's address beside their own: bundles
 * a second, and at once. It is that of the second tier, since several searchers may sit behind one address.
 */
const unlinkedPerAddress = { perSecond: 20, burst: 40 } as const;
/** Their reads share what REST gives one address. */
const readsPerAddress = engineLimits.restRequestsPerSecondPerAddress;
/** Their streams that one address may have open at once, over all such keys. */
const streamsPerAddressMax = 64;

/**
 * Who calls Jito's service: the holder of an API key in `x-api-key`, else of an access token of Jito's own sign-in,
 * whose key counts as its account where it is linked to one. Throws UNAUTHENTICATED where the call names no one.
 */
export async function identify(
  dependencies: IdentityDependencies,
  context: CallContext,
  permission: Permission,
): Promise<JitoCaller> {
  if ((context.headers.get("x-api-key") ?? "") !== "") return await admitKey(dependencies, context, permission);
  const { bearers, linked, records } = dependencies;
  records.begin(context);
  const { pubkey } = await bearers.signedIn(context, "SEARCHER", "UNAUTHENTICATED");
  const accountId = await linked.accountOfPubkey(pubkey);
  if (accountId !== null) records.identified(context, { accountId, keyId: "" });
  const searcher = { id: accountId ?? `pubkey:${pubkey}`, accountId, pubkey };
  const recheck = async (): Promise<GrpcStatusError | null> => {
    if ((await linked.accountOfPubkey(pubkey)) === accountId) return null;
    return new GrpcStatusError("PERMISSION_DENIED", "The account of this key has changed: subscribe again.");
  };
  return { searcher, recheck };
}

/** Takes a token of the address's bucket for a searcher of no account. Throws RESOURCE_EXHAUSTED where it is empty. */
export async function checkAddress(limits: RateLimiter, searcher: Searcher, context: CallContext): Promise<void> {
  if (searcher.accountId !== null) return;
  const { perSecond, burst } = unlinkedPerAddress;
  await take(limits, `engine-unlinked:${context.clientAddress}`, perSecond, burst);
}

/** A read takes a token of its searcher's bucket, and of its address's where the searcher has no account. */
export async function checkReads(limits: RateLimiter, searcher: Searcher, context: CallContext): Promise<void> {
  if (searcher.accountId === null) {
    await take(limits, `engine-unlinked-reads:${context.clientAddress}`, readsPerAddress, readsPerAddress);
  }
  await take(limits, `engine-jito:${searcher.id}`, readsPerAddress, readsPerAddress);
}

/** Under which names a stream counts, each with the streams that it may have open. */
export function streamHolders(searcher: Searcher, context: CallContext): readonly StreamHolder[] {
  const own = { name: searcher.id, max: streamsPerSearcherMax };
  if (searcher.accountId !== null) return [own];
  return [own, { name: `address:${context.clientAddress}`, max: streamsPerAddressMax }];
}

async function take(limits: RateLimiter, bucket: string, perSecond: number, burst: number): Promise<void> {
  const { allowed, retryAfterSeconds } = await limits.take(bucket, perSecond, burst);
  if (!allowed) throw rateLimited(retryAfterSeconds);
}
