import type { ZodOpenApiOperationObject } from "zod-openapi";

/** Paths that are offered to keys, and alike by the console under its own paths to people who are signed in. */
export interface KeyedPathsOptions {
  readonly root: string;
  readonly operation: (name: string) => string;
  readonly tag: string;
  readonly security: ZodOpenApiOperationObject["security"];
}
