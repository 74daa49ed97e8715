/** Whose S3 requests reach a bucket: nobody's, signed ones only, or unsigned ones as well. */
export type S3Access = "none" | "signed" | "all";

/** The index keeps a place in this list. */
export const S3_ACCESS: readonly S3Access[] = ["none", "signed", "all"];

/** What a namespace's settings of the protocol HTTP say of S3 (management API, protocols/http). */
export function s3AccessOf(document: Readonly<Record<string, unknown>>): S3Access {
  if (document.hs3Enabled === false) return "none";
  return document.hs3RequiresAuthentication === true ? "signed" : "all";
}
