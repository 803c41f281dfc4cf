/** A query of SQL that an account keeps under a name. */
export interface SavedQueryRecord {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly query: string;
  /** JSON text of the values of its parameters. */
  readonly parameters: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type SavedQueryContent = Pick<SavedQueryRecord, "name" | "query" | "parameters">;

/** Saved queries, each of one account; every method sees those of the named account alone and throws SluiceError. */
export interface SavedQueryStore {
  /** Null when the account has as many as it may. @throws {SluiceError} CONFLICT for a name that it has already */
  create(accountId: string, content: SavedQueryContent): Promise<SavedQueryRecord | null>;
  get(accountId: string, id: string): Promise<SavedQueryRecord | null>;
  /** All of the account, by name. */
  list(accountId: string): Promise<readonly SavedQueryRecord[]>;
  /** Null when there is none. @throws {SluiceError} CONFLICT for a name that another one has */
  update(accountId: string, id: string, changes: Partial<SavedQueryContent>): Promise<SavedQueryRecord | null>;
  /** Whether there was one. */
  delete(accountId: string, id: string): Promise<boolean>;
}
