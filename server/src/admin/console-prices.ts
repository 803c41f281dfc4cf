import { SluiceError } from "@sluice/contract/errors";
import type { ConsolePrices } from "@sluice/contract/schemas";
import type { Hono } from "hono";
import type { RestEnvironment } from "../http/index.ts";
import type { ConsoleSessions } from "./console-session.ts";
import type { LiveStreams } from "./live-stream.ts";

export interface ConsolePricesDependencies {
  /** Null where this process runs no oracle. */
  readonly prices: (() => ConsolePrices) | null;
  readonly sessions: Pick<ConsoleSessions, "admit" | "admitAgain">;
  readonly live: LiveStreams;
}

/** Adds the prices as they are, once and live, for people who are signed in. */
export function addPricesRoutes(
  app: Hono<RestEnvironment>,
  { prices, sessions, live }: ConsolePricesDependencies,
): void {
  const read = (): ConsolePrices => {
    if (prices === null) throw new SluiceError("NOT_FOUND", { message: "This server runs no oracle" });
    return prices();
  };
  app.get("/api/v1/console/prices", async (context) => {
    await sessions.admit(context);
    return context.json(read(), 200, { "Cache-Control": "no-store" });
  });
  app.get("/api/v1/console/prices/live", async (context) => {
    const { accountId } = await sessions.admit(context);
    read();
    return live.open({ holder: accountId, method: context.req.method }, async () => {
      await sessions.admitAgain(context);
      return read();
    });
  });
}
