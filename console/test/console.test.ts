import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "@sluice/lib/testing";
import { createEnhanced } from "@sluice/sdk";
import { programs } from "@sluice/wire/programs";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { signed, tip } from "../../server/test/testing/bundles.ts";
import { ChainReader } from "../../server/test/testing/chain-reader.ts";
import { type Network, post, startNetwork } from "../../server/test/testing/network.ts";
import { RestSearcher } from "../../server/test/testing/searcher.ts";
import { axeSource, executable, pictures, quietFlags } from "./testing/browser.ts";
import { walkThroughExplorer } from "./testing/explorer-walk.ts";
import { walkThroughLive } from "./testing/live-walk.ts";
import { walkThroughPool } from "./testing/pool-walk.ts";
import { walkThroughSql } from "./testing/sql-walk.ts";
import { walkThroughWebhooks } from "./testing/webhooks-walk.ts";

describe.if(executable !== undefined)("the console in Chromium", () => {
  let network: Network;
  let browser: Browser;
  let origin: string;

  beforeAll(async () => {
    const env = { WEBHOOK_ALLOW_HTTP: "1", WEBHOOK_ALLOW_PRIVATE_CIDRS: "127.0.0.0/8" };
    network = await startNetwork({ env, buildsPages: true });
    origin = new URL(`${network.dev.doors["rpc"]}`).origin;
    browser = await chromium.launch({ executablePath: executable ?? "", args: quietFlags });
  }, 90_000);
  afterAll(async () => {
    await browser?.close();
    await network?.[Symbol.asyncDispose]();
  }, 30_000);

  async function open(
    options: Parameters<Browser["newContext"]>[0],
    work: (page: Page, context: BrowserContext) => Promise<void>,
    path = "/",
    expected: readonly string[] = [],
  ): Promise<void> {
    const context = await browser.newContext(options);
    try {
      const page = await context.newPage();
      const faults: string[] = [];
      page.on("pageerror", (fault) => faults.push(String(fault)));
      page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
      await page.goto(`${origin}${path}`);
      await work(page, context);
      expect(faults.filter((fault) => !["401", ...expected].some((part) => fault.includes(part)))).toEqual([]);
    } finally {
      await context.close();
    }
  }

  async function picture(page: Page, name: string): Promise<void> {
    if (pictures === undefined) return;
    mkdirSync(pictures, { recursive: true });
    await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
  }

  /** NaN while the page does not know it yet. */
  const slotOf = async (page: Page): Promise<number> =>
    Number((await page.locator("dt:text-is('Slot') + dd").textContent())?.replaceAll(",", ""));

  test("shows the chain's slot, and it ticks", async () => {
    await open({}, async (page) => {
      await page.getByRole("heading", { level: 1 }).getByText("at the head of devnet").waitFor();
      const first = await eventually("a slot", async () => (await slotOf(page)) || null);
      await eventually("a later slot", async () => (await slotOf(page)) > first);
    });
  }, 60_000);

  test("shows each door, and the requests and credits that were just spent", async () => {
    for (let id = 0; id < 7; id++) await post(network.rpcUrl, { jsonrpc: "2.0", id, method: "getSupply" });
    await open({}, async (page) => {
      await page.getByText(`${network.dev.doors["rpc"]}`, { exact: true }).waitFor();
      await page.getByText(`${network.dev.doors["pubsub"]}`, { exact: true }).waitFor();
      await eventually("the requests in the figures", async () => {
        const requests = Number(await page.locator("dt:text-is('Requests, last hour') + dd").textContent());
        const credits = Number(await page.locator("dt:text-is('Credits, last hour') + dd").textContent());
        return requests >= 7 && credits >= 35;
      });
      await page.getByRole("button", { name: "as a table" }).click();
      await page.getByRole("columnheader", { name: "Requests" }).waitFor();
    });
  }, 60_000);

  test("bundles: what fills the page where there are none, then what became of one, beside the leaders", async () => {
    await open(
      {},
      async (page) => {
        await page.getByRole("heading", { name: "No bundles yet" }).waitFor();
        await page.getByText(`${network.dev.doors["engineRest"]}/api/v1/bundles -H`).first().waitFor();
        await page.getByText("Bundles are taken and handed to leaders.").waitFor();
        await page.getByText(/leaders? takes? bundles, the next one at slot/).waitFor();
        const chain = new ChainReader(network.rpcUrl);
        const searcher = new RestSearcher(`${network.dev.doors["engineRest"]}`, network.dev.key);
        const [payer] = await chain.wallets(1);
        const id = await searcher.accepted([signed(payer, await chain.blockhash(), tip(payer, 12_345))], {
          tip: 12_345,
        });
        const row = page.locator(`tr:has(span[title="${id}"])`);
        await row.getByText(/included|finalized/).waitFor();
        await row.locator("[title='12,345 lamports']").waitFor();
        await page.getByRole("heading", { name: /bundle in flight|bundle landed/ }).waitFor();
        const { slot } = await searcher.status(id);
        expect(await row.locator("td:nth-child(4)").textContent()).toBe(Number(slot).toLocaleString("en"));
        await picture(page, "bundles");
        await row.getByRole("link").first().click();
        await page.getByRole("heading", { name: `Landed in slot ${Number(slot).toLocaleString("en")}` }).waitFor();
        expect(new URL(page.url()).pathname).toBe(`/bundles/${id}`);
        await page.getByText("Received by rest, accepted at slot").waitFor();
        await page.getByText(/Handed over \d+ times?, last for slot/).waitFor();
        await page.getByText("Its block is finalized").waitFor();
        await page.reload();
        await page.getByRole("heading", { name: "Landed in slot" }).waitFor();
        await picture(page, "bundle");
      },
      "/bundles",
    );
  }, 60_000);

  test("a bundle that is not known, or not one's own, is said not to be there", async () => {
    await open(
      {},
      async (page) => {
        await page.getByRole("heading", { name: "The bundle cannot be shown" }).waitFor();
        await page.getByRole("link", { name: "All bundles" }).click();
        await page.getByRole("heading", { name: /bundle/i, level: 1 }).waitFor();
      },
      `/bundles/${"0".repeat(64)}`,
      ["404"],
    );
  }, 60_000);

  for (const [name, width, height] of [
    ["phone", 375, 812],
    ["desktop", 1440, 900],
  ] as const) {
    for (const colorScheme of ["light", "dark"] as const) {
      for (const [shown, path] of [
        ["overview", "/"],
        ["bundles", "/bundles"],
        ["prices", "/prices"],
        ["stake-pool", "/stake-pool"],
      ] as const) {
        test(`${shown} on a ${name}, ${colorScheme}: fits, and no rule of WCAG 2.2 AA that a program can check is broken`, async () => {
          const look = async (page: Page): Promise<void> => {
            await page.getByRole("heading", { level: 1 }).waitFor();
            await page.getByRole("table").first().waitFor();
            const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
            expect(Number(overflow)).toBeLessThanOrEqual(0);
            await page.evaluate(axeSource);
            const found = await page.evaluate(
              "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }).then((r) => r.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.target.join(' ')).join(', ')))",
            );
            expect(found).toEqual([]);
            await picture(page, `${shown}-${name}-${colorScheme}`);
          };
          await open({ viewport: { width, height }, colorScheme, reducedMotion: "reduce" }, look, path);
        }, 60_000);
      }
    }
  }

  test("prices of all symbols tick, with the exact one on hover, beside the sources that make them", async () => {
    await open(
      {},
      async (page) => {
        await page.getByRole("heading", { name: "15 symbols, all with a price" }).waitFor();
        const price = page.locator("tr:has(td:text-is('BTC')) td:nth-child(2) span");
        const first = await price.getAttribute("title");
        expect(Number(first)).toBeGreaterThan(0);
        await eventually("another price", async () => (await price.getAttribute("title")) !== first);
        await page.getByRole("cell", { name: "Kraken", exact: true }).waitFor();
        await page.getByText("they are a development market").waitFor();
      },
      "/prices",
    );
  }, 60_000);

  test("Stake pool: figures, charts, tips and validators, each of which opens what it is computed from", async () => {
    await open({ viewport: { width: 1440, height: 900 } }, (page) => walkThroughPool(page, picture), "/stake-pool");
  }, 60_000);

  /** A wallet whose funding is in the ledger. */
  async function fundedWallet(): Promise<string> {
    const chain = new ChainReader(network.rpcUrl);
    const [{ publicKey }] = await chain.wallets(1);
    const wallet = publicKey.toBase58();
    const enhanced = createEnhanced({ url: origin, apiKey: network.dev.key });
    // An answer is kept by what was asked: each of these asks something else, and the page does too.
    let limit = 25;
    await eventually("the ledger has the funding", async () => {
      limit = limit === 100 ? 26 : limit + 1;
      return (await enhanced.walletHistory(wallet, { limit })).items.length > 0;
    });
    return wallet;
  }

  test("Explorer: a wallet, its history by type, a transaction and what moved, who paid, and a token", async () => {
    const wallet = await fundedWallet();
    const mints = await new ChainReader(network.rpcUrl).call("getProgramAccounts", programs.token, {
      ...{ encoding: "base64", filters: [{ dataSize: 82 }] },
    });
    const mint = String(mints[0]?.pubkey);
    const look = (page: Page): Promise<void> => walkThroughExplorer(page, { wallet, mint, picture });
    await open({ viewport: { width: 1440, height: 900 } }, look, "/explorer", ["404", "400"]);
  }, 90_000);

  async function lookAtWallet(page: Page): Promise<void> {
    await page.getByLabel("Signature or address").fill(await fundedWallet());
    await page.getByRole("button", { name: "Look up" }).click();
    await page.getByRole("table", { name: "History" }).getByRole("row").nth(1).waitFor();
  }

  test("SQL: a view is picked, its query answered with what it read and cost, kept, cancelled, and a refusal told", async () => {
    const look = (page: Page): Promise<void> => walkThroughSql(page, picture);
    await open({ viewport: { width: 1440, height: 900 } }, look, "/sql", ["403"]);
  }, 60_000);

  /** A tail with one of its events in detail. */
  async function lookAtEvent(page: Page): Promise<void> {
    await page.getByLabel("Votes").check();
    await page.getByRole("button", { name: "Start" }).click();
    await page
      .getByText(/succeeded, fee/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: "pause" }).click();
    await page.getByRole("table", { name: "Events" }).getByRole("row").nth(1).getByRole("button").click();
    await page.getByLabel("The event as JSON").waitFor();
  }

  async function lookAtForm(page: Page): Promise<void> {
    await page.getByRole("button", { name: "create a webhook" }).click();
    await page.getByRole("button", { name: "show the filters of these events" }).click();
    await page.getByText("account_include", { exact: true }).waitFor();
  }

  test("Webhooks: one is created by the form, which tells what is wrong, tested, looked at, paused, rotated and deleted", async () => {
    const got: string[] = [];
    const receiver = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: async (request) => {
        got.push(request.headers.get("x-service-event") ?? "");
        return new Response("thanks", { status: (await request.text()) === "" ? 400 : 200 });
      },
    });
    const to = `http://127.0.0.1:${receiver.port}/events`;
    const look = (page: Page): Promise<void> => walkThroughWebhooks(page, { to, got, picture });
    try {
      await open({ viewport: { width: 1440, height: 900 } }, look, "/webhooks", ["400"]);
    } finally {
      await receiver.stop(true);
    }
  }, 90_000);

  for (const [shown, ready] of [
    ["sql", (page: Page) => page.getByRole("heading", { name: "Views" }).waitFor()],
    ["live", lookAtEvent],
    ["webhooks", lookAtForm],
    ["explorer", lookAtWallet],
  ] as const) {
    test(`the page ${shown} fits a phone, and breaks no rule of WCAG 2.2 AA that a program can check`, async () => {
      for (const colorScheme of ["light", "dark"] as const) {
        const look = async (page: Page): Promise<void> => {
          await ready(page);
          const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
          expect(Number(overflow)).toBeLessThanOrEqual(0);
          await page.evaluate(axeSource);
          const rules = "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']";
          const found = await page.evaluate(
            `axe.run(document, { runOnly: ${rules} }).then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.target.join(" ")).join(", ")))`,
          );
          expect(found).toEqual([]);
          await picture(page, `${shown}-phone-${colorScheme}`);
        };
        await open(
          { viewport: { width: 375, height: 812 }, colorScheme, reducedMotion: "reduce" },
          look,
          `/${shown}`,
          shown === "explorer" ? ["404"] : [],
        );
      }
    }, 90_000);
  }

  test("Live: a channel with filters, an event in detail, a pause that loses nothing, and why it ended", async () => {
    await open({ viewport: { width: 1440, height: 900 } }, (page) => walkThroughLive(page, picture), "/live");
  }, 120_000);

  test("the first load is under 300 KB", async () => {
    await open({}, async (page) => {
      const bytes = await eventually("the page's resources", async () =>
        page.evaluate<number>(
          "performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation')).reduce((sum, e) => sum + e.encodedBodySize, 0)",
        ),
      );
      expect(bytes).toBeGreaterThan(10_000);
      expect(bytes).toBeLessThan(300_000);
    });
  }, 60_000);

  test("Ctrl-K finds a page by keyboard alone", async () => {
    await open({}, async (page) => {
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").fill("rate_limit");
      await picture(page, "palette");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: /error codes/ }).waitFor();
      expect(new URL(page.url()).hash).toBe("#rate-limit-exceeded");
    });
  }, 60_000);

  test("a name is looked up, and its owner leads back to it", async () => {
    await open(
      {},
      async (page) => {
        await page.getByLabel("Name or address").fill("alice.x1");
        await page.getByRole("button", { name: "Look up" }).click();
        await page.getByRole("heading", { name: /alice\.x1 is controlled by/ }).waitFor();
        await picture(page, "names");
        const owner = await page.locator("dt:text-is('Owner') + dd button").getAttribute("title");
        await page.getByLabel("Name or address").fill(owner ?? "");
        await page.getByRole("button", { name: "Look up" }).click();
        await page.getByRole("heading", { name: / is .+\.(x1|xnt|xen)$/ }).waitFor();
        await page.getByLabel("Name or address").fill("no such name");
        await page.getByRole("button", { name: "Look up" }).click();
        await page.getByRole("heading", { name: "This is no name" }).waitFor();
      },
      "/names",
    );
  }, 60_000);

  test("the type of a problem leads to its explanation", async () => {
    const response = await fetch(`${origin}/api/v1/console/nothing`);
    const problem = (await response.json()) as { type: string; code: string };
    expect([response.status, problem.code]).toEqual([404, "NOT_FOUND"]);
    await open(
      {},
      async (page) => {
        await page.locator("#not-found").waitFor();
        await picture(page, "errors");
      },
      new URL(problem.type, origin).href.slice(origin.length),
    );
  }, 60_000);

  test("a refusal of the block engine leads to its explanation, too", async () => {
    const searcher = new RestSearcher(`${network.dev.doors["engineRest"]}`, network.dev.key);
    const { body } = await searcher.post({ transactions: [], tip: 1_000 });
    expect(body.code).toBe("empty_bundle");
    await open(
      {},
      async (page) => {
        await page.locator("#empty-bundle").getByText("Put 1 to 5 transactions into it.").waitFor();
      },
      body.type,
    );
  }, 60_000);

  test("copying works over plain HTTP under another name, where browsers offer no clipboard", async () => {
    const named = origin.replace("127.0.0.1", "sluice.test");
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      const faults: string[] = [];
      page.on("pageerror", (fault) => faults.push(String(fault)));
      await page.goto(named);
      expect(await page.evaluate(() => "clipboard" in navigator)).toBe(false);
      await page.getByLabel("API key").fill(network.dev.keys.business);
      await page.getByRole("button", { name: "Sign in" }).click();
      const address = `${network.dev.doors["pubsub"]}`;
      await page.getByTitle(address, { exact: true }).click();
      await page.getByText("copied", { exact: true }).waitFor();
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").press("Control+v");
      expect(await page.getByRole("combobox").inputValue()).toBe(address);
      expect(faults).toEqual([]);
    } finally {
      await context.close();
    }
  }, 60_000);

  test("the development server offers another key where there is nothing to sign out of, and signing out leads back", async () => {
    await open({}, async (page) => {
      await page.getByText("development, no sign-in").waitFor();
      expect(await page.getByRole("button", { name: "Sign out" }).count()).toBe(0);
      await page.getByRole("button", { name: "Use another key" }).click();
      await page.getByLabel("API key").fill(network.dev.keys.free);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByText("Development (free)").first().waitFor();
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByText("Development (enterprise)").first().waitFor();
      await page.getByText("development, no sign-in").waitFor();
    });
  }, 60_000);

  test("a person on an unknown page sees the console, and that there is no such page", async () => {
    await open(
      {},
      async (page) => {
        await page.getByRole("heading", { name: "There is no such page" }).waitFor();
        expect(await page.locator("html").getAttribute("lang")).toBe("en");
      },
      "/nope",
      ["404"],
    );
  }, 60_000);

  test("a browser that comes by another name signs in with a key, and out again", async () => {
    const named = origin.replace("127.0.0.1", "sluice.localhost");
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      await page.goto(named);
      await page.getByLabel("API key").fill("sk_dev_wrong");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("alert").waitFor();
      await picture(page, "sign-in");
      await page.getByLabel("API key").fill(network.dev.keys.business);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByText("Development (business)").first().waitFor();
      const [cookie] = await context.cookies();
      expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict" });
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByLabel("API key").waitFor();
      expect(await context.cookies()).toEqual([]);
    } finally {
      await context.close();
    }
  }, 60_000);

  test("a customer sees how the network does and what is his, an operator its nodes and the metrics as well", async () => {
    const named = origin.replace("127.0.0.1", "sluice.localhost");
    const context = await browser.newContext();
    const metrics = `${network.dev.doors["metrics"]}`;
    try {
      const page = await context.newPage();
      const signIn = async (key: string): Promise<void> => {
        await page.goto(named);
        await page.getByLabel("API key").fill(key);
        await page.getByRole("button", { name: "Sign in" }).click();
      };
      await signIn(network.dev.keys.business);
      await page.getByRole("heading", { name: "The network devnet is operational" }).waitFor();
      await page.getByRole("table", { name: "Endpoints" }).waitFor();
      expect(await page.getByRole("heading", { name: "Nodes" }).count()).toBe(0);
      expect(await page.getByText(metrics).count()).toBe(0);
      expect(await page.getByRole("table", { name: "Ledger" }).count()).toBe(0);
      // The page came by another name than the one that the server tells people.
      const asCurl = await page.getByRole("button", { name: "this page as curl" }).getAttribute("title");
      expect(asCurl).toStartWith(`curl ${origin}/api/v1/console/overview `);
      await picture(page, "overview-customer");
      await page.goto(`${named}/bundles`);
      await page.getByRole("heading", { name: "No bundles yet" }).waitFor();
      expect(await page.getByRole("heading", { name: "Leaders" }).count()).toBe(0);
      await page.getByRole("button", { name: "Sign out" }).click();
      await signIn(network.dev.keys.enterprise);
      await page.getByRole("heading", { name: "at the head of devnet" }).waitFor();
      await page.getByRole("heading", { name: "Nodes" }).waitFor();
      await page.getByText(metrics, { exact: true }).waitFor();
      const ledger = page.getByRole("table", { name: "Ledger" });
      await ledger.getByRole("row", { name: "oracle_ticks" }).getByText("30d").waitFor();
    } finally {
      await context.close();
    }
  }, 60_000);

  test("a change from another origin is refused, and a page of another site sees nothing", async () => {
    const foreign = await fetch(`${origin}/api/v1/console/session`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: "https://evil.example" },
      body: JSON.stringify({ key: network.dev.key }),
    });
    expect(foreign.status).toBe(403);
    const rebound = await fetch(`${origin}/api/v1/console/overview`, { headers: { host: "evil.example" } });
    expect(rebound.status).toBe(401);
    const proxied = await fetch(`${origin}/api/v1/console/overview`, { headers: { "x-forwarded-for": "127.0.0.1" } });
    expect(proxied.status).toBe(401);
    const crossSite = await fetch(`${origin}/api/v1/console/overview`, { headers: { "sec-fetch-site": "cross-site" } });
    expect(crossSite.status).toBe(401);
    expect(crossSite.headers.get("access-control-allow-origin")).toBeNull();
  });
});
