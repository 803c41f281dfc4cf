import { describe, expect, test } from "bun:test";
import { ByteWriter } from "@sluice/wire/bytes";
import { programs } from "@sluice/wire/programs";
import { noopPrograms } from "../compressed/leaf-changes.ts";
import { namedIn } from "../enhanced/describe.ts";
import { bubblegum } from "../programs/bubblegum.ts";
import { mplAccountCompression } from "../programs/mpl-account-compression.ts";
import { addressOf, parsedScenario, type ScenarioCall } from "../testing/scenario.ts";

const [, mplNoop = ""] = noopPrograms;

/** The event of a leaf of a version, as Bubblegum writes it. */
function leafEvent(version: 1 | 2, asset = "asset"): string {
  const writer = new ByteWriter().u8(1).u8(0).u32(0).u8(1);
  writer.u8(version - 1).u8(version - 1);
  for (const name of [asset, "friend", "friend"]) writer.address(addressOf(name));
  writer.u64(5n).bytes(new Uint8Array(64));
  if (version === 2) writer.bytes(new Uint8Array(64)).u8(0);
  return Buffer.from(writer.bytes(new Uint8Array(32)).finish()).toString("hex");
}

const told = (program: string, data: string): ScenarioCall => ({ program, accounts: [], data });
const tagOf = (name: string): string => bubblegum.instructions.find((each) => each.name === name)?.tag ?? "";
const call = (name: string, accounts: readonly string[], inner: readonly ScenarioCall[]): ScenarioCall => ({
  program: bubblegum.id,
  accounts,
  data: tagOf(name),
  inner,
});
const second = [told(mplNoop, leafEvent(2)), told(mplAccountCompression.id, "00"), told(mplNoop, "00")];
const mintSecond = ["config", "payer", "creator", "collector", "friend", "friend", "tree", "collection"];
const sendSecond = ["config", "payer", "authority", "payer", "payer", "friend", "tree", "collection"];

describe("compressed NFTs of Bubblegum's second version", () => {
  test("that are minted have their asset and leaf", () => {
    const { type, source, nfts, compressed } = parsedScenario({ calls: [call("mintV2", mintSecond, second)] });
    expect({ type, source }).toEqual({ type: "NFT_MINT", source: "bubblegum" });
    const leaf = { assetId: addressOf("asset"), leafIndex: 5n, treeId: addressOf("tree") };
    expect(compressed).toMatchObject([{ ...leaf, type: "COMPRESSED_NFT_MINT", newLeafOwner: addressOf("friend") }]);
    expect(nfts).toMatchObject([{ mint: null, buyer: addressOf("friend"), compressed: leaf }]);
  });

  test("that go to another have their asset, both ends and their leaf", () => {
    const { type, transfers, compressed } = parsedScenario({ calls: [call("transferV2", sendSecond, second)] });
    expect(type).toBe("TRANSFER");
    expect(transfers).toMatchObject([
      { mint: addressOf("asset"), from: addressOf("payer"), to: addressOf("friend"), amount: 1n },
    ]);
    expect(compressed).toMatchObject([{ type: "COMPRESSED_NFT_TRANSFER", leafIndex: 5n }]);
  });
});

test("a sentence may name them by their ids, apart from NFTs with a mint or account", () => {
  const minted = call("mintV2", mintSecond, second);
  const sent = call("transferV2", sendSecond, second);
  for (const told of [minted, sent]) {
    expect(namedIn(parsedScenario({ calls: [told] }))).toEqual({
      tokens: [],
      nfts: [],
      compressed: [addressOf("asset")],
    });
  }
});

test("a leaf of the first version is told through the noop program of SPL", () => {
  const minted = call("mintV1", ["config", "friend", "friend", "tree", "payer"], [told(programs.noop, leafEvent(1))]);
  expect(parsedScenario({ calls: [minted] }).compressed).toMatchObject([{ assetId: addressOf("asset") }]);
});

test("what another program tells through a noop program is no leaf of the call beside it", () => {
  const forged = told(mplNoop, leafEvent(2, "forged"));
  const calls = [forged, call("transferV2", sendSecond, second), forged];
  expect(parsedScenario({ calls }).transfers).toMatchObject([{ mint: addressOf("asset") }]);
  const without = [forged, call("transferV2", sendSecond, []), forged];
  expect(parsedScenario({ calls: without }).compressed).toMatchObject([{ assetId: null, leafIndex: null }]);
});
