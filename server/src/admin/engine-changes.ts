import { SluiceError } from "@sluice/contract/errors";
import type { EngineAdmin, SearcherLimitBody, SearcherLimitChange, SearcherLinkBody } from "@sluice/contract/schemas";
import { type Address, isAddress, parseAddress } from "@sluice/wire/identifiers";
import type { ChangingStores, EngineSwitch, PageRequest, SearcherLimit, SearcherLink, State } from "../state/index.ts";
import type { EngineControl } from "./engine-control.ts";
import { isoTime } from "./records.ts";

export interface EngineChangesDependencies {
  readonly state: Pick<State, "change"> & {
    readonly engine: {
      readonly searchers: Pick<State["engine"]["searchers"], "list" | "limits">;
      readonly switches: Pick<State["engine"]["switches"], "all">;
    };
  };
  readonly engine: EngineControl;
  /** Makes every process ask again who the account is: streams of a key that was linked or unlinked end. */
  readonly invalidateAccount: (accountId: string) => void;
}

interface Listed<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

const pubkeyPrefix = "pubkey:";

/** What operators change of the block engine at run time. A change and its entry in the trail are one write. */
export class EngineChanges {
  readonly #dependencies: EngineChangesDependencies;

  constructor(dependencies: EngineChangesDependencies) {
    this.#dependencies = dependencies;
  }

  async present(): Promise<EngineAdmin> {
    const { state, engine } = this.#dependencies;
    const all = await state.engine.switches.all();
    const read = (name: EngineSwitch) => {
      const found = all.find((each) => each.name === name);
      const setAt = found?.setAt ?? 0;
      return { on: found?.isOn === true, set_at: setAt === 0 ? null : isoTime(setAt) };
    };
    return {
      switches: { maintenance: read("maintenance"), halted: read("halted") },
      engine: engine.figures(),
      standby: engine.standsBy(),
    };
  }

  /** Resolves when the engine of this process follows it. */
  async turn(name: EngineSwitch, on: boolean, actor: string): Promise<EngineAdmin> {
    await this.#dependencies.state.change(async ({ engineSwitches, audit }) => {
      const before = (await engineSwitches.all()).find((each) => each.name === name)?.isOn === true;
      await engineSwitches.set(name, on);
      const detail = { before: { on: before }, after: { on } };
      await audit.append({ actor, action: `engine.${name}`, subject: "engine", detail });
    });
    await this.#dependencies.engine.refreshSwitches();
    return await this.present();
  }

  /** A key that is linked to this account already stays as it is. Throws CONFLICT where it is another's, NOT_FOUND. */
  async link(wish: { readonly pubkey: string; readonly account_id: string }, actor: string): Promise<SearcherLinkBody> {
    const pubkey = addressOf(wish.pubkey, "pubkey");
    const link = await this.#dependencies.state.change(async ({ searchers, accounts, audit }) => {
      await requireAccount(accounts, wish.account_id);
      const created = await searchers.link(pubkey, wish.account_id);
      const detail = { after: { account_id: wish.account_id } };
      await audit.append({ actor, action: "searcher.link", subject: pubkey, detail });
      return created;
    });
    this.#dependencies.invalidateAccount(link.accountId);
    return linkBody(link);
  }

  /** Throws NOT_FOUND where the key is linked to no account. */
  async unlink(text: string, actor: string): Promise<void> {
    const pubkey = parseAddress(text);
    const before = await this.#dependencies.state.change(async ({ searchers, audit }) => {
      const found = pubkey === null ? null : await searchers.find(pubkey);
      if (pubkey === null || found === null) throw notFound("This public key is linked to no account");
      await searchers.unlink(pubkey);
      const detail = { before: { account_id: found.accountId } };
      await audit.append({ actor, action: "searcher.unlink", subject: pubkey, detail });
      return found;
    });
    this.#dependencies.invalidateAccount(before.accountId);
  }

  async links(page: PageRequest & { readonly accountId?: string }): Promise<Listed<SearcherLinkBody>> {
    const { items, nextCursor } = await this.#dependencies.state.engine.searchers.list(page);
    return { items: items.map(linkBody), next_cursor: nextCursor };
  }

  /** In place of what the searcher's tier gives it; holds within two seconds. */
  async setLimit(searcherId: string, wish: SearcherLimitChange, actor: string): Promise<SearcherLimitBody> {
    const limit = await this.#dependencies.state.change(async ({ searchers, accounts, audit }) => {
      await requireSearcher(accounts, searcherId);
      const before = await searchers.limitOf(searcherId);
      const created = await searchers.setLimit(searcherId, {
        bundlesPerSecond: wish.bundles_per_second,
        burst: wish.burst,
      });
      const detail = { before: before === null ? null : figuresOf(before), after: figuresOf(created) };
      await audit.append({ actor, action: "searcher.limit", subject: searcherId, detail });
      return created;
    });
    return limitBody(limit);
  }

  /** Throws NOT_FOUND where none was set. */
  async clearLimit(searcherId: string, actor: string): Promise<void> {
    await this.#dependencies.state.change(async ({ searchers, audit }) => {
      const before = await searchers.limitOf(searcherId);
      if (before === null) throw notFound("No limit is set for this searcher");
      await searchers.clearLimit(searcherId);
      const detail = { before: figuresOf(before), after: null };
      await audit.append({ actor, action: "searcher.limit", subject: searcherId, detail });
    });
  }

  async limits(page: PageRequest): Promise<Listed<SearcherLimitBody>> {
    const { items, nextCursor } = await this.#dependencies.state.engine.searchers.limits(page);
    return { items: items.map(limitBody), next_cursor: nextCursor };
  }
}

const notFound = (message: string): SluiceError => new SluiceError("NOT_FOUND", { message });

function addressOf(text: string, path: string): Address {
  if (isAddress(text)) return text;
  const errors = [{ path, message: "must be a public key of 32 bytes in base58" }];
  throw new SluiceError("INVALID_INPUT", { details: { errors } });
}

/** A limit for a searcher that cannot exist would be a typing error that goes unnoticed. */
async function requireSearcher(accounts: ChangingStores["accounts"], searcherId: string): Promise<void> {
  if (searcherId.startsWith(pubkeyPrefix)) addressOf(searcherId.slice(pubkeyPrefix.length), "searcher");
  else await requireAccount(accounts, searcherId);
}

async function requireAccount(accounts: ChangingStores["accounts"], id: string): Promise<void> {
  if ((await accounts.get(id)) === null) throw notFound("There is no such account");
}

const linkBody = ({ pubkey, accountId, linkedAt }: SearcherLink): SearcherLinkBody => ({
  pubkey,
  account_id: accountId,
  linked_at: isoTime(linkedAt),
});

const figuresOf = ({ bundlesPerSecond, burst }: SearcherLimit) => ({ bundles_per_second: bundlesPerSecond, burst });

const limitBody = (limit: SearcherLimit): SearcherLimitBody => ({
  searcher_id: limit.searcherId,
  ...figuresOf(limit),
  set_at: isoTime(limit.setAt),
});
