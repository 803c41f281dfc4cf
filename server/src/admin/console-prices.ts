import { SluiceError } from "@sluice/contract/errors";
import type { ConsolePrices } from "@sluice/contract/schemas";
import type { Hono } from "hono";
import type { RestEnvironment } from "../http/index.ts";
import { type ConsoleCaller, callerOf } from "./console-session.ts";
import { type LiveOptions, liveStream } from "./live-stream.ts";

export interface ConsolePricesDependencies {
  /** Null where this process runs no oracle. */
  readonly prices: (() => ConsolePrices) | null;
  readonly signedIn: (caller: ConsoleCaller) => Promise<unknown>;
}

/** Adds the prices as they are, once and live, for people who are signed in. */
export function addPricesRoutes(
  app: Hono<RestEnvironment>,
  options: LiveOptions,
  dependencies: ConsolePricesDependencies,
): void {
  const read = async (caller: ConsoleCaller): Promise<ConsolePrices> => {
    await dependencies.signedIn(caller);
    if (dependencies.prices === null) throw new SluiceError("NOT_FOUND", { message: "This server runs no oracle" });
    return dependencies.prices();
  };
  app.get("/api/v1/console/prices", async (context) => {
    return context.json(await read(callerOf(context)), 200, { "Cache-Control": "no-store" });
  });
  app.get("/api/v1/console/prices/live", async (context) => {
    const caller = callerOf(context);
    await read(caller);
    return liveStream(options, () => read(caller));
  });
}
