import { SluiceError } from "@sluice/contract/errors";
import { limits } from "@sluice/contract/limits";
import { type AssetFillRecord, assetFillRequest } from "@sluice/contract/schemas";
import type { Network } from "@sluice/contract/tiers";
import type { Hono } from "hono";
import { type RestEnvironment, readInput } from "../http/index.ts";
import type { State } from "../state/index.ts";

/** Fills of the index of assets as operators see and command them. */
export interface AssetFillControl {
  list(): Promise<readonly AssetFillRecord[]>;
  order(
    network: Network,
    terms: Pick<AssetFillRecord, "of" | "per_second">,
  ): Promise<
    | { readonly ok: true; readonly record: AssetFillRecord }
    | { readonly ok: false; readonly reason: "network" | "busy" }
  >;
  cancel(id: string): Promise<boolean>;
}

export interface AssetRouteDependencies {
  readonly state: Pick<State, "audit">;
  /** Null where this process does not ingest. */
  readonly assetFills: AssetFillControl | null;
}

const bodyBounds = { limitBytes: limits.restBodyBytes, timeoutMs: 10_000 } as const;

/** Fills of the index of assets from nodes; for the commands of the server's own machine. */
export function addAssetRoutes(
  app: Hono<RestEnvironment>,
  { actor }: { readonly actor: string },
  { state, assetFills }: AssetRouteDependencies,
): void {
  const running = (): AssetFillControl => {
    if (assetFills !== null) return assetFills;
    throw new SluiceError("CONFLICT", { message: "The server that answers does not have the role ingest" });
  };
  app.get("/assets/fills", async (context) => context.json({ items: await running().list() }));
  app.post("/assets/fills", async (context) => {
    const control = running();
    const { network, per_second, ...terms } = await readInput(context.req.raw, assetFillRequest, bodyBounds);
    const of = {
      authority: terms.authority ?? null,
      creator: terms.creator ?? null,
      collection: terms.collection ?? null,
    };
    const named = Object.entries(of).filter(([, value]) => value !== null);
    if (named.length > 1) {
      const errors = named.slice(1).map(([path]) => ({ path, message: "must stand alone: a fill is of one of them" }));
      throw new SluiceError("INVALID_INPUT", { details: { errors } });
    }
    const outcome = await control.order(network, { of, per_second });
    if (!outcome.ok) {
      const message =
        outcome.reason === "busy" ? "A fill of this network runs: cancel it first" : `${network} has no nodes here`;
      throw new SluiceError("CONFLICT", { message });
    }
    const { record } = outcome;
    await state.audit.append({ actor, action: "assets.fill", subject: record.id, detail: { network } });
    return context.json(record, 201);
  });
  app.delete("/assets/fills/:id", async (context) => {
    const id = context.req.param("id");
    if (!(await running().cancel(id))) throw new SluiceError("NOT_FOUND", { message: "No fill with this id runs" });
    await state.audit.append({ actor, action: "assets.cancel", subject: id, detail: {} });
    return context.json({ items: await running().list() });
  });
}
