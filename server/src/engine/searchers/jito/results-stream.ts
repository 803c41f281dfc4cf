import type { BundleState } from "@sluice/contract/engine";
import type { BundleResultMessage } from "@sluice/contract/proto";
import type { Slot } from "@sluice/wire/identifiers";
import { CallFault, type Outlet } from "../../calls/index.ts";
import type { BundleRecord, Searcher } from "../../model/bundle.ts";
import type { BlockEngineService } from "../../model/service.ts";
import { competingText, lostResult, resultOf } from "./bundle-result.ts";

interface Told {
  readonly state: BundleState;
  readonly slot: Slot | null;
}

/**
 * Tells a searcher each step of each of its bundles from now on, and first how those in flight stand. Clients wait for
 * `processed` before `finalized`, so a step that was not told is told with the next. One that another branch holds is
 * `processed` again, in the slot that it is in now.
 * The first slot that a bundle loses is told, too: it competes again, but who waits for a result wants to know that the bid
 * was too low.
 */
export function tellResults(desk: BlockEngineService, searcher: Searcher, outlet: Outlet<BundleResultMessage>): void {
  const told = new Map<string, Told>();
  const result = (record: BundleRecord): BundleResultMessage =>
    resultOf(record, { next: desk.nextLeader(), lost: desk.losses.of(record.id) });
  const write = (message: BundleResultMessage): void => {
    if (outlet.send(message)) return;
    outlet.end(new CallFault("RESOURCE_EXHAUSTED", "The results are not read fast enough", { retryAfterSeconds: 1 }));
  };
  const send = (record: BundleRecord): void => write(result(record));
  const losing = desk.losses.follow(searcher.id, (bid) => {
    if (outlet.isOpen) write(lostResult(bid, competingText));
  });
  const following = desk.follow(searcher.id, (record) => {
    if (!outlet.isOpen) {
      following[Symbol.dispose]();
      return;
    }
    const before = told.get(record.id);
    const { state } = record;
    const slot = record.landed?.slot ?? null;
    if (before?.state === state && before.slot === slot) return;
    const isProcessed = before?.state === "included" && before.slot === slot;
    if (state === "finalized" && !isProcessed) send({ ...record, state: "included" });
    send(record);
    if (state === "accepted" || state === "included") told.set(record.id, { state, slot });
    else told.delete(record.id);
  });
  outlet.onClose(() => {
    following[Symbol.dispose]();
    losing[Symbol.dispose]();
  });
  const inFlight = desk.inFlight(searcher.id);
  for (const { id, state, landed } of inFlight) told.set(id, { state, slot: landed?.slot ?? null });
  outlet.begin(inFlight.values().map(result));
}
