import { sql } from "kysely";
import type { StoreConnection } from "./connection.ts";
import { nodeSecretPrefix, type SecretKind, type SecretStore, type StoredSecret } from "./secret-records.ts";
import type { Db, Tx } from "./tables.ts";
import { checkCount } from "./values.ts";

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

/** Every kind of secret that is stored; one that is missing here would be lost with a replaced master key. */
const sources: readonly Source[] = [nodes, encryptionKeys];

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
