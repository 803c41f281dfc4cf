import { SluiceError } from "@sluice/contract/errors";
import { type OracleTierTerms, oracleTierTerms, oracleV2TierTerms } from "@sluice/contract/oracle";
import type { AccountCredits } from "@sluice/contract/schemas";
import { type Product, platformTierLimits } from "@sluice/contract/tiers";
import type { Context, Hono } from "hono";
import { createRestApp, type RestEnvironment } from "../http/index.ts";
import type { AccountRecord } from "../state/index.ts";
import { operatorAdmission } from "./admin-access.ts";
import { addSharedRoutes, type SharedRouteDependencies } from "./administration.ts";
import { type AssetFillControl, addAssetRoutes } from "./asset-routes.ts";
import { addBackfillRoutes, type BackfillControl } from "./backfill-routes.ts";
import { addBackupRoutes, type BackupRouteDependencies } from "./backup-routes.ts";
import { addCreditRoutes, type CreditRouteDependencies } from "./credit-routes.ts";
import { addIngestRoutes, type IngestControl } from "./ingest-routes.ts";
import { addPoolRoutes, type PoolRouteDependencies } from "./pool-routes.ts";
import { isoTime } from "./records.ts";
import { addReparseRoutes, type ReparseControl } from "./reparse-routes.ts";
import { addSecretRoutes, type SecretRouteDependencies } from "./secret-routes.ts";
import { addUpstreamRoutes, type UpstreamRouteDependencies } from "./upstream-routes.ts";

/** The products whose requests are counted by the month. */
export type OracleProduct = Exclude<Product, "platform">;

/** What only a running server has. */
export interface RunningServer extends Pick<UpstreamRouteDependencies, "upstreams" | "closing"> {
  /** Null where it does not ingest. */
  readonly ingest: IngestControl | null;
  readonly pool: PoolRouteDependencies["pool"];
  readonly backfills: BackfillControl | null;
  readonly reparses: ReparseControl | null;
  readonly assetFills: AssetFillControl | null;
  /** What it is and how it does, for a person. */
  readonly status: () => Promise<object>;
}

export interface ManagementDependencies extends Omit<SharedRouteDependencies, "adminAccess" | "state"> {
  readonly state: SharedRouteDependencies["state"] &
    UpstreamRouteDependencies["state"] &
    SecretRouteDependencies["state"] &
    CreditRouteDependencies["state"];
  readonly processId: CreditRouteDependencies["processId"];
  readonly vault: SecretRouteDependencies["vault"];
  readonly backups: BackupRouteDependencies["backups"];
  /** Requests and credits of the last hour. */
  readonly lastHour: (accountId: string) => Promise<object>;
  /** The requests that an account has used of an oracle product's present month. */
  readonly requestsUsed: (accountId: string, product: OracleProduct) => Promise<{ month: string; used: bigint }>;
  /** The migrations of the stores and when each was applied. */
  readonly migrations: () => Promise<object>;
  /** Applies those that wait for earlier versions to be gone. */
  readonly contract: () => Promise<unknown>;
  /**
   * Credits that processes hold which have not said what they spent, as one that was killed has not; part of what is
   * used. Zero where a running server answers, which knows of its own.
   */
  readonly creditsHeld: (accountId: string, month: string) => Promise<bigint>;
  /** Null for a command that opened the stores itself. */
  readonly server: RunningServer | null;
}

type App = Hono<RestEnvironment>;

/**
 * The routes of administration for the commands of the server's own machine. The app trusts its caller: the endpoint
 * that mounts it decides who that is (on the Unix socket: any process that may open the file). Every change is written
 * to the audit log with `actor`.
 */
export function createManagement(options: { actor: string }, dependencies: ManagementDependencies): App {
  const app = createRestApp({ cors: "none" }, dependencies);
  const routed = { ...dependencies, adminAccess: operatorAdmission(options.actor) };
  addSharedRoutes(app, routed);
  addAccountReports(app, dependencies);
  addSecretRoutes(app, options, dependencies);
  addBackupRoutes(app, options, dependencies);
  addCreditRoutes(app, options, dependencies);
  const { server } = dependencies;
  if (server === null) {
    for (const path of ofServer) app.all(path, noServer);
  } else {
    addUpstreamRoutes(app, { ...routed, ...server });
    addIngestRoutes(app, options, { ...routed, ingest: server.ingest });
    addPoolRoutes(app, { pool: server.pool });
    addBackfillRoutes(app, options, { ...routed, backfills: server.backfills });
    addReparseRoutes(app, options, { ...routed, reparses: server.reparses });
    addAssetRoutes(app, options, { ...routed, assetFills: server.assetFills });
    app.get("/status", async (context) => context.json(await server.status()));
  }
  for (const path of ["/workers", "/workers/restart"]) app.all(path, noWorkers);
  app.get("/health", (context) => context.json({ status: "ok" }));
  app.get("/migrations", async (context) => context.json(await dependencies.migrations()));
  app.post("/migrations/contract", async (context) => {
    await dependencies.contract();
    return context.json(await dependencies.migrations());
  });
  return app;
}

/** What only a running server can do. */
const ofServer = [
  ...["/status", "/ingest", "/ingest/*", "/pool/*", "/backfills", "/backfills/*", "/reparses", "/reparses/*"],
  "/assets/*",
  ...["/api/v1/admin/upstreams", "/api/v1/admin/upstreams/*"],
];

function noServer(): never {
  throw new SluiceError("CONFLICT", { message: "No server runs on these stores, and only a running one can do this" });
}

/** The parent of workers answers these itself. */
function noWorkers(): never {
  const message = "This server is one process: WORKERS is 1. Restart it as a service, or one replica after the other";
  throw new SluiceError("CONFLICT", { message });
}

function addAccountReports(app: App, dependencies: ManagementDependencies): void {
  const read = async (context: Context<RestEnvironment>): Promise<AccountRecord> => {
    const account = await dependencies.state.accounts.get(context.req.param("id") ?? "");
    if (account === null) throw new SluiceError("NOT_FOUND", { message: "There is no such account" });
    return account;
  };
  app.get("/accounts/:id/credits", async (context) => {
    const account = await read(context);
    const { month, used } = await dependencies.creditsUsed(account.id);
    const monthly = account.creditsMonthly ?? platformTierLimits[account.tiers.platform].creditsMonthly;
    const held = await dependencies.creditsHeld(account.id, month);
    const body: AccountCredits = {
      month,
      used: String(used > held ? used - held : 0n),
      held: String(held),
      monthly: monthly === null ? null : String(monthly),
    };
    return context.json(body);
  });
  app.get("/accounts/:id/usage", async (context) => {
    const account = await read(context);
    const months = await Promise.all(
      (["oracle", "oracle-v2"] as const).map(async (product) => {
        const { month, used } = await dependencies.requestsUsed(account.id, product);
        const { name, requestsMonthly } = termsOf(account, product);
        const [year = 0, number = 0] = month.split("-").map(Number);
        const resetsAt = isoTime(Date.UTC(year, number, 1));
        return [product, { tier: name, month, used: Number(used), quota: requestsMonthly, resets_at: resetsAt }];
      }),
    );
    return context.json({ ...(await dependencies.lastHour(account.id)), months: Object.fromEntries(months) });
  });
}

const termsOf = ({ tiers }: AccountRecord, product: OracleProduct): OracleTierTerms =>
  product === "oracle" ? oracleTierTerms[tiers.oracle] : oracleV2TierTerms[tiers["oracle-v2"]];
