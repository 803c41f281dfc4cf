import { SluiceError } from "@sluice/contract/errors";
import { limits } from "@sluice/contract/limits";
import { type IngestRecord, ingestSkip } from "@sluice/contract/schemas";
import type { Network } from "@sluice/contract/tiers";
import type { Slot } from "@sluice/wire/identifiers";
import type { Hono } from "hono";
import { type RestEnvironment, readInput } from "../http/index.ts";
import type { State } from "../state/index.ts";

/** Ingest as operators see it and command it. */
export interface IngestControl {
  status(): readonly IngestRecord[];
  /** Gives slots up, so that followers are told of a gap and go on. */
  skip(network: Network, from: Slot, to: Slot): { readonly ok: true } | { readonly ok: false; readonly reason: string };
}

export interface IngestRouteDependencies {
  readonly state: Pick<State, "audit">;
  readonly ingest: IngestControl | null;
}

const bodyBounds = { limitBytes: limits.restBodyBytes, timeoutMs: 10_000 } as const;

/** How blocks reach the logs of this process; for its own commands. */
export function addIngestRoutes(
  app: Hono<RestEnvironment>,
  { actor }: { readonly actor: string },
  { state, ingest }: IngestRouteDependencies,
): void {
  const running = (): IngestControl => {
    if (ingest !== null) return ingest;
    throw new SluiceError("CONFLICT", { message: "The server that answers does not have the role ingest" });
  };
  app.get("/ingest", (context) => context.json({ networks: running().status() }));
  app.post("/ingest/skip", async (context) => {
    const control = running();
    const { network, from, to } = await readInput(context.req.raw, ingestSkip, bodyBounds);
    const outcome = control.skip(network, BigInt(from) as Slot, BigInt(to) as Slot);
    if (!outcome.ok && outcome.reason === "closed") {
      throw new SluiceError("CONFLICT", { message: `The log of ${network}'s chain is not open here` });
    }
    if (!outcome.ok) {
      const message = "must not be below from, nor at or beyond the newest slot, nor ten million slots away";
      throw new SluiceError("INVALID_INPUT", { details: { errors: [{ path: "to", message }] } });
    }
    await state.audit.append({ actor, action: "ingest.skip", subject: network, detail: { from, to } });
    return context.json({ networks: control.status() });
  });
}
