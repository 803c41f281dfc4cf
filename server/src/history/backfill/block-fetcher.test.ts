import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { advanceUntil } from "@sluice/lib/testing";
import { headerOf } from "../../log/testing/chain-model.ts";
import { BlockFetcher } from "./block-fetcher.ts";
import type { BackfillSource } from "./slot-words.ts";

const header = headerOf(12, 11);
type NoBlock = Exclude<Awaited<ReturnType<BackfillSource["fetchBlock"]>>, { readonly kind: "present" }>;
type Silence = Extract<NoBlock, { readonly kind: "unavailable" }>["reason"] | "absent";

/** A node that says `content` of the block of slot 12, after as many questions as it answers with a silence. */
function nodeOf(node: string, content: number, silences: readonly Silence[] = []) {
  const asked: string[] = [];
  const left = [...silences];
  const signatureHash = new Uint8Array(32).fill(content);
  const silent = (): NoBlock | null => {
    const reason = left.shift();
    if (reason === undefined) return null;
    return reason === "absent" ? { kind: "absent", code: -32_009 } : { kind: "unavailable", reason };
  };
  const source: BackfillSource = {
    node,
    fetchBlock: async () => {
      asked.push("block");
      const body = Uint8Array.of(content);
      return silent() ?? { kind: "present", block: { header, body, signatureHash } };
    },
    fetchDigest: async () => {
      asked.push("digest");
      return silent() ?? { kind: "present", digest: { ...header, signatureHash } };
    },
    fetchSlots: async () => null,
  };
  return { source, asked };
}

/** What is taken of slot 12, and how often by the word of one node alone. */
async function takenOf(nodes: readonly { readonly source: BackfillSource }[]) {
  const clock = new ManualClock();
  let singleWords = 0;
  const fetcher = new BlockFetcher({
    sources: () => nodes.map(({ source }) => source),
    clock,
    signal: new AbortController().signal,
    tookSingleWord: () => singleWords++,
  });
  const outcome = fetcher.block(12n).then(
    ({ body }) => [...body],
    (error: unknown) => (error as Error).message,
  );
  return { taken: await advanceUntil(clock, outcome, 250), singleWords, fetcher };
}

test("a block that two nodes say the same of is taken, and no third node is asked", async () => {
  const [one, other, third] = [nodeOf("a", 1), nodeOf("b", 1), nodeOf("c", 1)];
  expect(await takenOf([one, other, third])).toMatchObject({ taken: [1], singleWords: 0 });
  expect([one.asked, other.asked, third.asked]).toEqual([["block"], ["digest"], []]);
});

test("what one node invents is not taken: the block is that of the two that agree, whoever is asked first", async () => {
  for (const contents of [
    [9, 1, 1],
    [1, 9, 1],
    [1, 1, 9],
  ]) {
    const nodes = contents.map((content, at) => nodeOf(`node-${at}`, content));
    expect(await takenOf(nodes)).toMatchObject({ taken: [1], singleWords: 0 });
  }
});

test("where nodes contradict each other and no two agree, nothing is taken", async () => {
  expect((await takenOf([nodeOf("a", 1), nodeOf("b", 9)])).taken).toBe("nodes give different blocks of slot 12");
});

test("one node's word is enough where no other can say anything, and is counted", async () => {
  for (const silence of ["absent", "pruned", "refused", "failed", "malformed"] as const) {
    expect(await takenOf([nodeOf("a", 1, [silence]), nodeOf("b", 2)])).toMatchObject({ taken: [2], singleWords: 1 });
    expect(await takenOf([nodeOf("a", 1), nodeOf("b", 2, [silence])])).toMatchObject({ taken: [1], singleWords: 1 });
  }
});

test("a node whose rate is used up is waited for, and not taken for one that says nothing", async () => {
  const limited = ["limited", "limited", "limited"] as const;
  expect((await takenOf([nodeOf("a", 1), nodeOf("b", 9, limited)])).taken).toContain("different blocks");
  expect(await takenOf([nodeOf("a", 1), nodeOf("b", 1, limited)])).toMatchObject({ taken: [1], singleWords: 0 });
  expect(await takenOf([nodeOf("a", 1, limited)])).toMatchObject({ taken: [1], singleWords: 1 });
});

test("a node that has pruned a slot is not asked for it and for older ones again", async () => {
  const pruned = nodeOf("b", 1, ["pruned", "failed"]);
  const { fetcher } = await takenOf([nodeOf("a", 1), pruned]);
  await fetcher.block(12n);
  await fetcher.block(11n);
  expect(pruned.asked).toHaveLength(1);
  await fetcher.block(13n);
  expect(pruned.asked).toHaveLength(2);
});

test("without a node that has it the reason is told", async () => {
  expect((await takenOf([])).taken).toBe("the block of slot 12 cannot be had: no node can be asked");
  const none = [nodeOf("a", 1, ["absent"]), nodeOf("b", 1, ["refused"])];
  expect((await takenOf(none)).taken).toBe("the block of slot 12 cannot be had: b refused");
});
