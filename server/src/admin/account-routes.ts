import { SluiceError } from "@sluice/contract/errors";
import { limits } from "@sluice/contract/limits";
import type { AccountChange, AuditEntry } from "@sluice/contract/schemas";
import * as schemas from "@sluice/contract/schemas";
import type { Product } from "@sluice/contract/tiers";
import type { Hono } from "hono";
import { parseInput, type RestEnvironment, readInput } from "../http/index.ts";
import type { AccountRecord, AuditRecord, State } from "../state/index.ts";
import type { Admission } from "./admin-access.ts";
import { accountBody, changedMembers, isoTime } from "./records.ts";

export interface AccountRouteDependencies {
  readonly state: Pick<State, "change"> & {
    readonly accounts: Pick<State["accounts"], "get" | "list">;
    readonly audit: Pick<State["audit"], "list">;
  };
  readonly adminAccess: Admission;
  /** Makes every cache of every replica forget all keys of the account at once. */
  readonly invalidateAccount: (accountId: string) => void;
}

const bodyBounds = { limitBytes: limits.restBodyBytes, timeoutMs: 10_000 } as const;
const root = "/api/v1/admin/accounts";
const noSuchAccount = (): SluiceError => new SluiceError("NOT_FOUND", { message: "There is no such account" });

/** Owner accounts with their subscriptions, and the trail of every change; for operators. An owner reads its own. */
export function addAccountRoutes(app: Hono<RestEnvironment>, dependencies: AccountRouteDependencies): void {
  const { adminAccess, state, invalidateAccount } = dependencies;

  app.post(root, async (context) => {
    const caller = await adminAccess.admit(context, "admin");
    const wish = await readInput(context.req.raw, schemas.adminAccountCreate, bodyBounds);
    const account = await state.change(async ({ accounts, audit }) => {
      const created = await accounts.create({
        name: wish.name,
        tiers: Object.fromEntries(tiersOf(wish.tiers)),
        requestsPerSecond: wish.requests_per_second ?? null,
        creditsMonthly: amountOf(wish.credits_monthly) ?? null,
      });
      const detail = { after: accountBody(created) };
      await audit.append({ actor: caller.actor, action: "account.create", subject: created.id, detail });
      return created;
    });
    return context.json(accountBody(account), 201);
  });
  app.get(root, async (context) => {
    await adminAccess.admit(context, "admin");
    const { limit, cursor } = parseInput(schemas.pageQuery, context.req.query());
    const page = await state.accounts.list({ limit, cursor: cursor ?? null });
    return context.json({ items: page.items.map(accountBody), next_cursor: page.nextCursor });
  });
  app.get(`${root}/:id`, async (context) => {
    const caller = await adminAccess.admit(context, "read", "keys:write");
    const id = context.req.param("id");
    const account = caller.isOperator || id === caller.accountId ? await state.accounts.get(id) : null;
    if (account === null) throw noSuchAccount();
    return context.json(accountBody(account));
  });
  app.patch(`${root}/:id`, async (context) => {
    const caller = await adminAccess.admit(context, "admin");
    const wish = await readInput(context.req.raw, schemas.accountChange, bodyBounds);
    const id = context.req.param("id");
    if (wish.status === "disabled" && id === caller.accountId) {
      throw new SluiceError("CONFLICT", { message: "The key that asks belongs to this account" });
    }
    const account = await changeAccount(state, { id, wish, actor: caller.actor });
    invalidateAccount(id);
    return context.json(accountBody(account));
  });
  app.get("/api/v1/admin/audit", async (context) => {
    await adminAccess.admit(context, "admin");
    const { limit, cursor } = parseInput(schemas.pageQuery, context.req.query());
    const subject = context.req.query("subject");
    const page = await state.audit.list({
      limit,
      cursor: cursor ?? null,
      ...(subject === undefined ? {} : { subject }),
    });
    return context.json({ items: page.items.map(auditBody), next_cursor: page.nextCursor });
  });
}

async function changeAccount(
  state: AccountRouteDependencies["state"],
  { id, wish, actor }: { readonly id: string; readonly wish: AccountChange; readonly actor: string },
): Promise<AccountRecord> {
  return await state.change(async ({ accounts, audit }) => {
    const before = await accounts.get(id);
    if (before === null) throw noSuchAccount();
    const creditsMonthly = amountOf(wish.credits_monthly);
    if (wish.name !== undefined) await accounts.rename(id, wish.name);
    if (wish.status !== undefined) await accounts.setDisabled(id, wish.status === "disabled");
    for (const [product, tier] of tiersOf(wish.tiers)) await accounts.setTier(id, product, tier);
    const after = await accounts.setOverrides(id, {
      ...(wish.requests_per_second === undefined ? {} : { requestsPerSecond: wish.requests_per_second }),
      ...(creditsMonthly === undefined ? {} : { creditsMonthly }),
    });
    if (after === null) throw noSuchAccount();
    const detail = changedMembers(accountBody(before), accountBody(after));
    await audit.append({ actor, action: "account.change", subject: id, detail });
    return after;
  });
}

/** The tiers that were named, by product. */
function tiersOf(tiers: AccountChange["tiers"]): [Product, string][] {
  const { platform, oracle, "oracle-v2": oracleV2 } = tiers ?? {};
  const named: [Product, string | undefined][] = [
    ["platform", platform],
    ["oracle", oracle],
    ["oracle-v2", oracleV2],
  ];
  return named.flatMap(([product, tier]) => (tier === undefined ? [] : [[product, tier] as [Product, string]]));
}

function amountOf(text: string | null | undefined): bigint | null | undefined {
  return typeof text === "string" ? BigInt(text) : text;
}

function auditBody({ id, at, actor, action, subject, detail }: AuditRecord): AuditEntry {
  return { id, at: isoTime(at), actor, action, subject, detail };
}
