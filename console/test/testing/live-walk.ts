import { expect } from "bun:test";
import { eventually } from "@sluice/lib/testing";
import type { Page } from "playwright-core";

/** Follows what happens on the chain, stops the tail and goes on, changes the channel, and meets a refusal. */
export async function walkThroughLive(page: Page, picture: (page: Page, name: string) => Promise<void>): Promise<void> {
  const received = async (): Promise<number> =>
    Number((await page.locator("dt:text-is('Received') + dd").textContent())?.replaceAll(",", ""));
  await page.getByRole("heading", { name: "What happens on the chain?" }).waitFor();
  await page.getByLabel("Votes").check();
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByRole("heading", { name: "Live: transactions of devnet" }).waitFor();
  const rows = page.getByRole("table", { name: "Events" }).getByRole("row");
  await eventually("rows", async () => (await rows.count()) > 4, 30_000);
  await rows
    .nth(1)
    .getByText(/succeeded, fee/)
    .waitFor();
  await rows.nth(1).getByRole("button").click();
  await page.getByLabel("The event as JSON").getByText('"signature"').waitFor();
  await picture(page, "live");
  await page.getByRole("button", { name: "pause" }).click();
  await page.getByRole("heading", { name: "Paused: transactions of devnet" }).waitFor();
  // One more may have been on its way.
  const before = await received();
  await page.waitForTimeout(1_500);
  expect((await received()) - before).toBeLessThanOrEqual(1);
  await page.getByRole("button", { name: "resume" }).click();
  await eventually("what came meanwhile", async () => (await received()) > before + 2);
  await page.getByLabel("Channel").selectOption("slots");
  expect(await page.getByLabel("Programs").count()).toBe(0);
  await page.getByLabel("Commitment").selectOption("processed");
  await page.getByRole("button", { name: "Start anew" }).click();
  await page.getByRole("heading", { name: "Live: slots of devnet" }).waitFor();
  await page.getByRole("cell", { name: "processed" }).first().waitFor();
  await page.getByLabel("Channel").selectOption("accounts");
  await page.getByLabel("Accounts").fill("nobody");
  await page.getByRole("button", { name: "Start anew" }).click();
  await page.getByRole("heading", { name: "The stream has ended" }).waitFor();
  await page.getByText(/filters\.accounts\.0: must be an address.*INVALID_INPUT/).waitFor();
  await page.getByRole("button", { name: "stop" }).click();
  await page.getByRole("heading", { name: "What happens on the chain?" }).waitFor();
}
