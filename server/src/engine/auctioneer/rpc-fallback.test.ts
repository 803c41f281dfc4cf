import { expect, test } from "bun:test";
import type { Address, Slot } from "@sluice/wire/identifiers";
import type { BundleRecord } from "../model/bundle.ts";
import { FakeBlockEngineService } from "../testing/fake-service.ts";
import { RpcFallback } from "./rpc-fallback.ts";

const searcher = { id: "account", accountId: "account", pubkey: null };
const at = (slot: bigint): Slot => slot as Slot;

async function recordOf(tag: number, options: Partial<BundleRecord> = {}): Promise<BundleRecord> {
  const bytes = { transactions: [Uint8Array.of(tag)], tip: 1n, mevType: "unknown", targetSlot: null } as const;
  const outcome = await new FakeBlockEngineService().submit({ ...bytes, sealed: null, ingress: "rest" }, searcher);
  if (!outcome.ok) throw new Error("the engine refuses");
  return { ...outcome.record, ...options };
}

function room(refuses: (tag: number) => boolean = () => false) {
  const records: BundleRecord[] = [];
  const sent: number[][] = [];
  const forwarded: string[] = [];
  const opened: bigint[] = [];
  /** How many bundles were noted when each was sent. */
  const notedAtSend: number[] = [];
  const way = new RpcFallback({
    pool: {
      everyAccepted: () => records.filter(({ state, sealed }) => state === "accepted" && sealed === null),
      forwarded: (ids) => void forwarded.push(...ids),
    },
    chain: {
      send: async ([tag = 0]) => {
        sent.at(-1)?.push(tag);
        notedAtSend.push(forwarded.length);
        if (refuses(tag) && tag % 2 === 0) throw new Error("the node is gone");
        return !refuses(tag);
      },
    },
    leaderAt: () => "leader" as Address,
    settledThrough: () => at(9n),
    openSealed: async ({ slot }) => void opened.push(slot),
  });
  const send = async (slot: bigint): Promise<number> => {
    sent.push([]);
    return await way.send(at(slot));
  };
  return { records, sent, forwarded, notedAtSend, opened, send };
}

test("single transactions are sent that may land now, are not under way, and have not ended", async () => {
  const { records, sent, opened, send } = room();
  const leader = "leader" as Address;
  records.push(await recordOf(1));
  records.push(await recordOf(2, { targetSlot: at(11n) }));
  records.push(await recordOf(3, { state: "included" }));
  records.push(await recordOf(4, { transactions: [Uint8Array.of(4), Uint8Array.of(5)] }));
  records.push(await recordOf(6, { forwarded: { times: 1, slot: at(10n), leader } }));
  records.push(await recordOf(7, { forwarded: { times: 1, slot: at(9n), leader } }));
  await send(10n);
  expect([sent, opened]).toEqual([[[1, 7]], [10n]]);
});

test("what is about to be sent is noted before, since it may land though no node says that it took it", async () => {
  const { records, forwarded, notedAtSend, send } = room((tag) => tag < 3);
  for (const tag of [1, 2, 3]) records.push(await recordOf(tag));
  expect(await send(10n)).toBe(1);
  expect(notedAtSend).toEqual([3, 3, 3]);
  expect(forwarded).toEqual(records.map(({ id }) => id));
});

test("a bundle for one slot is not sent, since it is unknown in which slot it would land", async () => {
  const { records, sent, send } = room();
  records.push(await recordOf(1, { targetSlot: at(10n) }));
  expect(await send(10n)).toBe(0);
  expect(sent).toEqual([[]]);
});

test("bundles that no node takes keep no other one from being sent, and are sent again in their turn", async () => {
  const { records, sent, send } = room((tag) => tag < 100);
  for (let tag = 0; tag < 110; tag += 1) records.push(await recordOf(tag));
  await send(10n);
  expect(sent[0]).toHaveLength(64);
  await send(11n);
  expect(sent[1]?.filter((tag) => tag >= 100)).toHaveLength(10);
  const tried = new Set(sent.flat());
  expect(tried.size).toBe(110);
});
