import { oracleTiers, oracleV2Tiers, type Product, platformTiers } from "@sluice/contract/tiers";
import type { StoreConnection } from "./connection.ts";
import { recordKeyChange } from "./key-changes.ts";
import { beyond, readPageRequest, toPage } from "./paging.ts";
import type { AccountRecord, AccountStore, PageRequest, RecordPage } from "./records.ts";
import { toAccount } from "./rows.ts";
import type { AccountRow } from "./tables.ts";
import { checkAmount, checkIdentifier, checkOneOf, checkText, checkWholeOrNull, isIdentifier } from "./values.ts";

const nameLengthMax = 200;

type Overrides = Parameters<AccountStore["setOverrides"]>[1];

export class Accounts implements AccountStore {
  readonly #connection: StoreConnection;

  constructor(connection: StoreConnection) {
    this.#connection = connection;
  }

  async create(account: Parameters<AccountStore["create"]>[0]): Promise<AccountRecord> {
    const id = account.id === undefined ? this.#connection.newId("acct") : checkIdentifier("id", account.id);
    const row: AccountRow = {
      id,
      name: checkText("name", account.name, nameLengthMax),
      created_at: BigInt(this.#connection.clock.now()),
      tier_platform: checkOneOf("tiers.platform", account.tiers?.platform ?? "free", platformTiers),
      tier_oracle: checkOneOf("tiers.oracle", account.tiers?.oracle ?? "community", oracleTiers),
      tier_oracle_v2: checkOneOf("tiers.oracle-v2", account.tiers?.["oracle-v2"] ?? "community", oracleV2Tiers),
      requests_per_second: null,
      credits_monthly: null,
      disabled_at: null,
      ...overrideColumns(account),
    };
    await this.#connection.run((db) => db.insertInto("accounts").values(row).execute());
    return toAccount(row);
  }

  async get(id: string): Promise<AccountRecord | null> {
    if (!isIdentifier(id)) return null;
    return this.#connection.run(async (db) => {
      const row = await db.selectFrom("accounts").selectAll().where("id", "=", id).executeTakeFirst();
      return row === undefined ? null : toAccount(row);
    });
  }

  async list(page: PageRequest): Promise<RecordPage<AccountRecord>> {
    const { limit, after } = readPageRequest("accounts", page);
    return this.#connection.run(async (db) => {
      const rows = await db
        .selectFrom("accounts")
        .selectAll()
        .where(beyond({ time: "created_at", id: "id" }, after, "asc"))
        .orderBy("created_at")
        .orderBy("id")
        .limit(limit + 1)
        .execute();
      return toPage("accounts", limit, rows, toAccount, (row) => ({ time: row.created_at, id: row.id }));
    });
  }

  async setTier(id: string, product: Product, tier: string): Promise<AccountRecord | null> {
    return this.#update(id, tierColumn(product, tier));
  }

  async setOverrides(id: string, overrides: Overrides): Promise<AccountRecord | null> {
    return this.#update(id, overrideColumns(overrides));
  }

  async rename(id: string, name: string): Promise<AccountRecord | null> {
    return this.#update(id, { name: checkText("name", name, nameLengthMax) });
  }

  async setDisabled(id: string, isDisabled: boolean): Promise<AccountRecord | null> {
    return this.#update(id, { disabled_at: isDisabled ? BigInt(this.#connection.clock.now()) : null });
  }

  async #update(id: string, columns: Partial<AccountRow>): Promise<AccountRecord | null> {
    if (!isIdentifier(id)) return null;
    if (Object.keys(columns).length === 0) return this.get(id);
    return this.#connection.transaction(async (tx) => {
      const row = await tx.updateTable("accounts").set(columns).where("id", "=", id).returningAll().executeTakeFirst();
      if (row === undefined) return null;
      await recordKeyChange(tx, { kind: "account", accountId: id });
      return toAccount(row);
    });
  }
}

function tierColumn(product: Product, tier: string): Partial<AccountRow> {
  switch (checkOneOf("product", product, ["platform", "oracle", "oracle-v2"])) {
    case "platform":
      return { tier_platform: checkOneOf("tier", tier, platformTiers) };
    case "oracle":
      return { tier_oracle: checkOneOf("tier", tier, oracleTiers) };
    case "oracle-v2":
      return { tier_oracle_v2: checkOneOf("tier", tier, oracleV2Tiers) };
  }
}

function overrideColumns(overrides: Overrides): Partial<AccountRow> {
  const { requestsPerSecond, creditsMonthly } = overrides;
  return {
    ...(requestsPerSecond === undefined
      ? {}
      : { requests_per_second: checkWholeOrNull("requestsPerSecond", requestsPerSecond) }),
    ...(creditsMonthly === undefined
      ? {}
      : { credits_monthly: creditsMonthly === null ? null : checkAmount("creditsMonthly", creditsMonthly) }),
  };
}
