import type { EngineStatus } from "@sluice/contract/schemas";
import type { AddressSet, Log } from "@sluice/lib";
import { createRestApp } from "../../http/index.ts";
import { Admit, type AdmitDependencies } from "./admit.ts";
import { Answering, json, writeFailure } from "./answering.ts";
import { bundleFailure, EngineRefusal } from "./failure.ts";
import { engineRoot } from "./paths.ts";

export interface StandbyHttpDependencies extends AdmitDependencies {
  readonly trustedProxies: AddressSet;
  readonly requestId: () => string;
  readonly log: Pick<Log, "error">;
  readonly status: () => EngineStatus;
  readonly answered: (route: string, status: number) => void;
}

/** Seconds: about as long as it takes until a process that is gone is known to be gone. */
export const standbyRetrySeconds = 5;
export const standbyText = "This process stands by while another one holds the bundle pool; ask that one.";

/** The REST endpoint of a process that stands by: it reports how it stands, and sends everything else away. */
export function createStandbyHttp(dependencies: StandbyHttpDependencies) {
  const app = createRestApp({ cors: "none", failure: writeFailure }, dependencies);
  const answering = new Answering({ ...dependencies, admit: new Admit(dependencies), records: null });
  app.use("*", answering.first);
  app.get(
    `${engineRoot}/status`,
    answering.handler((incoming) => json(incoming, { ...dependencies.status() })),
  );
  app.all(
    "*",
    answering.handler(() => {
      const said = { detail: standbyText, retryAfterSeconds: standbyRetrySeconds };
      throw new EngineRefusal(bundleFailure("maintenance", said));
    }),
  );
  return app;
}
