import { eventually } from "@sluice/lib/testing";
import type { Page } from "playwright-core";

export interface WebhooksWalk {
  /** The address of a receiver, and the events that it got. */
  readonly to: string;
  readonly got: readonly string[];
  readonly picture: (page: Page, name: string) => Promise<void>;
}

/** From no webhook through one that is refused, created, tested, paused and rotated back to none. */
export async function walkThroughWebhooks(page: Page, { to, got, picture }: WebhooksWalk): Promise<void> {
  await page.getByRole("button", { name: "create a webhook" }).click();
  await page.getByLabel("Address of the receiver (https)").fill(to);
  await page.getByLabel("Description").fill("Shop");
  await page.getByLabel("Filters, as JSON").fill('{ "program_id": "x" }');
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByText("filters.program_id", { exact: true }).waitFor();
  await page.getByLabel("Filters, as JSON").fill('{ "success": true }');
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page
    .getByRole("status")
    .getByText(/^whsec_/)
    .waitFor();
  await picture(page, "webhooks");
  await page.getByRole("button", { name: "send it a test" }).click();
  await page.getByRole("button", { name: "send a test" }).click();
  await eventually("the test", () => got.includes("test.webhook"));
  const delivery = page.getByRole("button", { name: /test\.webhook/ });
  await delivery.click();
  await page.getByText(/answered 200 in/).waitFor();
  await picture(page, "webhook");
  await page.getByRole("button", { name: "pause", exact: true }).click();
  await page.getByRole("heading", { name: /^Paused/ }).waitFor();
  await page.getByRole("button", { name: "resume", exact: true }).click();
  await page.getByRole("heading", { name: /^Active/ }).waitFor();
  await page.getByRole("button", { name: "rotate the secret" }).click();
  await page
    .getByRole("status")
    .getByText(/^whsec_/)
    .waitFor();
  await page.getByRole("button", { name: "delete", exact: true }).click();
  await page.getByRole("button", { name: "delete it and its deliveries now" }).click();
  await page.getByRole("heading", { name: "There are no webhooks yet" }).waitFor();
}
