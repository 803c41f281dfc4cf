import { expect } from "bun:test";
import type { Page } from "playwright-core";

/**
 * From a wallet that was funded to its history by type, to a transaction and what moved in it, to who paid, and a
 * token: by the links that a reader clicks.
 */
export async function walkThroughExplorer(
  page: Page,
  {
    wallet,
    mint,
    picture,
  }: {
    readonly wallet: string;
    readonly mint: string;
    readonly picture: (page: Page, name: string) => Promise<void>;
  },
): Promise<void> {
  await page.getByRole("heading", { name: "What happened?" }).waitFor();
  const ask = async (text: string): Promise<void> => {
    await page.getByLabel("Signature or address").fill(text);
    await page.getByRole("button", { name: "Look up" }).click();
  };
  await ask(wallet);
  await page.getByRole("heading", { name: new RegExp(`^${wallet.slice(0, 4)}….* holds 10 .* and 0 tokens`) }).waitFor();
  const history = page.getByRole("table", { name: "History" });
  await history.getByRole("cell", { name: "TRANSFER", exact: true }).first().waitFor();
  await picture(page, "explorer-wallet");
  const type = page.getByLabel("Type", { exact: true });
  await type.selectOption("SWAP");
  await page.getByText("The ledger has no such transaction of this address.").waitFor();
  await page.getByText("/history?limit=25&type=SWAP").waitFor();
  await type.selectOption("TRANSFER");
  const row = history.getByRole("row").nth(1);
  const sentence = (await row.getByRole("cell").nth(2).textContent()) ?? "";
  expect(sentence).toContain("10");
  await row.getByRole("link").last().click();
  await page.getByRole("heading", { level: 1, name: sentence }).waitFor();
  await page.locator("dt:text-is('Type') + dd:text-is('TRANSFER')").waitFor();
  const movement = page.getByRole("table", { name: "Movements" }).getByRole("row").nth(1);
  await movement.getByRole("cell", { name: "10", exact: true }).waitFor();
  await picture(page, "explorer-transaction");
  await movement.getByRole("link").first().click();
  await page.getByRole("heading", { name: / holds / }).waitFor();
  await ask(mint);
  await page.getByRole("heading", { name: / is a token$/ }).waitFor();
  await page.locator("dt:text-is('Supply') + dd").waitFor();
  await picture(page, "explorer-token");
  await ask("5".repeat(87));
  await page.getByText("No node and no block of the ledger has a transaction with this signature.").waitFor();
  await ask("nothing");
  await page.getByText(/must be an address: 32 bytes in base58/).waitFor();
}
