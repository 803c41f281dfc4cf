/** The content of a state database at one moment. */
export interface StateSnapshot {
  /** The numbers of its migrations, in order. */
  readonly schema: readonly number[];
  /** One line of text for each row, tables in an order in which a row comes after those that it refers to. */
  lines(): AsyncGenerator<string>;
}
