import { expect } from "bun:test";
import type { Page } from "playwright-core";

/** A query that is run, saved and deleted, one that a view makes, and one that is refused. */
export async function walkThroughSql(page: Page, picture: (page: Page, name: string) => Promise<void>): Promise<void> {
  await page.getByRole("heading", { name: "What does the ledger hold?" }).waitFor();
  const editor = page.getByLabel("Query (Ctrl-Enter runs it)");
  await editor.fill("SELECT 7 AS seven, '18446744073709551615'::UInt64 AS most");
  await page.getByRole("button", { name: "Run" }).click();
  await page.getByRole("heading", { name: /^1 row in/ }).waitFor();
  await page.getByRole("cell", { name: "18446744073709551615" }).waitFor();
  await page.getByText(/51 credits/).waitFor();
  await page.getByLabel("Name of the query").fill("sevens");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "sevens", exact: true }).waitFor();
  await picture(page, "sql");
  await page.getByText("my_requests", { exact: true }).click();
  await page.getByRole("button", { name: "query my_requests" }).click();
  expect(await editor.inputValue()).toContain("FROM my_requests");
  await editor.fill("SELECT file('/etc/passwd')");
  await editor.press("Control+Enter");
  await page.getByRole("alert").getByText("The function file is not allowed").waitFor();
  await page.getByRole("button", { name: "delete sevens" }).click();
  await page.getByRole("button", { name: "sevens", exact: true }).waitFor({ state: "detached" });
}
