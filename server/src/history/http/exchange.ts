import { SluiceError } from "@sluice/contract/errors";
import type { Network } from "@sluice/contract/tiers";
import type { Clock, Log } from "@sluice/lib";
import type { Access, RestExchange } from "../../access/index.ts";
import type { Grant } from "../../keys/index.ts";
import { LedgerQueryError, LedgerUnavailableError } from "../../ledger/index.ts";

export interface ExchangeDependencies {
  readonly clock: Clock;
  readonly access: Pick<
    Access,
    "identify" | "callerOf" | "restrict" | "permit" | "meter" | "charge" | "refund" | "shortage"
  >;
  readonly networkDefault: Network;
}

/** Codes of an answer: that nothing is there was found out, and costs what it costs. */
const answers: ReadonlySet<string> = new Set([
  "TRANSACTION_NOT_FOUND",
  "BLOCK_NOT_FOUND",
  "TOKEN_NOT_FOUND",
  "NFT_NOT_FOUND",
  "IDENTITY_NOT_FOUND",
]);

/**
 * Charges the price, and gives it back where the work has no answer.
 *
 * @throws {SluiceError} INSUFFICIENT_CREDITS, and what the work throws
 */
export async function chargedRead<T>(
  exchange: RestExchange,
  { access, grant, price }: Pick<ExchangeDependencies, "access"> & { readonly grant: Grant; readonly price: number },
  work: () => Promise<T>,
): Promise<T> {
  if (!(await access.charge(grant, price))) {
    throw new SluiceError("INSUFFICIENT_CREDITS", access.shortage(grant, price, "request"));
  }
  exchange.credits = price;
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SluiceError && answers.has(error.code))) {
      access.refund(grant, price, exchange.atMs);
      exchange.credits = 0;
    }
    throw error;
  }
}

/** What a caller learns of the ledger's failures: that it is away or busy, and not where it is. Others stay. */
export function readFailure(error: unknown, log: Pick<Log, "warn">): unknown {
  if (error instanceof LedgerUnavailableError) {
    return new SluiceError("STORE_UNAVAILABLE", {
      message: "The ledger is not available; try again later",
      cause: error,
    });
  }
  if (error instanceof LedgerQueryError && error.transient) {
    log.warn({ error }, "the ledger did not answer a look-up in its bounds");
    return new SluiceError("OVERLOADED", { cause: error });
  }
  return error;
}
