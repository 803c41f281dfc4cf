import type { SubscribeUpdate } from "@triton-one/yellowstone-grpc";
import type { YellowstoneStand } from "../../server/src/streams/yellowstone/testing/stand.ts";
import { CollectedStream } from "./yellowstone-stream.ts";

export type Request = Parameters<typeof CollectedStream.open>[1];
export const lists = { accountInclude: [], accountExclude: [], accountRequired: [] };

/**
 * What a stream is told, without what is each server's own: the time, and the transport's signs of life. The client
 * writes maps in an order that it draws, in which a block's filters are told one after another.
 */
export function told({ updates }: CollectedStream): object[] {
  const all = updates.flatMap(({ createdAt: _, ping, pong, ...update }: SubscribeUpdate) =>
    ping === undefined && pong === undefined ? [{ ...update, filters: update.filters.toSorted() }] : [],
  );
  const placeOf = ({ block }: (typeof all)[number], place: number, list: typeof all): number =>
    block === undefined ? place : list.findIndex(({ block: other }) => other?.slot === block.slot);
  const placed = all.map((update, place) => ({ update, place: placeOf(update, place, all) }));
  placed.sort(
    (one, other) => one.place - other.place || (one.update.filters.join() < other.update.filters.join() ? -1 : 1),
  );
  return placed.map(({ update }) => update);
}

/** The same request at Sluice and at the node itself. */
export async function both(
  stand: YellowstoneStand,
  request: Request,
): Promise<{ ours: CollectedStream; theirs: CollectedStream } & Disposable> {
  const ours = await CollectedStream.open(stand.url, request, "pro");
  const theirs = await CollectedStream.open(stand.faulty.node.grpcUrl ?? "", request);
  return {
    ours,
    theirs,
    [Symbol.dispose]() {
      ours[Symbol.dispose]();
      theirs[Symbol.dispose]();
    },
  };
}
