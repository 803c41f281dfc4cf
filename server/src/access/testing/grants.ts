import { compileAddressSet } from "@sluice/lib";
import type { Grant } from "../../keys/index.ts";
import { Access, type AccessDependencies } from "../access.ts";

/** What a Free key of one account may do, with a rate that no test reaches by accident. */
export const grantOfTests: Grant = {
  ok: true,
  keyId: "key_1",
  accountId: "acc_1",
  tier: "free",
  tiers: { platform: "free", oracle: "community", "oracle-v2": "community" },
  permissions: ["read", "transactions:write", "bundles:write"],
  methods: null,
  restrictions: { networks: null, domains: null, addresses: null },
  buckets: {
    requests: [{ bucket: "requests:acc_1", requestsPerSecond: 1_000, burst: 2_000 }],
    send: [{ bucket: "send:acc_1", requestsPerSecond: 500, burst: 1_000 }],
    messages: [{ bucket: "messages:acc_1", requestsPerSecond: 10_000, burst: 20_000 }],
  },
  enhanced: { isAllowed: true, buckets: [{ bucket: "enhanced:acc_1", requestsPerSecond: 1_000, burst: 2_000 }] },
  creditsMonthly: null,
  expiresAt: null,
};

const unexpected = (what: string) => (): never => {
  throw new Error(`${what} was not expected to be asked`);
};

type PlayedKeys = Omit<AccessDependencies["keys"], "remembered"> & Partial<AccessDependencies["keys"]>;

/** Keys of a test, none of which is in memory unless it says so. */
const keysOf = (keys: PlayedKeys): AccessDependencies["keys"] => ({
  authenticate: (presented) => keys.authenticate(presented),
  remembered: (presented) => keys.remembered?.(presented) ?? null,
  checkRestrictions: (grant, request) => keys.checkRestrictions(grant, request),
});

/** Access over the parts that a test plays; a part that it does not play throws when it is asked. */
export function accessOfTests(played: {
  readonly keys?: PlayedKeys;
  readonly limits?: AccessDependencies["limits"];
  readonly credits?: AccessDependencies["credits"];
}): Access {
  return new Access(
    { trustedProxies: compileAddressSet([]) },
    {
      keys:
        played.keys === undefined
          ? {
              authenticate: unexpected("a key"),
              remembered: () => null,
              checkRestrictions: unexpected("a restriction"),
            }
          : keysOf(played.keys),
      limits: played.limits ?? { take: unexpected("a bucket") },
      credits: played.credits ?? {
        take: unexpected("credits"),
        refund: unexpected("credits"),
        balance: unexpected("credits"),
      },
    },
  );
}
