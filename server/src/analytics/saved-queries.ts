import { SluiceError } from "@sluice/contract/errors";
import type { SavedQuery, SavedQueryCreate, SavedQueryUpdate } from "@sluice/contract/schemas";
import { sqlLimits } from "@sluice/contract/sql";
import type { SavedQueryRecord, SavedQueryStore } from "../state/index.ts";

const isoTime = (ms: number): string => new Date(ms).toISOString();

function bodyOf({ id, name, query, parameters, createdAt, updatedAt }: SavedQueryRecord): SavedQuery {
  const values: SavedQuery["parameters"] = JSON.parse(parameters);
  return { id, name, query, parameters: values, created_at: isoTime(createdAt), updated_at: isoTime(updatedAt) };
}

const noQuery = (): SluiceError => new SluiceError("NOT_FOUND", { message: "The account keeps no such query" });

/** The queries that accounts keep, as the API shows them. Every method throws SluiceError. */
export class SavedQueryShelf {
  readonly #store: SavedQueryStore;

  constructor({ store }: { readonly store: SavedQueryStore }) {
    this.#store = store;
  }

  async list(accountId: string): Promise<{ items: SavedQuery[]; next_cursor: null }> {
    return { items: (await this.#store.list(accountId)).map(bodyOf), next_cursor: null };
  }

  async get(accountId: string, id: string): Promise<SavedQuery> {
    const record = await this.#store.get(accountId, id);
    if (record === null) throw noQuery();
    return bodyOf(record);
  }

  async create(accountId: string, { name, query, parameters }: SavedQueryCreate): Promise<SavedQuery> {
    const record = await this.#store.create(accountId, { name, query, parameters: JSON.stringify(parameters) });
    if (record !== null) return bodyOf(record);
    const message = `The account keeps ${sqlLimits.savedQueries} queries, and no more than that`;
    throw new SluiceError("CONFLICT", { message });
  }

  async update(accountId: string, id: string, { name, query, parameters }: SavedQueryUpdate): Promise<SavedQuery> {
    const record = await this.#store.update(accountId, id, {
      ...(name === undefined ? {} : { name }),
      ...(query === undefined ? {} : { query }),
      ...(parameters === undefined ? {} : { parameters: JSON.stringify(parameters) }),
    });
    if (record === null) throw noQuery();
    return bodyOf(record);
  }

  async delete(accountId: string, id: string): Promise<void> {
    if (!(await this.#store.delete(accountId, id))) throw noQuery();
  }
}
