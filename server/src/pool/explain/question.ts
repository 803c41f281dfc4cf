import { SluiceError } from "@sluice/contract/errors";
import type { ChartPeriod, ExplainedRecord, FigurePeriod, PnlStrategy } from "@sluice/contract/pool";
import * as schemas from "@sluice/contract/schemas";
import { type Address, parseAddress } from "@sluice/wire/identifiers";
import { parseInput } from "../../http/index.ts";

type Asked = "position" | "overview" | "charts/tvl" | "charts/apy" | "pnl";
type Unasked<Name> = Name extends Asked ? never : { readonly record: Name };

/** Which record is explained. */
export type ExplainQuestion =
  | Unasked<ExplainedRecord>
  | { readonly record: "position"; readonly wallet: Address }
  | { readonly record: "overview"; readonly period: FigurePeriod }
  | { readonly record: "charts/tvl" | "charts/apy"; readonly period: ChartPeriod }
  | {
      readonly record: "pnl";
      readonly strategy: PnlStrategy;
      readonly period: FigurePeriod;
      /** Whose; null is everybody's. */
      readonly accountId: string | null;
    };

/**
 * Reads the query of an explanation for an account, null for who may see everybody's.
 *
 * @throws {SluiceError} INVALID_INPUT with the parameter that is wrong or missing
 */
export function explainQuestion(query: unknown, accountId: string | null): ExplainQuestion {
  const { record, wallet, period, strategy } = parseInput(schemas.explainQuery, query);
  switch (record) {
    case "position": {
      const address = parseAddress(wallet);
      if (address !== null) return { record, wallet: address };
      const errors = [{ path: "wallet", message: "must be an address in base58" }];
      throw new SluiceError("INVALID_INPUT", { details: { errors } });
    }
    case "overview":
      return { record, period: parseInput(schemas.pnlQuery, { period }).period };
    case "charts/tvl":
    case "charts/apy":
      return { record, period: parseInput(schemas.chartQuery, { period }).period };
    case "pnl":
      return { record, accountId, ...parseInput(schemas.pnlQuery, { period, strategy }) };
    default:
      return { record };
  }
}
