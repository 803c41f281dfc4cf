import { afterAll, beforeAll, describe } from "bun:test";
import { type Clock, ManualClock } from "@sluice/lib";
import type { State } from "../records.ts";
import { accountConformance } from "./conformance/accounts.ts";
import { bundleConformance } from "./conformance/bundles.ts";
import { chainConformance } from "./conformance/chains.ts";
import { changeConformance } from "./conformance/changes.ts";
import { creditConformance } from "./conformance/credits.ts";
import { engineConformance } from "./conformance/engine.ts";
import { keyChangeConformance } from "./conformance/key-changes.ts";
import { keyConformance } from "./conformance/keys.ts";
import { leaseBookConformance } from "./conformance/lease-books.ts";
import { leaseConformance } from "./conformance/leases.ts";
import { processConformance } from "./conformance/processes.ts";
import { savedQueryConformance } from "./conformance/saved-queries.ts";
import { secretConformance } from "./conformance/secrets.ts";
import type { ConformanceSubject } from "./conformance/subject.ts";
import { trailConformance } from "./conformance/trail.ts";
import { webhookDeliveryConformance } from "./conformance/webhook-deliveries.ts";
import { webhookScheduleConformance } from "./conformance/webhook-schedule.ts";
import { webhookConformance } from "./conformance/webhooks.ts";

/** An empty database of one driver. */
export interface StateHarness extends AsyncDisposable {
  readonly state: State;
  /** Another replica on the same database; null where the driver allows only one process. */
  readonly replica: State | null;
  /** Runs a statement past the stores, as a user with a database shell would. */
  execute(sql: string): Promise<void>;
}

/** Every promise that `State` makes, as tests. Each driver passes the same ones; nothing here knows which runs. */
export function describeStateConformance(
  driver: string,
  open: (dependencies: { clock: Clock }) => Promise<StateHarness>,
): void {
  describe(`state conformance on ${driver}`, () => {
    const clock = new ManualClock(1_790_000_000_000);
    let harness: StateHarness | null = null;
    const opened = (): StateHarness => {
      if (harness === null) throw new Error("The database is not open.");
      return harness;
    };
    beforeAll(async () => {
      harness = await open({ clock });
    });
    afterAll(async () => {
      await harness?.[Symbol.asyncDispose]();
    });
    const subject: ConformanceSubject = {
      clock,
      state: () => opened().state,
      replicas: () => {
        const { state, replica } = opened();
        return replica === null ? [state] : [state, replica];
      },
      execute: (sql) => opened().execute(sql),
    };
    accountConformance(subject);
    keyConformance(subject);
    keyChangeConformance(subject);
    creditConformance(subject);
    leaseBookConformance(subject);
    trailConformance(subject);
    chainConformance(subject);
    secretConformance(subject);
    savedQueryConformance(subject);
    webhookConformance(subject);
    webhookDeliveryConformance(subject);
    webhookScheduleConformance(subject);
    processConformance(subject);
    changeConformance(subject);
    bundleConformance(subject);
    engineConformance(subject);
    leaseConformance(subject);
  });
}
