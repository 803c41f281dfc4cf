import type { Clock, Timer } from "@sluice/lib";
import type { Access } from "../../access/index.ts";
import type { Grant } from "../../keys/index.ts";

/** A connection with messages that wait. */
export interface PacedConnection {
  /** What its key may do now. */
  readonly grant: Pick<Grant, "accountId" | "buckets">;
  /** Sends its oldest message; false when none waits any more. */
  sendNext(): boolean;
}

interface PacedAccount {
  /** In the order in which they are served: one message each, in turn. */
  readonly waiting: Set<PacedConnection>;
  /** Nothing is sent while a token is `asked` for, and while there was `none`, until the next look. */
  token: "free" | "asked" | "none";
}

/** Between two looks for new tokens: at 100 messages a second two have come. */
const paceMs = 20;

/**
 * Sends messages at the rate of their account's tier, which all its connections share: each takes a token from one
 * bucket, and while there is none they wait, the connections of an account in turn.
 */
export class MessagePacer {
  readonly #clock: Pick<Clock, "after">;
  readonly #access: Pick<Access, "meter">;
  readonly #accounts = new Map<string, PacedAccount>();
  #timer: Timer | null = null;

  constructor(dependencies: { readonly clock: Pick<Clock, "after">; readonly access: Pick<Access, "meter"> }) {
    this.#clock = dependencies.clock;
    this.#access = dependencies.access;
  }

  /** A message of the connection waits: it is sent at once, or as soon as there is a token for it. */
  offer(connection: PacedConnection): void {
    const { accountId } = connection.grant;
    const account = this.#accounts.get(accountId) ?? { waiting: new Set(), token: "free" };
    this.#accounts.set(accountId, account);
    account.waiting.add(connection);
    if (account.token === "free") this.#serve(accountId, account);
  }

  /** Whether messages of the account wait, before which others are not to be sent. */
  isWaiting(accountId: string): boolean {
    return this.#accounts.has(accountId);
  }

  /** The connection has ended: nothing more of it is sent. */
  leave(connection: PacedConnection): void {
    this.#accounts.get(connection.grant.accountId)?.waiting.delete(connection);
  }

  #serve(accountId: string, account: PacedAccount): void {
    account.token = "free";
    // A connection that is added again while this runs comes up again behind the others.
    for (const connection of account.waiting) {
      const taken = this.#access.meter(connection.grant.buckets.messages);
      if (taken instanceof Promise) {
        account.token = "asked";
        taken.then(
          ({ allowed }) => {
            if (!allowed) return this.#hold(account);
            this.#sendOne(account, connection);
            this.#serve(accountId, account);
          },
          () => this.#hold(account),
        );
        return;
      }
      if (!taken.allowed) {
        this.#hold(account);
        return;
      }
      this.#sendOne(account, connection);
    }
    this.#accounts.delete(accountId);
  }

  #sendOne(account: PacedAccount, connection: PacedConnection): void {
    // It may have left while its token was asked for.
    if (!account.waiting.delete(connection)) return;
    if (connection.sendNext()) account.waiting.add(connection);
  }

  #hold(account: PacedAccount): void {
    account.token = "none";
    this.#timer ??= this.#clock.after(paceMs, () => {
      this.#timer = null;
      for (const [accountId, held] of [...this.#accounts]) if (held.token === "none") this.#serve(accountId, held);
    });
  }
}
