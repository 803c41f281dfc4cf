import { SluiceError } from "@sluice/contract/errors";
import type { Network } from "@sluice/contract/tiers";
import type { Hono } from "hono";
import type { RestEnvironment } from "../http/index.ts";
import type { AccountRecord } from "../state/index.ts";
import { addWebhookRoutes, type DeliveryManagement, type WebhookManagement } from "../webhooks/index.ts";
import type { ConsoleSessions } from "./console-session.ts";

/** Webhooks for people who are signed in, as for the key that they signed in with. */
export interface ConsoleWebhooks {
  readonly webhooks: WebhookManagement;
  /** Null where this server delivers nothing. */
  readonly deliveries: DeliveryManagement | null;
}

interface WebhookRouteDependencies {
  readonly parts: ConsoleWebhooks;
  readonly network: Network;
  readonly sessions: Pick<ConsoleSessions, "admitKey">;
  readonly account: (id: string) => Promise<AccountRecord>;
}

/** Adds the management of webhooks under the console's own path. */
export function addConsoleWebhooks(
  app: Hono<RestEnvironment>,
  { parts, network, sessions, account }: WebhookRouteDependencies,
): void {
  addWebhookRoutes(app, {
    ...parts,
    root: "/api/v1/console/webhooks",
    networkDefault: network,
    admit: async (context, oneOf) => {
      const { accountId, grant } = await sessions.admitKey(context);
      const lacks = grant !== null && !oneOf.some((permission) => grant.permissions.includes(permission));
      if (lacks) {
        const message = `The key that you signed in with needs the permission ${oneOf.join(" or ")}`;
        throw new SluiceError("PERMISSION_DENIED", { message });
      }
      const { tiers } = await account(accountId);
      const allowed = grant?.restrictions.networks ?? null;
      return { accountId, tier: tiers.platform, allowsNetwork: (asked) => allowed === null || allowed.has(asked) };
    },
  });
}
