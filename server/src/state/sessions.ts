import { createHash } from "node:crypto";
import type { Connection } from "./connection.ts";
import type { SessionRecord, SessionStore } from "./records.ts";
import { toSession } from "./rows.ts";
import type { SessionRow } from "./tables.ts";
import { checkIdentifier, checkWhole, isIdentifier } from "./values.ts";

const expiredInOneGo = 1_000;

/** What a session is found by: the hex SHA-256 of its token, so that a copy of the database opens no session. */
export function hashSessionToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

export class Sessions implements SessionStore {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async create(session: Parameters<SessionStore["create"]>[0]): Promise<{ token: string; session: SessionRecord }> {
    const token = `ss_${Buffer.from(this.#connection.random.bytes(32)).toString("base64url")}`;
    const row: SessionRow = {
      hash: hashSessionToken(token),
      account_id: checkIdentifier("accountId", session.accountId),
      key_id: session.keyId === null ? null : checkIdentifier("keyId", session.keyId),
      created_at: BigInt(this.#connection.clock.now()),
      expires_at: checkWhole("expiresAt", session.expiresAt),
    };
    await this.#connection.run((db) => db.insertInto("sessions").values(row).execute());
    return { token, session: toSession(row) };
  }

  async find(hash: string): Promise<SessionRecord | null> {
    if (!isIdentifier(hash)) return null;
    const now = BigInt(this.#connection.clock.now());
    return this.#connection.run(async (db) => {
      const row = await db
        .selectFrom("sessions")
        .selectAll()
        .where("hash", "=", hash)
        .where("expires_at", ">", now)
        .executeTakeFirst();
      return row === undefined ? null : toSession(row);
    });
  }

  async delete(hash: string): Promise<boolean> {
    if (!isIdentifier(hash)) return false;
    return this.#connection.run(async (db) => {
      const result = await db.deleteFrom("sessions").where("hash", "=", hash).executeTakeFirst();
      return result.numDeletedRows > 0n;
    });
  }

  async deleteExpired(): Promise<number> {
    const now = BigInt(this.#connection.clock.now());
    return this.#connection.run(async (db) => {
      const expired = db
        .selectFrom("sessions")
        .select("hash")
        .where("expires_at", "<=", now)
        .orderBy("expires_at")
        .limit(expiredInOneGo);
      const result = await db.deleteFrom("sessions").where("hash", "in", expired).executeTakeFirst();
      return Number(result.numDeletedRows);
    });
  }
}
