import { SluiceError } from "@sluice/contract/errors";
import { limits } from "@sluice/contract/limits";
import { type BackfillRecord, backfillRequest } from "@sluice/contract/schemas";
import type { Network } from "@sluice/contract/tiers";
import type { Hono } from "hono";
import { type RestEnvironment, readInput } from "../http/index.ts";
import type { State } from "../state/index.ts";

/** Backfill as operators see it and command it. */
export interface BackfillControl {
  list(): Promise<readonly BackfillRecord[]>;
  add(
    network: Network,
    span: { readonly first: bigint; readonly until: bigint },
  ): Promise<
    | { readonly ok: true; readonly record: BackfillRecord }
    | { readonly ok: false; readonly reason: keyof typeof refusals }
  >;
  cancel(id: string): Promise<boolean>;
}

export interface BackfillRouteDependencies {
  readonly state: Pick<State, "audit">;
  /** Null where this process does not ingest. */
  readonly backfills: BackfillControl | null;
}

const refusals = {
  network: (network: Network) => `${network} has no nodes on this server`,
  full: () => "Too many orders of this network wait",
  aged: () => "All of these slots are older than the ledger keeps blocks (LEDGER_RETENTION_BLOCKS)",
} as const;

const bodyBounds = { limitBytes: limits.restBodyBytes, timeoutMs: 10_000 } as const;

/** Orders of slots that the ledger is to hold; for the commands of the server's own machine. */
export function addBackfillRoutes(
  app: Hono<RestEnvironment>,
  { actor }: { readonly actor: string },
  { state, backfills }: BackfillRouteDependencies,
): void {
  const running = (): BackfillControl => {
    if (backfills !== null) return backfills;
    throw new SluiceError("CONFLICT", { message: "The server that answers does not have the role ingest" });
  };
  app.get("/backfills", async (context) => context.json({ items: await running().list() }));
  app.post("/backfills", async (context) => {
    const control = running();
    const { network, from, to } = await readInput(context.req.raw, backfillRequest, bodyBounds);
    const [first, until] = [BigInt(from), BigInt(to) + 1n];
    if (first >= until) {
      const errors = [{ path: "to", message: "must not be below from" }];
      throw new SluiceError("INVALID_INPUT", { details: { errors } });
    }
    const outcome = await control.add(network, { first, until });
    if (!outcome.ok) {
      throw new SluiceError("CONFLICT", { message: refusals[outcome.reason](network) });
    }
    const { record } = outcome;
    await state.audit.append({ actor, action: "backfill.order", subject: record.id, detail: { network, from, to } });
    return context.json(record, 201);
  });
  app.delete("/backfills/:id", async (context) => {
    const id = context.req.param("id");
    if (!(await running().cancel(id))) throw new SluiceError("NOT_FOUND", { message: "No active order has this id" });
    await state.audit.append({ actor, action: "backfill.cancel", subject: id, detail: {} });
    return context.json({ items: await running().list() });
  });
}
