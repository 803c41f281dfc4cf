import { describe, expect, test } from "bun:test";
import { addressOfHandle, NameTree } from "./addresses.ts";
import { independentHandleAddress, independentPath } from "./testing/independent-derivation.ts";
import { service } from "./testing/world.ts";

const mainnet = new NameTree(service("x1-mainnet").nameProgram);
const testnet = new NameTree(service("x1-testnet").nameProgram);

describe("published addresses", () => {
  test.each([
    [mainnet.root("x1"), "4NG35LXbtyamuoyjarMf5f78esyWxWhSDHxqbAU5yZTk"],
    [mainnet.root("xnt"), "6sHoWK6ht73Pb4y6yA7Sw8iP7DxS45gGp1fH3zWYn56V"],
    [mainnet.root("xen"), "3SUwpSz33AsyJwf6B48cKZuDTswuUEdUhcXszZrFWPqo"],
    [testnet.root("x1"), "BbrgDv4sEJy56j4kjRvdrgRSgc64uVfRUHJZdAGKpsHe"],
    [testnet.root("xnt"), "cWFaxno1Z66PkUtPpYP9bZTHT9APHJsaF4rrTDmu1rA"],
    [testnet.root("xen"), "D3ZszkssvoQeZ93xixc3miGz73Fng75qQJoTJwxbRVwS"],
    [mainnet.path("x1", ["alice"]).levels[0], "5WL7dMKKM87JJWWVy2ebsrtXzLf5a9PiBJMGbfXFFVFo"],
    [mainnet.path("x1", ["jack"]).levels[0], "HweMkg84XdzzjC4DiAZsKa2J3CKSnSVFyJeGuWzQZrEn"],
    [mainnet.path("x1", ["alice", "blog"]).levels[1], "DwwbBW2NGhy9qPaTaS9wMb9eJWSVBPP2cPm8QuFmTvgN"],
  ])("%s", (derived, expected) => expect(String(derived)).toBe(expected));
});

describe("kit derives the same", () => {
  for (const label of ["x1-mainnet", "x1-testnet", "devnet"] as const) {
    test.each(["alice.x1", "münchen.xnt", "a.b.c.d.e.xen", "💎.x1"])(`${label} %s`, async (name) => {
      const { nameProgram } = service(label);
      const labels = name.split(".").slice(0, -1).reverse();
      const suffix = name.endsWith("xnt") ? "xnt" : name.endsWith("xen") ? "xen" : "x1";
      const { root, levels } = new NameTree(nameProgram).path(suffix, labels);
      expect([root, ...levels] as string[]).toEqual([...(await independentPath(name, nameProgram))] as string[]);
    });
  }
  test.each(["a", "alice", "a-b", "a".repeat(32)])("handle %s", async (handle) => {
    const { handleProgram } = service("devnet");
    if (handleProgram === null) throw new Error("no handle program");
    expect(addressOfHandle(handle, handleProgram) as string).toBe(
      await independentHandleAddress(handle, handleProgram),
    );
  });
});
