import { describe, expect, test } from "bun:test";
import type { ConformanceSubject } from "./subject.ts";

export function chainConformance({ state, replicas }: ConformanceSubject): void {
  describe("chains", () => {
    test("a network's chain is what was stored last, for every replica, and other networks have none", async () => {
      expect(await state().chains.find("testnet")).toBeNull();
      const genesis = "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY";
      await state().chains.put("testnet", { genesis, first: null });
      expect(await state().chains.find("testnet")).toEqual({ genesis, first: null });
      const first = { slot: 2n ** 63n - 1n, blockhash: "4sGjMW1sUnHzSxGspuhpqLDx6wiyjNtZAMdL4VZHirAn" };
      await state().chains.put("testnet", { genesis, first });
      for (const replica of replicas()) {
        expect(await replica.chains.find("testnet")).toEqual({ genesis, first });
        expect(await replica.chains.find("mainnet")).toBeNull();
      }
    });

    test("a hash that cannot be stored is refused", async () => {
      await expect(state().chains.put("testnet", { genesis: "a\0b", first: null })).rejects.toThrow();
    });
  });
}
