import { SluiceError } from "@sluice/contract/errors";
import { limits } from "@sluice/contract/limits";
import { type ReparseRecord, reparseRequest } from "@sluice/contract/schemas";
import type { Network } from "@sluice/contract/tiers";
import type { Hono } from "hono";
import { type RestEnvironment, readInput } from "../http/index.ts";
import type { State } from "../state/index.ts";

/** Re-parsing of history as operators see it and command it. */
export interface ReparseControl {
  list(): Promise<readonly ReparseRecord[]>;
  add(
    network: Network | null,
    span: { readonly first: bigint | null; readonly until: bigint | null },
  ): Promise<
    | { readonly ok: true; readonly record: ReparseRecord }
    | { readonly ok: false; readonly reason: "network" | "networks" | "not-held" | "full" }
  >;
  cancel(id: string): Promise<boolean>;
}

export interface ReparseRouteDependencies {
  readonly state: Pick<State, "audit">;
  /** Null where this process does not ingest. */
  readonly reparses: ReparseControl | null;
}

const bodyBounds = { limitBytes: limits.restBodyBytes, timeoutMs: 10_000 } as const;

const refusals = {
  network: "This server has no nodes of the network",
  networks: "This server has several networks: name one",
  "not-held": "The ledger holds none of these slots",
  full: "Too many orders of this network wait",
} as const;

/** Orders to parse history again; for the commands of the server's own machine. */
export function addReparseRoutes(
  app: Hono<RestEnvironment>,
  { actor }: { readonly actor: string },
  { state, reparses }: ReparseRouteDependencies,
): void {
  const running = (): ReparseControl => {
    if (reparses !== null) return reparses;
    throw new SluiceError("CONFLICT", { message: "The server that answers does not have the role ingest" });
  };
  app.get("/reparses", async (context) => context.json({ items: await running().list() }));
  app.post("/reparses", async (context) => {
    const control = running();
    const { network, from, to } = await readInput(context.req.raw, reparseRequest, bodyBounds);
    const first = from === undefined ? null : BigInt(from);
    const until = to === undefined ? null : BigInt(to) + 1n;
    if (first !== null && until !== null && first >= until) {
      const errors = [{ path: "to", message: "must not be below from" }];
      throw new SluiceError("INVALID_INPUT", { details: { errors } });
    }
    const outcome = await control.add(network ?? null, { first, until });
    if (!outcome.ok) throw new SluiceError("CONFLICT", { message: refusals[outcome.reason] });
    const { record } = outcome;
    const detail = { network: record.network, from: record.from, to: record.to };
    await state.audit.append({ actor, action: "reparse.order", subject: record.id, detail });
    return context.json(record, 201);
  });
  app.delete("/reparses/:id", async (context) => {
    const id = context.req.param("id");
    if (!(await running().cancel(id))) throw new SluiceError("NOT_FOUND", { message: "No active order has this id" });
    await state.audit.append({ actor, action: "reparse.cancel", subject: id, detail: {} });
    return context.json({ items: await running().list() });
  });
}
