import type { Allowance } from "../../credits/index.ts";
import { jsonText } from "../model/json.ts";
import type { OracleRequest } from "./route.ts";

/** What a key may do and what its account has used of the month. */
export async function validation(allowance: Allowance, request: OracleRequest): Promise<string> {
  const { terms, tier, grant } = request;
  const { month, used } = await allowance.spent(grant.accountId);
  const usedRequests = Number(used);
  const monthly = terms.requestsMonthly;
  return jsonText({
    valid: true,
    plan: tier,
    limits: {
      requests_per_minute: terms.rate,
      burst: terms.burst,
      requests_per_month: monthly,
      update_frequency_seconds: terms.updateFrequencySeconds,
      history_retention_days: terms.historyRetentionDays,
    },
    usage: {
      month,
      requests: usedRequests,
      remaining: monthly === null ? null : Math.max(0, monthly - usedRequests),
    },
  });
}
