import { always } from "./key-definition.ts";
import { integer } from "./parsers.ts";

const longestMs = 300_000;

/** How the server ends, by the names that operators set. */
export const drainKeys = {
  DRAIN_DELAY_MS: always(
    "Server",
    "server.drain_delay_ms",
    "0",
    integer(0, longestMs),
    "Milliseconds from SIGTERM on in which `/ready` says 503 and calls are still taken, so that balancers look elsewhere first.",
  ),
  DRAIN_MS: always(
    "Server",
    "server.drain_ms",
    "10000",
    integer(0, longestMs),
    "Milliseconds that calls under way may take once no more are taken; then they are cut.",
  ),
} as const;
