import type { Clock } from "@sluice/lib";
import type { Access } from "../../../access/index.ts";
import { accessOfTests, grantOfTests } from "../../../access/testing/grants.ts";
import type { Grant, KeyRefusal } from "../../../keys/index.ts";
import { createLimits } from "../../../limits/index.ts";

/** Messages a second that an account may have. */
export interface PlayedAccount {
  messagesPerSecond: number;
  burst: number;
  isRevoked: boolean;
}

/** The accounts of a world, by their keys. */
export type PlayedAccounts = ReadonlyMap<string, PlayedAccount>;

/** Access as one process has it: its limits are its own. */
export function accountsAccess(accounts: PlayedAccounts, clock: Clock): Access {
  return accessOfTests({
    keys: {
      authenticate: (presented) => grantOf(accounts, presented ?? ""),
      checkRestrictions: () => null,
    },
    limits: createLimits({}, { clock }),
    credits: {
      take: () => true,
      refund: () => undefined,
      balance: () => ({ remaining: 0n, resetsAtMs: 0 }) as never,
    },
  });
}

function grantOf(accounts: PlayedAccounts, key: string): Grant | KeyRefusal {
  const account = accounts.get(key);
  if (account === undefined || account.isRevoked) return { ok: false, code: "KEY_INACTIVE" };
  const { messagesPerSecond: requestsPerSecond, burst } = account;
  return {
    ...grantOfTests,
    keyId: key,
    accountId: `account of ${key}`,
    tier: "professional",
    buckets: { ...grantOfTests.buckets, messages: [{ bucket: `messages:${key}`, requestsPerSecond, burst }] },
  };
}
