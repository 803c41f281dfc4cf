import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemRandom } from "@sluice/lib";
import { ChildSupervisor } from "../../src/ledger/supervisor.ts";

export interface LedgerServer extends AsyncDisposable {
  /** What CLICKHOUSE_URL takes. */
  readonly url: string;
}

/** A ledger that several processes share: the embedded engine, behind the protocol of ClickHouse. */
export async function startLedgerServer(): Promise<LedgerServer> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-ledger-"));
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const server = await ChildSupervisor.start({ directory }, { clock: systemClock, random: systemRandom, log });
  const { url, user, password } = await server.current();
  const address = new URL(url);
  address.username = user;
  address.password = password;
  return {
    url: address.href,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
