import { SluiceError } from "@sluice/contract/errors";
import { limits } from "@sluice/contract/limits";
import type { AccountCredits } from "@sluice/contract/schemas";
import * as schemas from "@sluice/contract/schemas";
import { platformTierLimits } from "@sluice/contract/tiers";
import type { Clock, Log, Random } from "@sluice/lib";
import type { Context, Hono } from "hono";
import type { ReloadResult } from "../config/index.ts";
import { createRestApp, parseInput, type RestEnvironment, readInput } from "../http/index.ts";
import type { AccountRecord, State } from "../state/index.ts";
import { EngineChanges, type EngineChangesDependencies } from "./engine-changes.ts";
import { addEngineManagement } from "./engine-routes.ts";
import { issueKey } from "./issue-key.ts";
import { accountBody, keyBody } from "./records.ts";
import { reloadBody } from "./reload.ts";

export interface ManagementDependencies extends Pick<EngineChangesDependencies, "engine"> {
  readonly state: Pick<State, "accounts" | "keys" | "audit"> & EngineChangesDependencies["state"];
  readonly clock: Clock;
  readonly random: Random;
  readonly requestId: () => string;
  readonly log: Pick<Log, "error">;
  /** Makes every cache forget the key with this hash at once. */
  readonly invalidateKey: (hash: string) => void;
  /** Makes every cache forget all keys of the account at once. */
  readonly invalidateAccount: (accountId: string) => void;
  /** Credits spent by the account in the present month (UTC), what is leased and unspent not counted. */
  readonly creditsUsed: (accountId: string) => Promise<{ month: string; used: bigint }>;
  /** Requests and credits of the last hour. */
  readonly usage: (accountId: string) => Promise<object>;
  readonly reload: () => Promise<ReloadResult>;
  /** The migrations of the stores and when each was applied. */
  readonly migrations: () => Promise<object>;
}

type Dependencies = ManagementDependencies;
type App = Hono<RestEnvironment>;
const bodyBounds = { limitBytes: limits.restBodyBytes, timeoutMs: 10_000 } as const;

/**
 * Accounts, keys and the block engine for operators. The app trusts its caller: the endpoint that mounts it decides who
 * that is (on the Unix socket: any process that may open the file). Every change is written to the audit log with
 * `actor`.
 */
export function createManagement(options: { actor: string }, dependencies: Dependencies): App {
  const app = createRestApp({ cors: "none" }, dependencies);
  const audit: Audit = (action, subject, detail) =>
    dependencies.state.audit.append({ actor: options.actor, action, subject, detail });
  addAccountRoutes(app, dependencies, audit);
  addAccountReports(app, dependencies);
  addKeyRoutes(app, dependencies, audit);
  const changes = new EngineChanges(dependencies);
  addEngineManagement(app, { root: "", actor: async () => options.actor, changes });
  app.post("/reload", async (context) => {
    const body = reloadBody(await dependencies.reload());
    await audit("configuration.reload", "configuration", { ...body });
    return context.json(body);
  });
  app.get("/health", (context) => context.json({ status: "ok" }));
  app.get("/migrations", async (context) => context.json(await dependencies.migrations()));
  return app;
}

type Audit = (action: string, subject: string, detail: Record<string, unknown>) => Promise<unknown>;

function addAccountRoutes(app: App, { state, invalidateAccount }: Dependencies, audit: Audit): void {
  app.post("/accounts", async (context) => {
    const body = await readInput(context.req.raw, schemas.accountCreate, bodyBounds);
    const { platform, oracle, "oracle-v2": oracleV2 } = body.tiers ?? {};
    const account = await state.accounts.create({
      name: body.name,
      tiers: {
        ...(platform === undefined ? {} : { platform }),
        ...(oracle === undefined ? {} : { oracle }),
        ...(oracleV2 === undefined ? {} : { "oracle-v2": oracleV2 }),
      },
    });
    await audit("account.create", account.id, { name: account.name, tiers: account.tiers });
    return context.json(accountBody(account), 201);
  });
  app.get("/accounts", async (context) => {
    const page = await state.accounts.list(readPage(context));
    return context.json({ items: page.items.map(accountBody), next_cursor: page.nextCursor });
  });
  app.post("/accounts/:id/tier", async (context) => {
    const body = await readInput(context.req.raw, schemas.accountTierChange, bodyBounds);
    const account = found(await state.accounts.setTier(context.req.param("id"), body.product, body.tier), "account");
    invalidateAccount(account.id);
    await audit("account.set-tier", account.id, body);
    return context.json(accountBody(account));
  });
  app.post("/accounts/:id/limits", async (context) => {
    const body = await readInput(context.req.raw, schemas.accountLimits, bodyBounds);
    const account = found(
      await state.accounts.setOverrides(context.req.param("id"), {
        ...(body.requests_per_second === undefined ? {} : { requestsPerSecond: body.requests_per_second }),
        ...(body.credits_monthly === undefined
          ? {}
          : { creditsMonthly: body.credits_monthly === null ? null : BigInt(body.credits_monthly) }),
      }),
      "account",
    );
    invalidateAccount(account.id);
    await audit("account.set-limits", account.id, body);
    return context.json(accountBody(account));
  });
}

function addAccountReports(app: App, dependencies: Dependencies): void {
  const read = async (context: Context<RestEnvironment>): Promise<AccountRecord> =>
    found(await dependencies.state.accounts.get(context.req.param("id") ?? ""), "account");
  app.get("/accounts/:id/credits", async (context) => {
    const account = await read(context);
    const { month, used } = await dependencies.creditsUsed(account.id);
    const monthly = account.creditsMonthly ?? platformTierLimits[account.tiers.platform].creditsMonthly;
    const body: AccountCredits = { month, used: String(used), monthly: monthly === null ? null : String(monthly) };
    return context.json(body);
  });
  app.get("/accounts/:id/usage", async (context) => {
    const account = await read(context);
    return context.json(await dependencies.usage(account.id));
  });
}

function addKeyRoutes(app: App, dependencies: Dependencies, audit: Audit): void {
  const { state } = dependencies;
  app.post("/keys", async (context) => {
    const body = await readInput(context.req.raw, schemas.keyCreate, bodyBounds);
    found(await state.accounts.get(body.account_id), "account");
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
    const body = await readInput(context.req.raw, schemas.keyStatusChange, bodyBounds);
    const record = found(await state.keys.setStatus(context.req.param("id"), body.status), "key");
    dependencies.invalidateKey(record.hash);
    await audit("key.set-status", record.id, body);
    return context.json(keyBody(record));
  });
}

function readPage(context: Context<RestEnvironment>): { limit: number; cursor: string | null } {
  const { limit, cursor } = parseInput(schemas.pageQuery, context.req.query());
  return { limit, cursor: cursor ?? null };
}

function found<T>(record: T | null, what: string): T {
  if (record === null) throw new SluiceError("NOT_FOUND", { message: `There is no such ${what}` });
  return record;
}
