import { SluiceError } from "@sluice/contract/errors";
import { oracleTierTerms } from "@sluice/contract/oracle";
import type { ConsolePrices } from "@sluice/contract/schemas";
import type { Hono } from "hono";
import type { RestEnvironment } from "../http/index.ts";
import type { AccountRecord } from "../state/index.ts";
import type { ConsoleSessions, ConsoleViewer } from "./console-session.ts";
import type { LiveStreams } from "./live-stream.ts";

export interface ConsolePricesDependencies {
  /** Null where this process runs no oracle. */
  readonly prices: ((updateFrequencySeconds: number) => ConsolePrices) | null;
  readonly account: (id: string) => Promise<Pick<AccountRecord, "tiers">>;
  readonly sessions: Pick<ConsoleSessions, "admit" | "admitAgain">;
  readonly live: LiveStreams;
}

/**
 * Adds the prices, once and live, for people who are signed in: as their account's tier is served them, and as they are
 * for who operates the server.
 */
export function addPricesRoutes(
  app: Hono<RestEnvironment>,
  { prices, sessions, live, account }: ConsolePricesDependencies,
): void {
  const read = async ({ accountId, operates }: ConsoleViewer): Promise<ConsolePrices> => {
    if (prices === null) throw new SluiceError("NOT_FOUND", { message: "This server runs no oracle" });
    const tier = operates ? "ultra" : (await account(accountId)).tiers.oracle;
    return prices(oracleTierTerms[tier].updateFrequencySeconds);
  };
  app.get("/api/v1/console/prices", async (context) => {
    return context.json(await read(await sessions.admit(context)), 200, { "Cache-Control": "no-store" });
  });
  app.get("/api/v1/console/prices/live", async (context) => {
    const viewer = await sessions.admit(context);
    await read(viewer);
    return live.open({ holder: viewer.accountId, method: context.req.method }, async () =>
      read(await sessions.admitAgain(context)),
    );
  });
}
