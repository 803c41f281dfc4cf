import { sql } from "kysely";
import type { StoreConnection } from "./connection.ts";
import { nodeSecretPrefix, type SecretKind, type SecretStore, type StoredSecret } from "./secret-records.ts";
import type { Db, Tx } from "./tables.ts";
import { checkCount } from "./values.ts";
import { webhookSecretId } from "./webhook-records.ts";
import { recordWebhookChange } from "./webhooks/changes.ts";
import { retiredSecretsColumn, toRetiredSecrets, toWebhook } from "./webhooks/rows.ts";

const batchMax = 1_000;

/** Where the secrets of one kind are. */
interface Source {
  readonly kind: SecretKind;
  readonly secretId: (place: string) => string;
  readonly read: (
    db: Db,
    after: string | null,
    limit: number,
  ) => Promise<readonly { readonly place: string; readonly stored: Uint8Array }[]>;
  /** Whether there was one that is still as it was read. */
  readonly replace: (tx: Tx, secret: StoredSecret, stored: Uint8Array) => Promise<boolean>;
  readonly remove: (tx: Tx, secret: StoredSecret) => Promise<boolean>;
}

/** `network/label` of an added node. */
const nodePlace = sql<string>`network || '/' || label`;

const nodes: Source = {
  kind: "node",
  secretId: (place) => `${nodeSecretPrefix}${place}`,
  read: (db, after, limit) => {
    const query = db.selectFrom("upstream_nodes").select([nodePlace.as("place"), "options as stored"]);
    const rest = after === null ? query : query.where(nodePlace, ">", after);
    return rest.orderBy(nodePlace).limit(limit).execute();
  },
  replace: async (tx, { place, stored: before }, stored) => {
    const query = tx.updateTable("upstream_nodes").set({ options: stored });
    const result = await query.where(nodePlace, "=", place).where("options", "=", before).executeTakeFirst();
    return result.numUpdatedRows > 0n;
  },
  remove: async (tx, { place, stored }) => {
    const query = tx.deleteFrom("upstream_nodes").where(nodePlace, "=", place).where("options", "=", stored);
    return (await query.executeTakeFirst()).numDeletedRows > 0n;
  },
};

const encryptionKeys: Source = {
  kind: "encryption key",
  secretId: (place) => place,
  read: (db, after, limit) => {
    const query = db.selectFrom("encryption_keys").select(["id as place", "private_key as stored"]);
    return (after === null ? query : query.where("id", ">", after)).orderBy("id").limit(limit).execute();
  },
  replace: async (tx, { place, stored: before }, stored) => {
    const query = tx.updateTable("encryption_keys").set({ private_key: stored });
    const result = await query.where("id", "=", place).where("private_key", "=", before).executeTakeFirst();
    return result.numUpdatedRows > 0n;
  },
  remove: async (tx, { place, stored }) => {
    const query = tx.deleteFrom("encryption_keys").where("id", "=", place).where("private_key", "=", stored);
    return (await query.executeTakeFirst()).numDeletedRows > 0n;
  },
};

/** `id`, `id/next` of a secret that is rotated in, and `id/old/0` and on of those that sign along; `/` is in no id. */
const nextPlace = sql<string>`id || '/next'`;
const nextEnding = "/next";
const oldPlace = (id: string, index: number): string => `${id}/old/${index}`;
const webhookOf = (place: string): string => place.split("/", 1)[0] ?? place;

type SecretColumn = "secret" | "next_secret" | "retired_secrets";

function columnOf(place: string): SecretColumn {
  if (place === webhookOf(place)) return "secret";
  return place.endsWith(nextEnding) ? "next_secret" : "retired_secrets";
}

/** Replaces one of the secrets that sign along, or takes it out; whether it was there, and the others are as before. */
async function changeRetired(
  tx: Tx,
  { place, stored: before }: StoredSecret,
  stored: Uint8Array | null,
): Promise<boolean> {
  const id = webhookOf(place);
  const row = await tx.selectFrom("webhooks").select("retired_secrets").where("id", "=", id).executeTakeFirst();
  const text = row?.retired_secrets ?? null;
  if (text === null) return false;
  const retired = toRetiredSecrets(text);
  const at = retired.findIndex(({ secret }) => Buffer.compare(secret, before) === 0);
  const found = retired[at];
  if (found === undefined) return false;
  retired.splice(at, 1, ...(stored === null ? [] : [{ ...found, secret: stored }]));
  const query = tx.updateTable("webhooks").set({ retired_secrets: retiredSecretsColumn(retired) });
  const result = await query.where("id", "=", id).where("retired_secrets", "=", text).executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

const webhooks: Source = {
  kind: "webhook",
  secretId: (place) => webhookSecretId(webhookOf(place)),
  read: async (db, after, limit) => {
    const from = after ?? "";
    const present = await db
      .selectFrom("webhooks")
      .select(["id as place", "secret as stored"])
      .where("id", ">", from)
      .orderBy("id")
      .limit(limit)
      .execute();
    const next = await db
      .selectFrom("webhooks")
      .select([nextPlace.as("place"), "next_secret as stored"])
      .where("id", ">=", webhookOf(from))
      .where("next_secret", "is not", null)
      .orderBy("id")
      .limit(limit + 1)
      .execute();
    const old = await db
      .selectFrom("webhooks")
      .select(["id", "retired_secrets"])
      .where("id", ">=", webhookOf(from))
      .where("retired_secrets", "is not", null)
      .orderBy("id")
      .limit(limit + 1)
      .execute();
    const rotated = next.flatMap(({ place, stored }) => (stored === null ? [] : [{ place, stored }]));
    const retired = old.flatMap(({ id, retired_secrets: text }) =>
      toRetiredSecrets(text ?? "[]").map(({ secret }, index) => ({ place: oldPlace(id, index), stored: secret })),
    );
    // An id comes before itself with more behind it, and ids are of one length.
    return [...present, ...[...rotated, ...retired].filter(({ place }) => place > from)]
      .toSorted((one, other) => (one.place < other.place ? -1 : 1))
      .slice(0, limit);
  },
  replace: async (tx, secret, stored) => {
    const { place, stored: before } = secret;
    const column = columnOf(place);
    if (column === "retired_secrets") return await changeRetired(tx, secret, stored);
    const query = tx.updateTable("webhooks").set({ [column]: stored });
    const result = await query.where("id", "=", webhookOf(place)).where(column, "=", before).executeTakeFirst();
    return result.numUpdatedRows > 0n;
  },
  remove: async (tx, secret) => {
    const { place, stored } = secret;
    const id = webhookOf(place);
    const column = columnOf(place);
    const read = tx.selectFrom("webhooks").selectAll().where("id", "=", id);
    const query = column === "retired_secrets" ? read : read.where(column, "=", stored);
    const row = await query.executeTakeFirst();
    if (row === undefined) return false;
    if (column === "secret") await tx.deleteFrom("webhooks").where("id", "=", id).execute();
    else if (column === "next_secret") {
      await tx.updateTable("webhooks").set({ next_secret: null, overlap_ends_at: null }).where("id", "=", id).execute();
    } else if (!(await changeRetired(tx, secret, null))) return false;
    await recordWebhookChange(tx, toWebhook(row).network, id);
    return true;
  },
};

/** Every kind of secret that is stored; one that is missing here would be lost with a replaced master key. */
const sources: readonly Source[] = [nodes, encryptionKeys, webhooks];

const sourceOf = (kind: SecretKind): Source => sources.find((source) => source.kind === kind) ?? nodes;

export class Secrets implements SecretStore {
  readonly #connection: StoreConnection;

  constructor(connection: StoreConnection) {
    this.#connection = connection;
  }

  async list(after: Pick<StoredSecret, "kind" | "place"> | null, limit: number): Promise<readonly StoredSecret[]> {
    checkCount("limit", limit, batchMax);
    const begun = sources.findIndex(({ kind }) => kind === after?.kind);
    const found: StoredSecret[] = [];
    for (const source of sources.slice(Math.max(0, begun))) {
      const from = source.kind === after?.kind ? after.place : null;
      const rows = await this.#connection.run((db) => source.read(db, from, limit - found.length));
      const { kind, secretId } = source;
      for (const { place, stored } of rows) {
        found.push({ kind, place, secretId: secretId(place), stored: new Uint8Array(stored) });
      }
      if (found.length >= limit) break;
    }
    return found;
  }

  async replace(changes: readonly { readonly secret: StoredSecret; readonly stored: Uint8Array }[]): Promise<number> {
    checkCount("changes", changes.length, batchMax);
    return this.#connection.transaction(async (tx) => {
      let count = 0;
      for (const { secret, stored } of changes) {
        if (await sourceOf(secret.kind).replace(tx, secret, stored)) count += 1;
      }
      return count;
    });
  }

  async remove(secrets: readonly StoredSecret[]): Promise<number> {
    checkCount("secrets", secrets.length, batchMax);
    return this.#connection.transaction(async (tx) => {
      let count = 0;
      for (const secret of secrets) if (await sourceOf(secret.kind).remove(tx, secret)) count += 1;
      return count;
    });
  }
}
