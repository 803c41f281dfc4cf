import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { isRecord } from "@sluice/encode/testing/fixtures";
import { type DevnetRun, runDevnet } from "../../history/testing/devnet-blocks.ts";
import { answerOf } from "../../rpc/testing/rpc-stand.ts";
import { EnhancedStand } from "../testing/stand.ts";

let run: DevnetRun;
let stand: EnhancedStand;
const mints: string[] = [];

beforeAll(async () => {
  run = await runDevnet(40);
  const balances = run.blocks.flatMap(({ transactions }) =>
    transactions.flatMap(({ meta }) => meta?.postTokenBalances ?? []),
  );
  // A mint of one unit may be closed once that is burned.
  for (const mint of new Set(balances.map((each) => each.mint))) {
    if ("supply" in (await shownByNode(mint))) mints.push(mint);
  }
}, 60_000);
afterAll(() => run[Symbol.asyncDispose]());
beforeEach(() => {
  stand = new EnhancedStand(run);
});

/** The mint as the node itself shows it. */
async function shownByNode(mint: string): Promise<Record<string, unknown>> {
  const answer: unknown = JSON.parse(
    await run.ask("getAccountInfo", [mint, { encoding: "jsonParsed", commitment: "confirmed" }]),
  );
  const path = ["result", "value", "data", "parsed", "info"];
  const info = path.reduce<unknown>((value, member) => (isRecord(value) ? value[member] : null), answer);
  return isRecord(info) ? info : {};
}

describe("a token", () => {
  test("is what the node shows of its mint, for mints of both programs", async () => {
    const programs = new Set<string>();
    for (const mint of mints) {
      const { status, body } = await stand.ask(`/api/v1/v0/token/${mint}`);
      expect([status, body.success, body.cached]).toEqual([200, true, false]);
      const { data } = body;
      programs.add(data.token_program);
      const { decimals, supply, mintAuthority, freezeAuthority, extensions } = await shownByNode(mint);
      expect({
        decimals: data.decimals,
        supply: data.supply,
        mintAuthority: data.mint_authority,
        freezeAuthority: data.freeze_authority,
      }).toEqual({ decimals, supply, mintAuthority, freezeAuthority } as never);
      expect(data.extensions).toEqual(
        ((extensions ?? []) as { extension: string }[]).map(({ extension }) => extension),
      );
    }
    expect(programs.size).toBe(2);
  });

  test("has the metadata of its mint, or of Metaplex, or none", async () => {
    const sources = new Map<string | null, number>();
    for (const mint of mints) {
      const { data } = (await stand.ask(`/api/v1/v0/token/${mint}`)).body;
      sources.set(data.metadata_source, (sources.get(data.metadata_source) ?? 0) + 1);
      const named = data.metadata_source !== null;
      expect([typeof data.name, typeof data.symbol, typeof data.uri].map((type) => type === "string")).toEqual([
        named,
        named,
        named,
      ]);
      if (data.metadata_source === "metaplex" && data.decimals === 0) {
        expect(data.creators.length).toBeGreaterThan(0);
        expect(data.seller_fee_basis_points).toBe(500);
      }
      const { extensions } = await shownByNode(mint);
      const own = ((extensions ?? []) as { extension: string; state: { name?: string } }[]).find(
        ({ extension }) => extension === "tokenMetadata",
      );
      if (own !== undefined) expect(data.name).toBe(own.state.name);
    }
    expect([...sources.keys()].toSorted()).toContain("metaplex");
  });

  test("costs 5 credits, and is kept for an hour", async () => {
    const path = `/api/v1/v0/token/${mints[0]}`;
    await stand.ask(path);
    stand.clock.advance(3_599_999);
    expect((await stand.ask(path)).body.cached).toBe(true);
    stand.clock.advance(1);
    expect((await stand.ask(path)).body.cached).toBe(false);
    expect(stand.facts.map(({ credits }) => credits)).toEqual([5, 5, 5]);
  });
});

test("an address that is no mint is 404 TOKEN_NOT_FOUND, and one that is none 400", async () => {
  const wallet = "11111111111111111111111111111112";
  const absent = await stand.ask(`/api/v1/v0/token/${wallet}`);
  expect([absent.status, absent.body.success, absent.body.error_code]).toEqual([404, false, "TOKEN_NOT_FOUND"]);
  const wrong = await stand.ask("/api/v1/v0/token/abc");
  expect([wrong.status, wrong.body.message]).toEqual([400, "mint must be an address: 32 bytes in base58"]);
});

test("what another program says in a metadata account is not believed", async () => {
  const { respond } = stand.rpc;
  const plain = await Promise.all(mints.map(async (mint) => (await stand.ask(`/api/v1/v0/token/${mint}`)).body.data));
  const described = plain.find(({ metadata_source: source }) => source === "metaplex");
  stand = new EnhancedStand(run);
  stand.rpc.respond = async (call) => {
    const outcome = await respond(call);
    if (!outcome.ok || outcome.answer.body.kind !== "text") return outcome;
    const text = outcome.answer.body.head.replaceAll("metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s", wallet);
    return answerOf(text.slice(text.indexOf('"result":') + 9, text.lastIndexOf(',"id":')));
  };
  const { data } = (await stand.ask(`/api/v1/v0/token/${described.mint}`)).body;
  expect([data.metadata_source, data.name]).toEqual([null, null]);
});

const wallet = "11111111111111111111111111111112";
