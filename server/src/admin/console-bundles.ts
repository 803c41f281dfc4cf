import { SluiceError } from "@sluice/contract/errors";
import type { ConsoleBundleStory, ConsoleBundles } from "@sluice/contract/schemas";
import type { Hono } from "hono";
import type { RestEnvironment } from "../http/index.ts";
import type { ConsoleSessions, ConsoleViewer } from "./console-session.ts";
import type { LiveStreams } from "./live-stream.ts";

/** What a viewer may see of the block engine. */
export interface ConsoleBundlesSource {
  list(viewer: ConsoleViewer): Promise<ConsoleBundles>;
  /** Null for a bundle that is not known, or not the viewer's; who operates sees everybody's. */
  story(viewer: ConsoleViewer, id: string): Promise<ConsoleBundleStory | null>;
}

export interface ConsoleBundlesDependencies {
  /** Null where this process runs no block engine. */
  readonly bundles: ConsoleBundlesSource | null;
  readonly sessions: Pick<ConsoleSessions, "admit" | "admitAgain">;
  readonly live: LiveStreams;
}

/** Adds an account's bundles as they are, once and live, for people who are signed in. */
export function addBundlesRoutes(
  app: Hono<RestEnvironment>,
  { bundles, sessions, live }: ConsoleBundlesDependencies,
): void {
  const source = (): ConsoleBundlesSource => {
    if (bundles !== null) return bundles;
    throw new SluiceError("NOT_FOUND", { message: "This server runs no block engine" });
  };
  app.get("/api/v1/console/bundles", async (context) => {
    const viewer = await sessions.admit(context);
    return context.json(await source().list(viewer), 200, { "Cache-Control": "no-store" });
  });
  app.get("/api/v1/console/bundles/live", async (context) => {
    const viewer = await sessions.admit(context);
    await source().list(viewer);
    const read = async () => await source().list(await sessions.admitAgain(context));
    return live.open({ holder: viewer.accountId, method: context.req.method }, read);
  });
  app.get("/api/v1/console/bundles/:id", async (context) => {
    const viewer = await sessions.admit(context);
    const story = await source().story(viewer, context.req.param("id"));
    if (story === null) throw new SluiceError("NOT_FOUND", { message: "This account has no such bundle" });
    return context.json(story, 200, { "Cache-Control": "no-store" });
  });
}
