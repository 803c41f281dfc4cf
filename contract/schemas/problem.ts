import { z } from "zod";

/** One field that was wrong: where it is, and what is wrong with it. */
const fieldError = z
  .object({
    path: z.string().meta({ description: "The field, as a path with dots", example: "restrictions.ipRanges.0" }),
    message: z.string(),
  })
  .meta({ id: "FieldError", description: "A field that was wrong" });

/** The answer of a REST endpoint that fails (RFC 9457), as `application/problem+json`. */
export const problemDetails = z
  .object({
    type: z.string().meta({ description: "The page that explains the code", example: "/docs/errors#invalid-input" }),
    title: z.string().meta({ description: "The code's public text" }),
    status: z.int().min(400).max(599),
    detail: z.string().optional().meta({ description: "What happened in this case" }),
    instance: z.string().meta({ description: "The request id" }),
    code: z.string().meta({ description: "A code of the error table", example: "INVALID_INPUT" }),
    errors: z.array(fieldError).optional().meta({ description: "Each field that was wrong, for INVALID_INPUT" }),
    logs: z.array(z.string()).optional().meta({
      description: "The last lines that the failed transaction logged, for simulation_failed of the block engine",
    }),
  })
  .meta({ id: "Problem", description: "Problem details (RFC 9457)" });

export type FieldError = z.infer<typeof fieldError>;
export type ProblemDetails = z.infer<typeof problemDetails>;
