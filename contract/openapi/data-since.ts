/** The headers of an answer from records that are deleted after a time. */
export const dataSinceHeader = {
  headers: {
    "X-Data-Since": {
      description: "The moment from which records are kept, where the range begins before it; what is older is deleted",
      schema: { type: "string" as const, format: "date-time" },
    },
  },
};
