import { createHash } from "node:crypto";
import type { Connection } from "./connection.ts";
import type { SessionRecord, SessionStore } from "./records.ts";
import { toSession } from "./rows.ts";
import type { SessionRow, Tx } from "./tables.ts";
import { checkIdentifier, checkWhole, isIdentifier } from "./values.ts";

const expiredInOneGo = 1_000;
/** Browsers that an account may be signed in with; one more signs the oldest out. */
const sessionsPerAccountMax = 10;

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
    await this.#connection.transaction(async (tx) => {
      await this.#makeRoom(tx, row.account_id);
      await tx.insertInto("sessions").values(row).execute();
    });
    return { token, session: toSession(row) };
  }

  /** Leaves the account's newest sessions, one less than it may have. */
  async #makeRoom(tx: Tx, accountId: string): Promise<void> {
    if (this.#connection.driver === "postgres") {
      // Two that sign in at once would both see room.
      await tx.selectFrom("accounts").select("id").where("id", "=", accountId).forUpdate().execute();
    }
    const kept = tx
      .selectFrom("sessions")
      .select("hash")
      .where("account_id", "=", accountId)
      .orderBy("created_at", "desc")
      .orderBy("hash")
      .limit(sessionsPerAccountMax - 1);
    await tx.deleteFrom("sessions").where("account_id", "=", accountId).where("hash", "not in", kept).execute();
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
    for (let deleted = 0; ; ) {
      const batch = await this.#deleteExpired(now);
      deleted += batch;
      if (batch < expiredInOneGo) return deleted;
    }
  }

  /** One statement's worth, so that no other write waits long. */
  #deleteExpired(now: bigint): Promise<number> {
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
