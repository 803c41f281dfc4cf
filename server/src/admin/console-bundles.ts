import { type ConsoleBundles, SluiceError } from "@sluice/contract";
import type { Hono } from "hono";
import type { RestEnvironment } from "../http/index.ts";
import { type ConsoleCaller, type ConsoleViewer, callerOf } from "./console-session.ts";
import { liveStream } from "./live-stream.ts";

export interface ConsoleBundlesDependencies {
  /** What the viewer may see of the block engine; null where this process runs none. */
  readonly bundles: ((viewer: ConsoleViewer) => Promise<ConsoleBundles>) | null;
  readonly viewer: (caller: ConsoleCaller) => Promise<ConsoleViewer>;
}

/** Adds an account's bundles as they are, once and live, for people who are signed in. */
export function addBundlesRoutes(
  app: Hono<RestEnvironment>,
  options: { readonly everyMs: number; readonly closing: AbortSignal },
  dependencies: ConsoleBundlesDependencies,
): void {
  const read = async (caller: ConsoleCaller): Promise<ConsoleBundles> => {
    const viewer = await dependencies.viewer(caller);
    if (dependencies.bundles === null) {
      throw new SluiceError("NOT_FOUND", { message: "This server runs no block engine" });
    }
    return await dependencies.bundles(viewer);
  };
  app.get("/api/v1/console/bundles", async (context) => {
    return context.json(await read(callerOf(context)), 200, { "Cache-Control": "no-store" });
  });
  app.get("/api/v1/console/bundles/live", async (context) => {
    const caller = callerOf(context);
    await read(caller);
    return liveStream(options, () => read(caller));
  });
}
