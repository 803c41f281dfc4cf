import type { Network } from "@sluice/contract/tiers";
import type { Hono } from "hono";
import { type EnhancedApp, enhancedPath } from "../enhanced/index.ts";
import type { RestEnvironment } from "../http/index.ts";
import { type Grant, grantOf } from "../keys/index.ts";
import type { AccountRecord } from "../state/index.ts";
import type { ConsoleSessions } from "./console-session.ts";

/** The enhanced API for people who are signed in; enhanced has this shape. */
export type ConsoleEnhanced = Pick<EnhancedApp, "fetchFor">;

interface EnhancedRouteDependencies {
  readonly enhanced: ConsoleEnhanced;
  readonly network: Network;
  readonly sessions: Pick<ConsoleSessions, "admitKey">;
  readonly account: (id: string) => Promise<AccountRecord>;
}

const root = "/api/v1/console/enhanced";

/** What of an answer a page needs; those that let pages of other origins read it are left out. */
const answerHeaders = ["Content-Type", "X-Cache-Status", "X-Data-Since", "X-Error-Code", "Retry-After"];

/**
 * Adds the paths of the enhanced API, in its envelope, as the key sees them that a person signed in with: with its
 * access and rate, charged to its account.
 */
export function addEnhancedRoutes(
  app: Hono<RestEnvironment>,
  { enhanced, network, sessions, account }: EnhancedRouteDependencies,
): void {
  app.on(["GET", "POST"], `${root}/*`, async (context) => {
    const { accountId, grant } = await sessions.admitKey(context);
    const viewer = { network, grant: grant ?? openGrant(await account(accountId)) };
    const { raw } = context.req;
    const url = new URL(raw.url);
    url.pathname = `${enhancedPath}${url.pathname.slice(root.length)}`;
    const { status, headers, body } = await enhanced.fetchFor(viewer, new Request(url, raw));
    const kept = new Headers({ "Cache-Control": "no-store" });
    for (const name of answerHeaders) {
      const value = headers.get(name);
      if (value !== null) kept.set(name, value);
    }
    return new Response(body, { status, headers: kept });
  });
}

/** What a person may who needs no key, on a development machine: what a new key of the account may. */
function openGrant(account: AccountRecord): Grant {
  const bounds = { requestsPerSecond: null, enhancedRequestsPerSecond: null, expiresAt: null };
  const restrictions = { networks: [], domains: [], ipRanges: [] };
  const rights = { permissions: ["read"] as const, methods: [], restrictions, enhanced: true };
  return grantOf({ id: "", accountId: account.id, ...rights, ...bounds }, account);
}
