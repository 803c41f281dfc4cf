import type { BundleState } from "@sluice/contract";
import type { BundleResultMessage } from "@sluice/contract/proto/index.ts";
import type { BundleRecord, Searcher } from "../../bundle.ts";
import { CallFault, type Outlet } from "../../calls/index.ts";
import type { EngineDesk } from "../../desk.ts";
import { resultOf } from "./bundle-result.ts";

/**
 * Tells a searcher each step of each of its bundles from now on, and first how those in flight stand. Clients wait for
 * `processed` before `finalized`, so a step that was not told is told with the next.
 */
export function tellResults(desk: EngineDesk, searcher: Searcher, outlet: Outlet<BundleResultMessage>): void {
  const told = new Map<string, BundleState>();
  const send = (record: BundleRecord): void => {
    if (outlet.send(resultOf(record, desk.nextLeader()))) return;
    outlet.end(new CallFault("RESOURCE_EXHAUSTED", "The results are not read fast enough"));
  };
  const following = desk.follow(searcher.id, (record) => {
    if (!outlet.isOpen) {
      following[Symbol.dispose]();
      return;
    }
    const before = told.get(record.id);
    if (before === record.state) return;
    if (record.state === "finalized" && before !== "included") send({ ...record, state: "included" });
    send(record);
    if (record.state === "accepted" || record.state === "included") told.set(record.id, record.state);
    else told.delete(record.id);
  });
  outlet.onClose(() => following[Symbol.dispose]());
  const inFlight = desk.inFlight(searcher.id);
  for (const { id, state } of inFlight) told.set(id, state);
  outlet.begin(inFlight.values().map((record) => resultOf(record, desk.nextLeader())));
}
