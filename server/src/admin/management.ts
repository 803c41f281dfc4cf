import { type AccountBody, type KeyBody, SluiceError, schemas } from "@sluice/contract";
import { type Context, Hono } from "hono";
import type { z } from "zod";
import type { Clock, Random } from "../lib/index.ts";
import type { AccountRecord, KeyRecord, State } from "../state/index.ts";
import { issueKey } from "./issue-key.ts";

export interface ManagementDependencies {
  readonly state: Pick<State, "accounts" | "keys" | "audit" | "credits">;
  readonly clock: Clock;
  readonly random: Random;
  /** Makes every cache forget the key with this hash at once. */
  readonly forgetKey: (hash: string) => void;
  /** Makes every cache forget all keys of the account at once. */
  readonly forgetAccount: (accountId: string) => void;
}

/**
 * Accounts and keys, for whoever may manage them. The app trusts its caller: the door that mounts it decides who that
 * is (on the Unix socket, whoever may open the file). Every change is written to the audit log with `actor`.
 */
export function createManagement(options: { actor: string }, dependencies: ManagementDependencies): Hono {
  const app = new Hono();
  const { state } = dependencies;
  const audit = (action: string, subject: string, detail: Record<string, unknown>): Promise<unknown> =>
    state.audit.append({ actor: options.actor, action, subject, detail });

  app.post("/accounts", async (context) => {
    const body = await readBody(context, schemas.accountCreate);
    const account = await state.accounts.create({ name: body.name, tiers: withoutUndefined(body.tiers ?? {}) });
    await audit("account.create", account.id, { name: account.name, tiers: account.tiers });
    return context.json(accountBody(account), 201);
  });
  app.get("/accounts", async (context) => {
    const page = await state.accounts.list(readPage(context));
    return context.json({ items: page.items.map(accountBody), next_cursor: page.nextCursor });
  });
  app.post("/accounts/:id/tier", async (context) => {
    const body = await readBody(context, schemas.accountTierChange);
    const account = await state.accounts.setTier(context.req.param("id"), body.product, body.tier);
    if (account === null) throw new SluiceError("NOT_FOUND", { message: "There is no such account" });
    dependencies.forgetAccount(account.id);
    await audit("account.set-tier", account.id, body);
    return context.json(accountBody(account));
  });
  app.post("/keys", async (context) => {
    const body = await readBody(context, schemas.keyCreate);
    if ((await state.accounts.get(body.account_id)) === null) {
      throw new SluiceError("NOT_FOUND", { message: "There is no such account" });
    }
    const { key, record } = issueKey(
      {
        accountId: body.account_id,
        name: body.name,
        environment: body.environment,
        restrictions: body.restrictions,
        permissions: body.permissions,
        enhanced: body.enhanced,
        enhancedRequestsPerSecond: body.enhanced_requests_per_second,
        requestsPerSecond: body.requests_per_second,
        expiresAt: body.expires_at === null ? null : Date.parse(body.expires_at),
      },
      dependencies,
    );
    await state.keys.insert(record);
    await audit("key.create", record.id, { accountId: record.accountId, hint: record.hint });
    return context.json({ ...keyBody(record), key }, 201);
  });
  app.get("/keys", async (context) => {
    const accountId = context.req.query("account_id");
    const page = await state.keys.list({ ...readPage(context), ...(accountId === undefined ? {} : { accountId }) });
    return context.json({ items: page.items.map(keyBody), next_cursor: page.nextCursor });
  });
  app.post("/keys/:id/status", async (context) => {
    const body = await readBody(context, schemas.keyStatusChange);
    const record = await state.keys.setStatus(context.req.param("id"), body.status);
    if (record === null) throw new SluiceError("NOT_FOUND", { message: "There is no such key" });
    dependencies.forgetKey(record.hash);
    await audit("key.set-status", record.id, body);
    return context.json(keyBody(record));
  });
  return app;
}

async function readBody<Schema extends z.ZodType>(context: Context, schema: Schema): Promise<z.infer<Schema>> {
  const body: unknown = await context.req.json().catch(() => null);
  return parseOrThrow(schema, body);
}

function readPage(context: Context): { limit: number; cursor: string | null } {
  const { limit, cursor } = parseOrThrow(schemas.pageQuery, context.req.query());
  return { limit, cursor: cursor ?? null };
}

function parseOrThrow<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.map((issue) => ({ path: issue.path.join("."), message: issue.message }));
  throw new SluiceError("INVALID_INPUT", { details: { errors } });
}

function withoutUndefined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const kept = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(kept) as { [K in keyof T]: Exclude<T[K], undefined> };
}

const isoTime = (unixMs: number): string => new Date(unixMs).toISOString();

function accountBody(account: AccountRecord): AccountBody {
  return {
    id: account.id,
    name: account.name,
    created_at: isoTime(account.createdAt),
    tiers: account.tiers,
    requests_per_second: account.requestsPerSecond,
    credits_monthly: account.creditsMonthly === null ? null : String(account.creditsMonthly),
  };
}

function keyBody(key: KeyRecord): KeyBody {
  return {
    id: key.id,
    account_id: key.accountId,
    name: key.name,
    hint: key.hint,
    environment: key.environment,
    status: key.status,
    restrictions: {
      networks: [...key.restrictions.networks],
      domains: [...key.restrictions.domains],
      ipRanges: [...key.restrictions.ipRanges],
    },
    permissions: [...key.permissions],
    enhanced: key.enhanced,
    enhanced_requests_per_second: key.enhancedRequestsPerSecond,
    requests_per_second: key.requestsPerSecond,
    expires_at: key.expiresAt === null ? null : isoTime(key.expiresAt),
    created_at: isoTime(key.createdAt),
    last_used_at: key.lastUsedAt === null ? null : isoTime(key.lastUsedAt),
  };
}
