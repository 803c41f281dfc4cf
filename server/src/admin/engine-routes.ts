import { limits } from "@sluice/contract/limits";
import * as schemas from "@sluice/contract/schemas";
import type { Context, Hono } from "hono";
import { parseInput, type RestEnvironment, readInput } from "../http/index.ts";
import { engineSwitches, type PageRequest } from "../state/index.ts";
import type { Admission } from "./admin-access.ts";
import { EngineChanges, type EngineChangesDependencies } from "./engine-changes.ts";

export interface EngineRouteDependencies extends EngineChangesDependencies {
  readonly adminAccess: Admission;
}

const adminRoot = "/api/v1/admin";
const bodyBounds = { limitBytes: limits.restBodyBytes, timeoutMs: 10_000 } as const;

/** Who changes something, or the refusal that is thrown. */
type Actor = (context: Context<RestEnvironment>) => Promise<string>;

/** The block engine's switches, its searchers' public keys and their limits; for operators. */
export function addEngineRoutes(app: Hono<RestEnvironment>, dependencies: EngineRouteDependencies): void {
  const actor: Actor = async (context) => (await dependencies.adminAccess.admit(context, "admin")).actor;
  const changes = new EngineChanges(dependencies);
  app.get(`${adminRoot}/engine`, async (context) => {
    await actor(context);
    return context.json(await changes.present(), 200, { "Cache-Control": "no-store" });
  });
  for (const name of engineSwitches) {
    app.put(`${adminRoot}/engine/${name}`, async (context) => {
      const by = await actor(context);
      const { on } = await readInput(context.req.raw, schemas.engineSwitchChange, bodyBounds);
      return context.json(await changes.turn(name, on, by));
    });
  }
  addSearchers(app, actor, changes);
}

function addSearchers(app: Hono<RestEnvironment>, actor: Actor, changes: EngineChanges): void {
  const root = `${adminRoot}/searchers`;
  app.get(root, async (context) => {
    await actor(context);
    const accountId = context.req.query("account_id");
    return context.json(await changes.links({ ...readPage(context), ...(accountId !== undefined && { accountId }) }));
  });
  app.post(root, async (context) => {
    const by = await actor(context);
    const wish = await readInput(context.req.raw, schemas.searcherLinkCreate, bodyBounds);
    return context.json(await changes.link(wish, by), 201);
  });
  app.get(`${root}/limits`, async (context) => {
    await actor(context);
    return context.json(await changes.limits(readPage(context)));
  });
  app.put(`${root}/limits/:searcher`, async (context) => {
    const by = await actor(context);
    const wish = await readInput(context.req.raw, schemas.searcherLimitChange, bodyBounds);
    return context.json(await changes.setLimit(context.req.param("searcher"), wish, by));
  });
  app.delete(`${root}/limits/:searcher`, async (context) => {
    await changes.clearLimit(context.req.param("searcher"), await actor(context));
    return context.body(null, 204);
  });
  app.delete(`${root}/:pubkey`, async (context) => {
    await changes.unlink(context.req.param("pubkey"), await actor(context));
    return context.body(null, 204);
  });
}

function readPage(context: Context<RestEnvironment>): PageRequest {
  const { limit, cursor } = parseInput(schemas.pageQuery, context.req.query());
  return { limit, cursor: cursor ?? null };
}
