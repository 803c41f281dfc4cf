import { SluiceError } from "@sluice/contract/errors";
import type { Hono } from "hono";
import type { RestEnvironment } from "../http/index.ts";
import type { PoolService } from "../pool/index.ts";

export interface PoolRouteDependencies {
  /** Null where this process shows no stake pool. */
  readonly pool: Pick<PoolService, "explain"> | null;
}

/** How figures of the stake pool come about; for the commands of this process. */
export function addPoolRoutes(app: Hono<RestEnvironment>, { pool }: PoolRouteDependencies): void {
  app.get("/pool/:record", async (context) => {
    if (pool === null) {
      throw new SluiceError("CONFLICT", {
        message: "The server that answers does not have the block engine's endpoint",
      });
    }
    const explanation = await pool.explain(context.req.param("record"));
    if (explanation === null) throw new SluiceError("NOT_FOUND", { message: "No record has this name" });
    return context.json(explanation);
  });
}
