import type { Network } from "@sluice/contract/tiers";
import type { StoreConnection } from "../connection.ts";
import type { EncryptionKeyRecord, EncryptionKeyStore } from "../engine-records.ts";
import type { EncryptionKeyRow } from "../engine-tables.ts";
import { numberOf } from "../rows.ts";
import { checkAmount, checkCount, checkIdentifier, checkWhole } from "../values.ts";
import { plain } from "./bundle-rows.ts";

const listedMax = 1_000;
const forgottenInOneGo = 1_000;
const keyBytesMax = 4_096;

export class EncryptionKeys implements EncryptionKeyStore {
  readonly #connection: StoreConnection;
  readonly #network: Network;

  constructor(connection: StoreConnection, network: Network) {
    this.#connection = connection;
    this.#network = network;
  }

  async insert(key: EncryptionKeyRecord): Promise<void> {
    const row: EncryptionKeyRow = {
      id: checkIdentifier("id", key.id),
      created_at: checkWhole("createdAt", key.createdAt),
      valid_from: checkAmount("validFrom", key.validFrom),
      valid_until: checkAmount("validUntil", key.validUntil),
      public_key: key.publicKey,
      private_key: key.privateKey,
      network: this.#network,
    };
    checkCount("publicKey", key.publicKey.length, keyBytesMax);
    checkCount("privateKey", key.privateKey.length, keyBytesMax);
    await this.#connection.write((db) => db.insertInto("encryption_keys").values(row).execute());
  }

  async since(slot: bigint): Promise<readonly EncryptionKeyRecord[]> {
    return this.#connection.run(async (db) => {
      const rows = await db
        .selectFrom("encryption_keys")
        .selectAll()
        .where("network", "=", this.#network)
        .where("valid_until", ">=", checkAmount("slot", slot))
        .orderBy("valid_from")
        .orderBy("id")
        .limit(listedMax)
        .execute();
      return rows.map(toKey);
    });
  }

  async forget(before: bigint): Promise<number> {
    return this.#connection.write(async (db) => {
      const old = db
        .selectFrom("encryption_keys")
        .select("id")
        .where("network", "=", this.#network)
        .where("valid_until", "<", checkAmount("before", before))
        .orderBy("valid_until")
        .limit(forgottenInOneGo);
      const result = await db.deleteFrom("encryption_keys").where("id", "in", old).executeTakeFirst();
      return Number(result.numDeletedRows);
    });
  }
}

function toKey(row: EncryptionKeyRow): EncryptionKeyRecord {
  return {
    id: row.id,
    createdAt: numberOf(row.created_at),
    validFrom: row.valid_from,
    validUntil: row.valid_until,
    publicKey: plain(row.public_key),
    privateKey: plain(row.private_key),
  };
}
