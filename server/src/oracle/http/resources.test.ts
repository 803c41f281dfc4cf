import { describe, expect, test } from "bun:test";
import { oracleErrorTable, oracleTierTerms } from "@sluice/contract/oracle";
import { oracleTiers } from "@sluice/contract/tiers";
import { oracleOfTest } from "../testing/oracle-of-test.ts";

const boot = oracleOfTest();

describe("resources", () => {
  test("show the limits that are enforced, tier by tier", async () => {
    const { get, addKey } = await boot();
    const key = addKey({ oracle: "ultra" });
    const { tiers } = (await get("/api/v1/resources/tiers", key)).body;
    const pricing = (await get("/api/v1/resources/pricing", key)).body;
    expect(tiers).toHaveLength(oracleTiers.length);
    for (const [index, tier] of oracleTiers.entries()) {
      const terms = oracleTierTerms[tier];
      const { body } = await get(`/api/v1/resources/tiers/${tier.toUpperCase()}`, key);
      expect(Object.keys(body)).toEqual([
        "name",
        "price_monthly_usd",
        "requests_per_month",
        "requests_per_second",
        "rate_limit_method",
        "support",
        "data_sources",
        "update_frequency_seconds",
        "history_retention_days",
        "websocket",
      ]);
      // What the endpoint itself says of a request of this tier.
      const { headers } = await get("/api/v1/metrics", addKey({ oracle: tier }));
      expect(String(body.requests_per_second)).toBe(`${headers.get("x-ratelimit-limit")}`);
      expect(String(tiers[index].features.burst)).toBe(`${headers.get("x-ratelimit-burst")}`);
      expect(tiers[index]).toMatchObject({ tier, requests_per_month: terms.requestsMonthly });
      expect(pricing.tiers[index]).toMatchObject({ tier, price_monthly_usd: terms.priceMonthlyUsd });
    }
    expect((await get("/api/v1/resources/tiers/gold", key)).body.error).toBe("NOT_FOUND");
  });

  test("describe every path of the variant, each of which answers, and every error code", async () => {
    const { get, addKey, say } = await boot();
    await say("BTC", "1");
    const key = addKey({ oracle: "ultra" });
    const { endpoints, errors } = (await get("/api/v1/resources/api-docs", key)).body;
    const paths: string[] = endpoints.map((endpoint: { path: string }) => endpoint.path);
    expect(paths).toHaveLength(13);
    for (const path of paths) {
      const filled = path.replace(":symbol", "BTC").replace(":tier", "ultra");
      const query = path.endsWith("/prices") ? "?symbols=BTC" : "";
      expect([path, (await get(filled + query, key)).status]).toEqual([path, 200]);
    }
    expect(errors.map((error: { code: string }) => error.code)).toEqual(Object.keys(oracleErrorTable));
  });
});
