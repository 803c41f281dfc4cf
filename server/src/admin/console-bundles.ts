import { SluiceError } from "@sluice/contract/errors";
import type { ConsoleBundleStory, ConsoleBundles } from "@sluice/contract/schemas";
import type { Hono } from "hono";
import type { RestEnvironment } from "../http/index.ts";
import { type ConsoleCaller, type ConsoleViewer, callerOf } from "./console-session.ts";
import { type LiveOptions, liveStream } from "./live-stream.ts";

/** What a viewer may see of the block engine. */
export interface ConsoleBundlesSource {
  list(viewer: ConsoleViewer): Promise<ConsoleBundles>;
  /** Null for a bundle that is not known, or not the viewer's; who operates sees everybody's. */
  story(viewer: ConsoleViewer, id: string): Promise<ConsoleBundleStory | null>;
}

export interface ConsoleBundlesDependencies {
  /** Null where this process runs no block engine. */
  readonly bundles: ConsoleBundlesSource | null;
  readonly viewer: (caller: ConsoleCaller) => Promise<ConsoleViewer>;
}

/** Adds an account's bundles as they are, once and live, for people who are signed in. */
export function addBundlesRoutes(
  app: Hono<RestEnvironment>,
  options: LiveOptions,
  dependencies: ConsoleBundlesDependencies,
): void {
  const open = async (caller: ConsoleCaller): Promise<[ConsoleBundlesSource, ConsoleViewer]> => {
    const viewer = await dependencies.viewer(caller);
    if (dependencies.bundles === null) {
      throw new SluiceError("NOT_FOUND", { message: "This server runs no block engine" });
    }
    return [dependencies.bundles, viewer];
  };
  const read = async (caller: ConsoleCaller): Promise<ConsoleBundles> => {
    const [source, viewer] = await open(caller);
    return await source.list(viewer);
  };
  app.get("/api/v1/console/bundles", async (context) => {
    return context.json(await read(callerOf(context)), 200, { "Cache-Control": "no-store" });
  });
  app.get("/api/v1/console/bundles/live", async (context) => {
    const caller = callerOf(context);
    await read(caller);
    return liveStream(options, () => read(caller));
  });
  app.get("/api/v1/console/bundles/:id", async (context) => {
    const [source, viewer] = await open(callerOf(context));
    const story = await source.story(viewer, context.req.param("id"));
    if (story === null) throw new SluiceError("NOT_FOUND", { message: "This account has no such bundle" });
    return context.json(story, 200, { "Cache-Control": "no-store" });
  });
}
