import { expect, test } from "bun:test";
import { startManualChain } from "../testing/chain.ts";
import { nameGenesis } from "./index.ts";

test("a chain carries its names from the first slot, through the machine and its clock", async () => {
  await using started = await startManualChain();
  await started.closeSlots(3);
  const { accounts } = started.chain;
  for (const { address, account } of nameGenesis()) {
    const held = accounts.get(address, 3n);
    expect(held).toMatchObject({ owner: account.owner, executable: account.executable, lamports: account.lamports });
    expect(Buffer.compare(held?.data ?? new Uint8Array(), account.data)).toBe(0);
  }
});
