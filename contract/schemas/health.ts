import { z } from "zod";
import { count } from "./primitives.ts";

/** The state of the server or of a part of it. */
const healthStatuses = ["ok", "degraded", "down"] as const;

/** The answer of `GET /health`, with 200 while the process lives, and of `GET /ready`, 503 while `status` is `down`. */
export const healthRecord = z
  .object({
    status: z.enum(healthStatuses).meta({
      description: "`down` while calls are refused, whatever the reason, and once the server ends",
    }),
    version: z.string().meta({ example: "0.1.0" }),
    uptimeSeconds: count,
    parts: z.record(z.string(), z.enum([...healthStatuses, "standby", "maintenance"])).meta({
      description:
        "`server`, `nodes` of the default network, `credits`: whether they can be had; `engine` stands by while another process runs it",
      example: { server: "ok", nodes: "ok", credits: "ok", engine: "standby" },
    }),
  })
  .meta({ id: "Health", description: "The state of the server" });

export type HealthRecord = z.infer<typeof healthRecord>;

/** What `sluice status` shows of a running server; it is answered on the socket for commands alone. */
export interface ServerStatus {
  readonly status: HealthRecord["status"];
  readonly version: string;
  readonly mode: "dev" | "serve";
  readonly pid: number;
  readonly uptime_seconds: number;
  readonly roles: readonly string[];
  readonly parts: HealthRecord["parts"];
  readonly endpoints: readonly { readonly name: string; readonly url: string }[];
  /** Of each network that has nodes. */
  readonly nodes: readonly { readonly network: string; readonly serving: number; readonly of: number }[];
}
