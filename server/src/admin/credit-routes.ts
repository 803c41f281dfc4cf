import { SluiceError } from "@sluice/contract/errors";
import { limits } from "@sluice/contract/limits";
import { creditsSettle } from "@sluice/contract/schemas";
import type { Clock } from "@sluice/lib";
import type { Hono } from "hono";
import { type RestEnvironment, readInput } from "../http/index.ts";
import type { State } from "../state/index.ts";
import { isAlive, listHolders, settleHolders } from "./credit-holders.ts";

export interface CreditRouteDependencies {
  readonly state: Pick<State, "credits" | "requests" | "served" | "processes" | "audit">;
  readonly clock: Pick<Clock, "now">;
  readonly processId: string;
}

const bodyBounds = { limitBytes: limits.restBodyBytes, timeoutMs: 10_000 } as const;
const auditedMax = 100;

/** What processes hold of accounts' credits; for the commands of the server's own machine. */
export function addCreditRoutes(
  app: Hono<RestEnvironment>,
  { actor }: { readonly actor: string },
  dependencies: CreditRouteDependencies,
): void {
  app.get("/credits/holders", async (context) => context.json({ items: await listHolders(dependencies) }));
  app.post("/credits/settle", async (context) => {
    const body = await readInput(context.req.raw, creditsSettle, bodyBounds);
    const { process, older_than_seconds: olderThanSeconds, outcome } = body;
    if (process !== null && (await isAlive(process, dependencies))) {
      throw new SluiceError("CONFLICT", { message: "This process is alive, and settles what it holds by itself" });
    }
    const settled = await settleHolders({ process, olderThanSeconds, outcome }, dependencies);
    if (settled.length > 0) {
      const detail = { outcome, count: settled.length, settled: settled.slice(0, auditedMax) };
      await dependencies.state.audit.append({ actor, action: "credits.settle", subject: process ?? "all", detail });
    }
    return context.json({ settled });
  });
}
