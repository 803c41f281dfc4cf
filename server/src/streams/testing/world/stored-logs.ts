import { eventually } from "@sluice/lib/testing";
import { openChainLog } from "../../../log/index.ts";
import { removeStream } from "../../../log/testing/nats-servers.ts";
import { observed, standardOptions, temporaryDirectory } from "../../../log/testing/segment-logs.ts";
import type { LogDriver } from "./streams-logs.ts";

const openMs = 30_000;

/** Logs in segment files, of which a directory has one: the hosts of a world share it. */
export function segmentLogs(): LogDriver {
  return {
    isReal: true,
    create: async (chain) => {
      const directory = temporaryDirectory();
      const options = { ...standardOptions, chain, dataDirectory: directory.path, tailBytesMax: 20_000 };
      const log = await openChainLog(options, observed().dependencies);
      const shared = Object.create(log, { [Symbol.asyncDispose]: { value: async () => undefined } });
      for (const name of methods) Object.defineProperty(shared, name, { value: log[name].bind(log) });
      return {
        open: async () => ({ log: shared, kill: () => undefined }),
        waiting: 0,
        stall: () => undefined,
        trimBelow: () => false,
        [Symbol.asyncDispose]: async () => {
          await log[Symbol.asyncDispose]();
          directory[Symbol.dispose]();
        },
      };
    },
  };
}

const methods = [
  "append",
  "follow",
  "placeOf",
  "cursorAfter",
  "earliest",
  "latest",
  "find",
  "read",
  "holes",
  "reached",
] as const;

/** Logs in a stream of a server, of which each host has a view of its own. */
export function jetstreamLogs(url: string, name: string): LogDriver {
  let chains = 0;
  return {
    isReal: true,
    create: async (chain) => {
      chains += 1;
      const prefix = `streams-${name}-${chains}`;
      const directory = temporaryDirectory();
      const logUrl = `${url}?prefix=${prefix}`;
      const options = { ...standardOptions, chain, dataDirectory: directory.path, logUrl, tailBytesMax: 20_000 };
      return {
        open: async () => {
          const log = await eventually("the log", () => openChainLog(options, observed().dependencies), openMs);
          return { log, kill: () => undefined };
        },
        waiting: 0,
        stall: () => undefined,
        trimBelow: () => false,
        [Symbol.asyncDispose]: async () => {
          directory[Symbol.dispose]();
          await removeStream(url, `${prefix}-chain-devnet`);
        },
      };
    },
  };
}
