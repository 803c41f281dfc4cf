import { expect } from "bun:test";
import type { Locator, Page } from "playwright-core";

/** The figures of the development chain's pool, its charts, and explanations of figures, a chart and the validators. */
export async function walkThroughPool(page: Page, picture: (page: Page, name: string) => Promise<void>): Promise<void> {
  await page.getByRole("heading", { name: /native tokens staked, .* % a year$/ }).waitFor();
  const held = await page.locator("dt:text-is('Held') + dd button").first().getAttribute("title");
  const tvl = Number(held?.split(" ", 1)[0]);
  expect(tvl).toBeGreaterThan(0);
  await explained(page, page.locator("dt:text-is('Held') + dd button").first(), /^tvl = \d+ \/ 10\^9 = [\d.]+$/);
  const profits = /^netProfit = /;
  await explained(page, page.locator("dt:text-is('Net profit') + dd button").first(), profits);
  await page.getByRole("button", { name: "7d", exact: true }).first().click();
  const chart = page.getByRole("figure", { name: "Held, by day" });
  const today = new RegExp(`^${new Date().toISOString().slice(0, 8)}\\d\\d = .* as \`pool\` has it now$`);
  await explained(page, chart.getByRole("button", { name: "how it comes about" }), today);
  await chart.getByRole("button", { name: "as a table" }).click();
  await chart.getByRole("columnheader", { name: "Day" }).waitFor();
  await chart.getByRole("button", { name: "as a chart" }).click();
  const validators = page.getByRole("region", { name: "Validators" });
  expect(await validators.getByRole("row").count()).toBeGreaterThan(1);
  await explained(page, validators.getByRole("button", { name: "how it comes about" }), /^stake of .* \/ 10\^9 = /);
  const score = validators
    .getByRole("row")
    .nth(1)
    .getByRole("button", { name: /^\d+\.\d\d$/ });
  await explained(page, score, /^mevScore of /);
  await page.getByText(/explain\?record=apy" -H/).waitFor();
  await picture(page, "stake-pool");
}

/** Opens what a figure is computed from, sees a step of it and its inputs, and closes it. */
async function explained(page: Page, opens: Locator, step: RegExp): Promise<void> {
  await opens.click();
  const panel = page.getByRole("dialog", { name: /comes about$/ });
  await panel.getByRole("heading", { name: "The arithmetic" }).waitFor();
  await panel.getByRole("listitem").filter({ hasText: step }).first().waitFor();
  await panel.getByRole("button", { name: "close" }).click();
  await panel.waitFor({ state: "detached" });
}
