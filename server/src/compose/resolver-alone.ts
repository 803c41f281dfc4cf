import { systemClock, systemRandom } from "@sluice/lib";
import type { Config } from "../config/index.ts";
import { createLog, createMetrics, createServerEvents } from "../observe/index.ts";
import { type OpenDoor, resolverUrl } from "./doors.ts";
import { openResolver } from "./resolver.ts";

/** The resolver by itself: one door, one node, no store. */
export async function composeResolver(
  config: Config & { readonly resolver: { readonly chainRpcUrl: string } },
): Promise<AsyncDisposable & { readonly doors: readonly OpenDoor[] }> {
  const log = createLog({ level: config.logLevel, destination: "stderr" });
  await using opening = new AsyncDisposableStack();
  const metrics = opening.use(createMetrics({}, { clock: systemClock }));
  const events = createServerEvents({ log, metrics });
  openResolver(config, {
    clock: systemClock,
    random: systemRandom,
    log,
    metrics,
    events,
    resources: opening,
  });
  const resources = opening.move();
  return {
    doors: [{ name: "resolver", url: resolverUrl(config), protocol: "names, HTTP" }],
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
