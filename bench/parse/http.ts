import { createEnhanced, createSql } from "@sluice/sdk";
import { startNetwork } from "../../server/test/testing/network.ts";

/** Generated transactions a second, while signatures are gathered and while requests are measured. */
const traffic = 100;
const batch = 100;
/** The most rows of one query. */
const listed = 100_000;
const gatherMs = 600_000;

/** Times of requests in ms, and how many records came of them. */
export interface HttpFigures {
  readonly times: readonly number[];
  readonly records: number;
}

/**
 * `POST /api/v1/v0/transactions` with 100 signatures, one request after the other, of a whole Sluice that runs as
 * `npm start` runs it, in a process of its own, while its chain goes on. No signature is asked for twice, so that
 * nothing of an answer was kept.
 */
export async function measureHttp(requests: number, warmUp: number): Promise<HttpFigures> {
  await using network = await startNetwork({ args: ["--traffic", String(traffic)] });
  const url = new URL(network.rpcUrl).origin;
  const wanted = (requests + warmUp) * batch;
  const signatures = await gathered(createSql({ url, key: network.dev.key }), wanted);
  const enhanced = createEnhanced({ url, apiKey: network.dev.key });
  const times: number[] = [];
  let records = 0;
  for (let at = 0; at < requests + warmUp; at += 1) {
    const asked = signatures.slice(at * batch, (at + 1) * batch);
    const startedMs = performance.now();
    const answer = await enhanced.transactions(asked);
    const elapsedMs = performance.now() - startedMs;
    const failed = answer.find((item) => !("type" in item));
    if (answer.length !== asked.length || failed !== undefined) {
      throw new Error(`a request was not answered whole: ${JSON.stringify(failed ?? answer.length)}`);
    }
    if (at < warmUp) continue;
    times.push(elapsedMs);
    records += answer.length;
  }
  return { times, records };
}

/** Signatures of transactions that the chain has, the newest first, once there are enough. */
async function gathered(sql: ReturnType<typeof createSql>, wanted: number): Promise<readonly string[]> {
  const untilMs = performance.now() + gatherMs;
  const query = `SELECT signature FROM parsed WHERE success ORDER BY slot DESC LIMIT ${listed}`;
  for (;;) {
    const { rows } = await sql.run(query, { max_rows: listed });
    if (rows.length >= wanted) return rows.slice(0, wanted).map(([signature]) => String(signature));
    if (performance.now() > untilMs) throw new Error(`the chain had ${rows.length} of ${wanted} transactions in time`);
    await Bun.sleep(2_000);
  }
}
