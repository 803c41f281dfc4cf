import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { decodeMint, decodeTokenAccount } from "@sluice/wire/accounts/token";
import { programs } from "@sluice/wire/programs";
import { GenesisKeypair } from "../model/keypair.ts";
import { rentExemptLamports } from "../model/native-accounts.ts";
import { associatedTokenAddress } from "../model/token-accounts.ts";
import { buildGenesis, defaultGenesis, defaultGenesisFile } from "./build.ts";

import { parseGenesisFile, readGenesisFile } from "./file.ts";

const wallets = [{ name: "ann", lamports: 5 }];
const paths = (value: Parameters<typeof readGenesisFile>[0]) => {
  const read = readGenesisFile(value);
  return read.ok ? [] : read.faults.map(({ path }) => path);
};

describe("reading", () => {
  test("an empty file is a chain without additions", () => {
    const read = readGenesisFile({});
    expect(read.ok && buildGenesis(read.file)).toMatchObject({ ok: true, built: { pools: [] } });
  });

  test("all errors are reported at once, each with its path", () => {
    expect(
      paths({
        wallets: [{ name: "Ann", lamports: -1 }, { name: "ann", lamports: "12x" }, 7, { name: "bob" }],
        mints: [{ name: "coin", decimals: 19, program: "token-3" }],
        tokens: [{ mint: "nothing", owner: "nobody", amount: 1 }],
        nfts: [
          {
            name: "one",
            owner: "bob",
            collection: "none",
            title: "t".repeat(33),
            creators: [{ address: 1, share: 101 }],
          },
        ],
        pools: { name: "p" },
        accounts: [{ address: "short", lamports: 1, owner: programs.system, data: "***" }],
        programs: [{ address: programs.memo, loader: "none" }],
        extra: true,
      }),
    ).toEqual([
      "extra",
      "wallets[0].name",
      "wallets[0].lamports",
      "wallets[1].lamports",
      "wallets[2]",
      "wallets[3].lamports",
      "mints[0].program",
      "mints[0].decimals",
      "nfts[0].title",
      "nfts[0].creators[0].address",
      "nfts[0].creators[0].share",
      "pools",
      "accounts[0].address",
      "accounts[0].data",
      "programs[0].file",
      "programs[0].loader",
      "tokens[0].mint",
      "tokens[0].owner",
      "nfts[0].collection",
    ]);
  });

  test("a name declared twice, a holder named twice, a listing of what cannot be listed", () => {
    expect(paths({ wallets: [...wallets, ...wallets] })).toEqual(["wallets[1].name"]);
    const mints = [{ name: "coin", decimals: 2 }];
    const held = { mint: "coin", owner: "ann", amount: 1 };
    expect(paths({ wallets, mints, tokens: [held, held] })).toEqual(["tokens[1]"]);
    const nfts = [{ name: "new", owner: "ann", program: "token-2022", title: "New" }];
    const listing = { nft: "new", price: 1 };
    expect(paths({ wallets, nfts, listings: [listing, listing] })).toEqual([
      "listings[0].nft",
      "listings[1].nft",
      "listings[1].nft",
    ]);
    expect(paths({ wallets, mints, pools: [{ name: "p", owner: "ann", amounts: { coin: 5 } }] })).toEqual([
      "pools[0].amounts",
    ]);
    const creators = [{ address: "ann", share: 60 }];
    expect(paths({ wallets, nfts: [{ name: "x", owner: "ann", title: "X", creators }] })).toEqual(["nfts[0].creators"]);
  });

  test("names of an object's own machinery are no members, and text that is not JSON is reported with its position", () => {
    expect(paths(JSON.parse('{"constructor": 1, "__proto__": 2}'))).toEqual(["constructor", "__proto__"]);
    expect(parseGenesisFile('{"wallets": [}')).toMatchObject({ ok: false, faults: [{ path: "" }] });
  });

  test("numbers beyond what a double holds stay exact", () => {
    const read = parseGenesisFile('{"wallets":[{"name":"ann","lamports":9007199254740993}]}');
    expect(read.ok && read.file.wallets[0]?.lamports).toBe(9_007_199_254_740_993n);
  });
});

describe("the guide", () => {
  const guide = readFileSync(new URL("../../../docs/guides/devnet.md", import.meta.url), "utf8");

  test("its example is a sound file", () => {
    const example = guide.split("```json")[1]?.split("```")[0] ?? "";
    const parsed = parseGenesisFile(example);
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
    expect(buildGenesis(parsed.file).ok).toBe(true);
    expect(parsed.file.pools).toHaveLength(1);
  });

  test("the pools' addresses in it are those of the default file", () => {
    for (const { address, sides } of defaultGenesis().pools) {
      for (const each of [address, ...sides.flatMap(({ mint, vault }) => [mint.address, vault])]) {
        expect(guide).toContain(`\`${each}\``);
      }
    }
  });
});

describe("building", () => {
  test("two entries at one address, mints that are not of the file, and a supply beyond 64 bits are faults", () => {
    const faultsOf = (value: Parameters<typeof readGenesisFile>[0]) => {
      const read = readGenesisFile(value);
      if (!read.ok) throw new Error(JSON.stringify(read.faults));
      const build = buildGenesis(read.file);
      return build.ok ? [] : build.faults.map(({ path }) => path);
    };
    const address = programs.noop;
    const account = { address, lamports: 1, owner: programs.system };
    expect(faultsOf({ accounts: [account, account] })).toEqual(["accounts[1]"]);
    expect(faultsOf({ wallets: [{ name: "ann", lamports: 1, address }], accounts: [account] })).toEqual([
      "accounts[0]",
    ]);
    expect(faultsOf({ wallets, tokens: [{ mint: programs.memo, owner: "ann", amount: 1 }] })).toEqual([
      "tokens[0].mint",
    ]);
    const mints = [{ name: "coin", decimals: 0 }];
    const tokens = [
      { mint: "coin", owner: "ann", amount: "18446744073709551615" },
      { mint: "coin", owner: programs.memo, amount: 1 },
    ];
    expect(faultsOf({ wallets, mints, tokens })).toEqual(["tokens[1]"]);
    expect(faultsOf({ wallets, mints, pools: [{ name: "p", owner: "ann", amounts: { coin: 5, native: 5 } }] })).toEqual(
      ["pools[0].amounts"],
    );
  });

  const built = defaultGenesis();
  const at = (address: string | undefined) => built.accounts.find((each) => each.address === address)?.account ?? null;

  test("the default file builds the same accounts every time, each with its rent", () => {
    expect(defaultGenesis()).toEqual(built);
    for (const { address, account } of built.accounts) {
      if (account === null || account.data.length === 0) continue;
      expect({ address, rich: account.lamports >= rentExemptLamports(account.data.length) }).toEqual({
        address,
        rich: true,
      });
    }
  });

  test("a mint's supply is what its holders and pools have together", () => {
    const supplies = new Map<string, bigint>();
    for (const { account } of built.accounts) {
      const token = account === null ? null : decodeTokenAccount(account.data);
      if (account?.owner === programs.system || token === null) continue;
      supplies.set(token.mint, (supplies.get(token.mint) ?? 0n) + token.amount);
    }
    let checked = 0;
    for (const [name, address] of built.mints) {
      const mint = decodeMint(at(address)?.data ?? new Uint8Array());
      if (mint === null) throw new Error(`${name} is no mint`);
      expect({ name, supply: mint.supply }).toEqual({ name, supply: supplies.get(address) ?? -1n });
      checked += 1;
    }
    expect(checked).toBe(10);
  });

  test("wallets are key pairs that follow from their name", () => {
    for (const { name } of defaultGenesisFile().wallets) {
      const { address } = new GenesisKeypair("sluice devnet names", name);
      expect(built.wallets.get(name)).toBe(address);
    }
    const alice = new GenesisKeypair("sluice devnet names", "alice");
    const usdc = decodeMint(at(built.mints.get("usdc"))?.data ?? new Uint8Array());
    expect(usdc?.decimals).toBe(6);
    const mint = new GenesisKeypair("sluice devnet genesis", "mint/usdc");
    expect(built.mints.get("usdc")).toBe(mint.address);
    const holding = at(associatedTokenAddress(alice.publicKey, programs.token, mint.publicKey));
    expect(decodeTokenAccount(holding?.data ?? new Uint8Array())?.amount).toBe(25_000_000_000n);
  });
});
