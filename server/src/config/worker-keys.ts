import { always } from "./key-definition.ts";
import { integer } from "./parsers.ts";

/** More processes than a host has use for: each has memory, connections to the stores and views of the nodes. */
export const workersMax = 64;

/** How many processes of this host serve the gateway, by the name that operators set. */
export const workerKeys = {
  WORKERS: always(
    "Server",
    "server.workers",
    "1",
    integer(1, workersMax),
    "Processes that serve the gateway's ports together. More than one need `DATABASE_URL`, `CLICKHOUSE_URL` and `REDIS_URL`, in which they meet; the other roles then have a process of their own. `dev` is one process.",
  ),
} as const;
