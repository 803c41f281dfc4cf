import { SluiceError } from "@sluice/contract/errors";
import type { Hono } from "hono";
import type { RestEnvironment } from "../http/index.ts";
import { explainQuestion, type PoolService } from "../pool/index.ts";

export interface PoolRouteDependencies {
  /** Null where this process shows no stake pool. */
  readonly pool: Pick<PoolService, "explain"> | null;
}

/** How figures of the stake pool come about; for the commands of this process. */
export function addPoolRoutes(app: Hono<RestEnvironment>, { pool }: PoolRouteDependencies): void {
  app.get("/pool/explain", async (context) => {
    if (pool === null) {
      throw new SluiceError("CONFLICT", {
        message: "The server that answers does not have the block engine's endpoint",
      });
    }
    const { account, ...query } = context.req.query();
    const { text } = await pool.explain(explainQuestion(query, account ?? null));
    return context.body(text, 200, { "Content-Type": "application/json" });
  });
}
