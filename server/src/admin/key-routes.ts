import { SluiceError } from "@sluice/contract/errors";
import { limits } from "@sluice/contract/limits";
import * as schemas from "@sluice/contract/schemas";
import type { Hono } from "hono";
import { parseInput, type RestEnvironment, readInput } from "../http/index.ts";
import type { State } from "../state/index.ts";
import type { Admission } from "./admin-access.ts";
import { KeyAdministration, type KeyAdministrationDependencies } from "./key-changes.ts";
import { isoTime, keyBody } from "./records.ts";

export interface KeyRouteDependencies extends KeyAdministrationDependencies {
  readonly state: KeyAdministrationDependencies["state"] & { readonly keys: Pick<State["keys"], "get" | "list"> };
  readonly adminAccess: Admission;
}

const bodyBounds = { limitBytes: limits.restBodyBytes, timeoutMs: 10_000 } as const;
const root = "/api/v1/admin/keys";

/** Keys, for operators and, those of their own account, for keys with `keys:write`. */
export function addKeyRoutes(app: Hono<RestEnvironment>, dependencies: KeyRouteDependencies): void {
  const { adminAccess, state } = dependencies;
  const administration = new KeyAdministration(dependencies);

  app.post(root, async (context) => {
    const caller = await adminAccess.admit(context, "keys:write");
    const wish = await readInput(context.req.raw, schemas.adminKeyCreate, bodyBounds);
    const { key, record } = await administration.create(caller, wish);
    context.header("Cache-Control", "no-store");
    return context.json({ ...keyBody(record), key }, 201);
  });
  app.get(root, async (context) => {
    const caller = await adminAccess.admit(context, "keys:write");
    const { limit, cursor } = parseInput(schemas.pageQuery, context.req.query());
    const requested = context.req.query("account_id");
    const accountId = caller.isOperator ? requested : (caller.accountId ?? "");
    if (requested !== undefined && requested !== accountId) {
      throw new SluiceError("PERMISSION_DENIED", { message: "Keys of other accounts are for operators" });
    }
    const page = await state.keys.list({
      limit,
      cursor: cursor ?? null,
      ...(accountId === undefined ? {} : { accountId }),
    });
    return context.json({ items: page.items.map(keyBody), next_cursor: page.nextCursor });
  });
  app.get(`${root}/:id`, async (context) => {
    const caller = await adminAccess.admit(context, "keys:write");
    const key = await state.keys.get(context.req.param("id"));
    if (key === null || (key.accountId !== caller.accountId && !caller.isOperator)) {
      throw new SluiceError("NOT_FOUND", { message: "There is no such key" });
    }
    return context.json(keyBody(key));
  });
  app.patch(`${root}/:id`, async (context) => {
    const caller = await adminAccess.admit(context, "keys:write");
    const wish = await readInput(context.req.raw, schemas.keyChange, bodyBounds);
    return context.json(keyBody(await administration.change(caller, context.req.param("id"), wish)));
  });
  app.delete(`${root}/:id`, async (context) => {
    const caller = await adminAccess.admit(context, "keys:write");
    await administration.remove(caller, context.req.param("id"));
    return context.body(null, 204);
  });
  app.post(`${root}/:id/rotate`, async (context) => {
    const caller = await adminAccess.admit(context, "keys:write");
    const { overlap_seconds: seconds } = await readInput(context.req.raw, schemas.keyRotate, bodyBounds);
    const id = context.req.param("id");
    const { key, record, endsAt } = await administration.rotate(caller, id, seconds * 1_000);
    context.header("Cache-Control", "no-store");
    return context.json({ ...keyBody(record), key, replaces: { id, expires_at: isoTime(endsAt) } }, 201);
  });
}
