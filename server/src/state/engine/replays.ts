import { SluiceError } from "@sluice/contract/errors";
import type { StoreConnection } from "../connection.ts";
import type { ReplayStore } from "../engine-records.ts";
import type { ReplayRow } from "../engine-tables.ts";
import { newStateError } from "../errors.ts";
import type { GroupKind } from "../group-commit.ts";
import type { Tx } from "../tables.ts";
import { checkIdentifier, checkSha256Hex, checkWhole } from "../values.ts";

const forgottenInOneGo = 1_000;

export class Replays implements ReplayStore {
  readonly #connection: StoreConnection;

  constructor(connection: StoreConnection) {
    this.#connection = connection;
  }

  async claim(claim: Parameters<ReplayStore["claim"]>[0]): Promise<string> {
    return this.#connection.group(claims, {
      // An encapsulated key has 32 bytes, as a SHA-256 has.
      enc: checkSha256Hex("enc", Buffer.from(claim.enc).toString("hex")),
      holder: checkIdentifier("holder", claim.holder),
      expires_at: checkWhole("expiresAt", claim.expiresAt),
    });
  }

  async forgetExpired(): Promise<number> {
    const now = BigInt(this.#connection.clock.now());
    return this.#connection.write(async (db) => {
      const expired = db
        .selectFrom("replays")
        .select("enc")
        .where("expires_at", "<=", now)
        .orderBy("expires_at")
        .limit(forgottenInOneGo);
      const result = await db.deleteFrom("replays").where("enc", "in", expired).executeTakeFirst();
      return Number(result.numDeletedRows);
    });
  }
}

const claims: GroupKind<ReplayRow, string, Tx> = {
  apply: async (tx, items) => {
    const first = new Map<string, ReplayRow>();
    for (const item of items) if (!first.has(item.enc)) first.set(item.enc, item);
    const sorted = [...first.values()].sort((left, right) => (left.enc < right.enc ? -1 : 1));
    await tx
      .insertInto("replays")
      .values(sorted)
      .onConflict((conflict) => conflict.column("enc").doNothing())
      .execute();
    const rows = await tx
      .selectFrom("replays")
      .selectAll()
      .where("enc", "in", [...first.keys()])
      .execute();
    const holders = new Map(rows.map((row) => [row.enc, row.holder]));
    return items.map(({ enc }) => {
      const holder = holders.get(enc);
      // Expired and forgotten by another process between the two statements; another try claims it.
      if (holder === undefined) throw new SluiceError("OVERLOADED", { cause: newStateError("OVERLOADED") });
      return holder;
    });
  },
};
