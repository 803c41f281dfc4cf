import { z } from "zod";
import { count } from "./primitives.ts";

/** The state of the server or of a part of it. */
const healthStatuses = ["ok", "degraded", "down"] as const;

/** What `GET /health` answers: 200 while the server can serve (ok or degraded), 503 when it cannot. */
export const healthRecord = z
  .object({
    status: z.enum(healthStatuses),
    version: z.string().meta({ example: "0.1.0" }),
    uptimeSeconds: count,
    parts: z.record(z.string(), z.enum([...healthStatuses, "standby", "maintenance"])).meta({
      description: "The state of each part; an engine stands by while another process runs it",
      example: { nodes: "ok", engine: "standby" },
    }),
  })
  .meta({ id: "Health", description: "The state of the server" });

export type HealthRecord = z.infer<typeof healthRecord>;
