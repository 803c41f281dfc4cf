import { z } from "zod";
import { networks } from "../tiers.ts";
import { count } from "./primitives.ts";

/** The state of the server or of a part of it. */
const healthStatuses = ["ok", "degraded", "down"] as const;

/** The answer of `GET /health`, with 200 while the process lives. */
export const healthRecord = z
  .object({
    status: z.enum(healthStatuses).meta({
      description: "`down` while calls are refused, whatever the reason, and once the server ends",
    }),
    version: z.string().meta({ example: "0.1.0" }),
    uptimeSeconds: count,
    parts: z.record(z.string(), z.enum([...healthStatuses, "standby", "maintenance"])).meta({
      description:
        "`server`; `nodes` of the default network, and `nodes.<network>` of each other one that has nodes; `credits`: whether they can be had; `sharing`: whether what is counted is shared with all processes on the database; `state`, `ledger` and `hot`: whether the stores answer; `engine` stands by while another process runs it; `oracle`: `down` without any price; `resolver`: `down` while its node does not answer",
      example: { server: "ok", nodes: "ok", "nodes.testnet": "ok", credits: "ok", sharing: "ok", engine: "standby" },
    }),
  })
  .meta({ id: "Health", description: "The state of the server" });

export type HealthRecord = z.infer<typeof healthRecord>;

/** The answer of `GET /ready`: 200 while what was asked for is served, else 503 with the reasons. */
export const readyRecord = healthRecord
  .extend({
    status: z.enum(healthStatuses).meta({ description: "`down` while what was asked for is not served" }),
    roles: z.record(z.string(), z.boolean()).meta({
      description: "Each role that this process runs, and whether it serves now",
      example: { gateway: true, engine: false },
    }),
    reasons: z.array(z.object({ role: z.string(), part: z.string(), is: z.string(), message: z.string() })).meta({
      description: "Why a role does not serve, in words for an operator",
      example: [{ role: "engine", part: "engine", is: "standby", message: "another process runs the engine" }],
    }),
  })
  .meta({ id: "Ready", description: "Whether a role of the server serves" });

export type ReadyRecord = z.infer<typeof readyRecord>;

/** How the log of one network's chain does; slots are null before they are known. */
export interface IngestRecord {
  readonly network: string;
  readonly state: string;
  /** The newest confirmed slot that nodes show. */
  readonly head: number | null;
  /** The newest blocks that followers of the log get. */
  readonly confirmed: number | null;
  readonly finalized: number | null;
  readonly lag_slots: number | null;
  /** Slots that no node gives and that a later block needs. */
  readonly unavailable_slots: number;
  /** Why the log is not open; null while it is. */
  readonly fault: string | null;
  readonly sources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly up: boolean;
    /** False for ten minutes after two other nodes contradicted it. */
    readonly trusted: boolean;
  }[];
}

/** Slots that the operator gives up, on the socket for commands alone; decimal text. */
export const ingestSkip = z.strictObject({
  network: z.enum(networks),
  from: z.string().regex(/^(0|[1-9]\d{0,18})$/),
  to: z.string().regex(/^(0|[1-9]\d{0,18})$/),
});

/** Slots that an operator wants in the ledger, on the socket for commands alone; decimal text. */
export const backfillRequest = ingestSkip.extend({});

/** An order of slots that the ledger is to hold. */
export interface BackfillRecord {
  readonly id: string;
  readonly network: string;
  /** The first and the last slot, decimal text. */
  readonly from: string;
  readonly to: string;
  readonly state: "active" | "done" | "cancelled";
  /** How many slots it has, and how many of them are held, skipped ones among them. */
  readonly slots: number;
  readonly held: number;
  /** How many others are older than the ledger keeps blocks: they are not read, since they would not stay. */
  readonly too_old: number;
  /** Null where another process fills, or nobody does. */
  readonly slots_per_second: number | null;
  readonly eta_seconds: number | null;
  /** Why nothing is filled now. */
  readonly fault: string | null;
}

/** Slots whose transactions are parsed again, on the socket for commands alone; all that are held without a bound. */
export const reparseRequest = z.strictObject({
  /** May be left out where the server has one network. */
  network: z.enum(networks).optional(),
  from: ingestSkip.shape.from.optional(),
  to: ingestSkip.shape.to.optional(),
});

/** Slots that are parsed again: an order, or (id `version`) all of a network for a version of the parser. */
export interface ReparseRecord {
  readonly id: string;
  readonly network: string;
  /** The first and the last slot, decimal text. */
  readonly from: string;
  readonly to: string;
  readonly state: "active" | "done" | "cancelled";
  readonly parser_version: number;
  /** How many slots it has, and how many of them are done. */
  readonly slots: number;
  readonly done: number;
  /** Transactions that were parsed for it, decimal text. */
  readonly transactions: string;
  /** Null where another process parses, or nobody does. */
  readonly transactions_per_second: number | null;
  readonly eta_seconds: number | null;
  /** Why nothing is parsed now. */
  readonly fault: string | null;
}

/** What `sluice status` shows of a running server; it is answered on the socket for commands alone. */
export interface ServerStatus {
  readonly status: HealthRecord["status"];
  readonly version: string;
  readonly mode: "dev" | "serve";
  readonly pid: number;
  readonly uptime_seconds: number;
  readonly roles: readonly string[];
  readonly parts: HealthRecord["parts"];
  /** Why roles of this process do not serve now. */
  readonly reasons: ReadyRecord["reasons"];
  /** The processes on its database, itself included; empty where it is the only one that can be. */
  readonly processes: readonly {
    readonly id: string;
    readonly version: string;
    readonly roles: readonly string[];
    readonly since: string;
  }[];
  readonly endpoints: readonly { readonly name: string; readonly url: string }[];
  /** Of each network that has nodes. */
  readonly nodes: readonly { readonly network: string; readonly serving: number; readonly of: number }[];
  /** Each network that this process reads blocks of; empty without the role ingest. */
  readonly ingest: readonly IngestRecord[];
  /** Absent where one process serves alone. */
  readonly workers?: WorkersReport["workers"];
}

/** The workers of a host, answered on its socket for commands alone. */
export interface WorkersReport {
  readonly workers: readonly {
    /** 0 runs the roles other than the gateway. */
    readonly worker: number;
    /** Null while it is being started again. */
    readonly pid: number | null;
    /** `open` listens and does not serve. */
    readonly state: "starting" | "open" | "serving";
    readonly uptime_seconds: number;
    /** How often it ended by itself, or could not be started again. */
    readonly failures: number;
  }[];
  /** The last restart of all of them, one at a time; null when there was none. */
  readonly restart: {
    readonly state: "running" | "done" | "stopped";
    readonly restarted: readonly number[];
    /** Why it stopped before its end. */
    readonly reason: string | null;
  } | null;
}
