import { expect, test } from "bun:test";
import { decodeHandleAccount, decodeNameRegistry } from "@sluice/wire/accounts/name-registry";
import { isAddress } from "@sluice/wire/identifiers";
import { nameServices } from "@sluice/wire/name-services";
import { defaultGenesisFile } from "../genesis/build.ts";
import { nameGenesis, nameOwner } from "./registry.ts";

const service = nameServices.find(({ label }) => label === "devnet");
const { names } = defaultGenesisFile();
const { domains, handles } = names;
const genesis = nameGenesis(names);

test("every account has its own address, pays its rent and lies where an address can", () => {
  expect(new Set(genesis.map(({ address }) => address)).size).toBe(genesis.length);
  for (const { address, account } of genesis) {
    expect(isAddress(address)).toBe(true);
    expect(account.lamports).toBeGreaterThanOrEqual(BigInt(128 + account.data.length) * 6_960n);
  }
});

test("both programs are there and executable, and nothing else is", () => {
  const executable = genesis.filter(({ account }) => account.executable).map(({ address }) => address);
  expect(executable as string[]).toEqual([String(service?.nameProgram), String(service?.handleProgram)]);
});

test("the same accounts come out every time, so that a name's owner is the same on every development chain", () => {
  expect(nameGenesis(names)).toEqual(genesis);
  expect(nameOwner("alice").address).toBe(nameOwner("alice").address);
});

test("sound entries decode to their owners, flawed ones are each wrong in their own way", () => {
  const registries = genesis.filter(({ account }) => account.owner === service?.nameProgram && !account.executable);
  const owners = registries.map(({ account }) => decodeNameRegistry(account.data)?.owner ?? null);
  for (const { owner, token, flaw } of domains) {
    if (token !== true && flaw === undefined) expect(owners as (string | null)[]).toContain(nameOwner(owner).address);
  }
  const handleAccounts = genesis.filter(({ account }) => account.owner === service?.handleProgram);
  const decoded = handleAccounts.map(({ account }) => decodeHandleAccount(account.data));
  for (const { handle, owner, flaw } of handles) {
    if (flaw === undefined) expect(decoded).toContainEqual({ name: handle, owner: nameOwner(owner).address as never });
  }
  expect(decoded).toContain(null);
  expect(decoded).toContainEqual({ name: "", owner: null });
  const flaws = new Set([...domains, ...handles].map(({ flaw }) => flaw));
  expect(flaws.size).toBe(7);
});
