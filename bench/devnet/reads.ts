import { Connection, postOf } from "./connection.ts";
import { makeWallets } from "./transfers.ts";

const connections = 8;

export interface ReadRate {
  readonly method: string;
  readonly perSecond: number;
}

/** Answers a second of one method, single calls over keep-alive connections, from this process. */
export async function readRate(port: number, method: string, seconds: number): Promise<ReadRate> {
  const requests = makeWallets()
    .slice(0, 64)
    .map(({ address }) => {
      const params = method === "getLatestBlockhash" ? [] : [address, { commitment: "confirmed" }];
      return postOf(port, JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
    });
  const startedAt = performance.now();
  let answers = 0;
  const reader = async () => {
    const connection = await Connection.open(port);
    while (performance.now() - startedAt < seconds * 1_000) {
      const answer = await connection.send(requests[answers % requests.length] ?? new Uint8Array());
      if (!answer.includes('"result"')) throw new Error(answer.toString());
      answers += 1;
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: connections }, reader));
  return { method, perSecond: (answers / (performance.now() - startedAt)) * 1_000 };
}
