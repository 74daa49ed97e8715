/**
 * How a store writes what it gives out to be handed back, as patterns of JSON Schema. They are shown in the document;
 * the store refuses what is not of its form. Stores differ, so they are only known of one of our own.
 */
export interface IssuedForms {
  readonly versionId: string;
  /** Of a listing's next page; empty is the first page, here and below. */
  readonly versionIdMarker: string;
  readonly continuationToken: string;
}

/** The pattern of a text that a store gave out, for the description of its schema; nothing where the store is not ours. */
export function issuedForm(forms: IssuedForms | null, name: keyof IssuedForms): { readonly pattern?: string } {
  return forms === null ? {} : { pattern: forms[name] };
}
