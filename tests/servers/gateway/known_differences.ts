/** Where other servers part from AWS: the case that they fail, and what they do. Found by running the contract on them. */
export const KNOWN_DIFFERENCES: Record<"VERSITYGW" | "MINIO", Readonly<Record<string, string>>> = {
  VERSITYGW: {
    "versions are switched on, kept, read, listed in pages and deleted one by one":
      "begins again with every page of versions",
    "an access list that was read can be set again":
      "refuses access lists of buckets that were made without a word of it",
    "odd segments of keys are kept": "keys are paths of files, and folded",
  },
  MINIO: {
    "CORS rules are set, read and taken away": "has no CORS rules of buckets: 501",
    "an access list that was read can be set again": "has no access lists, and shows an owner without a name",
    "odd segments of keys are kept": "refuses a//b",
    "the abort of an unknown upload is 404": "calls every abort a success",
  },
};
