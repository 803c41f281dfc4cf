import { keyEnvironments } from "@sluice/contract/api-key";
import { SluiceError } from "@sluice/contract/errors";
import { networks, permissions } from "@sluice/contract/tiers";
import type { StoreConnection } from "./connection.ts";
import type { GroupKind } from "./group-commit.ts";
import { recordKeyChange } from "./key-changes.ts";
import { beyond, readPageRequest, toPage } from "./paging.ts";
import {
  type AccountRecord,
  type KeyChanges,
  type KeyRecord,
  type KeyRestrictions,
  type KeyStatus,
  type KeyStore,
  keyStatuses,
  type PageRequest,
  type RecordPage,
} from "./records.ts";
import { toAccount, toKey } from "./rows.ts";
import type { AccountRow, KeyRow, Tx } from "./tables.ts";
import { applyTouches } from "./touches.ts";
import {
  checkIdentifier,
  checkJson,
  checkOneOf,
  checkSha256Hex,
  checkText,
  checkWhole,
  checkWholeOrNull,
  isIdentifier,
} from "./values.ts";

const textLengthMax = 200;
const listEntriesMax = 1_000;
const restrictionsLengthMax = 64 * 1024;
const methodsLengthMax = 16 * 1024;
const touchMax = 10_000;
/** Enough to find one that is left over. */
const adminsMax = 1_000;

/** What keys are looked up over: those that this process knows, and those that anybody may have made up. */
export interface LookupConnections {
  readonly known: StoreConnection;
  readonly unknown: StoreConnection;
}

export class Keys implements KeyStore {
  readonly #connection: StoreConnection;
  readonly #lookups: LookupConnections;
  readonly #touches: GroupKind<ReadonlyMap<string, number>, undefined, Tx>;

  constructor(connection: StoreConnection, lookups: LookupConnections = { known: connection, unknown: connection }) {
    this.#connection = connection;
    this.#lookups = lookups;
    this.#touches = { apply: (tx, items) => applyTouches(tx, connection.driver, items) };
  }

  async insert(key: KeyRecord): Promise<KeyRecord> {
    const row: KeyRow = {
      id: checkIdentifier("id", key.id),
      account_id: checkIdentifier("accountId", key.accountId),
      hash: checkSha256Hex("hash", key.hash),
      hint: checkText("hint", key.hint, textLengthMax),
      environment: checkOneOf("environment", key.environment, keyEnvironments),
      status: checkOneOf("status", key.status, keyStatuses),
      created_at: checkWhole("createdAt", key.createdAt),
      last_used_at: checkWholeOrNull("lastUsedAt", key.lastUsedAt),
      name: nameColumn(key.name),
      restrictions: restrictionsColumn(key.restrictions),
      permissions: permissionsColumn(key.permissions),
      methods: methodsColumn(key.methods),
      enhanced: key.enhanced ? 1n : 0n,
      enhanced_requests_per_second: checkWholeOrNull("enhancedRequestsPerSecond", key.enhancedRequestsPerSecond),
      requests_per_second: checkWholeOrNull("requestsPerSecond", key.requestsPerSecond),
      expires_at: checkWholeOrNull("expiresAt", key.expiresAt),
    };
    await this.#connection.transaction(async (tx) => {
      await tx.insertInto("api_keys").values(row).execute();
      // Other processes may remember that there is no such key.
      await recordKeyChange(tx, { kind: "key", hash: row.hash });
    });
    return toKey(row);
  }

  async findByHash(
    hash: string,
    { isKnown }: { readonly isKnown: boolean } = { isKnown: true },
  ): Promise<{ key: KeyRecord; account: AccountRecord } | null> {
    if (!isIdentifier(hash)) return null;
    return (isKnown ? this.#lookups.known : this.#lookups.unknown).run(async (db) => {
      const row = await db
        .selectFrom("api_keys")
        .innerJoin("accounts", "accounts.id", "api_keys.account_id")
        .selectAll("api_keys")
        .select([
          "accounts.name as account_name",
          "accounts.created_at as account_created_at",
          "accounts.tier_platform",
          "accounts.tier_oracle",
          "accounts.tier_oracle_v2",
          "accounts.requests_per_second as account_requests_per_second",
          "accounts.credits_monthly",
          "accounts.disabled_at",
        ])
        .where("api_keys.hash", "=", hash)
        .executeTakeFirst();
      if (row === undefined) return null;
      const account: AccountRow = {
        id: row.account_id,
        name: row.account_name,
        created_at: row.account_created_at,
        tier_platform: row.tier_platform,
        tier_oracle: row.tier_oracle,
        tier_oracle_v2: row.tier_oracle_v2,
        requests_per_second: row.account_requests_per_second,
        credits_monthly: row.credits_monthly,
        disabled_at: row.disabled_at,
      };
      return { key: toKey(row), account: toAccount(account) };
    });
  }

  get(id: string): Promise<KeyRecord | null> {
    return this.#read(id, false);
  }

  lock(id: string): Promise<KeyRecord | null> {
    return this.#read(id, this.#connection.driver === "postgres");
  }

  async #read(id: string, locked: boolean): Promise<KeyRecord | null> {
    if (!isIdentifier(id)) return null;
    return this.#connection.run(async (db) => {
      const query = db.selectFrom("api_keys").selectAll().where("id", "=", id);
      const row = await (locked ? query.forUpdate() : query).executeTakeFirst();
      return row === undefined ? null : toKey(row);
    });
  }

  async lockAdmins(): Promise<readonly KeyRecord[]> {
    return this.#connection.run(async (db) => {
      // The list is JSON text of names that this room wrote itself, so the quoted name is found in it and nowhere else.
      const query = db
        .selectFrom("api_keys")
        .selectAll()
        .where("status", "=", "active")
        .where("permissions", "like", '%"admin"%')
        .orderBy("id")
        .limit(adminsMax);
      const rows = await (this.#connection.driver === "postgres" ? query.forUpdate() : query).execute();
      return rows.map(toKey);
    });
  }

  async list(page: PageRequest & { readonly accountId?: string }): Promise<RecordPage<KeyRecord>> {
    const { limit, after } = readPageRequest("keys", page);
    const { accountId } = page;
    if (accountId !== undefined && !isIdentifier(accountId)) return { items: [], nextCursor: null };
    return this.#connection.run(async (db) => {
      let query = db.selectFrom("api_keys").selectAll();
      if (accountId !== undefined) query = query.where("account_id", "=", accountId);
      const rows = await query
        .where(beyond({ time: "created_at", id: "id" }, after, "asc"))
        .orderBy("created_at")
        .orderBy("id")
        .limit(limit + 1)
        .execute();
      return toPage("keys", limit, rows, toKey, (row) => ({ time: row.created_at, id: row.id }));
    });
  }

  async setStatus(id: string, status: KeyStatus): Promise<KeyRecord | null> {
    checkOneOf("status", status, keyStatuses);
    if (!isIdentifier(id)) return null;
    return this.#connection.transaction(async (tx) => {
      // The condition and the change are one statement, so a revocation cannot slip in between.
      let query = tx.updateTable("api_keys").set({ status }).where("id", "=", id);
      if (status !== "revoked") query = query.where("status", "<>", "revoked");
      const row = await query.returningAll().executeTakeFirst();
      if (row !== undefined) {
        await recordKeyChange(tx, { kind: "key", hash: row.hash });
        return toKey(row);
      }
      const present = await tx.selectFrom("api_keys").select("id").where("id", "=", id).executeTakeFirst();
      if (present === undefined) return null;
      throw new SluiceError("CONFLICT", { message: "A revoked key stays revoked" });
    });
  }

  async update(id: string, changes: KeyChanges): Promise<KeyRecord | null> {
    const columns = changedColumns(changes);
    if (!isIdentifier(id)) return null;
    if (Object.keys(columns).length === 0) return this.get(id);
    return this.#connection.transaction(async (tx) => {
      const row = await tx.updateTable("api_keys").set(columns).where("id", "=", id).returningAll().executeTakeFirst();
      if (row === undefined) return null;
      await recordKeyChange(tx, { kind: "key", hash: row.hash });
      return toKey(row);
    });
  }

  async touch(lastUsed: ReadonlyMap<string, number>): Promise<void> {
    if (lastUsed.size > touchMax) {
      throw new SluiceError("INVALID_INPUT", { message: `At most ${touchMax} keys are touched at once` });
    }
    const known = new Map([...lastUsed].filter(([id]) => isIdentifier(id)));
    for (const time of known.values()) checkWhole("lastUsedAt", time);
    if (known.size > 0) await this.#connection.group(this.#touches, known);
  }
}

function nameColumn(name: string): string {
  return checkText("name", name, textLengthMax);
}

function boundedList(path: string, entries: readonly string[]): readonly string[] {
  if (entries.length <= listEntriesMax) return entries;
  throw new SluiceError("INVALID_INPUT", { message: `${path} must have at most ${listEntriesMax} entries` });
}

function restrictionsColumn(restrictions: KeyRestrictions): string {
  const { networks: allowed, domains, ipRanges } = restrictions;
  const value = {
    networks: boundedList("restrictions.networks", allowed).map((name) =>
      checkOneOf("restrictions.networks", name, networks),
    ),
    domains: boundedList("restrictions.domains", domains),
    ipRanges: boundedList("restrictions.ipRanges", ipRanges),
  };
  return checkJson("restrictions", value, restrictionsLengthMax);
}

function permissionsColumn(granted: readonly string[]): string {
  const names = boundedList("permissions", granted).map((name) => checkOneOf("permissions", name, permissions));
  return JSON.stringify(names);
}

function methodsColumn(methods: readonly string[]): string | null {
  if (methods.length === 0) return null;
  return checkJson("methods", boundedList("methods", methods), methodsLengthMax);
}

function changedColumns(changes: KeyChanges): Partial<KeyRow> {
  const columns: Partial<KeyRow> = {};
  const { name, restrictions, enhanced, permissions: granted, methods } = changes;
  const { enhancedRequestsPerSecond, requestsPerSecond, expiresAt } = changes;
  if (name !== undefined) columns.name = nameColumn(name);
  if (restrictions !== undefined) columns.restrictions = restrictionsColumn(restrictions);
  if (granted !== undefined) columns.permissions = permissionsColumn(granted);
  if (methods !== undefined) columns.methods = methodsColumn(methods);
  if (enhanced !== undefined) columns.enhanced = enhanced ? 1n : 0n;
  if (enhancedRequestsPerSecond !== undefined) {
    columns.enhanced_requests_per_second = checkWholeOrNull("enhancedRequestsPerSecond", enhancedRequestsPerSecond);
  }
  if (requestsPerSecond !== undefined) {
    columns.requests_per_second = checkWholeOrNull("requestsPerSecond", requestsPerSecond);
  }
  if (expiresAt !== undefined) columns.expires_at = checkWholeOrNull("expiresAt", expiresAt);
  return columns;
}
